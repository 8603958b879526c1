/* SPDX-License-Identifier: ISC */
#include "icctl/image/context.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/openat2.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sha256.h"

#define CONTEXT_DIR                                                            \
	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

struct copy {
	struct buf *lines;
	struct fault *fault;
	char path[PATH_MAX]; /* the current entry, in the context */
	size_t files;
	uint64_t bytes;
};

static int copy_dir(struct copy *, int from, int to, unsigned depth);

int
context_open(int workspace, const char *path, uint64_t flags)
{
	struct open_how how = {
	    .flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	    .resolve =
		RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, workspace, path, &how, sizeof(how));
}

static void
copy_line(struct copy *c, const char *what, const char *more)
{
	char vis[4 * PATH_MAX];

	log_vis(span_str(c->path), vis, sizeof(vis));
	buf_printf(c->lines, "%s %s", what, vis);
	if (more != NULL)
		buf_printf(c->lines, " -> %s",
		    log_vis(span_str(more), vis, sizeof(vis)));
	buf_addc(c->lines, '\n');
}

static int
copy_hash(struct copy *c, int fd, size_t len, bool executable)
{
	char hex[SHA256_HEX];
	uint8_t sum[SHA256_SIZE];
	void *p = NULL;

	if (len != 0 &&
	    (p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		return fault_errno(c->fault, "%s", c->path);
	sha256_span(span_of(p != NULL ? p : "", len), sum);
	sha256_hex(sum, hex);
	if (p != NULL)
		(void)munmap(p, len);
	copy_line(c, hex, executable ? "executable" : NULL);
	return 0;
}

/* Copy what can be read, which is all that counts. */
static int
copy_bytes(struct copy *c, int in, int out, size_t *len)
{
	char text[65536];
	ssize_t n;

	*len = 0;
	while ((n = read(in, text, sizeof(text))) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return fault_errno(c->fault, "%s", c->path);
		c->bytes += (uint64_t)n;
		*len += (size_t)n;
		if (c->bytes > CONTEXT_BYTES)
			return fault_set(c->fault,
			    "build.context has more than %llu MiB: name a "
			    "smaller directory",
			    (unsigned long long)(CONTEXT_BYTES >> 20));
		if (span_write(out, span_of(text, (size_t)n)) == -1)
			return fault_errno(c->fault, "/tmp");
	}
	return 0;
}

static int
copy_file(struct copy *c, int from, int to, const char *name)
{
	struct stat st;
	size_t len;
	int in, out = -1, rv = -1;

	in = openat(from, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (in == -1 || fstat(in, &st) == -1) {
		fault_errno(c->fault, "%s", c->path);
	} else if (!S_ISREG(st.st_mode)) {
		fault_set(c->fault, "%s: changed meanwhile", c->path);
	} else if ((out = openat(to, name,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			(st.st_mode & S_IXUSR) != 0 ? 0755 : 0644)) == -1) {
		fault_errno(c->fault, "/tmp: %s", c->path);
	} else if (copy_bytes(c, in, out, &len) == 0) {
		rv = copy_hash(c, out, len, (st.st_mode & S_IXUSR) != 0);
	}
	if (in != -1)
		close(in);
	if (out != -1)
		close(out);
	return rv;
}

static int
copy_link(struct copy *c, int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n == -1)
		return fault_errno(c->fault, "%s", c->path);
	target[n] = '\0';
	if (symlinkat(target, to, name) == -1)
		return fault_errno(c->fault, "/tmp: %s", c->path);
	copy_line(c, "link", target);
	return 0;
}

static int
copy_subdir(struct copy *c, int from, int to, const char *name, unsigned depth)
{
	int in, out, rv = -1;

	if (depth == CONTEXT_DEPTH)
		return fault_set(c->fault, "%s: more than %u directories deep",
		    c->path, CONTEXT_DEPTH);
	in = openat(from, name, CONTEXT_DIR);
	if (in == -1)
		return fault_errno(c->fault, "%s", c->path);
	if (mkdirat(to, name, 0755) == -1 ||
	    (out = openat(to, name, CONTEXT_DIR)) == -1) {
		fault_errno(c->fault, "/tmp: %s", c->path);
		close(in);
		return -1;
	}
	rv = copy_dir(c, in, out, depth + 1);
	close(out);
	return rv;
}

static int
copy_entry(struct copy *c, int from, int to, const char *name, unsigned depth)
{
	struct stat st;

	if (++c->files > CONTEXT_FILES)
		return fault_set(c->fault,
		    "build.context has more than %u files: name a smaller "
		    "directory",
		    CONTEXT_FILES);
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return fault_errno(c->fault, "%s", c->path);
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, to, name);
	if (S_ISDIR(st.st_mode))
		return copy_subdir(c, from, to, name, depth);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, from, to, name);
	/* A build has no use for sockets, pipes and devices. */
	copy_line(c, "left out:", NULL);
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Read the names, sorted. Returns their number, or -1 with the fault set. */
static ssize_t
dir_names(struct copy *c, DIR *d, char **names)
{
	struct dirent *e;
	size_t n = 0;

	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (n == CONTEXT_FILES ||
		    (names[n] = strdup(e->d_name)) == NULL) {
			fault_set(c->fault,
			    "%s: more than %u files; name a smaller "
			    "build.context",
			    c->path[0] != '\0' ? c->path : "build.context",
			    CONTEXT_FILES);
			break;
		}
		n++;
	}
	qsort(names, n, sizeof(*names), by_name);
	if (e == NULL)
		return (ssize_t)n;
	while (n-- > 0)
		free(names[n]);
	return -1;
}

/* Copy the entries of a directory. Closes `from`. */
static int
copy_dir(struct copy *c, int from, int to, unsigned depth)
{
	char **names = calloc(CONTEXT_FILES, sizeof(*names));
	size_t len = strlen(c->path);
	ssize_t n = -1;
	DIR *d = names == NULL ? NULL : fdopendir(from);
	int rv = 0;

	if (d == NULL) {
		fault_errno(c->fault, "%s", c->path);
		close(from);
	} else {
		n = dir_names(c, d, names);
	}
	for (ssize_t i = 0; i < n; i++) {
		if (rv == 0 && len + strlen(names[i]) + 2 > sizeof(c->path))
			rv = fault_set(c->fault, "%s: too long", c->path);
		if (rv == 0) {
			snprintf(c->path + len, sizeof(c->path) - len, "%s%s",
			    len != 0 ? "/" : "", names[i]);
			rv = copy_entry(c, dirfd(d), to, names[i], depth);
			c->path[len] = '\0';
		}
		free(names[i]);
	}
	if (d != NULL)
		closedir(d);
	free(names);
	return n == -1 ? -1 : rv;
}

int
context_copy(int from, int to, struct buf *lines, struct fault *fault)
{
	struct copy c = {.lines = lines, .fault = fault};
	int fd = fcntl(from, F_DUPFD_CLOEXEC, 3);

	if (fd == -1)
		return fault_errno(fault, "build.context");
	if (copy_dir(&c, fd, to, 0) == -1)
		return -1;
	return lines->failed ? fault_set(fault, "build.context: too many names")
			     : 0;
}
