/* SPDX-License-Identifier: ISC */
/* `icctl job ls`, `show` and `logs`: jobs, their times, and their runs. */
#include "icctl/job/job.h"

#include <sys/stat.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/plural.h"
#include "common/visible.h"
#include "icctl/table.h"

#define LIST_RUNS 20U
#define LIST_WHEN 4096U

const char *
job_state(const struct job *j, json_object *last, time_t late)
{
	const char *status = get_str(last, "status", "");

	if (strcmp(status, "running") == 0)
		return "running";
	if (!j->enabled)
		return "disabled";
	if (late != 0)
		return "overdue";
	if (strcmp(status, "failed") == 0 || strcmp(status, "died") == 0 ||
	    strcmp(status, "budget_exhausted") == 0 ||
	    strcmp(status, "cancelled") == 0)
		return "failed";
	return strcmp(status, "skipped") == 0 ? "skipped" : "ok";
}

/* Returns who starts the job. */
static const char *
list_by(const struct icctl *ctl, const struct job *j)
{
	if (!j->scheduled || !j->enabled)
		return "nobody";
	if (timer_has(j))
		return "systemd";
	return job_daemon_runs(ctl) ? "daemon" : "nobody";
}

static json_object *
list_row(const struct icctl *ctl, const struct job *j)
{
	json_object *o = json_object_new_object();
	time_t now = time(NULL), late = record_overdue(j, now), next;
	struct record_row last = {.o = NULL};
	char when[JOB_TIME];

	(void)record_list(j, &last, 1);
	put_str(o, "name", j->name);
	put_str(o, "state", job_state(j, last.o, late));
	put_str(o, "schedule", get_str(j->root, "schedule", ""));
	put_bool(o, "enabled", j->enabled);
	put_str(o, "by", list_by(ctl, j));
	if (j->enabled && j->scheduled &&
	    (next = cron_next(&j->cron, now)) != -1)
		put_str(o, "next", job_time(next, when));
	if (late != 0)
		put_int(o, "lateSeconds", late);
	if (last.o != NULL)
		json_object_object_add(o, "last", last.o);
	put_str(o, "task", job_task(j));
	return o;
}

/* Add when the job runs next, and how its last run ended. */
static void
list_when(struct buf *b, json_object *o)
{
	json_object *last = get_member(o, "last");
	char local[ICCTL_LOCAL];

	if (icctl_text(o, "next")[0] != '\0')
		buf_printf(b, "next %s%s%s",
		    icctl_local(icctl_text(o, "next"), local),
		    strcmp(icctl_text(o, "by"), "nobody") == 0
			? ", but nothing starts it: icctl job daemon"
			: "",
		    last != NULL ? "; " : "");
	if (last != NULL)
		buf_printf(b, "last %s %s",
		    icctl_local(icctl_text(last, "startedAt"), local),
		    icctl_text(last, "status"));
}

static void
list_put(struct table *t, json_object *o)
{
	struct buf when;

	buf_init(&when, LIST_WHEN);
	list_when(&when, o);
	table_text(t, span_str(icctl_text(o, "name")), 64);
	table_text(t, span_str(icctl_text(o, "state")), 64);
	table_text(t, span_str(icctl_text(o, "schedule")), 64);
	table_text(t, buf_span(&when), LIST_WHEN);
	buf_free(&when);
}

/* Print a table of jobs. */
static void
list_print(json_object *all)
{
	static const struct table_column columns[] = {{"JOB", false},
	    {"STATE", false}, {"SCHEDULE", false}, {"RUNS", false}};
	struct table t;

	table_begin(&t, columns, nitems(columns));
	for (size_t i = 0; i < json_object_array_length(all); i++)
		list_put(&t, json_object_array_get_idx(all, i));
	table_put(&t);
	table_free(&t);
}

int
job_ls(const struct icctl *ctl)
{
	json_object *all = json_object_new_array(), *o;
	char *names[JOB_MAX];
	size_t n = job_names(ctl->home, names);
	struct fault fault;
	struct job j;
	int status = ICCTL_OK;

	for (size_t i = 0; i < n; i++) {
		if (job_load(&j, ctl->home, names[i], &fault) == -1) {
			warnx("%s", fault.text);
			status = ICCTL_FAILED;
		} else {
			o = list_row(ctl, &j);
			json_object_array_add(all, o);
		}
		job_free(&j);
		free(names[i]);
	}
	if (ctl->json)
		icctl_put_json(all);
	else if (n == 0)
		puts("there are no jobs. Make one: icctl job add NAME "
		     "--schedule \"0 3 * * *\" --task TEXT");
	else if (json_object_array_length(all) != 0)
		list_print(all);
	json_object_put(all);
	return status;
}

static void
list_run(json_object *o)
{
	json_object *b = get_member(o, "budget");
	char local[ICCTL_LOCAL];

	printf("%s  %-16s %5lld s  %8.4f USD  %lld turn%s",
	    icctl_local(icctl_text(o, "startedAt"), local),
	    icctl_text(o, "status"),
	    (long long)icctl_number(b, "elapsedSeconds"),
	    json_object_get_double(get_member(b, "estimatedCostUsd")),
	    (long long)icctl_number(o, "turns"),
	    plural((uint64_t)icctl_number(o, "turns")));
	if (icctl_text(o, "session")[0] != '\0')
		printf("  %s", icctl_text(o, "session"));
	if (icctl_text(o, "why")[0] != '\0') {
		fputs("  ", stdout);
		icctl_put(span_str(icctl_text(o, "why")), 200, false);
	}
	putchar('\n');
}

static void
list_row_put(const char *key, struct span value)
{
	printf("%-20s ", key);
	icctl_put(value, 4000, false);
	putchar('\n');
}

int
job_show(const struct icctl *ctl, struct job *j)
{
	struct buf when;
	char lines[CRON_LINES][CRON_LINE];
	json_object *o = list_row(ctl, j);
	unsigned n;

	if (ctl->json) {
		json_object_object_add(o, "job", json_object_get(j->root));
		icctl_put_json(o);
		json_object_put(o);
		return ICCTL_OK;
	}
	list_row_put("state", span_str(icctl_text(o, "state")));
	buf_init(&when, LIST_WHEN);
	list_when(&when, o);
	if (when.len != 0)
		list_row_put("runs", buf_span(&when));
	buf_free(&when);
	json_object_put(o);
	n = j->scheduled ? cron_calendar(&j->cron, lines) : 0;
	for (unsigned i = 0; i < n; i++)
		list_row_put("OnCalendar", span_str(lines[i]));
	json_object_object_foreach(j->root, key, v)
	{
		list_row_put(key,
		    span_str(
			json_object_is_type(v, json_type_string)
			    ? json_object_get_string(v)
			    : json_object_to_json_string_ext(v, ICCTL_JSON)));
	}
	return ICCTL_OK;
}

/* Print what the last run said. */
static void
list_log(const char *path)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	FILE *f = path[0] == '\0' ? NULL : fopen(path, "re");

	if (f == NULL)
		return;
	while ((n = getline(&line, &cap, f)) > 0) {
		icctl_put(span_of(line, (size_t)n - (line[n - 1] == '\n')),
		    65536, false);
		putchar('\n');
	}
	free(line);
	fclose(f);
}

int
job_logs(const struct icctl *ctl, struct job *j)
{
	struct record_row rows[LIST_RUNS];
	json_object *all = json_object_new_array();
	size_t n = record_list(j, rows, nitems(rows));

	for (size_t i = 0; i < n; i++) {
		json_object_array_add(all, json_object_get(rows[i].o));
		if (!ctl->json)
			list_run(rows[i].o);
	}
	if (ctl->json) {
		icctl_put_json(all);
	} else if (n == 0) {
		puts("the job has not run yet");
	} else {
		putchar('\n');
		list_log(icctl_text(rows[0].o, "log"));
		if (icctl_text(rows[0].o, "session")[0] != '\0')
			printf("\nmore: icctl logs %s; icctl history %s\n",
			    icctl_text(rows[0].o, "session"),
			    icctl_text(rows[0].o, "session"));
	}
	json_object_put(all);
	record_free(rows, n);
	return ICCTL_OK;
}
