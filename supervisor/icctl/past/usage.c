/* SPDX-License-Identifier: ISC */
/*
 * `icctl usage`: tokens and cost of all sessions, as they were counted at the
 * time.
 */
#include "icctl/past/past.h"

#include <err.h>
#include <string.h>

#include "icctl/words.h"

static const char *const usage_by[PAST_BYS] = {
    "day", "week", "month", "model", "project", "session", "agent"};

/* Returns 0, or an exit status after the reason. */
static int
usage_words(struct past_sums *u)
{
	const char *by = words_option("--by");

	u->by = PAST_DAY;
	u->again = words_given("--again");
	if (by != NULL) {
		while (u->by < PAST_BYS && strcmp(by, usage_by[u->by]) != 0)
			u->by++;
		if (u->by == PAST_BYS) {
			warnx("--by: day, week, month, model, project, session "
			      "or agent");
			return ICCTL_USAGE;
		}
	}
	if (past_when("--since", words_option("--since"), &u->since) == -1 ||
	    past_when("--until", words_option("--until"), &u->until) == -1)
		return ICCTL_USAGE;
	return 0;
}

int
icctl_usage(struct icctl *ctl, int argc, char **argv)
{
	struct past_sessions all;
	struct past_sums u = {.n = 0};
	int r;

	(void)argv;
	if ((r = icctl_no_arguments(argc)) != 0 || (r = usage_words(&u)) != 0 ||
	    (r = past_list(ctl, &all)) != 0)
		return r;
	past_add(&u, &all);
	if (ctl->json)
		past_put_json(&u);
	else if (words_given("--csv"))
		past_put_csv(&u);
	else
		past_put_table(&u);
	r = u.unread == 0 ? ICCTL_OK : ICCTL_FAILED;
	past_sums_free(&u);
	past_list_free(&all);
	return r;
}
