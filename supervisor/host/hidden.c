/* SPDX-License-Identifier: ISC */
/*
 * A place is hidden at each path that leads to it, also through other mounts of
 * its file system. bubblewrap makes a user namespace, in which the processes of
 * the namespaces around it cannot be looked into, so that their /proc/PID/root
 * and /proc/PID/cwd are no way around that.
 */
#include "host/hidden.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/buf.h"
#include "host/mountinfo.h"

#define HIDDEN_MAX_ARGS (8U << 20)
#define HIDDEN_MAX_PATHS 4096U
#define HIDDEN_WORDS 8U

struct covers {
	char *paths[HIDDEN_MAX_PATHS];
	bool files[HIDDEN_MAX_PATHS];
	unsigned n;
	int error; /* the errno of the first failure, or 0 */
};

/* Add a path to cover, unless there is nothing. */
static void
cover_add(const char *path, void *arg)
{
	struct covers *c = arg;
	struct stat st;

	if (lstat(path, &st) == -1)
		return;
	if (c->n == HIDDEN_MAX_PATHS) {
		c->error = E2BIG;
		return;
	}
	if ((c->paths[c->n] = strdup(path)) == NULL) {
		c->error = ENOMEM;
		return;
	}
	c->files[c->n++] = !S_ISDIR(st.st_mode);
}

static int
covers_find(struct covers *c, const struct places *p)
{
	struct mountinfo m;
	int fd;

	if (mountinfo_read(&m) == -1)
		return -1;
	for (unsigned i = 0; i < p->n; i++) {
		cover_add(p->paths[i], c);
		fd = open(p->paths[i], O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1)
			continue;
		mountinfo_others(&m, fd, p->paths[i], cover_add, c);
		close(fd);
	}
	mountinfo_free(&m);
	errno = c->error;
	return c->error == 0 ? 0 : -1;
}

/* Returns true if the path is covered by another one, or by one before it. */
static bool
cover_inside(const struct covers *c, unsigned at)
{
	const char *path = c->paths[at];
	size_t n;

	for (unsigned i = 0; i < c->n; i++) {
		n = strlen(c->paths[i]);
		if (i == at || c->files[i] ||
		    strncmp(path, c->paths[i], n) != 0)
			continue;
		if (path[n] == '/' || (path[n] == '\0' && i < at))
			return true;
	}
	return false;
}

static void
hidden_word(struct buf *b, const char *word)
{
	buf_add(b, word, strlen(word) + 1);
}

static void
hidden_cover(struct buf *b, const char *path, bool file)
{
	if (file) {
		/* Without devices, as it is mounted, it cannot be opened. */
		hidden_word(b, "--ro-bind");
		hidden_word(b, "/dev/null");
		hidden_word(b, path);
		return;
	}
	hidden_word(b, "--perms");
	hidden_word(b, "0555");
	hidden_word(b, "--tmpfs");
	hidden_word(b, path);
	hidden_word(b, "--remount-ro");
	hidden_word(b, path);
}

static void
hidden_options(struct buf *b, const struct hidden *h, const char *cwd,
    const struct covers *c)
{
	static const char *const first[] = {
	    "--die-with-parent", "--clearenv", "--dev-bind", "/", "/"};
	const char *eq;

	for (size_t i = 0; i < nitems(first); i++)
		hidden_word(b, first[i]);
	for (unsigned i = 0; i < c->n; i++)
		if (!cover_inside(c, i))
			hidden_cover(b, c->paths[i], c->files[i]);
	for (char *const *e = h->env; *e != NULL; e++) {
		eq = strchr(*e, '=');
		hidden_word(b, "--setenv");
		buf_add(b, *e, (size_t)(eq - *e));
		hidden_word(b, "");
		hidden_word(b, eq + 1);
	}
	hidden_word(b, "--chdir");
	hidden_word(b, cwd);
}

/* Returns a memfd with the options, or -1 with errno set. */
static int
hidden_memfd(const struct hidden *h, const char *cwd)
{
	static struct covers c;
	struct span s;
	struct buf b;
	int fd = -1;

	memset(&c, 0, sizeof(c));
	buf_init(&b, HIDDEN_MAX_ARGS);
	if (covers_find(&c, h->places) == 0) {
		hidden_options(&b, h, cwd, &c);
		s = buf_span(&b);
		errno = E2BIG;
		if (!b.failed &&
		    (fd = memfd_create("options", MFD_CLOEXEC)) != -1 &&
		    (span_write(fd, s) == -1 || lseek(fd, 0, SEEK_SET) == -1)) {
			close(fd);
			fd = -1;
		}
	}
	for (unsigned i = 0; i < c.n; i++)
		free(c.paths[i]);
	buf_free(&b);
	return fd;
}

int
hidden_start(const struct hidden *h, const struct host_program *p,
    const struct spawn *how, struct spawned *out)
{
	char *const none[] = {NULL};
	char number[2][16], **inner, **argv = NULL;
	const char *head[HIDDEN_WORDS + 1] = {"bwrap", "--args", number[0],
	    "--", h->bridge, "exec", number[1], "--", NULL};
	struct spawn s = *how;
	size_t n = 0;
	int fd, rv = -1, save;

	if (p->nfiles == 0 || h->bwrap->nfiles != 1 ||
	    s.nfds + 2 + p->nfiles > SPAWN_MAX_FDS) {
		errno = EINVAL;
		return -1;
	}
	if ((fd = hidden_memfd(h, how->cwd != NULL ? how->cwd : "/")) == -1)
		return -1;
	snprintf(number[0], sizeof(number[0]), "%zu", s.nfds);
	s.fds[s.nfds++] = fd;
	snprintf(number[1], sizeof(number[1]), "%zu", s.nfds);
	s.fds[s.nfds++] = p->files[p->nfiles - 1].fd;
	if ((inner = host_program_argv(p, &s)) != NULL) {
		while (inner[n] != NULL)
			n++;
		argv = calloc(HIDDEN_WORDS + n + 1, sizeof(*argv));
	}
	if (argv != NULL) {
		for (size_t i = 0; i < HIDDEN_WORDS; i++)
			argv[i] = (char *)(uintptr_t)head[i];
		memcpy(argv + HIDDEN_WORDS, inner, n * sizeof(*argv));
		s.argv = argv;
		s.envp = none;
		s.cwd = "/";
		s.by_fd = true;
		s.exec = h->bwrap->files[0].fd;
		rv = spawn_start(&s, out);
	}
	save = errno;
	free(argv);
	jsonfile_strings_free(inner);
	close(fd);
	errno = save;
	return rv;
}
