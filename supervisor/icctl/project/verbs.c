/* SPDX-License-Identifier: ISC */
/* `icctl project`: the file of the project in which one stands. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "icctl/newest.h"
#include "icctl/project/project.h"
#include "icctl/words.h"

#define VERB_DIGEST 8U /* digits that name a meaning, at least */

static const char *
state_of(const struct project *p, const struct accepted *a)
{
	if (!project_has(p, PROJECT_ASKS))
		return "asks for nothing";
	if (accepted_is(a, p))
		return "accepted";
	return a->root == NULL ? "not accepted" : "changed since accepted";
}

static void
show_json(const struct project *p, const struct accepted *a)
{
	static const char *const effects[] = {
	    "chooses", "narrows", "asks", "lacks"};
	json_object *o = json_object_new_object();

	put_str(o, "file", p->path);
	put_str(o, "digest", p->digest);
	put_str(o, "state", state_of(p, a));
	for (size_t k = 0; k < nitems(effects); k++) {
		json_object *list = json_object_new_array();

		for (size_t i = 0; i < p->nsays; i++)
			if (p->says[i].effect == (enum project_effect)k)
				json_object_array_add(list,
				    json_object_new_string(p->says[i].text));
		json_object_object_add(o, effects[k], list);
	}
	puts(json_object_to_json_string_ext(o, ICCTL_JSON));
	json_object_put(o);
}

static int
verb_show(struct icctl *ctl, struct project *p, struct accepted *a)
{
	static const char *const titles[] = {"chooses", "narrows, at once",
	    "asks for", "needs what you do not have"};
	char shown[ICCTL_PATH];

	project_lacks(ctl, p, NULL);
	if (ctl->json) {
		show_json(p, a);
		return ICCTL_OK;
	}
	printf("%s: %s (digest %.16s)\n", icctl_path(p->path, shown),
	    state_of(p, a), p->digest);
	for (size_t k = 0; k < nitems(titles); k++) {
		if (!project_has(p, (enum project_effect)k))
			continue;
		printf("%s\n", titles[k]);
		for (size_t i = 0; i < p->nsays; i++)
			if (p->says[i].effect == (enum project_effect)k)
				printf("  %s\n", p->says[i].text);
	}
	return ICCTL_OK;
}

static int
verb_diff(struct icctl *ctl, struct project *p, struct accepted *a)
{
	char id[PROJECT_SESSION];

	if (a->root == NULL)
		warnx("you have accepted nothing here; see icctl project show");
	else if (accepted_is(a, p))
		warnx("it means what you accepted");
	else
		accepted_diff(a, p, stdout);
	if (a->root != NULL && !accepted_is(a, p) &&
	    project_changed(ctl, p, id))
		printf("It was last changed while the session %s ran here.\n",
		    id);
	return a->root == NULL ? ICCTL_FAILED : ICCTL_OK;
}

/* Say why a start would refuse it. Returns true if it would not. */
static bool
would_start(const struct icctl *ctl, struct project *p)
{
	struct fault fault;
	char *text = project_merge(ctl, p, NULL, NULL, true, &fault);

	if (text == NULL) {
		warnx("%s", fault.text);
		return false;
	}
	freezero(text, strlen(text));
	return true;
}

static int
verb_trust(struct icctl *ctl, struct project *p, struct accepted *a)
{
	const char *digest = words_option("--digest");

	if (!would_start(ctl, p))
		return ICCTL_FAILED;

	if (digest != NULL &&
	    (strlen(digest) < VERB_DIGEST ||
		strncmp(p->digest, digest, strlen(digest)) != 0)) {
		warnx("the file means %.16s now, and not %.64s: look at it "
		      "again (icctl project show)",
		    p->digest, digest);
		return ICCTL_FAILED;
	}
	if (digest == NULL) {
		(void)verb_show(ctl, p, a);
		fflush(stdout);
		if (ctl->json || !icctl_confirm("Accept this?")) {
			if (isatty(STDIN_FILENO) && !ctl->json)
				warnx("nothing was accepted");
			else
				warnx("nothing was accepted. Without a "
				      "terminal: icctl project trust --digest "
				      "%.16s",
				    p->digest);
			return ICCTL_FAILED;
		}
	}
	return accepted_write(a, p) == 0 ? ICCTL_OK : ICCTL_FAILED;
}

static int
verb_check(struct icctl *ctl, struct project *p, struct accepted *a)
{
	char shown[ICCTL_PATH];

	if (!would_start(ctl, p))
		return ICCTL_FAILED;
	if (ctl->json)
		show_json(p, a);
	else
		printf("%s: good\n", icctl_path(p->path, shown));
	return ICCTL_OK;
}

/* Write a file that says what the newest session of this directory used. */
static int
verb_init(struct icctl *ctl)
{
	json_object *o = json_object_new_object();
	char id[NEWEST_ID] = "", path[4400], text[256];
	const char *json;
	int fd, rv = -1;

	json_object_object_add(o, "version", json_object_new_int(1));
	if (newest_find(ctl, NEWEST_HERE, id)) {
		snprintf(path, sizeof(path),
		    "%.4000s/sessions/%.128s/session.json", ctl->home, id);
		jsonfile_peek(path, "agent", text, sizeof(text));
		/* Neither is an agent that a start could be given. */
		if (text[0] != '\0' && strcmp(text, "command") != 0 &&
		    strcmp(text, "none") != 0)
			put_str(o, "agent", text);
		jsonfile_peek(path, "model", text, sizeof(text));
		if (text[0] != '\0')
			put_str(o, "model", text);
	}
	json = json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		   JSON_C_TO_STRING_NOSLASHESCAPE);
	fd = open(PROJECT_FILE,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd == -1 && errno == EEXIST)
		warnx("%s is here already; icctl project show says what it "
		      "means",
		    PROJECT_FILE);
	else if (fd == -1 || span_write(fd, span_str(json)) == -1 ||
		 span_write(fd, SPAN("\n")) == -1)
		warn("%s", PROJECT_FILE);
	else
		rv = 0;
	if (fd != -1)
		close(fd);
	json_object_put(o);
	if (rv == 0 && !ctl->json)
		printf("%s is written; ironcurtain-config(5) lists what it "
		       "may have\n",
		    PROJECT_FILE);
	return rv == 0 ? ICCTL_OK : ICCTL_FAILED;
}

int
icctl_project(struct icctl *ctl, int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(struct icctl *, struct project *, struct accepted *);
	} verbs[] = {{"show", verb_show}, {"check", verb_check},
	    {"diff", verb_diff}, {"trust", verb_trust}};
	const char *verb = argc > 1 ? argv[1] : "show";
	struct accepted a = {.root = NULL};
	struct project p;
	struct fault fault;
	size_t at = 0;
	int status;

	if (argc == 2 && strcmp(verb, "init") == 0)
		return verb_init(ctl);
	while (at < nitems(verbs) && strcmp(verb, verbs[at].name) != 0)
		at++;
	if (argc > 2 || at == nitems(verbs))
		return words_usage();
	if (project_read(&p, ".", &fault) == -1) {
		warnx("%s", fault.text);
		status = ICCTL_FAILED;
	} else if (p.root == NULL) {
		warnx("there is no %s here: icctl project init writes one",
		    PROJECT_FILE);
		status = ICCTL_FAILED;
	} else {
		accepted_open(&a, ctl, &p);
		status = verbs[at].fn(ctl, &p, &a);
		accepted_close(&a);
	}
	project_free(&p);
	return status;
}
