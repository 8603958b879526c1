/* SPDX-License-Identifier: ISC */
/*
 * `icctl metrics --all`: what all sessions cost, in Prometheus's text format,
 * to standard output or to a file of node_exporter's textfile directory. It is
 * written under another name first: a reader never sees a half of it.
 */
#include "icctl/past/past.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "common/visible.h"
#include "icctl/words.h"

static void
metric_head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP ironcurtain_%s %s\n# TYPE ironcurtain_%s %s\n",
	    name, help, name, type);
}

/* Add `name="text"`: printable, without what ends a label. */
static void
metric_label(struct buf *b, const char *name, const char *text)
{
	struct buf v;
	struct span s;

	buf_init(&v, 65536);
	(void)visible_add(&v, span_str(text), VISIBLE_ASCII);
	s = buf_span(&v);
	buf_printf(b, "%s=\"", name);
	for (size_t i = 0; i < s.len; i++)
		buf_addc(b, s.p[i] == '"' || s.p[i] == '\\' ? '_' : s.p[i]);
	buf_addc(b, '"');
	buf_free(&v);
}

/* Add a line for a model of an agent. */
static void
metric_line(struct buf *b, const char *name, const struct past_sum *g,
    const struct past_sum *part, const char *kind)
{
	buf_printf(b, "ironcurtain_%s{", name);
	metric_label(b, "agent", g->key);
	buf_addc(b, ',');
	metric_label(b, "model", part->model);
	if (kind != NULL)
		buf_printf(b, ",kind=\"%s\"", kind);
	buf_adds(b, "} ");
}

static void
metric_tokens(
    struct buf *b, const struct past_sum *g, const struct past_sum *part)
{
	const struct {
		const char *kind;
		uint64_t n;
	} rows[] = {
	    {"input", part->all.in},
	    {"output", part->all.out},
	    {"cache_read", part->all.cache_read},
	    {"cache_write", part->all.cache_write},
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		metric_line(b, "all_tokens_total", g, part, rows[i].kind);
		buf_printf(b, "%llu\n", (unsigned long long)rows[i].n);
	}
}

static void
metric_models(struct buf *b, const struct past_sums *u)
{
	const struct past_sum *g, *p;

	metric_head(b, "all_tokens_total", "counter",
	    "Tokens that answers named, in all sessions that are kept.");
	for (size_t i = 0; i < u->n; i++)
		for (size_t k = 0; k < u->groups[i].n; k++)
			metric_tokens(b, &u->groups[i], &u->groups[i].parts[k]);
	metric_head(b, "all_cost_usd_total", "counter",
	    "Estimated cost, as it was counted at the time.");
	for (size_t i = 0; i < u->n; i++)
		for (size_t k = 0; k < u->groups[i].n; k++) {
			g = &u->groups[i];
			p = &g->parts[k];
			metric_line(b, "all_cost_usd_total", g, p, NULL);
			buf_printf(b, "%llu.%06llu\n",
			    (unsigned long long)(p->all.micro_usd / 1000000),
			    (unsigned long long)(p->all.micro_usd % 1000000));
		}
	metric_head(b, "all_answers_total", "counter",
	    "Answers that named what they cost.");
	for (size_t i = 0; i < u->n; i++)
		for (size_t k = 0; k < u->groups[i].n; k++) {
			g = &u->groups[i];
			metric_line(
			    b, "all_answers_total", g, &g->parts[k], NULL);
			buf_printf(b, "%llu\n",
			    (unsigned long long)g->parts[k].all.answers);
		}
}

static void
metric_calls(struct buf *b, const struct past_sums *u)
{
	const struct report_row *r;

	metric_head(b, "all_sessions", "gauge", "Sessions that are kept.");
	for (size_t i = 0; i < u->n; i++) {
		buf_adds(b, "ironcurtain_all_sessions{");
		metric_label(b, "agent", u->groups[i].key);
		buf_printf(b, "} %zu\n", u->groups[i].sessions);
	}
	metric_head(b, "all_calls_total", "counter",
	    "Tool calls by decision; held ones were approved or refused.");
	for (size_t i = 0; i < u->n; i++) {
		r = &u->groups[i].all;
		const struct {
			const char *kind;
			uint64_t n;
		} rows[] = {{"allow", r->allowed}, {"deny", r->denied},
		    {"approved", r->approved}, {"refused", r->refused}};

		for (size_t k = 0; k < nitems(rows); k++) {
			buf_adds(b, "ironcurtain_all_calls_total{");
			metric_label(b, "agent", u->groups[i].key);
			buf_printf(b, ",decision=\"%s\"} %llu\n", rows[k].kind,
			    (unsigned long long)rows[k].n);
		}
	}
	metric_head(b, "all_failed_requests_total", "counter",
	    "Requests to models that failed.");
	buf_printf(b, "ironcurtain_all_failed_requests_total %llu\n",
	    (unsigned long long)u->total.all.failed);
	metric_head(b, "all_unread_logs", "gauge",
	    "Sessions whose log could not be read, or is broken.");
	buf_printf(
	    b, "ironcurtain_all_unread_logs %zu\n", u->unread + u->broken);
}

int
past_metrics(struct icctl *ctl)
{
	const char *file = words_option("--textfile");
	struct past_sums u = {.by = PAST_AGENT};
	struct past_sessions all;
	struct buf b;
	int r;

	if (ctl->session != NULL) {
		warnx("--all, or one session: not both");
		return ICCTL_USAGE;
	}
	if ((r = past_list(ctl, &all)) != 0)
		return r;
	past_add(&u, &all);
	buf_init(&b, 64U << 20);
	metric_models(&b, &u);
	metric_calls(&b, &u);
	if (b.failed) {
		warnx("the metrics have more than 64 MiB");
		r = ICCTL_FAILED;
	} else if (file != NULL) {
		/* node_exporter runs as another user. */
		r = past_write(file, buf_span(&b), 0644);
	} else {
		(void)fwrite(buf_span(&b).p, 1, b.len, stdout);
	}
	buf_free(&b);
	past_sums_free(&u);
	past_list_free(&all);
	return r;
}
