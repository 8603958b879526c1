/* SPDX-License-Identifier: ISC */
/* The options of `icctl job add` and `edit`, as members of job.json. */
#include "icctl/job/job.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "icctl/refer.h"
#include "icctl/words.h"

#define EDIT_LIMITS 32U

/* clang-format off */
static const struct {
	const char *option, *key;
} edit_texts[] = {
	{"--schedule", "schedule"}, {"--task", "taskDescription"},
	{"--constitution", "taskConstitution"}, {"--agent", "agent"},
	{"--model", "model"}, {"--persona", "persona"},
	{"--policy", "policy"}, {"--profile", "profile"},
	{"--workspace", "workspace"}, {"--git", "gitRepo"},
};
/* clang-format on */

/* Take a choice of two. Returns 0, or -1 after it said why. */
static int
edit_choice(struct job *j, const char *option, const char *yes, const char *no,
    const char *key)
{
	const char *value = words_option(option);

	if (value == NULL)
		return 0;
	if (strcmp(value, yes) != 0 && strcmp(value, no) != 0) {
		warnx("%s %s: must be %s or %s", option, value, no, yes);
		return -1;
	}
	put_bool(j->root, key, strcmp(value, yes) == 0);
	return 0;
}

/* Take "KEY=VALUE" of --budget; the value is checked with the job. */
static int
edit_budget(struct job *j)
{
	const char *list[EDIT_LIMITS], *eq;
	size_t n = words_list("--budget", list, nitems(list));
	json_object *o = n == 0 ? NULL : put_child(j->root, "budgetOverrides"),
		    *v;
	char key[64];

	if (n > nitems(list)) {
		warnx("--budget: more than %u limits", EDIT_LIMITS);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		eq = strchr(list[i], '=');
		if (eq == NULL || eq == list[i] ||
		    (size_t)(eq - list[i]) >= sizeof(key)) {
			warnx(
			    "--budget wants KEY=VALUE, with a KEY as in icctl "
			    "budget --help");
			return -1;
		}
		snprintf(
		    key, sizeof(key), "%.*s", (int)(eq - list[i]), list[i]);
		v = strcmp(eq + 1, "null") == 0 ? NULL
						: json_tokener_parse(eq + 1);
		if (v == NULL && strcmp(eq + 1, "null") != 0)
			v = json_object_new_string(eq + 1);
		json_object_object_add(o, key, v);
	}
	return 0;
}

int
job_options(const struct icctl *ctl, struct job *j)
{
	const char *value;
	char real[PATH_MAX];

	for (size_t i = 0; i < nitems(edit_texts); i++) {
		if ((value = words_option(edit_texts[i].option)) == NULL)
			continue;
		/* The job runs in another directory. */
		if (strcmp(edit_texts[i].option, "--workspace") == 0 &&
		    value[0] != '\0') {
			if (realpath(value, real) == NULL) {
				warn("--workspace %s", value);
				return -1;
			}
			value = real;
		}
		if (value[0] == '\0')
			json_object_object_del(j->root, edit_texts[i].key);
		else if ((value = refer_check(
			      ctl, edit_texts[i].key, value, real)) == NULL)
			return -1;
		else
			put_str(j->root, edit_texts[i].key, value);
	}
	if ((value = words_option("--keep")) != NULL) {
		if (value[0] == '\0' ||
		    value[strspn(value, "0123456789")] != '\0' ||
		    strlen(value) > 6) {
			warnx("--keep %s: must be a number", value);
			return -1;
		}
		put_int(j->root, "keepRuns", strtol(value, NULL, 10));
	}
	return edit_choice(j, "--escalations", "wait", "deny",
		   "notifyOnEscalation") == -1 ||
		       edit_choice(j, "--notify", "always", "failure",
			   "notifyOnCompletion") == -1 ||
		       edit_budget(j) == -1
		   ? -1
		   : 0;
}
