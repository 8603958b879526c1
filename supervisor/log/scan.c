/* SPDX-License-Identifier: ISC */
/*
 * Checks the files of a log. Reads a line's members with a JSON parser and
 * never searches its text: an agent's arguments may contain anything.
 */
#include "log/scan.h"

#include <errno.h>
#include <string.h>

#include "common/json/json.h"
#include "log/checkpoint.h"

#define SCAN_POOL ((size_t)8 << 20)

/* The members of a record that matter here; all zero if it cannot be read. */
struct said {
	bool stop, start, end; /* by `event`: stop, start, workerEnd */
	int64_t torn, format;
};

const char *
auditscan_why(enum auditlog_check c)
{
	switch (c) {
	case AUDITLOG_GOOD:
	case AUDITLOG_FORM:
		break;
	case AUDITLOG_SEQ:
		return "lines are missing or repeated before it";
	case AUDITLOG_PREV:
		return "it does not follow from the line before it";
	case AUDITLOG_BROKEN:
		return "it was changed after it was written";
	}
	return "it is not an audit record";
}

static void
said_read(struct span line, struct said *said)
{
	struct value_pool *pool;
	const struct value *o, *detail;
	struct span event;

	memset(said, 0, sizeof(*said));
	/* Our own records have at most a few KiB and a few levels. */
	if (line.len > (1U << 20) || (pool = value_pool_new(SCAN_POOL)) == NULL)
		return;
	if ((o = json_read(pool, line, NULL)) != NULL) {
		event = value_str(o, "event");
		said->stop = span_is(event, "stop");
		said->start = span_is(event, "start");
		said->end = span_is(event, "workerEnd");
		detail = value_get(o, "detail");
		(void)value_int(
		    value_get(detail, "torn"), 0, INT64_MAX, &said->torn);
		(void)value_int(
		    value_get(detail, "format"), 0, INT64_MAX, &said->format);
	}
	value_pool_free(pool);
}

/*
 * Returns true if this good line acknowledges the torn line of `len` bytes
 * before it. Sets `*old` if it gives no length. `format` is that of the log's
 * first record.
 */
static bool
excuses(struct span line, size_t len, int64_t format, bool *old)
{
	struct said said;

	said_read(line, &said);
	*old = false;
	if (!said.stop && !said.start && !said.end)
		return false;
	if (said.torn == (int64_t)len)
		return true;
	*old = true;
	return format < AUDITSCAN_FORMAT && said.torn == 0 &&
	       said.format < AUDITSCAN_FORMAT;
}

/*
 * Begin behind the checkpoint, in its file. Logs of an older format had only
 * one file.
 */
static void
scan_skip(struct span *all, const struct checkpoint *from, struct auditplace *at)
{
	const uint8_t *nl = memchr(all->p, '\n', from->offset);
	struct said said;

	at->log = from->log;
	at->format = AUDITSCAN_FORMAT;
	if (from->part == 1) {
		said_read(span_of(all->p,
			      nl == NULL ? 0 : (size_t)(nl - all->p)),
		    &said);
		at->format = said.format;
	}
	all->p += from->offset;
	all->len -= from->offset;
}

/* A torn line, until the next record has acknowledged it. */
struct torn {
	size_t line; /* its number; 0: none */
	size_t len;
};

/* Take a good line. Returns false if it does not acknowledge the torn one. */
static bool
scan_take(struct span line, uint64_t want, struct torn *torn,
    struct auditplace *at, struct auditscan *s)
{
	struct said said;

	if (torn->line != 0 &&
	    !excuses(line, torn->len, at->format, &s->old))
		return false;
	if (torn->line != 0)
		s->torn = torn->line;
	torn->line = 0;
	if (want != 0 && at->log.seq - 1 == want) {
		s->seen = true;
		memcpy(s->at, at->log.prev, sizeof(s->at));
	}
	if (at->log.seq == 2) {
		said_read(line, &said);
		at->format = said.format;
	}
	s->records++;
	return true;
}

/* Check the file's lines, up to the first bad one. */
static struct torn
scan_lines(struct span all, uint64_t want, struct auditplace *at,
    struct auditscan *s, struct span *last)
{
	struct torn torn = {0, 0};
	const uint8_t *begin = all.p;
	struct span line;

	while (span_line(&all, &line)) {
		s->line++;
		s->unended = all.p == line.p + line.len;
		s->check = auditlog_verify(&at->log, line);
		if (s->check == AUDITLOG_GOOD) {
			if (!scan_take(line, want, &torn, at, s))
				break;
			s->whole = (size_t)(all.p - begin);
			*last = line;
			continue;
		}
		/*
		 * A last line without a newline is torn, wherever it was cut.
		 */
		if (s->unended) {
			s->cut = line.len;
			s->tail = torn.line == 0;
			break;
		}
		if (s->check != AUDITLOG_FORM || torn.line != 0)
			break;
		torn.line = s->line;
		torn.len = line.len;
	}
	/* The run that ended the line crashed before its first record. */
	if (torn.line != 0 && all.len == 0 && s->cut == 0 &&
	    s->check == AUDITLOG_FORM) {
		s->cut = torn.len;
		s->tail = true;
	}
	return torn;
}

void
auditscan_file(struct span all, bool last, uint64_t want,
    struct auditplace *at, struct auditscan *s)
{
	struct span line = {NULL, 0};
	struct torn torn;
	struct said said;

	s->check = AUDITLOG_GOOD;
	s->line = s->whole = s->cut = 0;
	s->unended = s->tail = s->closed = false;
	torn = scan_lines(all, want, at, s, &line);
	if (torn.line != 0) {
		s->check = AUDITLOG_FORM;
		s->line = torn.line;
	}
	if (!last) {
		/* Only whole lines precede another file. */
		s->tail = false;
		if (s->check == AUDITLOG_GOOD && s->unended)
			s->check = AUDITLOG_FORM;
	}
	said_read(line, &said);
	s->closed = line.len != 0 && said.stop;
	s->seq = at->log.seq;
	memcpy(s->hash, at->log.prev, sizeof(s->hash));
}

bool
auditscan_good(const struct auditscan *s)
{
	return s->check == AUDITLOG_GOOD || s->tail;
}

int
auditscan_fault(const struct auditscan *s, const char *dir, const char *advice,
    struct fault *fault)
{
	return fault_set(fault, "%s/%s line %zu: %s. %s", dir, s->name, s->line,
	    auditscan_why(s->check), advice);
}

/* Returns true if the last record of the file is a closing record. */
static bool
scan_stop(struct span all)
{
	const uint8_t *nl;
	struct said said;

	if (all.len != 0 && all.p[all.len - 1] == '\n')
		all.len--;
	if ((nl = memrchr(all.p, '\n', all.len)) != NULL)
		all = span_of(nl + 1, all.len - (size_t)(nl + 1 - all.p));
	said_read(all, &said);
	return said.stop;
}

/* Count the older files. Returns 0, or -1 with the fault set. */
static int
scan_count(int dirfd, const char *dir, unsigned *older, struct fault *fault)
{
	char name[AUDITPARTS_NAME];

	if (auditparts_count(dirfd, older) == 0)
		return 0;
	if (errno != ENODATA)
		return fault_errno(fault, "%s", dir);
	return fault_set(fault,
	    "%s/%s is missing, and the log goes on after it. Put it back, or "
	    "use another session",
	    dir, auditparts_name(*older, *older, name));
}

int
auditscan(int dirfd, const char *dir, const struct checkpoint *from,
    uint64_t want, struct auditscan *s, struct fault *fault)
{
	struct auditplace at = {.log = {.seq = 1}};
	struct span all, rest;
	unsigned older, part;

	memset(s, 0, sizeof(*s));
	if (scan_count(dirfd, dir, &older, fault) == -1)
		return -1;
	for (part = from == NULL ? 1 : from->part; part <= older + 1; part++) {
		s->part = part;
		(void)auditparts_name(part, older, s->name);
		if (auditparts_map(dirfd, s->name, &all) == -1)
			return errno == EINVAL
				   ? fault_set(fault,
					 "%s/%s: not a plain file", dir,
					 s->name)
				   : fault_errno(fault, "%s/%s", dir, s->name);
		rest = all;
		if (from != NULL && part == from->part)
			scan_skip(&rest, from, &at);
		auditscan_file(rest, part > older, want, &at, s);
		/* The checkpoint was made at the very end. */
		if (rest.p != all.p && rest.len == 0)
			s->closed = scan_stop(all);
		if (rest.p != all.p)
			s->whole += (size_t)(rest.p - all.p);
		auditparts_unmap(&all);
		if (s->check != AUDITLOG_GOOD)
			break;
	}
	return 0;
}
