/* SPDX-License-Identifier: ISC */
/*
 * Names and locks the homes of agents that stay. Trusts homes/ID, which no
 * sandbox sees; nothing below homes/ID/home is opened here.
 */
#include "home/store.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/close_keep.h"
#include "base/small_file.h"
#include "common/sha256.h"

void
home_id(const char *workspace, const char *agent, char id[HOME_ID])
{
	/* With its NUL, the path cannot run into the name. */
	const struct span parts[] = {
	    span_of(workspace, strlen(workspace) + 1), span_str(agent)};
	char hex[SHA256_HEX];
	uint8_t sum[SHA256_SIZE];

	sha256_spans(parts, nitems(parts), sum);
	sha256_hex(sum, hex);
	memcpy(id, hex, HOME_ID - 1);
	id[HOME_ID - 1] = '\0';
}

bool
home_id_ok(const char *id)
{
	return strlen(id) == HOME_ID - 1 &&
	       strspn(id, "0123456789abcdef") == HOME_ID - 1;
}

int
home_take(int dirfd)
{
	struct stat st;
	int fd;

	fd = openat(dirfd, HOME_LOCK,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0) {
		/* The one who removes a home holds the lock meanwhile. */
		if (st.st_nlink != 0)
			return fd;
		errno = ESTALE;
	}
	return close_keep(fd);
}

int
home_sign(int lock, const char *user)
{
	size_t len = strlen(user);

	if (ftruncate(lock, 0) == -1)
		return -1;
	return pwrite(lock, user, len, 0) == (ssize_t)len ? 0 : -1;
}

void
home_user(int dirfd, char user[HOME_USER_MAX])
{
	(void)small_file_read(dirfd, HOME_LOCK, user, HOME_USER_MAX);
}
