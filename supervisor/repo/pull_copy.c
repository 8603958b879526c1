/* SPDX-License-Identifier: ISC */
/*
 * Copies a checked pack. No git does this, and no file is linked: the two
 * repositories share nothing but bytes. git takes a pack for one when its index
 * is there, which comes last.
 */
#include "repo/pull_priv.h"

#include <sys/sendfile.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


/* Find the one pack of the quarantine. Returns 0, or -1 with errno set. */
static int
copy_name(int packs, char name[REPO_OID])
{
	struct dirent *e;
	unsigned n = 0;
	size_t len;
	int fd;
	DIR *d;

	fd = openat(packs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (d = fdopendir(fd)) == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		len = strlen(e->d_name);
		if (len < 10 || strncmp(e->d_name, "pack-", 5) != 0 ||
		    strcmp(e->d_name + len - 4, ".idx") != 0)
			continue;
		n++;
		if (!repo_oid_ok(span_of(e->d_name + 5, len - 9)) || n > 1) {
			n = 2;
			break;
		}
		(void)span_copy(
		    span_of(e->d_name + 5, len - 9), name, REPO_OID);
	}
	closedir(d);
	errno = EINVAL;
	return n == 1 ? 0 : -1;
}

static int
copy_bytes(int from, int to)
{
	ssize_t n;

	while ((n = sendfile(to, from, NULL, 1U << 20)) > 0 ||
	       (n == -1 && errno == EINTR))
		;
	return n == 0 ? 0 : -1;
}

/* Copy one file under a name that git gc knows as a temporary one; rename it.
 */
static int
copy_file(
    int from, int to, const char *pack, const char *suffix, mode_t mode)
{
	char name[REPO_OID + 16], tmp[REPO_OID + 32];
	int in, out = -1, rv = -1, save;
	struct stat st;

	snprintf(name, sizeof(name), "pack-%s%s", pack, suffix);
	snprintf(
	    tmp, sizeof(tmp), "tmp_ic_%d_%s%s", (int)getpid(), pack, suffix);
	in = openat(
	    from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in == -1)
		return -1;
	(void)unlinkat(to, tmp, 0);
	if (fstat(in, &st) == -1 || !S_ISREG(st.st_mode)) {
		errno = EINVAL;
	} else if ((out = openat(to, tmp,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0444)) != -1) {
		if (copy_bytes(in, out) == 0 && fchmod(out, mode) == 0 &&
		    fsync(out) == 0)
			rv = renameat(to, tmp, to, name);
		save = errno;
		if (rv == -1)
			(void)unlinkat(to, tmp, 0);
		close(out);
		errno = save;
	}
	save = errno;
	close(in);
	errno = save;
	return rv;
}

/* Open the user's directory of packs, and make it if there is none. */
static int
copy_packs(const struct pulling *p)
{
	int objects, fd;

	objects = openat(p->user.view.binds[p->user.objects_at].fd, ".",
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (objects == -1)
		return -1;
	if (mkdirat(objects, "pack", 0777) == -1 && errno != EEXIST)
		fd = -1;
	else
		fd = openat(
		    objects, "pack", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(objects);
	return fd;
}

static void
copy_remove(int packs, const char *pack)
{
	char name[REPO_OID + 16];

	snprintf(name, sizeof(name), "pack-%s.idx", pack);
	(void)unlinkat(packs, name, 0);
	snprintf(name, sizeof(name), "pack-%s.pack", pack);
	(void)unlinkat(packs, name, 0);
}

int
pull_copy(struct pulling *p, struct fault *fault)
{
	char pack[REPO_OID], name[REPO_OID + 16];
	int from, to = -1, rv = -1;
	struct stat st;

	from = openat(p->quarantine, "objects/pack",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from == -1 || copy_name(from, pack) == -1) {
		fault_errno(fault, "the checked objects");
		goto out;
	}
	if ((to = copy_packs(p)) == -1) {
		fault_errno(fault, "%s", p->user.objects);
		goto out;
	}
	snprintf(name, sizeof(name), "pack-%s.idx", pack);
	if (fstatat(to, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		rv = 0; /* the same objects came earlier */
		goto out;
	}
	/* Others may read it if they may read the directory. */
	if (fstat(to, &st) == -1 ||
	    copy_file(from, to, pack, ".pack", st.st_mode & 0444) == -1 ||
	    copy_file(from, to, pack, ".idx", st.st_mode & 0444) == -1 ||
	    fsync(to) == -1) {
		fault_errno(fault, "%s/pack", p->user.objects);
		copy_remove(to, pack);
		goto out;
	}
	(void)strlcpy(p->pack, pack, sizeof(p->pack));
	rv = 0;
out:
	if (from != -1)
		close(from);
	if (to != -1)
		close(to);
	return rv;
}

void
pull_uncopy(struct pulling *p)
{
	int to;

	if (p->pack[0] == '\0' || (to = copy_packs(p)) == -1)
		return;
	copy_remove(to, p->pack);
	close(to);
}
