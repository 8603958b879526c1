/* SPDX-License-Identifier: ISC */
#include "host/treehash.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TREEHASH_DEPTH 64U

static int treehash_directory(
    struct treehash *, int fd, const char *path, unsigned depth);

/* It is a chain: what came before is hashed, too. */
void
treehash_add(
    struct treehash *t, char kind, const char *path, struct span contents)
{
	const struct span parts[] = {span_of(t->sum, sizeof(t->sum)),
	    span_of(&kind, 1), span_of(path, strlen(path) + 1), contents};
	uint8_t sum[SHA256_SIZE];

	sha256_spans(parts, nitems(parts), sum);
	memcpy(t->sum, sum, sizeof(sum));
	t->files++;
}

static int
treehash_file(struct treehash *t, int dir, const char *name, const char *path)
{
	struct stat st;
	uint8_t *text = NULL;
	size_t len = 0;
	ssize_t n = 0;
	int fd, rv = -1, save;

	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return -1;
	errno = EFBIG;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size <= t->most - t->bytes &&
	    (text = malloc((size_t)st.st_size + 1)) != NULL) {
		while (len < (size_t)st.st_size &&
		       (n = read(fd, text + len, (size_t)st.st_size - len)) > 0)
			len += (size_t)n;
		t->bytes += len;
		if (n != -1) {
			treehash_add(t, (st.st_mode & 0100) != 0 ? 'x' : 'f',
			    path, span_of(text, len));
			rv = 0;
		}
	}
	save = errno;
	free(text);
	close(fd);
	errno = save;
	return rv;
}

static int
treehash_entry(struct treehash *t, int dir, const char *name, const char *above,
    unsigned depth)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int fd;

	errno = EFBIG;
	if (t->files >= TREEHASH_FILES || depth > TREEHASH_DEPTH ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", above, name) >=
		sizeof(path) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return -1;
	if (S_ISREG(st.st_mode))
		return treehash_file(t, dir, name, path);
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(dir, name, target, sizeof(target));
		if (n == -1)
			return -1;
		treehash_add(t, 'l', path, span_of(target, (size_t)n));
		return 0;
	}
	if (!S_ISDIR(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	treehash_add(t, 'd', path, SPAN(""));
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd == -1 ? -1 : treehash_directory(t, fd, path, depth + 1);
}

static int
treehash_order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Hash a directory. Takes `fd`. */
static int
treehash_directory(struct treehash *t, int fd, const char *path, unsigned depth)
{
	struct dirent **list;
	int n, rv = 0, save;

	n = scandirat(fd, ".", &list, NULL, treehash_order);
	if (n == -1)
		rv = -1;
	for (int i = 0; i < n; i++) {
		const char *name = list[i]->d_name;

		if (rv == 0 && strcmp(name, ".") != 0 &&
		    strcmp(name, "..") != 0)
			rv = treehash_entry(t, fd, name, path, depth);
		save = errno;
		free(list[i]);
		errno = save;
	}
	save = errno;
	if (n != -1)
		free(list);
	close(fd);
	errno = save;
	return rv;
}

int
treehash_read(struct treehash *t, int dirfd, uint64_t most)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*t = (struct treehash){.most = most};
	return fd == -1 ? -1 : treehash_directory(t, fd, "", 0);
}
