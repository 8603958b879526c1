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

#include "core/sup.h"

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

/* The last file was good up to the checkpoint. Compare its end with that. */
static void
recheck_lead(const struct recheck_report *r)
{
	const struct checkpoint *from = &sup.session.unchecked;

	if (r->seq != from->log.seq ||
	    memcmp(r->hash, from->log.prev, AUDITLOG_HASH) != 0) {
		recheck_failed("it does not lead to its checkpoint");
		return;
	}
	sup_note("the log of earlier runs is intact: %" PRIu64 " records",
	    r->seq - 1);
	sup.session.unchecked.offset = 0;
	recheck_note(&sup.session.begun, NULL);
}

/* Everything up to this place is good. */
static void
recheck_came(const struct recheck_report *r)
{
	struct checked *c = &sup.session.checked;

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
		snprintf(why, sizeof(why), "%sline %" PRIu64 ": %s", file,
		    recheck_env.lines + r->line,
		    auditscan_why((enum auditlog_check)r->check));
		recheck_failed(why);
		return;
	}
	if (recheck_env.part == sup.session.unchecked.part) {
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
	char name[] = "ic-logcheck";
	char *const argv[] = {name, from, offset, seq, hex, format, NULL};
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
	const struct checkpoint *from = &sup.session.unchecked;
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
	*bytes = recheck_env.part == from->part ? from->offset
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
	if (sup.session.unchecked.offset == 0) {
		/* The start has checked everything. */
		if (sup.session.begun.offset != 0)
			recheck_note(&sup.session.begun, NULL);
		return;
	}
	recheck_env.part = 1;
	recheck_env.at.log.seq = 1;
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
