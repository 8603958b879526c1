/* SPDX-License-Identifier: ISC */
/*
 * `icctl doctor --attack`: the break-out test that each session makes before
 * its agent starts, in every runtime that this machine has, attempt by attempt.
 */
#include "icctl/doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/plural.h"
#include "common/wordlist.h"

#define ATTACK_WORDS 16U

static struct {
	doctor_check *check;
	bool json;
	json_object *list;
} attack_env;

/* Print the attempts of a list. Returns the number of those that succeeded. */
static size_t
attack_put(json_object *list, const char *last)
{
	size_t n = list == NULL ? 0 : json_object_array_length(list), bad = 0;
	json_object *o;

	for (size_t i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		bad += !get_true(o, "held");
		if (!attack_env.json)
			printf("  %-9s %-42s %-14s %s\n",
			    get_true(o, "held") ? "held" : "NOT HELD",
			    icctl_text(o, "what"), icctl_text(o, "found"),
			    icctl_text(o, last));
	}
	return bad;
}

static size_t
attack_count(json_object *list)
{
	return list == NULL ? 0 : json_object_array_length(list);
}

static void
attack_look(struct box_trial *t, const char *dir)
{
	const char *runtime = t->arg;
	json_object *o, *inside = NULL, *outside = NULL, *server = NULL;
	char path[PATH_MAX], text[160];
	size_t bad;

	snprintf(path, sizeof(path), "%s/session/breakout.json", dir);
	if ((o = json_object_from_file(path)) == NULL)
		return;
	(void)json_object_object_get_ex(o, "inside", &inside);
	(void)json_object_object_get_ex(o, "outside", &outside);
	(void)json_object_object_get_ex(o, "server", &server);
	if (!attack_env.json && inside != NULL)
		printf("\n%s: from inside the sandbox, and what stops it\n",
		    runtime);
	bad = attack_put(inside, "guard");
	if (!attack_env.json && server != NULL)
		printf("\n%s: from inside the sandbox of an MCP server\n",
		    runtime);
	bad += attack_put(server, "guard");
	if (!attack_env.json)
		printf("\n%s: from another program of yours, on each worker\n",
		    runtime);
	bad += attack_put(outside, "worker");
	if (!attack_env.json)
		putchar('\n');
	json_object_array_add(attack_env.list, json_object_get(o));
	snprintf(text, sizeof(text),
	    "%zu attempts from inside, %zu from an MCP server, %zu on workers, "
	    "%zu succeeded",
	    attack_count(inside), attack_count(server), attack_count(outside),
	    bad);
	attack_env.check(bad == 0 && trial_good(t) ? GOOD : BAD, runtime, text,
	    "see NOT HELD above: agents are not started here until it is "
	    "mended");
	json_object_put(o);
	t->arg = NULL;
}

static void
attack_runtime(const char *runtime, const char *image)
{
	const char *list[ATTACK_WORDS];
	char shown_by[512];
	struct wordlist words = WORDLIST_IN(list);
	struct box_trial t = {.engine = image != NULL,
	    .keyed = true,
	    .shown_by = shown_by,
	    .look = attack_look,
	    .arg = (void *)(uintptr_t)runtime};
	const char *found, *remedy;

	wordlist_all(&words, (const char *const[]){"--attack-only", "--runtime",
				 runtime, "--agent", "trial", NULL});
	if (image != NULL)
		wordlist_all(
		    &words, (const char *const[]){"--image", image, NULL});
	if (strcmp(runtime, "none") != 0)
		wordlist_all(
		    &words, (const char *const[]){"--task", "none", NULL});
	snprintf(shown_by, sizeof(shown_by),
	    "icctl start --runtime %s%s%s -- true shows all of it", runtime,
	    image != NULL ? " --image " : "", image != NULL ? image : "");
	t.words = (const char *const *)wordlist_end(&words);
	if (t.words == NULL) {
		attack_env.check(BAD, runtime, strerror(errno),
		    "this is a mistake in icctl; please report it");
		return;
	}
	if (trial_run(&t, attack_env.check) == -1 || t.arg == NULL)
		return;
	trial_why(&t, &found, &remedy);
	attack_env.check(BAD, runtime, found, remedy);
}

bool
doctor_has(const char *program)
{
	const char *path = getenv("PATH"), *end;
	char full[PATH_MAX];

	for (; path != NULL; path = *end == '\0' ? NULL : end + 1) {
		end = strchrnul(path, ':');
		snprintf(full, sizeof(full), "%.*s/%s", (int)(end - path), path,
		    program);
		if (full[0] == '/' && access(full, X_OK) == 0)
			return true;
	}
	return false;
}

void
doctor_attack(
    doctor_check *check, const char *image, bool json, json_object *list)
{
	static const char *const engines[] = {"docker", "podman"};

	attack_env.check = check;
	attack_env.json = json;
	attack_env.list = list;
	attack_runtime("bwrap", NULL);
	for (size_t i = 0; i < nitems(engines); i++) {
		if (!doctor_has(engines[i]))
			continue;
		if (image != NULL)
			attack_runtime(engines[i], image);
		else
			check(NOTE, engines[i], "not tried",
			    "name an image: icctl doctor --attack NAME");
	}
	attack_runtime("none", NULL);
	if (geteuid() == 0)
		check(NOTE, "user", "root",
		    "root may reach into every process, so that was not tried");
}
