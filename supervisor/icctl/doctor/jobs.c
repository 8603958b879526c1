/* SPDX-License-Identifier: ISC */
/* The part of `icctl doctor` about jobs that do not run as they should. */
#include "icctl/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "common/log.h"
#include "icctl/job/job.h"

#define JOBS_SAYS 900U

/* Report how the last run ended, if a person should know. */
static void
jobs_last(const struct job *j, const char *what, doctor_check *check)
{
	char found[JOBS_SAYS], remedy[160], vis[700];
	const char *status, *why;
	struct record_row last;

	if (record_list(j, &last, 1) == 0)
		return;
	status = get_str(last.o, "status", "");
	why = get_str(last.o, "why", "");
	snprintf(remedy, sizeof(remedy), "icctl job logs %s", j->name);
	if (strcmp(status, "success") != 0 && strcmp(status, "running") != 0) {
		snprintf(found, sizeof(found), "its last run: %.30s%s%s",
		    status, why[0] != '\0' ? ": " : "",
		    log_vis(span_str(why), vis, sizeof(vis)));
		check(NOTE, what, found, remedy);
	}
	record_free(&last, 1);
}

void
doctor_jobs(const struct icctl *ctl, doctor_check *check)
{
	char *names[JOB_MAX], what[JOB_NAME + 8], found[JOBS_SAYS], late[32];
	size_t n = job_names(ctl->home, names);
	struct fault fault;
	struct job j;
	time_t by;

	for (size_t i = 0; i < n; i++) {
		snprintf(what, sizeof(what), "job %.63s", names[i]);
		if (job_load(&j, ctl->home, names[i], &fault) == -1) {
			check(WRONG, what, fault.text, NULL);
			job_free(&j);
			free(names[i]);
			continue;
		}
		if ((by = record_overdue(&j, time(NULL))) != 0) {
			snprintf(found, sizeof(found), "its run is %s late",
			    icctl_span(by * 1000, late, sizeof(late)));
			check(NOTE, what, found,
			    timer_has(&j)
				? "systemctl --user list-timers says when it "
				  "runs"
				: "what starts jobs here: icctl job daemon");
		}
		jobs_last(&j, what, check);
		job_free(&j);
		free(names[i]);
	}
}
