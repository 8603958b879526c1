/* SPDX-License-Identifier: ISC */
#include "log/recheck.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/plural.h"
#include "core/sup.h"
#include "hub/approvals.h"
#include "resume/state.h"

/* Whenever a run has written so much more, that is checked. */
#define RECHECK_LIVE (16U << 20)

static struct {
	struct loop_io io;
	struct spawned reader;
	struct recheck_report report;
	size_t len;
	unsigned part;	/* the file that it reads: parts.h */
	struct auditplace at; /* the place in the chain where it begins, */
	uint64_t from;	      /* in the file, */
	uint64_t lines;	      /* and the lines before that */
	bool bad;
	struct checkpoint live; /* the log's end, as far as it is checked */
	bool is_live;		/* that is where this check ends */
	unsigned step, step_part;
} recheck_env = {.io = LOOP_IO_INIT, .reader = SPAWNED_INIT};

/* Stop the reader, if it still runs. */
static void
recheck_stop(void)
{
	if (recheck_env.io.fd != -1) {
		loop_del(&sup.loop, &recheck_env.io);
		close(recheck_env.io.fd);
		recheck_env.io = (struct loop_io)LOOP_IO_INIT;
	}
	spawn_stop(&recheck_env.reader, 0);
}

static void
recheck_note(const struct checkpoint *c, const struct checked *done)
{
	if (checkpoint_write(sup.session.fd, c, done) == -1)
		sup_note("audit.checkpoint: %s", strerror(errno));
}

static void
recheck_failed(const char *why)
{
	char text[256];

	recheck_env.bad = true;
	snprintf(text, sizeof(text),
	    "the log of this session%s: %s. Keep it, and look: icctl audit "
	    "verify",
	    recheck_env.is_live ? "" : "'s earlier runs", why);
	sup_alarm("icsupervisor", "audit", text);
	event_log_broken(why);
	if (!sup.config.log_strict)
		return;
	sup_warn("audit.strict: the session ends because its log is broken");
	end_request(SUP_EXIT_FAILED, NULL, "audit.strict: %s", why);
}

/* Check from here, once this run has written much more. */
static void
recheck_from(const struct checkpoint *c)
{
	recheck_env.part = c->part;
	recheck_env.from = c->offset;
	recheck_env.at.log = c->log;
	recheck_env.at.format = AUDITSCAN_FORMAT;
	recheck_env.lines = 0;
}

/*
 * The log of this run is good up to a record near its end. If this process is
 * killed, the next start begins there.
 */
static void
recheck_lived(const struct recheck_report *r)
{
	struct checkpoint c = {.part = recheck_env.part,
	    .offset = r->offset,
	    .log = {.seq = r->seq}};

	/* It could not be synced to the disk. */
	if (r->offset == 0)
		return;
	memcpy(c.log.prev, r->hash, AUDITLOG_HASH);
	recheck_from(&c);
	recheck_note(&c, NULL);
}

/* The last file was good up to the checkpoint. Compare its end with that. */
static void
recheck_lead(const struct recheck_report *r)
{
	const struct checkpoint *from = &sup.session.unchecked;

	if (recheck_env.is_live) {
		recheck_lived(r);
		return;
	}
	if (r->seq != from->log.seq ||
	    memcmp(r->hash, from->log.prev, AUDITLOG_HASH) != 0) {
		recheck_failed("it does not lead to its checkpoint");
		return;
	}
	sup_note("the log of earlier runs is intact: %" PRIu64 " record%s",
	    r->seq - 1, plural(r->seq - 1));
	sup.session.unchecked.offset = 0;
	recheck_note(&sup.session.begun, NULL);
	recheck_from(&sup.session.begun);
}

/* Everything up to this place is good. */
static void
recheck_came(const struct recheck_report *r)
{
	struct checked *c = &sup.session.checked;

	if (recheck_env.is_live)
		return;
	c->upto.part = recheck_env.part;
	c->upto.offset = r->offset;
	c->upto.log.seq = r->seq;
	memcpy(c->upto.log.prev, r->hash, AUDITLOG_HASH);
	c->format = (int64_t)r->format;
	c->line = recheck_env.lines + r->line;
	/* If this process is killed, the next one goes on here. */
	recheck_note(&sup.session.unchecked, c);
}

static void recheck_next(void);

/* Returns the place where the check ends. */
static const struct checkpoint *
recheck_to(void)
{
	return recheck_env.is_live ? &recheck_env.live : &sup.session.unchecked;
}

/* The report is whole, or the reader has ended without one. */
static void
recheck_judge(void)
{
	const struct recheck_report *r = &recheck_env.report;
	char name[AUDITPARTS_NAME], file[AUDITPARTS_NAME + 2] = "";
	char why[160];

	if (recheck_env.len != sizeof(*r)) {
		recheck_failed("the program that checks it, ic-logcheck, ended "
			       "early");
		return;
	}
	if (r->check != AUDITLOG_GOOD) {
		if (sup.session.older != 0)
			snprintf(file, sizeof(file), "%s ",
			    auditparts_name(
				recheck_env.part, sup.session.older, name));
		snprintf(why, sizeof(why), "%s%s %" PRIu64 ": %s", file,
		    recheck_env.is_live ? "record" : "line",
		    recheck_env.is_live ? r->seq : recheck_env.lines + r->line,
		    auditscan_why((enum auditlog_check)r->check));
		recheck_failed(why);
		return;
	}
	if (recheck_env.part == recheck_to()->part) {
		recheck_lead(r);
		return;
	}
	recheck_env.at.log.seq = r->seq;
	memcpy(recheck_env.at.log.prev, r->hash, AUDITLOG_HASH);
	recheck_env.at.format = (int64_t)r->format;
	recheck_env.part++;
	recheck_env.from = recheck_env.lines = 0;
	recheck_next();
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
	if (n > 0 && recheck_env.report.more != 0 &&
	    recheck_env.report.check == AUDITLOG_GOOD) {
		recheck_came(&recheck_env.report);
		recheck_env.len = 0;
		return;
	}
	recheck_stop();
	recheck_judge();
}

static int
recheck_start(int log, uint64_t bytes, int out)
{
	const struct auditplace *at = &recheck_env.at;
	char *path = paths_join(sup.paths.libexecdir, "ic-logcheck");
	char from[24], offset[24], seq[24], hex[SHA256_HEX], format[24];
	char name[] = "ic-logcheck", live[] = "live";
	char *const argv[] = {name, from, offset, seq, hex, format,
	    recheck_env.is_live && recheck_env.part == recheck_env.live.part
		? live
		: NULL,
	    NULL};
	char *const envp[] = {NULL};
	struct spawn s = {.path = path,
	    .argv = argv,
	    .envp = envp,
	    .fds = {log, out, -1},
	    .nfds = 3,
	    .session = true,
	    .worker = true};
	int rv = -1;

	snprintf(from, sizeof(from), "%" PRIu64, recheck_env.from);
	snprintf(offset, sizeof(offset), "%" PRIu64, bytes);
	snprintf(seq, sizeof(seq), "%" PRIu64, at->log.seq);
	snprintf(format, sizeof(format), "%" PRId64, at->format);
	(void)sha256_hex(at->log.prev, hex);
	if (path != NULL && spawn_start(&s, &recheck_env.reader) == 0)
		rv = spawn_check(&recheck_env.reader);
	free(path);
	return rv;
}

/*
 * Open the file that is next. Returns its descriptor, and the number of bytes
 * of it that the start has not checked; or -1.
 */
static int
recheck_open(uint64_t *bytes)
{
	const struct checkpoint *to = recheck_to();
	char name[AUDITPARTS_NAME];
	struct stat st;
	int log;

	log = openat(sup.session.fd,
	    auditparts_name(recheck_env.part, sup.session.older, name),
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (log == -1)
		return -1;
	if (fstat(log, &st) == -1 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		close(log);
		return -1;
	}
	*bytes = recheck_env.part == to->part ? to->offset
					      : (uint64_t)st.st_size;
	return log;
}

/* Start ic-logcheck for the file that is next. */
static void
recheck_next(void)
{
	uint64_t bytes;
	int log, out[2];

	recheck_env.len = 0;
	if ((log = recheck_open(&bytes)) == -1 ||
	    pipe2(out, O_CLOEXEC) == -1) {
		if (log != -1)
			close(log);
		recheck_failed("it cannot be read");
		return;
	}
	if (recheck_start(log, bytes, out[1]) == -1 ||
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

/* Returns true if an earlier run came so far, and the log still has it. */
static bool
recheck_goes_on(struct checked *c)
{
	if (c->upto.offset != 0 &&
	    checkpoint_before(&c->upto, &sup.session.unchecked) &&
	    checkpoint_fits(&c->upto, sup.session.fd))
		return true;
	c->upto.offset = 0;
	return false;
}

/* Returns the bytes that this run wrote and that nothing has checked. */
static uint64_t
recheck_grown(struct checkpoint *end)
{
	const uint64_t parts = sup.session.older + 1 - recheck_env.part;
	struct stat st;

	/* auditd may still write to the file before the newest. */
	if (sup.session.left != -1 || fstat(sup.session.closing, &st) == -1)
		return 0;
	end->part = sup.session.older + 1;
	end->offset = (uint64_t)st.st_size;
	return parts * sup.config.log_size + end->offset - recheck_env.from;
}

/*
 * A state was recorded. If this run has written much, check it, so that a
 * start after kill -9 need not. Such a start begins with a whole state and one
 * a second older (resume/carry.c): this one is the older, the next one is the
 * whole one, and the check follows a second later. A call that waits is found
 * from the start of its run only.
 */
static void
recheck_live(void)
{
	if (recheck_env.io.fd != -1 || recheck_env.bad ||
	    sup.session.unchecked.offset != 0)
		return;
	if (recheck_grown(&recheck_env.live) < RECHECK_LIVE ||
	    approvals_count() != 0 ||
	    recheck_env.step_part != recheck_env.live.part)
		recheck_env.step = 0;
	recheck_env.step_part = recheck_env.live.part;
	if (++recheck_env.step == 2)
		state_all();
	if (recheck_env.step < 3)
		return;
	recheck_env.step = 0;
	recheck_env.is_live = true;
	recheck_next();
}

void
recheck_begin(void)
{
	char why[160];

	if (sup.session.ended != 0) {
		snprintf(why, sizeof(why),
		    "its end is missing: it had %" PRIu64
		    " records, and has %" PRIu64
		    ". It was cut, or the machine lost its power",
		    sup.session.ended - 1, sup.session.begun.log.seq - 1);
		recheck_failed(why);
		return;
	}
	recheck_env.part = 1;
	recheck_env.at.log.seq = 1;
	state_noted(recheck_live);
	if (sup.session.unchecked.offset == 0) {
		/* The start has checked everything. */
		if (sup.session.begun.offset != 0) {
			recheck_note(&sup.session.begun, NULL);
			recheck_from(&sup.session.begun);
		}
		return;
	}
	if (recheck_goes_on(&sup.session.checked)) {
		recheck_env.part = sup.session.checked.upto.part;
		recheck_env.at.log = sup.session.checked.upto.log;
		recheck_env.at.format = sup.session.checked.format;
		recheck_env.from = sup.session.checked.upto.offset;
		recheck_env.lines = sup.session.checked.line;
	}
	recheck_next();
}

void
recheck_end(const struct checkpoint *end)
{
	recheck_stop();
	if (recheck_env.bad)
		checkpoint_remove(sup.session.fd);
	else if (end != NULL)
		recheck_note(end, sup.session.unchecked.offset == 0
				      ? NULL
				      : &sup.session.checked);
}
