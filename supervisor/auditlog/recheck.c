/* SPDX-License-Identifier: ISC */
#include "auditlog/recheck.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sup.h"

static struct {
	struct loop_io io;
	struct spawned reader;
	struct recheck_report report;
	size_t len;
	bool bad;
} recheck_env = {.io = LOOP_IO_INIT, .reader = SPAWNED_INIT};

/* Stop the reader, if it still runs. */
static void
recheck_stop(void)
{
	int code, status;

	if (recheck_env.io.fd != -1) {
		loop_del(&sup.loop, &recheck_env.io);
		close(recheck_env.io.fd);
		recheck_env.io = (struct loop_io)LOOP_IO_INIT;
	}
	if (recheck_env.reader.pidfd == -1)
		return;
	(void)kill(recheck_env.reader.pid, SIGKILL);
	(void)spawn_reap(recheck_env.reader.pidfd, true, &code, &status);
	close(recheck_env.reader.pidfd);
	recheck_env.reader.pidfd = -1;
}

static void
recheck_note(const struct checkpoint *c)
{
	if (checkpoint_write(sup.session.fd, c) == -1)
		sup_note("audit.checkpoint: %s", strerror(errno));
}

static void
recheck_failed(const char *why)
{
	char text[256];

	recheck_env.bad = true;
	snprintf(text, sizeof(text),
	    "the log of this session's earlier runs: %s. Keep it, and look: "
	    "icctl audit verify",
	    why);
	sup_alarm("icsupervisor", "audit", text);
	event_log_broken(why);
	if (!sup.config.log_strict)
		return;
	sup_warn("audit.strict: the session ends because its log is broken");
	end_request(SUP_EXIT_FAILED, NULL, "audit.strict: %s", why);
}

/* The report is whole, or the reader has ended without one. */
static void
recheck_judge(void)
{
	const struct recheck_report *r = &recheck_env.report;
	const struct checkpoint *from = &sup.session.unchecked;
	char why[160];

	if (recheck_env.len != sizeof(*r)) {
		recheck_failed("the program that checks it, ic-logcheck, ended "
			       "early");
		return;
	}
	if (r->check != AUDITLOG_GOOD) {
		snprintf(why, sizeof(why), "line %" PRIu64 ": %s", r->line,
		    auditscan_why((enum auditlog_check)r->check));
		recheck_failed(why);
		return;
	}
	if (r->seq != from->log.seq ||
	    memcmp(r->hash, from->log.prev, AUDITLOG_HASH) != 0) {
		recheck_failed("it does not lead to its checkpoint");
		return;
	}
	sup_note("the log of earlier runs is intact: %" PRIu64 " records",
	    r->seq - 1);
	sup.session.unchecked.offset = 0;
	recheck_note(&sup.session.begun);
}

static void
recheck_read(struct loop_io *io, uint32_t events)
{
	uint8_t *to = (uint8_t *)&recheck_env.report + recheck_env.len;
	ssize_t n;

	(void)events;
	n = read(io->fd, to, sizeof(recheck_env.report) - recheck_env.len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		recheck_env.len += (size_t)n;
	if (n > 0 && recheck_env.len < sizeof(recheck_env.report))
		return;
	recheck_stop();
	recheck_judge();
}

static int
recheck_start(int log, int out)
{
	char *path = paths_join(sup.paths.libexecdir, "ic-logcheck");
	char offset[24], name[] = "ic-logcheck";
	char *const argv[] = {name, offset, NULL}, *const envp[] = {NULL};
	struct spawn s = {.path = path,
	    .argv = argv,
	    .envp = envp,
	    .fds = {log, out, -1},
	    .nfds = 3,
	    .session = true,
	    .worker = true};
	int rv = -1;

	snprintf(
	    offset, sizeof(offset), "%" PRIu64, sup.session.unchecked.offset);
	if (path != NULL && spawn_start(&s, &recheck_env.reader) == 0)
		rv = spawn_check(&recheck_env.reader);
	free(path);
	return rv;
}

void
recheck_begin(void)
{
	int log, out[2];

	if (sup.session.unchecked.offset == 0) {
		/* The start has checked everything. */
		if (sup.session.begun.offset != 0)
			recheck_note(&sup.session.begun);
		return;
	}
	if ((log = session_audit_reader(&sup.session)) == -1 ||
	    pipe2(out, O_CLOEXEC) == -1) {
		if (log != -1)
			close(log);
		recheck_failed("it cannot be read");
		return;
	}
	if (recheck_start(log, out[1]) == -1 ||
	    fcntl(out[0], F_SETFL, O_NONBLOCK) == -1 ||
	    loop_add(&sup.loop, &recheck_env.io, out[0], EPOLLIN, recheck_read,
		NULL) == -1) {
		close(out[0]);
		recheck_stop();
		recheck_failed("ic-logcheck cannot be started");
	}
	close(log);
	close(out[1]);
}

void
recheck_end(const struct checkpoint *end)
{
	recheck_stop();
	if (recheck_env.bad)
		checkpoint_remove(sup.session.fd);
	else if (end != NULL && sup.session.unchecked.offset == 0)
		recheck_note(end);
}
