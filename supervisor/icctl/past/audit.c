/* SPDX-License-Identifier: ISC */
/*
 * `icctl audit show`, `search`, `export` and `events`: records of one session
 * or of all, for a person or for another program. The order is that of the
 * sessions' names, which begin with their starts.
 */
#include "icctl/past/past.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/json_put.h"
#include "common/log.h"
#include "common/near.h"
#include "icctl/table.h"
#include "icctl/words.h"

#define AUDIT_SHOWN 300U /* bytes of one text in a line */
#define AUDIT_WORD 4096U

enum audit_form {
	FORM_LINES, /* for a person */
	FORM_JSONL,
	FORM_CSV,
};

struct audit {
	struct icctl *ctl;
	enum audit_form form;
	bool all; /* name the session of each record */
	const struct past_session *session;
	char file[AUDITPARTS_NAME];
	char filters[12][AUDIT_WORD];
	unsigned nfilters;
	struct span text; /* a line without it is not wanted */
	uint64_t found, bad;
	bool failed;
};

/* Append " TEXT" with what stands before and after it, unless it is empty. */
static void
put_part(const char *before, struct span s, const char *after)
{
	if (s.len == 0)
		return;
	fputs(before, stdout);
	icctl_put(s, AUDIT_SHOWN, false);
	fputs(after, stdout);
}

/*
 * Print the number that a record has: repetitions, unless its event counts
 * something else.
 */
static void
audit_count(const struct span c[REPORT_NCOLS])
{
	static const struct {
		const char *event, *before, *after;
	} rows[] = {{"serverState", ", tools: ", ""},
	    {"policy", ", rules: ", ""}, {"instance", ", number ", ""},
	    {"definitions", ", and ", " more"}, {"round", ", number ", ""},
	    {"checkpoint", ", files: ", ""}, {"undoEnd", ", files: ", ""},
	    {"grant", ", calls left: ", ""}, {"portUse", ", connections: ", ""},
	    {"breakoutTest", ", attempts: ", ""}};

	for (size_t i = 0; i < nitems(rows); i++)
		if (span_is(c[COL_EVENT], rows[i].event)) {
			put_part(rows[i].before, c[COL_COUNT], rows[i].after);
			return;
		}
	put_part(", ", c[COL_COUNT], " times");
}

static void
put_record(const struct audit *a, const struct report_record *r,
    const struct span c[REPORT_NCOLS])
{
	char when[32] = "                   ";
	time_t at = (time_t)r->time;
	struct tm tm;

	if (r->time != 0 && localtime_r(&at, &tm) != NULL)
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	if (a->all) {
		icctl_put(span_str(a->session->id), 64, false);
		putchar(' ');
	}
	printf("%s ", when);
	icctl_put(c[COL_EVENT], 40, false);
	put_part(" ", c[COL_SERVER], "");
	put_part(c[COL_SERVER].len != 0 ? "." : " ", c[COL_TOOL], "");
	put_part(" ", c[COL_HOST], "");
	put_part(" ", c[COL_MODEL], "");
	put_part(" in ", c[COL_INPUT], "");
	put_part(" out ", c[COL_OUTPUT], "");
	put_part(" ", c[COL_DECISION], "");
	put_part(", ", c[COL_ANSWER], "");
	put_part(" by ", c[COL_BY], "");
	put_part(" (rule ", c[COL_RULE], ")");
	put_part(" ", c[COL_WHAT], "");
	put_part(" ", c[COL_STATUS], "");
	audit_count(c);
	put_part(": ", c[COL_REASON], "");
	put_part(": ", c[COL_TEXT], "");
	put_part(" ", c[COL_ARGUMENTS], "");
	putchar('\n');
}

static void
put_csv(const struct audit *a, const struct report_record *r,
    const struct span c[REPORT_NCOLS])
{
	past_csv(stdout, span_str(a->session->id));
	printf(",%llu", (unsigned long long)r->seq);
	for (unsigned i = 0; i < REPORT_NCOLS; i++) {
		putchar(',');
		past_csv(stdout, c[i]);
	}
	putchar(',');
	past_csv(stdout, span_str(r->hash));
	fputs("\r\n", stdout);
}

/* Put the session's id into the object; the record follows as it is. */
static void
put_jsonl(const struct audit *a, struct span json)
{
	json_object *id = json_text(a->session->id);

	if (json.len < 2 || json.p[0] != '{')
		return;
	fputs("{\"session\":", stdout);
	past_json(
	    stdout, span_str(json_object_to_json_string_ext(id, ICCTL_JSON)));
	putchar(',');
	past_json(stdout, span_of(json.p + 1, json.len - 1));
	putchar('\n');
	json_object_put(id);
}

static void
on_record(void *arg, const struct report_record *r,
    const struct span cols[REPORT_NCOLS], struct span json)
{
	const struct report_names *n = report_names(r->event);
	struct audit *a = arg;

	if (a->form == FORM_CSV && n != NULL && report_skips(n->csv))
		return;
	a->found++;
	if (a->form == FORM_JSONL)
		put_jsonl(a, json);
	else if (a->form == FORM_CSV)
		put_csv(a, r, cols);
	else
		put_record(a, r, cols);
	/* A reader that went away has seen enough. */
	if (ferror(stdout))
		_exit(ICCTL_OK);
}

static void
on_bad(void *arg, const struct report_bad *bad)
{
	struct audit *a = arg;
	char shown[ICCTL_PATH], why[4 * sizeof(bad->why)];

	warnx("%s/%s: line %llu is left out: %s",
	    icctl_path(a->session->dir, shown), a->file,
	    (unsigned long long)bad->line,
	    log_vis(span_str(bad->why), why, sizeof(why)));
	a->bad++;
}

/* Read all files of a session's log, the oldest first. */
static void
audit_session(struct audit *a)
{
	const struct past_reader to = {
	    .arg = a, .record = on_record, .bad = on_bad};
	const char *words[16] = {
	    "records", a->form == FORM_JSONL ? "json=1" : "json=0"};
	int dirfd = open(a->session->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fault fault = {""};
	struct report_end end;
	unsigned older = 0;
	int fd;

	for (unsigned i = 0; i < a->nfilters; i++)
		words[2 + i] = a->filters[i];
	if (dirfd == -1 ||
	    (auditparts_count(dirfd, &older) == -1 && errno != ENODATA)) {
		warn("%s", a->session->dir);
		a->failed = true;
		if (dirfd != -1)
			close(dirfd);
		return;
	}
	/* A file that is missing does not hide the others. */
	for (unsigned part = 1; part <= older + 1; part++) {
		memset(&end, 0, sizeof(end));
		(void)auditparts_name(part, older, a->file);
		fd = past_open(dirfd, a->file);
		if (fd == -1 ||
		    (past_has(fd, a->text) &&
			past_run(&to, fd, words, &end, &fault) == -1)) {
			warnx("%s/%s: %s", a->session->dir, a->file,
			    fd == -1 ? strerror(errno) : fault.text);
			a->failed = true;
		}
		if (fd != -1)
			close(fd);
		if (end.left_out > 20)
			warnx("%s/%s: %llu lines are left out in all",
			    a->session->dir, a->file,
			    (unsigned long long)end.left_out);
	}
	close(dirfd);
}

/* Add KEY=VALUE for ic-report. Returns 0, or -1 after the reason. */
static int
audit_filter(struct audit *a, const char *key, struct span value)
{
	char *to = a->filters[a->nfilters];
	int n;

	n = snprintf(to, AUDIT_WORD, "%s=%.*s", key, (int)value.len,
	    (const char *)value.p);
	if (n < 0 || (size_t)n >= AUDIT_WORD) {
		warnx("a text of at most %u bytes can be searched for",
		    AUDIT_WORD / 2);
		return -1;
	}
	a->nfilters++;
	return 0;
}

/* Add a text as logs have it in JSON, with quotes if it is a whole string. */
static int
audit_text(struct audit *a, const char *text, bool whole)
{
	struct buf b;
	struct span s;
	int rv;

	if (!utf8_valid(span_str(text))) {
		warnx("the text that is searched for is not UTF-8");
		return -1;
	}
	buf_init(&b, (size_t)AUDIT_WORD * 8);
	(void)json_write_string(&b, span_str(text));
	s = buf_span(&b);
	if (!whole && s.len >= 2)
		s = span_of(s.p + 1, s.len - 2);
	rv = audit_filter(a, "text", s);
	if (rv == 0)
		a->text = span_str(a->filters[a->nfilters - 1] + 5);
	buf_free(&b);
	return rv;
}

static int
audit_time(struct audit *a, const char *option, const char *key)
{
	const char *text = words_option(option);
	char number[24];
	int64_t at = 0;

	if (text == NULL)
		return 0;
	if (past_when(option, text, &at) == -1)
		return -1;
	(void)snprintf(number, sizeof(number), "%lld", (long long)at);
	return audit_filter(a, key, span_str(number));
}

/* Returns true if the log has events of this name; says so otherwise. */
static bool
audit_event(const char *name)
{
	const char *names[64] = {NULL};
	const struct report_names *n;
	char hint[NEAR_HINT], shown[64];

	for (unsigned i = 0; (n = report_names(i)) != NULL; i++) {
		if (strcmp(n->name, name) == 0)
			return true;
		if (i + 1 < nitems(names))
			names[i] = n->name;
	}
	warnx("--event %s: the log has no such event%s (icctl audit events)",
	    log_vis(span_str(name), shown, sizeof(shown)),
	    near_hint(name, names, hint));
	return false;
}

/* Take the options that choose records. Returns 0, or -1 after the reason. */
static int
audit_filters(struct audit *a, const char *text)
{
	static const char *const names[] = {
	    "tool", "server", "host", "event", "decision"};
	const char *value, *quick = NULL;
	char option[16];

	for (size_t i = 0; i < nitems(names); i++) {
		(void)snprintf(option, sizeof(option), "--%s", names[i]);
		if ((value = words_option(option)) == NULL)
			continue;
		if ((strcmp(names[i], "event") == 0 && !audit_event(value)) ||
		    audit_filter(a, names[i], span_str(value)) == -1)
			return -1;
		/* A decision may be a word that is not in the log. */
		if (quick == NULL && strcmp(names[i], "decision") != 0)
			quick = value;
	}
	if (text != NULL ? audit_text(a, text, false) == -1
			 : quick != NULL && audit_text(a, quick, true) == -1)
		return -1;
	if (audit_time(a, "--since", "since") == -1)
		return -1;
	return audit_time(a, "--until", "until");
}

static void
csv_heading(void)
{
	fputs("session,seq", stdout);
	for (unsigned i = 0; i < REPORT_NCOLS; i++)
		printf(",%s", report_column(i));
	fputs(",hash\r\n", stdout);
}

/* Find the sessions: all, or one. Returns 0, or an exit status. */
static int
audit_sessions(struct audit *a, const char *name, struct past_sessions *all)
{
	int r;

	a->all = words_given("--all");
	if (a->all && (name != NULL || a->ctl->session != NULL)) {
		warnx("--all, or one session: not both");
		return ICCTL_USAGE;
	}
	if (name != NULL)
		a->ctl->session = name;
	if (!a->all && (r = past_newest(a->ctl)) != 0)
		return r;
	return past_list(a->ctl, all);
}

static int
audit_run(struct audit *a, const char *name)
{
	struct past_sessions all;
	int r;

	if ((r = audit_sessions(a, name, &all)) != 0)
		return r;
	if (a->form == FORM_CSV)
		csv_heading();
	for (size_t i = 0; i < all.n; i++) {
		a->session = &all.list[i];
		audit_session(a);
	}
	past_list_free(&all);
	return a->failed ? ICCTL_FAILED : ICCTL_OK;
}

/* Returns the form of an export, or -1 after the reason. */
static int
audit_format(enum audit_form *form)
{
	const char *f = words_option("--format");

	if (f == NULL || strcmp(f, "jsonl") == 0)
		*form = FORM_JSONL;
	else if (strcmp(f, "csv") == 0)
		*form = FORM_CSV;
	else {
		warnx("--format: jsonl or csv%s",
		    strcmp(f, "ocsf") == 0 || strcmp(f, "otlp") == 0
			? ". What this one will call each event: icctl audit "
			  "events"
			: "");
		return -1;
	}
	return 0;
}

static void
put_events(const struct icctl *ctl)
{
	static const struct table_column columns[] = {{"EVENT", false},
	    {"CSV", false}, {"OCSF", false}, {"OTLP", false},
	    {"REPORT", false}};
	const struct report_names *n;
	json_object *o, *list = json_object_new_array();
	struct table t;

	table_begin(&t, columns, nitems(columns));
	for (unsigned i = 0; (n = report_names(i)) != NULL; i++) {
		table_print(&t, "%s", n->name);
		table_print(&t, "%s", report_skips(n->csv) ? "-" : "row");
		table_print(&t, "%s", report_skips(n->ocsf) ? "-" : n->ocsf);
		table_print(&t, "%s", report_skips(n->otlp) ? "-" : n->otlp);
		table_print(&t, "%s", n->report);
		o = json_object_new_object();
		put_str(o, "event", n->name);
		put_str(o, "csv", n->csv);
		put_str(o, "ocsf", n->ocsf);
		put_str(o, "otlp", n->otlp);
		put_str(o, "report", n->report);
		json_object_array_add(list, o);
	}
	if (ctl->json)
		icctl_put_json(list);
	else
		table_put(&t);
	table_free(&t);
	json_object_put(list);
}

int
past_audit(struct icctl *ctl, int argc, char **argv)
{
	static struct audit a;
	const bool search = strcmp(argv[1], "search") == 0,
		   show = strcmp(argv[1], "show") == 0,
		   export = strcmp(argv[1], "export") == 0;
	int r;

	a.ctl = ctl;
	if (argc == 2 && strcmp(argv[1], "events") == 0) {
		put_events(ctl);
		return ICCTL_OK;
	}
	if ((!search && !show && !export) || argc > 3)
		return words_usage();
	if (ctl->json)
		a.form = FORM_JSONL;
	if (export && audit_format(&a.form) == -1)
		return ICCTL_USAGE;
	if (audit_filters(&a, search && argc == 3 ? argv[2] : NULL) == -1)
		return ICCTL_USAGE;
	if (search && a.nfilters == 0)
		return words_usage();
	r = audit_run(&a, search || argc < 3 ? NULL : argv[2]);
	if (r == ICCTL_OK && !export && a.nfilters != 0 && a.found == 0) {
		warnx("no record has that%s",
		    a.all ? "" : "; --all searches all sessions");
		return search ? ICCTL_FAILED : ICCTL_OK;
	}
	return r;
}
