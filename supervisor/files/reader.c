/* SPDX-License-Identifier: ISC */
#include "files/reader.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/spawn.h"

#define READER_SECONDS 20

static struct {
	const char *libexecdir;
	struct spawned sp;
	int fd;
} reader = {.sp = SPAWNED_INIT, .fd = -1};

void
reader_use(const char *libexecdir)
{
	reader.libexecdir = libexecdir;
}

void
reader_end(void)
{
	spawn_stop(&reader.sp, 0);
	if (reader.fd != -1)
		close(reader.fd);
	reader.fd = -1;
}

static int
reader_spawn(const char *path, int theirs)
{
	char name[] = READER_PROGRAM;
	char *const argv[] = {name, NULL}, *const envp[] = {NULL};
	const struct spawn s = {.path = path,
	    .argv = argv,
	    .envp = envp,
	    .fds = {theirs, theirs, STDERR_FILENO},
	    .nfds = 3,
	    .session = true,
	    .worker = true};

	if (spawn_start(&s, &reader.sp) == -1)
		return -1;
	return spawn_check(&reader.sp);
}

/* Start ic-reader if it does not run. Returns 0, or -1 with errno set. */
static int
reader_start(void)
{
	const struct timeval patience = {.tv_sec = READER_SECONDS};
	struct paths own = {.libexecdir = NULL};
	struct fault ignored;
	char *path;
	int pair[2], rv, save;

	if (reader.fd != -1)
		return 0;
	if (reader.libexecdir == NULL && paths_init(&own, NULL, &ignored) == -1)
		return -1;
	path = paths_join(
	    reader.libexecdir != NULL ? reader.libexecdir : own.libexecdir,
	    READER_PROGRAM);
	if (reader.libexecdir == NULL)
		paths_free(&own);
	if (path == NULL ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1) {
		free(path);
		return -1;
	}
	reader.fd = pair[0];
	(void)setsockopt(
	    reader.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(
	    reader.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	rv = reader_spawn(path, pair[1]);
	save = errno;
	close(pair[1]);
	free(path);
	if (rv == -1)
		reader_end();
	errno = save;
	return rv;
}

static int
reader_send(const void *p, size_t len)
{
	ssize_t n;

	while (len != 0) {
		n = send(reader.fd, p, len, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		p = (const char *)p + n;
		len -= (size_t)n;
	}
	return 0;
}

static int
reader_receive(void *to, size_t len)
{
	uint8_t *p = to;
	ssize_t n;

	while (len != 0) {
		n = recv(reader.fd, p, len, 0);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n == 0 ? EPIPE : errno;
			return -1;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
reader_answer(struct buf *answer)
{
	uint32_t len;
	uint8_t *to;

	if (reader_receive(&len, sizeof(len)) == -1)
		return -1;
	if (len > READER_MAX_ANSWER || (to = buf_room(answer, len)) == NULL) {
		errno = EMSGSIZE;
		return -1;
	}
	if (reader_receive(to, len) == -1)
		return -1;
	buf_grow(answer, len);
	return 0;
}

int
reader_ask(enum reader_kind kind, const struct span parts[READER_PARTS],
    struct buf *answer)
{
	struct reader_request q = {.kind = kind};
	int rv, save;

	for (unsigned i = 0; i < READER_PARTS; i++)
		q.len[i] = parts[i].len < READER_MAX_PART
			       ? (uint32_t)parts[i].len
			       : READER_MAX_PART;
	rv = reader_start();
	if (rv == 0)
		rv = reader_send(&q, sizeof(q));
	for (unsigned i = 0; rv == 0 && i < READER_PARTS; i++)
		rv = reader_send(parts[i].p, q.len[i]);
	if (rv == 0)
		rv = reader_answer(answer);
	if (rv == -1) {
		save = errno;
		reader_end();
		errno = save;
	}
	return rv;
}

int
reader_bad(struct fault *fault)
{
	return fault_set(fault, READER_PROGRAM ": the answer is not valid");
}

int
reader_read(enum reader_kind kind, const struct span parts[READER_PARTS],
    const char *file, struct buf *answer, struct fault *fault)
{
	char text[sizeof(fault->text)];
	uint8_t letter;

	if (reader_ask(kind, parts, answer) == -1)
		return fault_set_kind(fault, FAULT_SCARCE,
		    READER_PROGRAM ", which reads %s: %s%s", file,
		    strerror(errno), fault_remedy(errno));
	if (answer->len == 0)
		return reader_bad(fault);
	letter = buf_span(answer).p[0];
	buf_drain(answer, 1);
	if (letter == READER_FAULT &&
	    span_copy(buf_span(answer), text, sizeof(text)) == 0)
		return fault_set(fault, "%s", text);
	return letter == READER_GOOD ? 0 : reader_bad(fault);
}
