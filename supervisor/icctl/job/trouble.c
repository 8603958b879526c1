/* SPDX-License-Identifier: ISC */
/* Jobs that a person should look at, for `icctl watch` and the page. */
#include "icctl/job/trouble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "icctl/job/job.h"

/* Returns the row of a job, or NULL if nothing is wrong with it. */
static json_object *
trouble_row(const struct icctl *ctl, const char *name)
{
	struct record_row last = {.o = NULL};
	struct fault fault = {""};
	json_object *o = NULL;
	const char *state = "", *why = "";
	char late[32], text[256] = "";
	struct job j;
	time_t by = 0;

	if (job_load(&j, ctl->home, name, &fault) == -1) {
		state = "broken";
		why = fault.text;
	} else {
		by = record_overdue(&j, time(NULL));
		(void)record_list(&j, &last, 1);
		state = job_state(&j, last.o, by);
		why = get_str(last.o, "why", "");
	}
	if (strcmp(state, "overdue") == 0) {
		snprintf(text, sizeof(text), "its run is %s late",
		    icctl_span(by * 1000, late, sizeof(late)));
		why = text;
	}
	if (strcmp(state, "failed") == 0 || strcmp(state, "skipped") == 0 ||
	    strcmp(state, "overdue") == 0 || strcmp(state, "broken") == 0) {
		o = json_object_new_object();
		put_str(o, "name", name);
		put_str(o, "state", state);
		put_str(o, "why", why);
	}
	if (last.o != NULL)
		record_free(&last, 1);
	job_free(&j);
	return o;
}

json_object *
job_troubles(const struct icctl *ctl)
{
	json_object *all = json_object_new_array(), *o;
	char *names[JOB_MAX];
	size_t n = job_names(ctl->home, names);

	for (size_t i = 0; i < n; i++) {
		if ((o = trouble_row(ctl, names[i])) != NULL)
			json_object_array_add(all, o);
		free(names[i]);
	}
	return all;
}
