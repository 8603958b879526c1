/* SPDX-License-Identifier: ISC */
/*
 * `icctl report`: collects what a log says of one session, section by section.
 * Without --with-arguments and --with-messages a page has no text that an
 * agent, a server or a person wrote: only names, decisions, numbers and hashes.
 */
#include "icctl/past/report.h"

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "icctl/words.h"

/* Write a cell of a table. */
static void
cell(FILE *to, struct span s)
{
	fputs("<td>", to);
	past_html(to, s);
	fputs("</td>", to);
}

/* Returns the name of the tool, unless it is the address of a request. */
static struct span
tool_of(const struct page *p, struct span tool)
{
	if (p->arguments || (span_find(tool, SPAN("://")) == NULL &&
				span_find(tool, SPAN(" ")) == NULL &&
				span_find(tool, SPAN("/")) == NULL))
		return tool;
	return SPAN("(an address)");
}

/* Write the details of a record that may be shown. */
static void
put_details(FILE *to, const struct page *p, const struct span c[REPORT_NCOLS])
{
	static const struct {
		unsigned column;
		bool open; /* with the arguments only */
		const char *before;
	} rows[] = {
	    {COL_WHAT, false, ""},
	    {COL_HOST, true, ""},
	    {COL_COUNT, false, "number "},
	    {COL_STATUS, false, "status "},
	    {COL_BYTES, false, "bytes "},
	    {COL_ARGUMENTS, false, ""},
	    {COL_REASON, true, ""},
	    {COL_TEXT, true, ""},
	};
	bool any = false;

	for (size_t i = 0; i < nitems(rows); i++) {
		if (c[rows[i].column].len == 0 ||
		    (rows[i].open && !p->arguments))
			continue;
		fputs(any ? "; " : "", to);
		fputs(rows[i].before, to);
		past_html(to, c[rows[i].column]);
		any = true;
	}
}

static void
put_row(FILE *to, const struct page *p, const struct report_record *r,
    const struct span c[REPORT_NCOLS])
{
	char text[80];
	struct tm tm;
	time_t at = (time_t)r->time;

	fprintf(to, "<tr><td class=n title=\"%.64s\">%llu</td>",
	    strspn(r->hash, "0123456789abcdef") == 64 ? r->hash : "",
	    (unsigned long long)r->seq);
	text[0] = '\0';
	if (gmtime_r(&at, &tm) != NULL)
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	cell(to, span_str(text));
	cell(to, c[COL_EVENT]);
	fputs("<td>", to);
	past_html(to, c[COL_SERVER]);
	if (c[COL_SERVER].len != 0 && c[COL_TOOL].len != 0)
		putc('.', to);
	past_html(to, tool_of(p, c[COL_TOOL]));
	fputs(c[COL_ID].len != 0 ? " <i>" : "", to);
	past_html(to, c[COL_ID]);
	fputs(c[COL_ID].len != 0 ? "</i></td>" : "</td>", to);
	fputs(span_is(c[COL_DECISION], "deny") ? "<td class=no>" : "<td>", to);
	past_html(to, c[COL_DECISION]);
	if (c[COL_RULE].len != 0)
		fputs(" (", to);
	past_html(to, c[COL_RULE]);
	fputs(c[COL_RULE].len != 0 ? ")</td><td>" : "</td><td>", to);
	past_html(to, c[COL_ANSWER]);
	if (c[COL_BY].len != 0)
		fputs(c[COL_ANSWER].len != 0 ? " by " : "by ", to);
	past_html(to, c[COL_BY]);
	fputs("</td><td>", to);
	put_details(to, p, c);
	fputs("</td></tr>\n", to);
}

static void
on_record(void *arg, const struct report_record *r,
    const struct span cols[REPORT_NCOLS], struct span json)
{
	struct page *p = arg;
	struct page_section *s;
	int k = page_section_of((enum report_event)r->event);

	(void)json;
	if (r->event < REPORT_EVENTS)
		p->counts[r->event]++;
	else
		p->others++;
	if (k == -1)
		return;
	s = &p->sections[k];
	s->n++;
	if (s->n > PAGE_ROWS)
		return;
	if (s->to == NULL &&
	    (s->to = open_memstream(&s->text, &s->len)) == NULL)
		err(ICCTL_FAILED, "report");
	put_row(s->to, p, r, cols);
}

/* A message that the person sent, from events.jsonl. */
static void
on_message(void *arg, const struct report_record *r,
    const struct span cols[REPORT_NCOLS], struct span json)
{
	struct page *p = arg;
	struct page_section *s = &p->messages;

	(void)r;
	(void)json;
	if (++s->n > PAGE_ROWS || !span_is(cols[COL_EVENT], "turn_start"))
		return;
	if (s->to == NULL &&
	    (s->to = open_memstream(&s->text, &s->len)) == NULL)
		err(ICCTL_FAILED, "report");
	fputs("<tr>", s->to);
	cell(s->to, cols[COL_ID]);
	cell(s->to, cols[COL_TEXT]);
	fputs("</tr>\n", s->to);
}

static void
on_bad(void *arg, const struct report_bad *bad)
{
	struct page *p = arg;

	(void)bad;
	p->bad++;
}

/* Read the messages. A session that is no conversation has none. */
static void
report_messages(struct page *p, int dirfd)
{
	const struct past_reader to = {
	    .arg = p, .record = on_message, .bad = on_bad};
	const char *words[] = {"records", "event=turn_start", NULL};
	struct report_end end = {.line = 0};
	struct fault fault;
	int fd = past_open(dirfd, "events.jsonl");

	if (fd == -1)
		return;
	if (past_run(&to, fd, words, &end, &fault) == -1)
		warnx("events.jsonl: %s", fault.text);
	close(fd);
}

static int
report_read(struct page *p, int dirfd)
{
	const struct past_reader to = {
	    .arg = p, .record = on_record, .bad = on_bad};
	const char *words[] = {
	    "records", p->arguments ? "brief=0" : "brief=1", NULL};
	char name[AUDITPARTS_NAME];
	struct report_end end;
	struct fault fault;
	unsigned older;
	int fd;

	if (past_fold(&p->fold, dirfd, p->session->dir, true, &fault) == -1) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	older = p->fold.part - 1;
	for (unsigned part = 1; part <= older + 1; part++) {
		memset(&end, 0, sizeof(end));
		(void)auditparts_name(part, older, name);
		if ((fd = past_open(dirfd, name)) == -1) {
			warn("%s/%s", p->session->dir, name);
			return ICCTL_FAILED;
		}
		if (past_run(&to, fd, words, &end, &fault) == -1) {
			warnx("%s/%s: %s", p->session->dir, name, fault.text);
			close(fd);
			return ICCTL_FAILED;
		}
		close(fd);
	}
	if (p->with_messages)
		report_messages(p, dirfd);
	return ICCTL_OK;
}

static int
report_save(struct page *p, const char *file)
{
	char name[300], *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int r;

	if (f == NULL)
		err(ICCTL_FAILED, "report");
	page_put(p, f);
	if (fclose(f) != 0)
		err(ICCTL_FAILED, "report");
	if (file == NULL) {
		(void)snprintf(name, sizeof(name), "%s.html", p->session->id);
		file = name;
	}
	if (strcmp(file, "-") == 0) {
		r = fwrite(text, 1, len, stdout) == len ? ICCTL_OK
							: ICCTL_FAILED;
	} else if ((r = past_write(file, span_of(text, len), 0600)) ==
		   ICCTL_OK) {
		printf("%s: %s%s\n", file,
		    p->fold.broken ? "THE LOG IS BROKEN, as the page says; "
		    : p->fold.end.cut != 0
			? "THE LOG ENDS WITHIN A LINE, as the page says; "
			: "the log is intact; ",
		    p->arguments || p->with_messages
			? "with texts of the session: read it before you send "
			  "it"
			: "without arguments, messages and hosts");
	}
	free(text);
	return r;
}

static void
page_free(struct page *p)
{
	for (unsigned i = 0; i <= PAGE_SECTIONS; i++) {
		struct page_section *s =
		    i < PAGE_SECTIONS ? &p->sections[i] : &p->messages;

		if (s->to != NULL)
			(void)fclose(s->to);
		free(s->text);
	}
	past_fold_free(&p->fold);
}

int
icctl_report(struct icctl *ctl, int argc, char **argv)
{
	static struct page p;
	struct past_sessions all;
	int dirfd, r;

	if ((r = icctl_one_session(ctl, argc, argv)) != 0 ||
	    (r = past_newest(ctl)) != 0)
		return r;
	if ((r = past_list(ctl, &all)) != 0)
		return r;
	p.session = &all.list[0];
	p.arguments = words_given("--with-arguments");
	p.with_messages = words_given("--with-messages");
	dirfd = open(p.session->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd == -1) {
		warn("%s", p.session->dir);
		return ICCTL_FAILED;
	}
	if ((r = report_read(&p, dirfd)) == ICCTL_OK)
		r = report_save(&p, words_option("-o"));
	close(dirfd);
	page_free(&p);
	past_list_free(&all);
	return r;
}
