/* SPDX-License-Identifier: ISC */
/*
 * Copies the workers' stderr to session.log: lines are cut at 1 KiB, made
 * printable, and begin with the worker's name. Never blocks, never grows. The
 * last lines are kept, to be shown if the session does not start.
 */
#include "sup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

static void
child_log_keep(struct child *c, struct span s)
{
	if (!sup.ready && c->last[0] != '\0') {
		memmove(c->before[0], c->before[1],
		    sizeof(c->before) - sizeof(c->before[0]));
		memcpy(c->before[SUP_SAID - 1], c->last, sizeof(c->last));
	}
	log_vis(s, c->last, sizeof(c->last));
}

const char *
child_said(const struct child *c, char *dst, size_t cap)
{
	snprintf(dst, cap, "%s%s", c->last[0] != '\0' ? "; it last said: " : "",
	    c->last);
	return dst;
}

void
child_log_tell(const struct child *c)
{
	for (size_t i = 0; i < SUP_SAID; i++)
		if (c->before[i][0] != '\0')
			log_warnx("%s said before: %s", c->name, c->before[i]);
	/* A directory that was made for this start is removed again. */
	if (!sup.session.made || sup.config.anchor != NULL)
		log_warnx("everything it said is in %s/session.log",
		    sup.session.dir);
	log_warnx("icctl doctor checks this machine and your configuration");
}

static void
child_log_line(struct child *c)
{
	struct span s = span_of(c->line, c->nline);
	struct span own = span_str(c->name);
	const char *space = strchr(c->name, ' ');

	/*
	 * The worker's lines begin with its program's name; ours is more
	 * precise.
	 */
	if (space != NULL)
		own.len = (size_t)(space - c->name);
	if (span_starts(s, own) && s.len > own.len + 2 &&
	    memcmp(s.p + own.len, ": ", 2) == 0) {
		s.p += own.len + 2;
		s.len -= own.len + 2;
	}
	c->nline = 0;
	c->cut = false;
	if (s.len == 0)
		return;
	child_log_keep(c, s);
	session_log(&sup.session, c->name, s);
}

static void
child_log_bytes(struct child *c, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n')
			child_log_line(c);
		else if (c->nline < sizeof(c->line))
			c->line[c->nline++] = p[i];
		else
			c->cut = true;
	}
}

/* Read at most `rounds` times. */
static void
child_log_take(struct child *c, unsigned rounds)
{
	char buf[4096];
	ssize_t n;

	while (rounds-- != 0 && c->log != -1) {
		n = read(c->log, buf, sizeof(buf));
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			if (c->nline != 0)
				child_log_line(c);
			loop_del(&sup.loop, &c->log_io);
			close(c->log);
			c->log = -1;
			return;
		}
		child_log_bytes(c, buf, (size_t)n);
	}
}

void
child_log_read(struct loop_io *io, uint32_t events)
{
	child_log_take(io->arg, 1);
}

void
child_drain(struct child *c)
{
	child_log_take(c, 32);
	if (c->nline != 0)
		child_log_line(c);
}
