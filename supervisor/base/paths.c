/* SPDX-License-Identifier: ISC */
/*
 * Finds IRONCURTAIN_HOME, and the program's own directories from the path of
 * its binary, so that an installation can be moved. Of the environment it
 * trusts only HOME and IRONCURTAIN_HOME, which the user set.
 */
#include "base/paths.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *
paths_join(const char *dir, const char *name)
{
	char *out;

	if (asprintf(&out, "%s/%s", dir, name) == -1)
		return NULL;
	return out;
}

const char *
paths_tilde(const char *user_home, const char *path, char *dst, size_t cap)
{
	size_t n = user_home == NULL ? 0 : strlen(user_home);
	const char *rest = path + (n < strlen(path) ? n : strlen(path));

	bool short_one = n >= 2 && strncmp(path, user_home, n) == 0 &&
			 (rest[0] == '/' || rest[0] == '\0');

	for (const char *p = rest; short_one && *p != '\0'; p++)
		short_one = isalnum((unsigned char)*p) ||
			    (unsigned char)*p >= 0x80 ||
			    strchr("/._-+@,", *p) != NULL;
	if (short_one)
		snprintf(dst, cap, "~%s", rest);
	else
		snprintf(dst, cap, "%s", path);
	return dst;
}

char *
paths_of_fd(int fd)
{
	char link[64], *out;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if ((out = malloc(PATH_MAX)) == NULL)
		return NULL;
	if ((n = readlink(link, out, PATH_MAX - 1)) == -1) {
		free(out);
		return NULL;
	}
	out[n] = '\0';
	return out;
}

/* Returns the directory of our binary, or NULL with errno set. */
static char *
paths_exe_dir(void)
{
	char buf[PATH_MAX], *slash;
	ssize_t n;

	if ((n = readlink("/proc/self/exe", buf, sizeof(buf) - 1)) == -1)
		return NULL;
	buf[n] = '\0';
	if ((slash = strrchr(buf, '/')) == NULL) {
		errno = ENOENT;
		return NULL;
	}
	*slash = '\0';
	return strdup(buf);
}

static char *
paths_user_home(void)
{
	const char *env = getenv("HOME");
	struct passwd *pw;

	if (env != NULL && env[0] == '/')
		return strdup(env);
	if ((pw = getpwuid(geteuid())) == NULL || pw->pw_dir[0] != '/') {
		errno = ENOENT;
		return NULL;
	}
	return strdup(pw->pw_dir);
}

int
paths_private(const struct stat *st, const char *what, const char *dir,
    struct fault *fault)
{
	if (st->st_uid != geteuid())
		return fault_set(fault,
		    "%s %s: belongs to another user (uid %u)", what, dir,
		    (unsigned)st->st_uid);
	if ((st->st_mode & 077) != 0)
		return fault_set(fault,
		    "%s %s: other users can enter it (mode %04o). Run: chmod "
		    "700 %s",
		    what, dir, (unsigned)st->st_mode & 07777, dir);
	return 0;
}

int
paths_credential(
    int fd, const struct stat *st, const char *path, struct fault *fault)
{
	struct statvfs mount;
	bool mounted = st->st_uid == 0 && (st->st_mode & 0333) == 0 &&
		       fstatvfs(fd, &mount) == 0 &&
		       (mount.f_flag & ST_RDONLY) != 0;

	if (!S_ISREG(st->st_mode))
		return fault_set(
		    fault, "credential %s: not a plain file", path);
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return fault_set(fault,
		    "credential %s: belongs to another user (uid %u)", path,
		    (unsigned)st->st_uid);
	if ((st->st_mode & 077) != 0 && !mounted)
		return fault_set(fault,
		    "credential %s: other users can read or write it (mode "
		    "%04o). Run: chmod 600 %s",
		    path, (unsigned)st->st_mode & 07777, path);
	if (st->st_size == 0)
		return fault_set(fault, "credential %s: empty", path);
	return 0;
}

int
paths_check_home(const char *home, struct fault *fault)
{
	struct stat st;

	if (stat(home, &st) == -1)
		return fault_errno(fault, "IRONCURTAIN_HOME %s", home);
	if (!S_ISDIR(st.st_mode))
		return fault_set(
		    fault, "IRONCURTAIN_HOME %s: not a directory", home);
	return paths_private(&st, "IRONCURTAIN_HOME", home, fault);
}

int
paths_init(struct paths *p, const char *libexecdir, struct fault *fault)
{
	const char *env = getenv("IRONCURTAIN_HOME");
	char *prefix = NULL, *slash;
	int rv = -1;

	memset(p, 0, sizeof(*p));
	if ((p->bindir = paths_exe_dir()) == NULL) {
		fault_errno(fault, "/proc/self/exe (is /proc mounted?)");
		goto out;
	}
	if ((p->user_home = paths_user_home()) == NULL) {
		fault_set(fault, "cannot find your home directory: set HOME");
		goto out;
	}
	if (env != NULL && env[0] != '/') {
		fault_set(fault,
		    "IRONCURTAIN_HOME must be an absolute path, "
		    "is \"%s\"",
		    env);
		goto out;
	}
	if ((prefix = strdup(p->bindir)) == NULL ||
	    (slash = strrchr(prefix, '/')) == NULL) {
		fault_errno(fault, "paths");
		goto out;
	}
	*slash = '\0';
	p->libexecdir = libexecdir != NULL
			    ? strdup(libexecdir)
			    : paths_join(prefix, "libexec/ironcurtain");
	p->datadir = paths_join(prefix, "share/ironcurtain");
	p->home = env != NULL ? strdup(env)
			      : paths_join(p->user_home, ".ironcurtain");
	if (p->libexecdir == NULL || p->datadir == NULL || p->home == NULL) {
		fault_errno(fault, "paths");
		goto out;
	}
	if (mkdir(p->home, 0700) == -1 && errno != EEXIST) {
		fault_errno(fault, "IRONCURTAIN_HOME %s", p->home);
		goto out;
	}
	if (paths_check_home(p->home, fault) == -1)
		goto out;
	rv = 0;
out:
	free(prefix);
	if (rv == -1)
		paths_free(p);
	return rv;
}

void
paths_free(struct paths *p)
{
	free(p->bindir);
	free(p->libexecdir);
	free(p->datadir);
	free(p->home);
	free(p->user_home);
	memset(p, 0, sizeof(*p));
}

bool
paths_under(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	return strncmp(path, dir, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0');
}

bool
paths_below_ok(const char *s)
{
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, "/");
		if (n == 0 || n > 255 ||
		    (n <= 2 && s[0] == '.' && s[n - 1] == '.'))
			return false;
		if (s[n] == '\0')
			return true;
	}
}
