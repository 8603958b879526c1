/* SPDX-License-Identifier: ISC */
/*
 * Writes the page of `icctl report`: one file without script, image or link.
 * Its policy lets a browser load nothing and apply only the style in it, by its
 * hash.
 */
#include "icctl/past/report.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/amount.h"
#include "common/http/base64.h"
#include "common/plural.h"

/* Sections with a row for each record; others are counted. */
static const struct {
	const char *name, *title;
} page_sections[PAGE_SECTIONS] = {
    {"turns", "Asked"},
    {"calls", "Tool calls"},
    {"answers", "Pending calls, and who answered"},
    {"changes", "Changed files: checkpoints and undo"},
    {"alarms", "Alarms"},
    {"limits", "Limits"},
    {"refused", "Refused requests and connections"},
    {"hosts", "Hosts that were opened or connected to"},
    {"packages", "Packages"},
    {"tools", "Tools that changed or were trusted"},
    {"rules", "Rules"},
    {"credentials", "Credentials"},
    {"head", "Start and end"},
};

static const char page_style[] =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:78em;margin:2em auto;"
    "padding:0 1em;color:#1c1c1c;background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin:1.8em 0 .4em}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.25em .6em;"
    "border-bottom:1px solid #ddd;overflow-wrap:anywhere}"
    "th{background:#f3f3f3}.n{white-space:nowrap;color:#555}"
    ".no{color:#a00000}.bad{background:#a00000;color:#fff;padding:.6em}"
    ".good{background:#e4f2e4;padding:.6em}code{overflow-wrap:anywhere}"
    "@media print{body{margin:0;font-size:11px}}";

int
page_section_of(enum report_event event)
{
	const struct report_names *n = report_names(event);

	for (int i = 0; n != NULL && i < (int)PAGE_SECTIONS; i++)
		if (strcmp(n->report, page_sections[i].name) == 0)
			return i;
	return -1;
}

/* Write `text` between a tag and its end. */
static void
element(FILE *to, const char *tag, const char *text)
{
	fprintf(to, "<%s>", tag);
	past_html(to, span_str(text));
	fprintf(to, "</%s>", tag);
}

static void
put_head(FILE *to, const struct page *p)
{
	uint8_t sum[SHA256_SIZE];
	char hash[BASE64_LEN(SHA256_SIZE) + 1];

	sha256_span(span_str(page_style), sum);
	base64_put((uint8_t *)hash, span_of(sum, sizeof(sum)));
	hash[sizeof(hash) - 1] = '\0';
	fprintf(to,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src"
	    " 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action "
	    "'none'\"><meta name=\"referrer\" content=\"no-referrer\"><title>",
	    hash);
	past_html(to, span_str(p->session->id));
	fprintf(to, "</title><style>%s</style></head><body>\n", page_style);
	fputs("<h1>Session ", to);
	past_html(to, span_str(p->session->id));
	fputs("</h1>\n", to);
}

/* Write a row of the table of facts. */
static void
fact(FILE *to, const char *name, const char *value)
{
	fputs("<tr>", to);
	element(to, "th", name);
	element(to, "td", value[0] != '\0' ? value : "unknown");
	fputs("</tr>\n", to);
}

static const char *
utc(int64_t at, char dst[40])
{
	time_t t = (time_t)at;
	struct tm tm;

	dst[0] = '\0';
	if (at != 0 && gmtime_r(&t, &tm) != NULL)
		(void)strftime(dst, 40, "%Y-%m-%d %H:%M:%S UTC", &tm);
	return dst;
}

static void
put_facts(FILE *to, const struct page *p)
{
	const struct report_mark *m = &p->fold.end.mark;
	char project[4400], shown[ICCTL_PATH], at[40], spent[200];
	const double usd = (double)m->total / 1e6;

	(void)past_project(p->session, m->workspace, project, sizeof(project));
	(void)snprintf(spent, sizeof(spent),
	    "%.*f USD, %llu step%s, %llu token%s, %llu s",
	    amount_places(usd, 4), usd, (unsigned long long)m->steps,
	    plural(m->steps), (unsigned long long)m->tokens, plural(m->tokens),
	    (unsigned long long)(m->ms / 1000));
	fputs("<table>\n", to);
	fact(to, "Agent", m->agent);
	fact(to, "Workspace", icctl_path(project, shown));
	fact(to, "IronCurtain", m->version);
	fact(to, "First record", utc(m->first, at));
	fact(to, "Last record", utc(m->last, at));
	fact(to, "Spent", spent);
	fputs("</table>\n", to);
}

/* Say whether the log is intact, and its last hash. */
static void
put_verified(FILE *to, const struct page *p)
{
	const struct past_fold *f = &p->fold;
	char hex[SHA256_HEX];

	element(to, "h2", "The log");
	if (f->broken) {
		fprintf(to, "<p class=bad>BROKEN: %s line %llu: ", f->file,
		    (unsigned long long)f->line);
		past_html(
		    to, span_str(auditscan_why((enum auditlog_check)f->check)));
		fputs(". What follows it is shown as it is, and proves "
		      "nothing.</p>\n",
		    to);
	} else {
		fprintf(to,
		    "<p class=good>Intact: %llu record%s, chain unbroken, last "
		    "hash <code>%s</code>%s</p>\n",
		    (unsigned long long)(f->end.mark.log.seq - 1),
		    plural(f->end.mark.log.seq - 1),
		    sha256_hex(f->end.mark.log.prev, hex),
		    f->end.closed ? ""
				  : ". It has no closing record: the "
				    "session ran on, or its end is "
				    "missing");
	}
	if (f->end.cut != 0)
		fputs("<p class=bad>The last line is incomplete: a crash "
		      "interrupted it, or it was cut off.</p>\n",
		    to);
	if (p->bad != 0)
		fprintf(to,
		    "<p class=bad>%llu line%s could not be read and %s left "
		    "out.</p>\n",
		    (unsigned long long)p->bad, plural(p->bad),
		    p->bad == 1 ? "is" : "are");
	fputs("<p>Each number below is that of a record, and shows its hash "
	      "when pointed at: whoever has the log can look it up.</p>\n",
	    to);
	if (!p->arguments)
		fputs("<p>Of arguments this page has the names, and the last "
		      "part of paths; reasons, hosts and what programs wrote "
		      "are left out.</p>\n",
		    to);
}

/* Add up the rows of a model. */
static void
put_costs(FILE *to, const struct page *p)
{
	struct past_sessions one = {
	    (struct past_session *)(uintptr_t)p->session, 1};
	struct past_sums u = {.by = PAST_MODEL};
	const struct past_sum *g;

	past_add(&u, &one);
	if (u.n != 0) {
		element(to, "h2", "Spent");
		fputs("<table>\n<tr><th>Model<th>Answers<th>In<th>Out<th>Cached"
		      "<th>Written<th>USD</tr>\n",
		    to);
	}
	for (size_t i = 0; i < u.n; i++) {
		g = &u.groups[i];
		fputs("<tr>", to);
		element(to, "td", g->key);
		fprintf(to,
		    "<td>%llu<td>%llu<td>%llu<td>%llu<td>%llu<td>%llu.%06llu"
		    "</tr>\n",
		    (unsigned long long)g->all.answers,
		    (unsigned long long)g->all.in,
		    (unsigned long long)g->all.out,
		    (unsigned long long)g->all.cache_read,
		    (unsigned long long)g->all.cache_write,
		    (unsigned long long)(g->all.micro_usd / 1000000),
		    (unsigned long long)(g->all.micro_usd % 1000000));
	}
	if (u.n != 0)
		fputs("</table>\n", to);
	past_sums_free(&u);
}

static void
put_counts(FILE *to, const struct page *p)
{
	const struct report_names *n;

	element(to, "h2", "Records");
	fputs("<p>", to);
	for (unsigned i = 0; (n = report_names(i)) != NULL; i++)
		if (p->counts[i] != 0)
			fprintf(to, "%s %llu, ", n->name,
			    (unsigned long long)p->counts[i]);
	fprintf(to, "others %llu.</p>\n", (unsigned long long)p->others);
}

static void
put_section(
    FILE *to, struct page_section *s, const char *title, const char *heading)
{
	if (s->n == 0 || s->to == NULL)
		return;
	if (fflush(s->to) != 0)
		err(ICCTL_FAILED, "report");
	element(to, "h2", title);
	fprintf(to, "<table>\n%s\n", heading);
	(void)fwrite(s->text, 1, s->len, to);
	fputs("</table>\n", to);
	if (s->n > PAGE_ROWS)
		fprintf(to, "<p class=bad>%llu more are not shown.</p>\n",
		    (unsigned long long)(s->n - PAGE_ROWS));
}

void
page_put(struct page *p, FILE *to)
{
	put_head(to, p);
	put_facts(to, p);
	put_verified(to, p);
	put_costs(to, p);
	put_section(to, &p->messages, "Messages",
	    "<tr><th>Turn<th>What was asked</tr>");
	for (unsigned i = 0; i < PAGE_SECTIONS; i++)
		put_section(to, &p->sections[i], page_sections[i].title,
		    "<tr><th>No.<th>Time (UTC)<th>Event<th>About<th>Decision"
		    "<th>Answer<th>Details</tr>");
	put_counts(to, p);
	fputs("</body></html>\n", to);
}
