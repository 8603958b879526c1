/* SPDX-License-Identifier: ISC */
/*
 * ic-report reads a log: every event of the manual page has a row in
 * the table and in no format is forgotten, costs are divided without a rest,
 * and lines that are no records are named and left out. The first argument is
 * ironcurtain-audit(5).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "workers/report/parts.h"

static struct buf text = {.max = 64U << 20}; /* a log */
static struct auditlog log_at;

/* Frames that were put. */
static struct report_row rows[512];
static unsigned nrows, nrecords, nbad;
static char last_event[64], last_cols[REPORT_NCOLS][256], last_why[64];
static struct span last_json;

static void
take_record(struct span head, struct span rest)
{
	struct report_record r;
	struct report_column c;

	memcpy(&r, head.p, sizeof(r));
	nrecords++;
	memset(last_cols, 0, sizeof(last_cols));
	last_json = rest;
	for (uint32_t i = 0; i < r.ncols; i++) {
		memcpy(&c, rest.p, sizeof(c));
		(void)span_copy(
		    span_of(rest.p + sizeof(c), c.len < 255 ? c.len : 255),
		    last_cols[c.column], sizeof(last_cols[0]));
		rest = span_of(
		    rest.p + sizeof(c) + c.len, rest.len - sizeof(c) - c.len);
	}
	(void)strlcpy(last_event, last_cols[COL_EVENT], sizeof(last_event));
}

static void
take_frame(enum report_kind kind, struct span a, struct span b)
{
	struct report_bad bad;

	if (kind == REPORT_ROW && nrows < nitems(rows))
		memcpy(&rows[nrows++], a.p, sizeof(rows[0]));
	if (kind == REPORT_RECORD)
		take_record(a, b);
	if (kind == REPORT_BAD) {
		nbad++;
		memcpy(&bad, a.p, sizeof(bad));
		memcpy(last_why, bad.why, sizeof(last_why));
	}
}

/* Begin another log. */
static void
log_new(void)
{
	buf_reset(&text, SIZE_MAX);
	memset(&log_at, 0, sizeof(log_at));
	log_at.seq = 1;
	nrows = nrecords = nbad = 0;
}

static void
log_detail(const char *event, const char *detail)
{
	struct auditlog_line l;

	auditlog_begin(&l, &log_at, &text, event);
	auditlog_json(&l, "detail", span_str(detail));
	if (auditlog_end(&l) == -1)
		abort();
}

static void
log_usage(const char *model, uint64_t in, uint64_t out)
{
	struct auditlog_line l;

	auditlog_begin(&l, &log_at, &text, "usage");
	auditlog_u64(&l, "in", in);
	auditlog_str(&l, "model", span_str(model));
	auditlog_u64(&l, "out", out);
	if (auditlog_end(&l) == -1)
		abort();
}

static void
log_call(const char *arguments, const char *answer)
{
	struct auditlog_line l;

	auditlog_begin(&l, &log_at, &text, "call");
	auditlog_json(&l, "arguments", span_str(arguments));
	if (answer != NULL)
		auditlog_str(&l, "escalationResult", span_str(answer));
	auditlog_u64(&l, "id", 7);
	auditlog_json(&l, "policyDecision",
	    answer == NULL
		? SPAN("{\"reason\":\"r\",\"rule\":\"a\",\"status\":\"deny\"}")
		: SPAN("{\"reason\":\"r\",\"rule\":\"a\","
		       "\"status\":\"escalate\"}"));
	auditlog_str(&l, "serverName", SPAN("files"));
	auditlog_str(&l, "toolName", SPAN("read"));
	if (auditlog_end(&l) == -1)
		abort();
}

static struct report_end end;

static void
fold(bool again)
{
	const struct report_how how = {.last = true, .verify = true};
	struct value_pool *pool = value_pool_new(64U << 20);

	if (!again) {
		memset(&end, 0, sizeof(end));
		end.mark.log.seq = 1;
	}
	report_fold(buf_span(&text), &how, pool, &end);
	value_pool_free(pool);
}

static uint64_t
cost_of(const char *model)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < nrows; i++)
		if (strcmp(rows[i].model, model) == 0)
			sum += rows[i].micro_usd;
	return sum;
}

static void
find(const struct report_filter *f)
{
	struct value_pool *pool = value_pool_new(64U << 20);

	nrecords = nbad = 0;
	memset(&end, 0, sizeof(end));
	report_records(buf_span(&text), f, pool, &end);
	value_pool_free(pool);
}

/* Strike the event off the list of those that the table has. */
static void
strike(bool *seen, struct span name)
{
	enum report_event e = report_find(name);

	ok(e != EVENT_OTHER, "%.*s of the manual is in the table",
	    (int)name.len, (const char *)name.p);
	if (e != EVENT_OTHER)
		seen[e] = true;
}

static void
test_manual(const char *path)
{
	bool seen[REPORT_EVENTS + 1] = {false}, in = false;
	char line[512], *name;
	FILE *f = fopen(path, "re");

	if (f == NULL)
		abort();
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, ".Ss ", 4) == 0)
			in = strcmp(line, ".Ss Events\n") == 0;
		if (!in || strncmp(line, ".It Li ", 7) != 0)
			continue;
		for (name = strtok(line + 7, " ,\n"); name != NULL;
		     name = strtok(NULL, " ,\n"))
			strike(seen, span_str(name));
	}
	(void)fclose(f);
	for (unsigned i = 0; i < REPORT_EVENTS; i++)
		ok(seen[i], "%s of the table is in the manual",
		    report_names(i)->name);
}

/* Returns true if the text names something, or says why not. */
static bool
mapped(const char *s)
{
	return s[0] != '\0' && (!report_skips(s) || strlen(s) > 5);
}

static void
test_table(void)
{
	const struct report_names *n;
	bool known;

	for (unsigned i = 0; (n = report_names(i)) != NULL; i++) {
		ok(mapped(n->csv) && mapped(n->ocsf) && mapped(n->otlp) &&
			mapped(n->report),
		    "%s is mapped, or skipped with a reason, in each format",
		    n->name);
		if (report_skips(n->csv))
			continue;
		known = true;
		for (const char *p = n->csv; *p != '\0'; p += strspn(p, " ")) {
			bool is = false;

			for (unsigned k = 0; k < REPORT_NCOLS; k++)
				is = is ||
				     (strncmp(p, report_column(k),
					  strlen(report_column(k))) == 0 &&
					 p[strlen(report_column(k))] == '=');
			known = known && is;
			p += strcspn(p, " ");
		}
		ok(known, "%s names columns that there are", n->name);
	}
}

static void
test_time(void)
{
	is_int(report_time(SPAN("1970-01-01T00:00:00.000000Z")), 0, "1970");
	is_int(report_time(SPAN("2026-11-29T00:33:20.123456Z")), 1795912400,
	    "a day of 2026");
	is_int(report_time(SPAN("2024-02-29T23:59:59Z")), 1709251199,
	    "the 29th of February");
	is_int(report_time(SPAN("2024-02-29 23:59:59Z")), 0, "no T");
	is_int(report_time(SPAN("")), 0, "nothing");
}

static void
test_fold(void)
{
	struct report_mark mark;

	log_new();
	log_detail("start",
	    "{\"agent\":\"claude-code\",\"format\":2,\"workspace\":\"/w\"}");
	log_detail("state", "{\"microUsd\":0,\"openMicroUsd\":0}");
	log_usage("big", 1000, 100);
	log_detail("state", "{\"microUsd\":700,\"openMicroUsd\":200}");
	is_int(text.len != 0, 1, "there is a log");
	fold(false);
	is_int(cost_of("big"), 500, "what is open has no record yet");
	is_int(end.mark.total, 700, "and is in the total");
	is_str(end.mark.agent, "claude-code", "the agent is known");
	mark = end.mark;
	log_usage("big", 10, 1);
	log_usage("small", 10, 1);
	log_call("{}", NULL);
	log_call("{}", "approved");
	log_detail("state", "{\"microUsd\":803,\"openMicroUsd\":0}");
	nrows = 0;
	fold(true);
	is_int(cost_of("big") + cost_of("small"), 303,
	    "two models share what was spent, without a rest");
	is_int(cost_of("small"), 152, "by their tokens");
	is_int(end.mark.settled, 803, "all has a row");
	is_int(end.mark.log.seq, 10, "the mark is behind the last record");
	ok(memcmp(end.mark.log.prev, log_at.prev, AUDITLOG_HASH) == 0,
	    "and has its hash");
	ok(mark.offset < end.mark.offset, "it went on");
	nrows = 0;
	fold(false);
	is_int(cost_of("big") + cost_of("small"), 803,
	    "all at once is the same as in two parts");
	for (unsigned i = 0; i < nrows; i++)
		if (rows[i].model[0] == '\0') {
			is_int(rows[i].denied, 1, "a denied call");
			is_int(rows[i].held, 1, "a pending call");
			is_int(rows[i].approved, 1, "which was approved");
		}
	/* A state that came too early: its answer's cost comes with the next.
	 */
	log_detail("state", "{\"microUsd\":900,\"openMicroUsd\":0}");
	nrows = 0;
	fold(true);
	is_int(cost_of("small"), 97, "a late cost goes to the last answer");
}

static void
test_broken(void)
{
	uint8_t *p;

	log_new();
	log_detail("start", "{\"agent\":\"a\",\"format\":2}");
	log_usage("m", 100, 1);
	log_detail("state", "{\"microUsd\":10}");
	log_usage("m", 100, 1);
	p = (uint8_t *)(uintptr_t)span_find(
	    buf_span(&text), SPAN("\"in\":100"));
	if (p == NULL)
		abort();
	p[5] = '9';
	fold(false);
	is_int(end.check, AUDITLOG_BROKEN, "a record that was changed");
	is_int(end.line, 2, "is named");
	is_int(nrows, 1, "and what follows is counted as it is");
	is_int(rows[0].answers, 2, "all of it");

	log_new();
	log_detail("start", "{\"format\":2}");
	log_usage("m", 1, 1);
	text.len -= 20;
	fold(false);
	is_int(end.check, AUDITLOG_GOOD, "a torn end is no break");
	ok(end.cut != 0, "and is known");
	is_int(end.mark.log.seq, 2, "the mark is before it");
}

static void
test_records(void)
{
	struct report_filter f = {.brief = true};

	log_new();
	log_call("{\"path\":\"/home/me/canary-dir/notes.txt\","
		 "\"text\":\"canary-text\"}",
	    "approved");
	log_usage("m", 1, 2);
	buf_adds(&text, "{\"event\":\"call\",\"event\":\"call\"}\n");
	buf_adds(&text, "no record\n");
	find(&f);
	is_int(nrecords, 2, "two records");
	is_int(nbad, 2, "and two lines that are none");
	is_int(end.left_out, 2, "are counted");
	f.tool = "read";
	find(&f);
	is_int(nrecords, 1, "one of the tool");
	is_str(last_cols[COL_ARGUMENTS], "path=.../notes.txt, text",
	    "arguments are named, and paths have their last part");
	is_str(last_cols[COL_BY], "a person", "a person answered");
	is_str(last_cols[COL_DECISION], "escalate", "the decision");
	is_str(last_cols[COL_RULE], "a", "the rule");
	f.brief = false;
	f.text = SPAN("canary-text");
	find(&f);
	is_int(nrecords, 1, "found by a text");
	ok(strstr(last_cols[COL_ARGUMENTS], "canary-text") != NULL,
	    "with its arguments");
	f.decision = "approved";
	find(&f);
	is_int(nrecords, 1, "and by its answer");
	f.decision = "denied";
	find(&f);
	is_int(nrecords, 0, "another answer is not found");
	f = (struct report_filter){.json = true, .event = "usage"};
	find(&f);
	ok(nrecords == 1 &&
		span_starts(last_json, SPAN("{\"event\":\"usage\"")),
	    "a record in JSON is the line");
	f = (struct report_filter){.since = 1};
	find(&f);
	is_int(nrecords, 2, "since 1970");
	f = (struct report_filter){.until = 1};
	find(&f);
	is_int(nrecords, 0, "until 1970");
}

/* A line longer than the limit is named, and does not hide the next. */
static void
test_long(void)
{
	const struct report_filter f = {.event = "usage"};
	static char big[REPORT_LINE + 64];

	log_new();
	memset(big, 'x', sizeof(big) - 2);
	big[0] = '"';
	big[sizeof(big) - 2] = '"';
	log_call("{}", NULL);
	buf_adds(&text, "{\"event\":\"usage\",\"x\":");
	buf_adds(&text, big);
	buf_adds(&text, "}\n");
	log_usage("m", 1, 2);
	find(&f);
	is_int(nrecords, 1, "the record behind it is found");
	is_str(last_why, "it is longer than 16 MiB", "it is named");
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	report_sink = take_frame;
	test_manual(argv[1]);
	test_table();
	test_time();
	test_fold();
	test_broken();
	test_records();
	test_long();
	buf_free(&text);
	return tap_done();
}
