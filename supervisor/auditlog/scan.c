/* SPDX-License-Identifier: ISC */
/*
 * Checks a whole log. Reads a line's members with a JSON parser and never
 * searches its text: an agent's arguments may contain anything.
 */
#include "auditlog/scan.h"

#include <json-c/json.h>
#include <string.h>

#include "auditlog/checkpoint.h"

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

static int64_t
said_number(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) &&
		       json_object_is_type(v, json_type_int)
		   ? json_object_get_int64(v)
		   : 0;
}

static void
said_read(struct span line, struct said *said)
{
	struct json_tokener *tok;
	struct json_object *o = NULL, *v;
	const char *event;

	memset(said, 0, sizeof(*said));
	/* Our own records have at most a few KiB and a few levels. */
	if (line.len > (1U << 20) || (tok = json_tokener_new()) == NULL)
		return;
	o = json_tokener_parse_ex(tok, (const char *)line.p, (int)line.len);
	if (json_object_is_type(o, json_type_object) &&
	    json_object_object_get_ex(o, "event", &v) &&
	    json_object_is_type(v, json_type_string)) {
		event = json_object_get_string(v);
		said->stop = strcmp(event, "stop") == 0;
		said->start = strcmp(event, "start") == 0;
		said->end = strcmp(event, "workerEnd") == 0;
		if (json_object_object_get_ex(o, "detail", &v) &&
		    json_object_is_type(v, json_type_object)) {
			said->torn = said_number(v, "torn");
			said->format = said_number(v, "format");
		}
	}
	json_object_put(o);
	json_tokener_free(tok);
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

/* Begin behind the checkpoint. Returns the format of the log's first record. */
static int64_t
scan_skip(struct span *all, const struct checkpoint *from, struct auditlog *log)
{
	const uint8_t *nl = memchr(all->p, '\n', from->offset);
	struct said said;

	said_read(
	    span_of(all->p, nl == NULL ? 0 : (size_t)(nl - all->p)), &said);
	*log = from->log;
	all->p += from->offset;
	all->len -= from->offset;
	return said.format;
}

static void
scan_lines(struct span all, const struct checkpoint *from, uint64_t want,
    struct auditscan *s)
{
	struct auditlog log = {.seq = 1};
	size_t number = 0, torn = 0, torn_len = 0;
	struct span line, last = {NULL, 0};
	const uint8_t *begin = all.p;
	bool unended;
	struct said said = {.format = 0};

	memset(s, 0, sizeof(*s));
	if (from != NULL) {
		said.format = scan_skip(&all, from, &log);
		s->whole = from->offset;
	}
	while (span_line(&all, &line)) {
		number++;
		unended = all.p == line.p + line.len;
		s->check = auditlog_verify(&log, line);
		s->line = number;
		if (s->check == AUDITLOG_GOOD) {
			if (torn != 0 &&
			    !excuses(line, torn_len, said.format, &s->old))
				break;
			if (torn != 0)
				s->torn = torn;
			torn = 0;
			if (want != 0 && log.seq - 1 == want) {
				s->seen = true;
				memcpy(s->at, log.prev, sizeof(s->at));
			}
			if (s->records++ == 0 && from == NULL)
				said_read(line, &said);
			s->whole = (size_t)(all.p - begin);
			s->unended = unended;
			last = line;
			continue;
		}
		/*
		 * A last line without a newline is torn, wherever it was cut.
		 */
		if (unended) {
			s->cut = line.len;
			s->tail = torn == 0;
			break;
		}
		if (s->check != AUDITLOG_FORM || torn != 0)
			break;
		torn = number;
		torn_len = line.len;
	}
	if (torn != 0) {
		/*
		 * The run that ended the torn line crashed before its first
		 * record.
		 */
		if (all.len == 0 && s->cut == 0 && s->check == AUDITLOG_FORM) {
			s->cut = torn_len;
			s->tail = true;
		}
		s->check = AUDITLOG_FORM;
		s->line = torn;
	}
	said_read(last, &said);
	s->closed = last.len != 0 && said.stop;
	s->seq = log.seq;
	memcpy(s->hash, log.prev, sizeof(s->hash));
}

void
auditscan(struct span all, struct auditscan *s)
{
	scan_lines(all, NULL, 0, s);
}

void
auditscan_from(
    struct span all, const struct checkpoint *from, struct auditscan *s)
{
	scan_lines(all, from, 0, s);
}

void
auditscan_want(struct span all, uint64_t want, struct auditscan *s)
{
	scan_lines(all, NULL, want, s);
}
