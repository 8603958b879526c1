/* SPDX-License-Identifier: ISC */
#include "log/parts.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARTS_NEWEST "audit.jsonl"
#define PARTS_NEXT "audit.next"

/* Returns the number in the name of an older file, or 0 if it is none. */
static unsigned
parts_number(const char *name)
{
	char again[AUDITPARTS_NAME];
	unsigned n;

	if (sscanf(name, "audit.%5u.jsonl", &n) != 1 || n == 0 ||
	    strcmp(name, auditparts_name(n, n, again)) != 0)
		return 0;
	return n;
}

const char *
auditparts_name(unsigned part, unsigned older, char name[AUDITPARTS_NAME])
{
	if (part > older)
		(void)snprintf(name, AUDITPARTS_NAME, "%s", PARTS_NEWEST);
	else
		(void)snprintf(name, AUDITPARTS_NAME, "audit.%u.jsonl", part);
	return name;
}

int
auditparts_count(int dirfd, unsigned *older)
{
	char name[AUDITPARTS_NAME];
	unsigned most = 0, n;
	struct dirent *e;
	struct stat st;
	DIR *d;
	int fd;

	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (d = fdopendir(fd)) == NULL) {
		if (fd != -1)
			close(fd);
		return -1;
	}
	while ((e = readdir(d)) != NULL)
		if ((n = parts_number(e->d_name)) > most)
			most = n;
	closedir(d);
	for (n = 1; n <= most; n++)
		if (fstatat(dirfd, auditparts_name(n, most, name), &st,
			AT_SYMLINK_NOFOLLOW) == -1) {
			*older = n;
			errno = ENODATA;
			return -1;
		}
	*older = most;
	return 0;
}

int
auditparts_map(int dirfd, const char *name, struct span *all)
{
	struct stat st;
	void *p;
	int fd;

	fd = openat(
	    dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	*all = (struct span){NULL, 0};
	if (st.st_size == 0) {
		close(fd);
		return 0;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -1;
	*all = span_of(p, (size_t)st.st_size);
	return 0;
}

void
auditparts_unmap(struct span *all)
{
	if (all->len != 0)
		(void)munmap((void *)(uintptr_t)all->p, all->len);
	*all = (struct span){NULL, 0};
}

char *
auditparts_tail(int dirfd, size_t max, size_t *len, bool *cut)
{
	char name[AUDITPARTS_NAME], *p;
	size_t have = 0, take = 0;
	unsigned older, part;
	struct span all;

	if (auditparts_count(dirfd, &older) == -1 ||
	    (p = malloc(max + 1)) == NULL)
		return NULL;
	*cut = false;
	for (part = older + 1; part != 0 && !*cut && have < max; part--) {
		if (auditparts_map(dirfd, auditparts_name(part, older, name),
			&all) == -1) {
			if (part > older && errno == ENOENT && older != 0)
				continue;
			free(p);
			return NULL;
		}
		take = all.len < max - have ? all.len : max - have;
		memmove(p + take, p, have);
		if (take != 0)
			memcpy(p, all.p + all.len - take, take);
		have += take;
		*cut = take < all.len;
		auditparts_unmap(&all);
	}
	*cut = *cut || part != 0;
	p[have] = '\0';
	*len = have;
	return p;
}

bool
auditparts_any(int dirfd)
{
	struct stat st;

	return (fstatat(dirfd, PARTS_NEWEST, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		   st.st_size != 0) ||
	       fstatat(dirfd, "audit.1.jsonl", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

uint64_t
auditparts_blocks(int dirfd)
{
	char name[AUDITPARTS_NAME];
	uint64_t bytes = 0;
	unsigned older;
	struct stat st;

	if (auditparts_count(dirfd, &older) == -1)
		older = 0;
	for (unsigned part = 1; part <= older + 1; part++)
		if (fstatat(dirfd, auditparts_name(part, older, name), &st,
			AT_SYMLINK_NOFOLLOW) == 0)
			bytes += (uint64_t)st.st_blocks * 512;
	return bytes;
}

static void
parts_close(int fds[2])
{
	for (unsigned i = 0; i < 2; i++) {
		if (fds[i] != -1)
			close(fds[i]);
		fds[i] = -1;
	}
}

/* Make the next file, under a name that is no part of the log yet. */
static int
parts_make(int dirfd, uint64_t reserve, int fds[2])
{
	const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC;

	fds[0] = fds[1] = -1;
	if (unlinkat(dirfd, PARTS_NEXT, 0) == -1 && errno != ENOENT)
		return -1;
	fds[0] = openat(dirfd, PARTS_NEXT, flags | O_CREAT | O_EXCL, 0600);
	if (fds[0] == -1)
		return -1;
	fds[1] = openat(dirfd, PARTS_NEXT, flags);
	if (fds[1] == -1)
		return -1;
	if (fallocate(fds[1], FALLOC_FL_KEEP_SIZE, 0, (off_t)reserve) == -1 &&
	    errno != EOPNOTSUPP && errno != ENOSYS)
		return -1;
	return 0;
}

int
auditparts_rotate(int dirfd, unsigned *older, uint64_t reserve, int fds[2])
{
	char name[AUDITPARTS_NAME];
	int save;

	if (*older >= AUDITPARTS_MAX) {
		errno = EMFILE;
		return -1;
	}
	(void)auditparts_name(*older + 1, *older + 1, name);
	if (parts_make(dirfd, reserve, fds) == -1 ||
	    renameat2(dirfd, PARTS_NEWEST, dirfd, name, RENAME_NOREPLACE) == -1)
		goto bad;
	if (renameat(dirfd, PARTS_NEXT, dirfd, PARTS_NEWEST) == -1) {
		save = errno;
		(void)renameat(dirfd, name, dirfd, PARTS_NEWEST);
		errno = save;
		goto bad;
	}
	(*older)++;
	return 0;
bad:
	save = errno;
	parts_close(fds);
	(void)unlinkat(dirfd, PARTS_NEXT, 0);
	errno = save;
	return -1;
}

bool
auditparts_settled(int dirfd)
{
	struct stat st;

	if (fstatat(dirfd, PARTS_NEWEST, &st, AT_SYMLINK_NOFOLLOW) == 0
		? !S_ISREG(st.st_mode) || st.st_size != 0
		: errno != ENOENT)
		return true;
	return fstatat(dirfd, "audit.1.jsonl", &st, AT_SYMLINK_NOFOLLOW) == -1;
}

int
auditparts_settle(int dirfd)
{
	char name[AUDITPARTS_NAME];
	unsigned older;

	(void)unlinkat(dirfd, PARTS_NEXT, 0);
	if (auditparts_settled(dirfd))
		return 0;
	if (auditparts_count(dirfd, &older) == -1)
		return -1;
	return older == 0 ? 0
			  : renameat(dirfd, auditparts_name(older, older, name),
				dirfd, PARTS_NEWEST);
}
