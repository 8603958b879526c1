/* SPDX-License-Identifier: ISC */
/*
 * The one user of a sandbox, the names of its only interface, and what browsers
 * are told.
 */
#include "workers/survey/etc_made.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/clients/table.h"
#include "box/system/survey.h"
#include "common/span.h"

static int
made_put(int dirfd, const char *name, const char *text)
{
	int fd, rv, save;

	fd = openat(dirfd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	rv = span_write(fd, span_str(text));
	if (rv == 0)
		rv = fchmod(fd, 0444);
	save = errno;
	close(fd);
	errno = save;
	return rv;
}

/*
 * Make a directory of the copy, or take the one that is there. Returns it, -1
 * if something else is there, or -2 with errno set.
 */
static int
made_way(int dirfd, const char *part)
{
	int fd;

	if (mkdirat(dirfd, part, 0755) == -1 && errno != EEXIST)
		return -2;
	fd = openat(
	    dirfd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd != -1 || errno == ELOOP || errno == ENOTDIR ? fd : -2;
}

/* Put a link to the session's file in the place of what is there. */
static int
made_link(int dirfd, const char *name, const char *file)
{
	char target[128];

	(void)snprintf(target, sizeof(target), CLIENTS_DIR "/%s", file);
	if (unlinkat(dirfd, name, 0) == -1 && errno != ENOENT)
		/* A directory has no business there, and stays. */
		return errno == EISDIR ? 0 : -1;
	return symlinkat(target, dirfd, name);
}

/* Make the link at a path below the copy. */
static int
made_policy(int top, const char *path, const char *file)
{
	const char *slash, *rest = path;
	char part[64];
	int dir = made_way(top, "."), next, rv = -1;

	while (dir >= 0 && (slash = strchr(rest, '/')) != NULL) {
		(void)snprintf(
		    part, sizeof(part), "%.*s", (int)(slash - rest), rest);
		next = made_way(dir, part);
		close(dir);
		dir = next;
		rest = slash + 1;
		if (dir == -1)
			return 0;
	}
	if (dir >= 0) {
		rv = made_link(dir, rest, file);
		close(dir);
	}
	return rv;
}

static int
made_browsers(int dirfd)
{
	static const struct {
		const char *path, *file;
	} policies[] = {
#define POLICY_ROW(path, file) {path, file},
	    CLIENTS_POLICIES(POLICY_ROW)
#undef POLICY_ROW
	};
	int fd, rv = 0;

	for (size_t i = 0; rv == 0 && i < nitems(policies); i++)
		rv = made_policy(dirfd, policies[i].path, policies[i].file);
	fd = openat(dirfd, CLIENTS_CHROMIUM_D,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rv == 0 && fd != -1 &&
	    made_put(fd, "zz-ironcurtain", CLIENTS_CHROMIUM_LINE) == -1 &&
	    errno != EEXIST)
		rv = -1;
	if (fd != -1)
		close(fd);
	return rv;
}

int
etc_made(int dirfd, uid_t uid, gid_t gid)
{
	char passwd[128], group[64];

	snprintf(passwd, sizeof(passwd),
	    "agent:x:%u:%u:agent:/home/agent:/bin/sh\n", (unsigned)uid,
	    (unsigned)gid);
	snprintf(group, sizeof(group), "agent:x:%u:\n", (unsigned)gid);
	if (made_put(dirfd, "passwd", passwd) == -1 ||
	    made_put(dirfd, "group", group) == -1 ||
	    made_put(dirfd, "hosts", SURVEY_HOSTS) == -1 ||
	    made_put(dirfd, "hostname", SURVEY_HOSTNAME "\n") == -1 ||
	    made_put(dirfd, "nsswitch.conf", SURVEY_NSS) == -1)
		return -1;
	return mkdirat(dirfd, "ironcurtain", 0755) == -1 ? -1
							 : made_browsers(dirfd);
}
