/* SPDX-License-Identifier: ISC */
/*
 * Adds up the sums of sessions by days, models, projects and so on. Names come
 * from logs; they are compared here, and escaped where they are shown.
 */
#include "icctl/past/past.h"

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "common/plural.h"
#include "icctl/newest.h"

/* Returns the part of that model, or the group of that key; it is made. */
static struct past_sum *
sum_find(struct past_sum **list, size_t *n, const char *key, const char *model)
{
	struct past_sum *s;

	for (size_t i = *n; i-- > 0;) {
		s = &(*list)[i];
		if (strcmp(s->key, key) == 0 && strcmp(s->model, model) == 0)
			return s;
	}
	if (*n % 64 == 0) {
		s = reallocarray(*list, *n + 64, sizeof(*s));
		if (s == NULL)
			err(ICCTL_FAILED, "usage");
		*list = s;
	}
	s = &(*list)[(*n)++];
	memset(s, 0, sizeof(*s));
	(void)strlcpy(s->key, key, sizeof(s->key));
	(void)strlcpy(s->model, model, sizeof(s->model));
	return s;
}

static void
sum_add(struct past_sum *s, const struct report_row *r, size_t session)
{
	struct report_row *a = &s->all;

	a->in += r->in;
	a->out += r->out;
	a->cache_read += r->cache_read;
	a->cache_write += r->cache_write;
	a->answers += r->answers;
	a->failed += r->failed;
	a->micro_usd += r->micro_usd;
	a->allowed += r->allowed;
	a->denied += r->denied;
	a->held += r->held;
	a->approved += r->approved;
	a->refused += r->refused;
	if (r->slot > a->slot)
		a->slot = r->slot;
	if (s->last != session + 1)
		s->sessions++;
	s->last = session + 1;
}

/* Write the local day, week or month of a slot. */
static void
key_time(enum past_by by, int64_t slot, char *dst, size_t cap)
{
	time_t at = (time_t)slot;
	struct tm tm;

	if (slot == 0 || localtime_r(&at, &tm) == NULL) {
		(void)strlcpy(dst, "(unknown)", cap);
		return;
	}
	if (by == PAST_WEEK) {
		/* A week is named by its Monday, as ccusage does. */
		tm.tm_mday -= (tm.tm_wday + 6) % 7;
		tm.tm_hour = 12;
		tm.tm_isdst = -1;
		(void)mktime(&tm);
	}
	(void)strftime(dst, cap, by == PAST_MONTH ? "%Y-%m" : "%Y-%m-%d", &tm);
}

/* Name the group of a row. Returns false if it is in none. */
static bool
key_of(const struct past_sums *u, const struct past_session *s,
    const struct report_mark *m, const struct report_row *r,
    const char *project, char key[300])
{
	switch (u->by) {
	case PAST_DAY:
	case PAST_WEEK:
	case PAST_MONTH:
	case PAST_BYS:
		key_time(u->by, r->slot, key, 300);
		break;
	case PAST_MODEL:
		(void)strlcpy(key, r->model, 300);
		break;
	case PAST_PROJECT:
		(void)strlcpy(key, project, 300);
		break;
	case PAST_SESSION:
		(void)strlcpy(key, s->id, 300);
		break;
	case PAST_AGENT:
		(void)strlcpy(
		    key, m->agent[0] != '\0' ? m->agent : "(unknown)", 300);
		break;
	}
	return key[0] != '\0';
}

static void
add_row(struct past_sums *u, const struct past_session *s, size_t session,
    const struct report_mark *m, const struct report_row *r,
    const char *project)
{
	struct past_sum *g;
	char key[300];

	if ((u->since != 0 && r->slot + REPORT_SLOT <= u->since) ||
	    (u->until != 0 && r->slot >= u->until) ||
	    !key_of(u, s, m, r, project, key))
		return;
	sum_add(&u->total, r, session);
	g = sum_find(&u->groups, &u->n, key, "");
	sum_add(g, r, session);
	if (r->model[0] != '\0') {
		sum_add(sum_find(&g->parts, &g->n, key, r->model), r, session);
		sum_add(sum_find(&u->total.parts, &u->total.n, "", r->model), r,
		    session);
	}
}

/* Say what is wrong with a log; what could be read of it is counted. */
static void
add_warnings(struct past_sums *u, const struct past_session *s,
    const struct past_fold *f)
{
	char shown[ICCTL_PATH];

	if (f->broken) {
		u->broken++;
		warnx("%s/%s: line %llu: %s. What follows is counted as it is; "
		      "look: icctl audit verify %s",
		    icctl_path(s->dir, shown), f->file,
		    (unsigned long long)f->line,
		    auditscan_why((enum auditlog_check)f->check), s->id);
	}
	if (f->left_out != 0)
		warnx("%s: %llu record%s could not be read, and%s not counted",
		    icctl_path(s->dir, shown), (unsigned long long)f->left_out,
		    plural(f->left_out), f->left_out == 1 ? " is" : " are");
}

static void
add_session(struct past_sums *u, const struct past_session *s, size_t session)
{
	struct past_fold f = {.n = 0};
	struct report_row rest;
	struct fault fault = {""};
	const struct report_mark *m = &f.end.mark;
	char project[4400];
	int fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		(void)fault_errno(&fault, "%s", s->dir);
	if (fd == -1 || past_fold(&f, fd, s->dir, u->again, &fault) == -1) {
		warnx("%s", fault.text);
		u->unread++;
		goto out;
	}
	add_warnings(u, s, &f);
	/* A session of ours works on no project of the person's. */
	if (newest_is_own(m->agent))
		(void)strlcpy(project, "(policy compiler)", sizeof(project));
	else
		(void)past_project(s, m->workspace, project, sizeof(project));
	for (size_t i = 0; i < f.n; i++)
		add_row(u, s, session, m, &f.rows[i], project);
	/* Answers in progress, or that were cut short, have no record. */
	if (m->total > m->settled) {
		memset(&rest, 0, sizeof(rest));
		rest.slot = m->last - m->last % REPORT_SLOT;
		rest.micro_usd = m->total - m->settled;
		(void)strlcpy(rest.model, "(not finished)", sizeof(rest.model));
		add_row(u, s, session, m, &rest, project);
	}
out:
	past_fold_free(&f);
	if (fd != -1)
		close(fd);
}

/* Order times and names; costs come first where there are many of a kind. */
static int
by_key(const void *a, const void *b)
{
	const struct past_sum *x = a, *y = b;
	int r = strcmp(x->key, y->key);

	return r != 0 ? r : strcmp(x->model, y->model);
}

void
past_add(struct past_sums *u, const struct past_sessions *all)
{
	if (past_ahead(all, u->again))
		u->again = false;
	for (size_t i = 0; i < all->n; i++)
		add_session(u, &all->list[i], i);
	if (u->n != 0)
		qsort(u->groups, u->n, sizeof(*u->groups), by_key);
	for (size_t i = 0; i < u->n; i++)
		if (u->groups[i].n != 0)
			qsort(u->groups[i].parts, u->groups[i].n,
			    sizeof(struct past_sum), by_key);
}

void
past_sums_free(struct past_sums *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->groups[i].parts);
	free(u->groups);
	free(u->total.parts);
	memset(u, 0, sizeof(*u));
}
