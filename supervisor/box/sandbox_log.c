/* SPDX-License-Identifier: ISC */
/*
 * Lines of bubblewrap and ic-bridge. There are few, and they are not the
 * agent's, but a compromised sandbox may write anything: they are cut, made
 * printable, and limited in number.
 */
#include "box/sandbox_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "core/sup.h"

#define SANDBOX_LOG_LINES 20U

static struct {
	struct loop_io io;
	char line[512];
	size_t len;
	unsigned lines;
} log_env = {.io = LOOP_IO_INIT};

static void
log_line(size_t len)
{
	char text[sizeof(log_env.line) * 4 + 8];

	if (log_env.lines++ < SANDBOX_LOG_LINES)
		sup_warn("sandbox: %s",
		    log_vis(span_of(log_env.line, len), text, sizeof(text)));
}

/* Take the complete lines, and one that exceeds the buffer. */
static void
log_lines(void)
{
	size_t len;
	char *nl;

	while ((nl = memchr(log_env.line, '\n', log_env.len)) != NULL ||
	       log_env.len == sizeof(log_env.line)) {
		len = nl == NULL ? log_env.len : (size_t)(nl - log_env.line);
		log_line(len);
		len += nl != NULL;
		log_env.len -= len;
		memmove(log_env.line, log_env.line + len, log_env.len);
	}
}

void
sandbox_log_read(void)
{
	int fd = log_env.io.fd;
	ssize_t n;

	while (fd != -1) {
		n = read(fd, log_env.line + log_env.len,
		    sizeof(log_env.line) - log_env.len);
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			loop_del(&sup.loop, &log_env.io);
			close(fd);
			return;
		}
		log_env.len += (size_t)n;
		log_lines();
	}
}

static void
log_ready(struct loop_io *io, uint32_t events)
{
	sandbox_log_read();
}

int
sandbox_log_open(int *theirs, struct fault *fault)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1)
		return fault_errno(fault, "sandbox");
	*theirs = p[1];
	if (loop_add(&sup.loop, &log_env.io, p[0], EPOLLIN, log_ready, NULL) ==
	    -1) {
		close(p[0]);
		return fault_errno(fault, "sandbox");
	}
	return 0;
}
