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
#include "common/visible.h"

#define LIST_RUNS 20U

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

static void
list_put(json_object *o)
{
	char local[ICCTL_LOCAL];
	json_object *last = get_member(o, "last");

	printf("%-20s %-9s %-16s", icctl_text(o, "name"),
	    icctl_text(o, "state"), icctl_text(o, "schedule"));
	if (icctl_text(o, "next")[0] != '\0')
		printf(" next %s", icctl_local(icctl_text(o, "next"), local));
	if (strcmp(icctl_text(o, "by"), "nobody") == 0 &&
	    icctl_text(o, "next")[0] != '\0')
		fputs(", but nothing starts it: icctl job daemon", stdout);
	if (last != NULL)
		printf("; last %s %s",
		    icctl_local(icctl_text(last, "startedAt"), local),
		    icctl_text(last, "status"));
	putchar('\n');
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
			if (!ctl->json)
				list_put(o);
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
	json_object_put(all);
	return status;
}

static void
list_run(json_object *o)
{
	json_object *b = get_member(o, "budget");
	char local[ICCTL_LOCAL];

	printf("%s  %-16s %5lld s  %8.4f USD  %lld turns",
	    icctl_local(icctl_text(o, "startedAt"), local),
	    icctl_text(o, "status"),
	    (long long)icctl_number(b, "elapsedSeconds"),
	    json_object_get_double(get_member(b, "estimatedCostUsd")),
	    (long long)icctl_number(o, "turns"));
	if (icctl_text(o, "session")[0] != '\0')
		printf("  %s", icctl_text(o, "session"));
	if (icctl_text(o, "why")[0] != '\0') {
		fputs("  ", stdout);
		icctl_put(span_str(icctl_text(o, "why")), 200, false);
	}
	putchar('\n');
}

int
job_show(const struct icctl *ctl, struct job *j)
{
	char lines[CRON_LINES][CRON_LINE];
	json_object *o = list_row(ctl, j);
	unsigned n;

	if (ctl->json) {
		json_object_object_add(o, "job", json_object_get(j->root));
		icctl_put_json(o);
		json_object_put(o);
		return ICCTL_OK;
	}
	list_put(o);
	json_object_put(o);
	n = j->scheduled ? cron_calendar(&j->cron, lines) : 0;
	for (unsigned i = 0; i < n; i++)
		printf("%-20s %s\n", "OnCalendar", lines[i]);
	json_object_object_foreach(j->root, key, v)
	{
		printf("%-20s ", key);
		icctl_put(span_str(json_object_is_type(v, json_type_string)
				       ? json_object_get_string(v)
				       : json_object_to_json_string_ext(
					     v, ICCTL_JSON)),
		    4000, false);
		putchar('\n');
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
