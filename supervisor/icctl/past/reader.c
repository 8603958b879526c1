/* SPDX-License-Identifier: ISC */
/*
 * Starts ic-report and takes its frames. A log could take that program over, so
 * nothing that it writes is believed: lengths are checked, texts are made to
 * end, and numbers are only added up and shown.
 */
#include "icctl/past/past.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/spawn.h"
#include "icctl/policy/policy.h"

#define READER_READ (256U << 10)

struct reader {
	const struct past_reader *to;
	struct buf in;
	struct report_end *end;
	bool done; /* the last frame has come */
};

int
past_open(int dirfd, const char *name)
{
	struct stat st;
	int fd =
	    openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* Give a record to the caller. Returns 0, or -1 if it has no good form. */
static int
take_record(struct reader *r, struct span s)
{
	struct span cols[REPORT_NCOLS], json = SPAN("");
	struct report_column c;
	struct report_record rec;

	if (s.len < sizeof(rec))
		return -1;
	memcpy(&rec, s.p, sizeof(rec));
	rec.hash[sizeof(rec.hash) - 1] = '\0';
	s = span_of(s.p + sizeof(rec), s.len - sizeof(rec));
	for (size_t i = 0; i < REPORT_NCOLS; i++)
		cols[i] = SPAN("");
	if (rec.ncols == 0)
		json = s;
	for (uint32_t i = 0; i < rec.ncols; i++) {
		if (s.len < sizeof(c))
			return -1;
		memcpy(&c, s.p, sizeof(c));
		s = span_of(s.p + sizeof(c), s.len - sizeof(c));
		if (c.column >= REPORT_NCOLS || c.len > s.len)
			return -1;
		cols[c.column] = span_of(s.p, c.len);
		s = span_of(s.p + c.len, s.len - c.len);
	}
	if (r->to->record != NULL)
		r->to->record(r->to->arg, &rec, cols, json);
	return 0;
}

static int
take_row(struct reader *r, struct span s)
{
	struct report_row row;

	if (s.len != sizeof(row))
		return -1;
	memcpy(&row, s.p, sizeof(row));
	row.model[sizeof(row.model) - 1] = '\0';
	if (r->to->row != NULL)
		r->to->row(r->to->arg, &row);
	return 0;
}

static int
take_bad(struct reader *r, struct span s)
{
	struct report_bad bad;

	if (s.len != sizeof(bad))
		return -1;
	memcpy(&bad, s.p, sizeof(bad));
	bad.why[sizeof(bad.why) - 1] = '\0';
	if (r->to->bad != NULL)
		r->to->bad(r->to->arg, &bad);
	return 0;
}

static int
take_end(struct reader *r, struct span s)
{
	struct report_mark *m = &r->end->mark;

	if (s.len != sizeof(*r->end))
		return -1;
	memcpy(r->end, s.p, sizeof(*r->end));
	if (m->npending > REPORT_PENDING || r->end->check > AUDITLOG_BROKEN ||
	    m->settled > m->total)
		return -1;
	m->agent[sizeof(m->agent) - 1] = '\0';
	m->workspace[sizeof(m->workspace) - 1] = '\0';
	m->version[sizeof(m->version) - 1] = '\0';
	r->done = true;
	return 0;
}

/* Take a frame. Returns 0, or -1. */
static int
take_frame(struct reader *r, uint32_t kind, struct span s)
{
	if (r->done)
		return -1;
	switch (kind) {
	case REPORT_ROW:
		return take_row(r, s);
	case REPORT_RECORD:
		return take_record(r, s);
	case REPORT_BAD:
		return take_bad(r, s);
	case REPORT_END:
		return take_end(r, s);
	default:
		return -1;
	}
}

/* Take all frames that are whole. */
static int
take_frames(struct reader *r)
{
	struct report_head head;
	struct span s;

	for (;;) {
		s = buf_span(&r->in);
		if (s.len < sizeof(head))
			return 0;
		memcpy(&head, s.p, sizeof(head));
		if (head.len > REPORT_FRAME)
			return -1;
		if (s.len - sizeof(head) < head.len)
			return 0;
		if (take_frame(r, head.kind,
			span_of(s.p + sizeof(head), head.len)) == -1)
			return -1;
		buf_drain(&r->in, sizeof(head) + head.len);
	}
}

static int
take_all(struct reader *r, int fd)
{
	uint8_t *room;
	ssize_t n;

	for (;;) {
		if ((room = buf_room(&r->in, READER_READ)) == NULL)
			return -1;
		n = read(fd, room, READER_READ);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 && r->done && r->in.len == 0 ? 0 : -1;
		buf_grow(&r->in, (size_t)n);
		if (take_frames(r) == -1)
			return -1;
	}
}

/* Start it. Returns 0 with the end to read from in `*out`, or -1. */
static int
reader_start(int log, const char *const *words, const struct report_mark *mark,
    struct spawned *sp, int *out)
{
	char path[PATH_MAX], name[] = "ic-report";
	const char *list[32];
	struct wordlist argv = WORDLIST_IN(list);
	char *const envp[] = {NULL};
	int pipes[2] = {-1, -1}, given[2] = {-1, -1}, rv = -1;
	struct spawn s = {
	    .path = path, .envp = envp, .nfds = 4, .session = true};

	wordlist_add(&argv, name);
	while (*words != NULL)
		wordlist_add(&argv, *words++);
	if (wordlist_end(&argv) == NULL ||
	    policy_own_path(
		"libexec/ironcurtain/ic-report", path, sizeof(path)) == -1)
		return -1;
	if (pipe2(pipes, O_CLOEXEC) == -1 || pipe2(given, O_CLOEXEC) == -1 ||
	    write(given[1], mark, sizeof(*mark)) != (ssize_t)sizeof(*mark))
		goto out;
	s.argv = (char *const *)(uintptr_t)list;
	s.fds[0] = log;
	s.fds[1] = pipes[1];
	s.fds[2] = -1;
	s.fds[3] = given[0];
	if (spawn_start(&s, sp) == -1)
		goto out;
	rv = spawn_check(sp);
	*out = fcntl(pipes[0], F_DUPFD_CLOEXEC, 3);
out:
	for (unsigned i = 0; i < 2; i++) {
		if (pipes[i] != -1)
			close(pipes[i]);
		if (given[i] != -1)
			close(given[i]);
	}
	return rv;
}

int
past_run(const struct past_reader *to, int log, const char *const *words,
    struct report_end *end, struct fault *fault)
{
	struct reader r = {.to = to, .end = end};
	struct spawned sp = SPAWNED_INIT;
	int out = -1, rv;

	if (reader_start(log, words, &end->mark, &sp, &out) == -1) {
		if (sp.pidfd != -1)
			spawn_stop(&sp, 0);
		return fault_errno(
		    fault, "ic-report, which reads logs, cannot be started");
	}
	buf_init(&r.in, REPORT_FRAME + READER_READ + 65536);
	rv = out == -1 ? -1 : take_all(&r, out);
	buf_free(&r.in);
	if (out != -1)
		close(out);
	if (rv == -1) {
		spawn_stop(&sp, 0);
		return fault_set(
		    fault, "ic-report, which reads logs, ended early");
	}
	(void)spawn_wait(&sp);
	return 0;
}
