/* SPDX-License-Identifier: ISC */
/*
 * Composes the arguments of bubblewrap, and starts it. box/system/init.c begins
 * every sandbox; the caller binds everything else.
 */
#include "box/box.h"
#include "base/close_keep.h"
#include "common/wordlist.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOX_MAX_ARGS (1U << 20)
#define BOX_ARGS_FD 3

static void
box_fail(struct box *b)
{
	if (!b->failed)
		b->error = errno;
	b->failed = true;
}

static struct host_program box_resolved;

struct host_program *
box_program(void)
{
	return &box_resolved;
}

const char *
box_bwrap(void)
{
	static const char *const places[] = {
	    "/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"};

	for (size_t i = 0; i < nitems(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

void
box_arg(struct box *b, const char *s)
{
	buf_add(&b->args, s, strlen(s) + 1);
	if (b->args.failed)
		box_fail(b);
}

void
box_args(struct box *b, const char *s1, const char *s2, const char *s3)
{
	box_arg(b, s1);
	if (s2 != NULL)
		box_arg(b, s2);
	if (s3 != NULL)
		box_arg(b, s3);
}

void
box_setenv(struct box *b, const char *name, const char *value)
{
	box_args(b, "--setenv", name, value);
}

int
box_pass(struct box *b, int fd)
{
	if (fd == -1 || b->nfds == SPAWN_MAX_FDS) {
		if (fd != -1) {
			close(fd);
			errno = E2BIG;
		}
		box_fail(b);
		return -1;
	}
	b->fds[b->nfds] = fd;
	return (int)b->nfds++;
}

/* Add the number of `fd` as an argument, and take ownership of it. */
static void
box_fd_arg(struct box *b, int fd)
{
	char text[16];
	int n;

	if ((n = box_pass(b, fd)) == -1)
		return;
	snprintf(text, sizeof(text), "%d", n);
	box_arg(b, text);
}

void
box_bind(struct box *b, int fd, const char *dest, bool writable)
{
	box_arg(b, writable ? "--bind-fd" : "--ro-bind-fd");
	box_fd_arg(b, fcntl(fd, F_DUPFD_CLOEXEC, 0));
	box_arg(b, dest);
}

void
box_bind_path(struct box *b, const char *path, const char *dest, bool writable)
{
	int fd;

	if ((fd = open(path, O_PATH | O_CLOEXEC)) == -1) {
		box_fail(b);
		return;
	}
	box_bind(b, fd, dest, writable);
	close(fd);
}

void
box_status(struct box *b, struct box_report *r)
{
	int p[2];

	*r = (struct box_report){.fd = -1};
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1) {
		box_fail(b);
		return;
	}
	box_arg(b, "--json-status-fd");
	box_fd_arg(b, p[1]);
	r->fd = p[0];
}

/* Read more of the report, and return what follows this member's name. */
static const char *
box_reported(struct box_report *r, const char *member)
{
	const char *at;
	ssize_t n;

	while (r->len < sizeof(r->text) - 1 &&
	       (n = read(
		    r->fd, r->text + r->len, sizeof(r->text) - 1 - r->len)) > 0)
		r->len += (size_t)n;
	r->text[r->len] = '\0';
	at = strstr(r->text, member);
	return at == NULL ? NULL : at + strlen(member);
}

pid_t
box_first(struct box_report *r)
{
	const char *at = box_reported(r, "\"child-pid\":");

	return at == NULL ? -1 : (pid_t)strtol(at, NULL, 10);
}

bool
box_reached(struct box_report *r)
{
	/*
	 * bubblewrap reports an exit code only for a program that it started.
	 */
	return box_reported(r, "\"exit-code\"") != NULL;
}

static int
box_memfd(const char *name, struct span s)
{
	ssize_t n;
	int fd;

	if ((fd = memfd_create(name, MFD_CLOEXEC)) == -1)
		return -1;
	while (s.len != 0) {
		n = write(fd, s.p, s.len);
		if (n == -1)
			goto bad;
		s.p += n;
		s.len -= (size_t)n;
	}
	if (lseek(fd, 0, SEEK_SET) == 0)
		return fd;
bad:
	return close_keep(fd);
}

void
box_data(struct box *b, const char *dest, struct span s)
{
	box_args(b, "--perms", "0444", "--ro-bind-data");
	box_fd_arg(b, box_memfd("data", s));
	box_arg(b, dest);
}

void
box_deny(struct box *b, const char *path, mode_t mode)
{
	if (S_ISDIR(mode)) {
		box_args(b, "--perms", "0111", "--tmpfs");
	} else {
		box_args(b, "--perms", "0000", "--ro-bind-data");
		box_fd_arg(b, box_memfd("data", SPAN("")));
	}
	box_arg(b, path);
}

void
box_begin(struct box *b, enum filter_kind kind, uint64_t files)
{
	memset(b, 0, sizeof(*b));
	buf_init(&b->args, BOX_MAX_ARGS);
	b->group = -1;
	for (size_t i = 0; i < SPAWN_MAX_FDS; i++)
		b->fds[i] = -1;
	b->nfds = BOX_ARGS_FD + 1;
	b->files = files;
	box_arg(b, "--seccomp");
	box_fd_arg(b, filter_memfd(kind));
}

void
box_free(struct box *b)
{
	for (size_t i = BOX_ARGS_FD; i < b->nfds; i++)
		if (b->fds[i] != -1)
			close(b->fds[i]);
	b->nfds = 0;
	if (b->group != -1)
		close(b->group);
	b->group = -1;
	buf_free(&b->args);
}

int
box_spawn(struct box *b, const int stdio[3], char *const *argv,
    struct spawned *out, struct fault *fault)
{
	char *const envp[] = {NULL};
	const char *bwrap = box_bwrap();
	const char *list[260];
	struct wordlist words = WORDLIST_IN(list);
	struct spawn s = {.path = bwrap, .envp = envp, .nfds = b->nfds};

	if (bwrap == NULL)
		return fault_set(fault, "bubblewrap is not installed: apt "
					"install bubblewrap");
	b->fds[BOX_ARGS_FD] =
	    b->failed ? -1 : box_memfd("args", buf_span(&b->args));
	if (b->fds[BOX_ARGS_FD] == -1) {
		if (b->failed)
			errno = b->error;
		return fault_errno(fault, "cannot create the sandbox");
	}
	wordlist_all(
	    &words, (const char *const[]){"bwrap", "--args", "3", "--", NULL});
	wordlist_all(&words, (const char *const *)argv);
	if ((s.argv = wordlist_end(&words)) == NULL)
		return fault_set(fault, "more than 255 arguments");
	memcpy(s.fds, b->fds, sizeof(s.fds));
	for (size_t i = 0; i < 3; i++)
		s.fds[i] = stdio[i];
	s.session = true;
	s.nofile = b->files;
	s.grouped = b->group != -1;
	s.group = b->group;
	if (box_resolved.nfiles != 0
		? host_program_start(&box_resolved, NULL, &s, out) == -1
		: spawn_start(&s, out) == -1)
		return fault_errno(fault, "%s", bwrap);
	return 0;
}
