/* SPDX-License-Identifier: ISC */
/*
 * The columns of a record, by the table of events. Reads values that were
 * parsed; the texts in them are an agent's.
 */
#include "log/report.h"

#include <string.h>

static const struct report_names names[] = {
#define AUDIT_EVENT(name, csv, ocsf, otlp, report)                             \
	{#name, csv, ocsf, otlp, report},
#include "log/event_rows.h"
};

static const char *const columns[REPORT_NCOLS] = {
#define X(name, text) text,
    REPORT_COLUMNS
#undef X
};

const struct report_names *
report_names(unsigned event)
{
	return event < REPORT_EVENTS ? &names[event] : NULL;
}

const char *
report_column(unsigned column)
{
	return column < REPORT_NCOLS ? columns[column] : "";
}

bool
report_skips(const char *name)
{
	return name[0] == '-' && name[1] == ' ';
}

enum report_event
report_find(struct span name)
{
	for (unsigned i = 0; i < REPORT_EVENTS; i++)
		if (span_is(name, names[i].name))
			return (enum report_event)i;
	return EVENT_OTHER;
}

/* Find a member by its path, such as policyDecision.rule. */
static const struct value *
column_at(const struct value *v, struct span path)
{
	const uint8_t *dot;
	struct span name;

	while (v != NULL && path.len != 0) {
		dot = memchr(path.p, '.', path.len);
		name = span_of(
		    path.p, dot == NULL ? path.len : (size_t)(dot - path.p));
		v = value_getspan(v, name);
		path = dot == NULL ? span_of(path.p, 0)
				   : span_of(dot + 1, path.len - name.len - 1);
	}
	return v;
}

/* Find a member by the paths of the table, which are tried in turn. */
static const struct value *
column_find(const struct value *record, struct span paths)
{
	const struct value *detail = value_get(record, "detail"), *v = NULL;
	const uint8_t *bar;
	struct span path;

	while (v == NULL && paths.len != 0) {
		bar = memchr(paths.p, '|', paths.len);
		path = span_of(
		    paths.p, bar == NULL ? paths.len : (size_t)(bar - paths.p));
		if ((v = column_at(record, path)) == NULL)
			v = column_at(detail, path);
		paths = bar == NULL
			    ? span_of(paths.p, 0)
			    : span_of(bar + 1, paths.len - path.len - 1);
	}
	return v;
}

static const char *
plain(enum value_type t)
{
	return t == VALUE_TRUE ? "true" : t == VALUE_FALSE ? "false" : "";
}

/* Returns the bytes that were added to `b` since `from`. */
static struct span
added(const struct buf *b, size_t from)
{
	struct span all = buf_span(b);

	return b->failed || all.len < from
		   ? (struct span){NULL, 0}
		   : span_of(all.p + from, all.len - from);
}

/* Write an argument's name and, of a path, the last part. */
static void
brief_value(struct buf *b, const struct value *v)
{
	const uint8_t *slash;

	buf_addspan(b, v->key);
	if (v->type != VALUE_STRING || v->text.len == 0 ||
	    (v->text.p[0] != '/' && v->text.p[0] != '~') ||
	    (slash = memrchr(v->text.p, '/', v->text.len)) == NULL ||
	    memchr(v->text.p, '\n', v->text.len) != NULL)
		return;
	slash++;
	buf_adds(b, "=.../");
	buf_add(b, slash, (size_t)(v->text.p + v->text.len - slash));
}

static struct span
brief_arguments(struct buf *b, const struct value *args)
{
	size_t from = b->len;

	if (args->type != VALUE_OBJECT)
		return SPAN("(no names)");
	for (const struct value *v = args->child; v != NULL; v = v->next) {
		if (v != args->child)
			buf_adds(b, ", ");
		brief_value(b, v);
	}
	return added(b, from);
}

static struct span
column_text(
    const struct value *v, enum report_col col, bool brief, struct buf *b)
{
	size_t from = b->len;

	if (col == COL_ARGUMENTS && brief)
		return brief_arguments(b, v);
	switch (v->type) {
	case VALUE_STRING:
	case VALUE_NUMBER:
		return v->text;
	case VALUE_ARRAY:
	case VALUE_OBJECT:
		(void)json_write(b, v);
		return added(b, from);
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE:
		break;
	}
	return span_str(plain(v->type));
}

/* Returns the party that answered a call that was pending. */
static struct span
answered_by(const struct value *record, enum report_event event)
{
	struct span answer = value_str(record, "escalationResult"),
		    claim = value_str(record, "claimedBy");

	if (event == EVENT_verdict && claim.len != 0)
		return claim;
	if (event == EVENT_opinion || value_bool(record, "autoApproved", false))
		return SPAN("the approver");
	if (event == EVENT_verdict || event == EVENT_revoke ||
	    event == EVENT_trust)
		return SPAN("a person");
	if (event != EVENT_call)
		return SPAN("");
	if (value_bool(record, "whitelistApproved", false))
		return SPAN("an earlier approval");
	if (span_is(answer, "approved") || span_is(answer, "denied"))
		return SPAN("a person");
	return SPAN("");
}

/* Take the next "COLUMN=MEMBER" of a mapping. */
static bool
next_pair(const char **at, struct span *column, struct span *member)
{
	size_t n, eq;

	*at += strspn(*at, " ");
	n = strcspn(*at, " ");
	eq = strcspn(*at, "=");
	if (n == 0 || eq >= n)
		return false;
	*column = span_of(*at, eq);
	*member = span_of(*at + eq + 1, n - eq - 1);
	*at += n;
	return true;
}

void
report_columns(const struct value *record, enum report_event event, bool brief,
    struct buf *b, struct span cols[REPORT_NCOLS])
{
	const struct report_names *row = report_names(event);
	/* A message of events.jsonl is no record of the log. */
	const char *at = row == NULL ? "id=turn text=message" : row->csv;
	struct span column, member;
	const struct value *v;

	for (unsigned i = 0; i < REPORT_NCOLS; i++)
		cols[i] = SPAN("");
	cols[COL_TIME] = value_str(record, "time");
	cols[COL_EVENT] = value_str(record, "event");
	cols[COL_BY] = answered_by(record, event);
	while (!report_skips(at) && next_pair(&at, &column, &member)) {
		v = column_find(record, member);
		for (unsigned i = 0; v != NULL && i < REPORT_NCOLS; i++)
			if (span_is(column, columns[i]))
				cols[i] = column_text(
				    v, (enum report_col)i, brief, b);
	}
	for (unsigned i = 0; i < REPORT_NCOLS; i++)
		if (cols[i].p == NULL)
			cols[i] = SPAN("");
}

/* Returns the number in `n` digits, or -1. */
static int64_t
digits(const uint8_t *p, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		v = 10 * v + (p[i] - '0');
	}
	return v;
}

int64_t
report_time(struct span s)
{
	int64_t year, month, day, hour, minute, second, era, doy, yoe;

	/* 2026-11-21T21:00:00.123456Z; timegm() would read time zones. */
	if (s.len < 20 || s.p[4] != '-' || s.p[7] != '-' || s.p[10] != 'T' ||
	    s.p[13] != ':' || s.p[16] != ':' || s.p[s.len - 1] != 'Z')
		return 0;
	year = digits(s.p, 4);
	month = digits(s.p + 5, 2);
	day = digits(s.p + 8, 2);
	hour = digits(s.p + 11, 2);
	minute = digits(s.p + 14, 2);
	second = digits(s.p + 17, 2);
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 ||
	    hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
	    second > 60)
		return 0;
	year -= month <= 2 ? 1 : 0;
	era = year / 400;
	yoe = year - era * 400;
	doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	day = era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
	return ((day * 24 + hour) * 60 + minute) * 60 + second;
}
