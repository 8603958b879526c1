/* SPDX-License-Identifier: ISC */
/*
 * The inbox: a directory beside the session's sockets, which the sandbox sees
 * read-only as /run/ironcurtain. No process in a sandbox can write it, so its
 * names lead nowhere else.
 */
#include "icctl/paste/priv.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

#define INBOX_PATH "sockets/inbox"
#define INBOX_MAKING ".paste.new"
#define INBOX_LOCK ".paste.lock"
#define INBOX_LAST 999999999U

/* Returns the number in the name of an image, or 0 for other names. */
static uint32_t
inbox_number(const char *name)
{
	uint64_t v;

	return span_u64(span_of(name, strcspn(name, ".")), INBOX_LAST, &v) == -1
		   ? 0
		   : (uint32_t)v;
}

/*
 * Find the oldest and the newest image. Returns the number of images, or -1
 * with errno set.
 */
static int
inbox_look(int fd, char oldest[PASTE_NAME], uint32_t *newest)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy == -1 ? NULL : fdopendir(copy);
	uint32_t first = UINT32_MAX, n;
	struct dirent *e;
	int count = 0;

	if (d == NULL) {
		if (copy != -1)
			close(copy);
		return -1;
	}
	*newest = 0;
	while ((e = readdir(d)) != NULL) {
		if ((n = inbox_number(e->d_name)) == 0 ||
		    strlen(e->d_name) >= PASTE_NAME)
			continue;
		count++;
		if (n > *newest)
			*newest = n;
		if (n < first) {
			first = n;
			(void)strlcpy(oldest, e->d_name, PASTE_NAME);
		}
	}
	closedir(d);
	return count;
}

/* Open the directory, which the sandbox's user may read. */
static int
inbox_enter(struct paste_inbox *in)
{
	if (mkdirat(in->dir, INBOX_PATH, 0700) == -1 && errno != EEXIST)
		return -1;
	in->inbox = openat(in->dir, INBOX_PATH,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return in->inbox == -1 || fchmod(in->inbox, 0755) == -1 ? -1 : 0;
}

static int
inbox_write(struct paste_inbox *in, struct span image)
{
	int fd, rv, save;

	(void)unlinkat(in->dir, INBOX_MAKING, 0);
	fd = openat(in->dir, INBOX_MAKING,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	rv = span_write(fd, image) == -1 || fchmod(fd, 0444) == -1 ? -1 : 0;
	save = errno;
	close(fd);
	errno = save;
	return rv;
}

int
paste_inbox_open(struct paste_inbox *in, const char *dir,
    const struct paste_kind *kind, struct span image)
{
	char oldest[PASTE_NAME];
	uint32_t newest;

	*in = (struct paste_inbox){.dir = -1, .inbox = -1, .lock = -1};
	in->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (in->dir == -1 || inbox_enter(in) == -1 ||
	    (in->lock = openat(in->dir, INBOX_LOCK,
		 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) == -1 ||
	    flock(in->lock, LOCK_EX) == -1 ||
	    inbox_look(in->inbox, oldest, &newest) == -1)
		return -1;
	if (newest == INBOX_LAST) {
		errno = EOVERFLOW;
		return -1;
	}
	snprintf(in->name, sizeof(in->name), "%u.%s", newest + 1, kind->ext);
	return inbox_write(in, image);
}

int
paste_inbox_show(struct paste_inbox *in)
{
	char oldest[PASTE_NAME];
	uint32_t newest;

	if (renameat(in->dir, INBOX_MAKING, in->inbox, in->name) == -1)
		return -1;
	while (inbox_look(in->inbox, oldest, &newest) > (int)PASTE_KEPT)
		if (unlinkat(in->inbox, oldest, 0) == -1)
			break;
	return 0;
}

void
paste_inbox_close(struct paste_inbox *in)
{
	const int save = errno;

	/* Only who has the lock has chosen a name. */
	if (in->name[0] != '\0')
		(void)unlinkat(in->dir, INBOX_MAKING, 0);
	if (in->lock != -1)
		close(in->lock);
	if (in->inbox != -1)
		close(in->inbox);
	if (in->dir != -1)
		close(in->dir);
	errno = save;
}
