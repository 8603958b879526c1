/* SPDX-License-Identifier: ISC */
/*
 * services.log of the session directory: what services write, one line after
 * the other with the service's name in front. The lines are a hostile
 * program's, so that they are read after the confinement, cut, made printable,
 * and limited in number.
 */
#include "workers/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define LOG_NAME "services.log"
#define LOG_LINE 512U
#define LOG_LINES 2000U /* for each service */

static struct {
	int fd;
	struct {
		char line[LOG_LINE];
		size_t len;
		unsigned lines;
	} of[PROTO_MAX_SERVICES];
} log_env;

int
serve_log_open(struct fault *fault)
{
	log_env.fd = openat(ERRAND_SESSION, LOG_NAME,
	    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	return log_env.fd == -1 ? fault_errno(fault, LOG_NAME) : 0;
}

static void
log_put(unsigned i, struct span line)
{
	char vis[LOG_LINE * 4 + 8], text[sizeof(vis) + 64];
	int n;

	if (log_env.of[i].lines++ > LOG_LINES)
		return;
	if (log_env.of[i].lines > LOG_LINES)
		line = SPAN("(its further lines are not kept)");
	n = snprintf(text, sizeof(text), "%s: %s\n", serve_env.list[i].name,
	    log_vis(line, vis, sizeof(vis)));
	(void)span_write(log_env.fd, span_of(text, (size_t)n));
}

/* Write the whole lines, and one that exceeds the buffer. */
static void
log_lines(unsigned i)
{
	char *line = log_env.of[i].line, *nl;
	size_t *len = &log_env.of[i].len, n;

	while ((nl = memchr(line, '\n', *len)) != NULL || *len == LOG_LINE) {
		n = nl != NULL ? (size_t)(nl - line) : *len;
		log_put(i, span_of(line, n));
		n += nl != NULL;
		*len -= n;
		memmove(line, line + n, *len);
	}
}

/* Read what the service has written. Returns false at the end. */
static bool
log_read(unsigned i)
{
	ssize_t n;

	n = read(serve_env.list[i].out, log_env.of[i].line + log_env.of[i].len,
	    LOG_LINE - log_env.of[i].len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		log_env.of[i].lines = 0;
		if (log_env.of[i].len != 0)
			log_put(i,
			    span_of(log_env.of[i].line, log_env.of[i].len));
		log_put(i, SPAN("(ended)"));
		return false;
	}
	log_env.of[i].len += (size_t)n;
	log_lines(i);
	return true;
}

void
serve_log(void)
{
	struct pollfd p[PROTO_MAX_SERVICES];
	unsigned open = serve_env.n;

	for (unsigned i = 0; i < serve_env.n; i++)
		p[i] = (struct pollfd){
		    .fd = serve_env.list[i].out, .events = POLLIN};
	while (open != 0) {
		if (ppoll(p, serve_env.n, NULL, NULL) == -1)
			continue;
		for (unsigned i = 0; i < serve_env.n; i++)
			if (p[i].fd != -1 && p[i].revents != 0 &&
			    !log_read(i)) {
				p[i].fd = -1;
				open--;
			}
	}
}
