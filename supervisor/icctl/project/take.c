/* SPDX-License-Identifier: ISC */
/*
 * The project's file at the start of a session. It is read once, before there
 * is an agent, and what was read is what is in force: the agent's later edits
 * have no effect in that session, and in a later one only after a yes.
 */
#include "icctl/project/project.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
put_says(const struct project *p, enum project_effect effect, const char *mark)
{
	for (size_t i = 0; i < p->nsays; i++)
		if (p->says[i].effect == effect)
			fprintf(stderr, "  %s%s\n", mark, p->says[i].text);
}

/* Ask about what is new. Returns 1 for yes, 0 to go without, -1 to stop. */
static int
project_ask(
    const struct icctl *ctl, const struct project *p, const struct accepted *a)
{
	char shown[ICCTL_PATH], other[4096];
	char answer[16] = "", id[PROJECT_SESSION];

	if (a->root != NULL) {
		fprintf(stderr, "%s has changed since you accepted it:\n",
		    icctl_path(p->path, shown));
		accepted_diff(a, p, stderr);
		if (project_changed(ctl, p, id))
			fprintf(stderr,
			    "It was last changed while the session %s ran "
			    "here.\n",
			    id);
	} else {
		fprintf(
		    stderr, "%s asks for this:\n", icctl_path(p->path, shown));
		put_says(p, PROJECT_SHOWN, "- ");
		put_says(p, PROJECT_ASKS, "- ");
	}
	accepted_elsewhere(ctl, p, other, sizeof(other));
	if (other[0] != '\0')
		fprintf(stderr, "You accepted the same in %s.\n",
		    icctl_path(other, shown));
	for (;;) {
		fputs("[a]ccept, go on [w]ithout it, or [s]top? ", stderr);
		if (fgets(answer, sizeof(answer), stdin) == NULL)
			return -1;
		if (answer[0] == 'a' || answer[0] == 'w' || answer[0] == 's')
			break;
	}
	return answer[0] == 'a' ? 1 : answer[0] == 'w' ? 0 : -1;
}

/* Nobody can be asked: say how it is accepted. */
static int
project_refuse(const struct project *p, const struct accepted *a)
{
	char shown[ICCTL_PATH];

	warnx("%s %s, and nobody is here to be asked. Look at it and accept "
	      "it: icctl project trust --digest %.16s; or start without it: "
	      "icctl start --no-project",
	    icctl_path(p->path, shown),
	    a->root == NULL ? "asks for more than you have allowed"
			    : "has changed since you accepted it",
	    p->digest);
	put_says(p, PROJECT_ASKS, "- ");
	return ICCTL_FAILED;
}

static char *
copied(const char *text)
{
	return text == NULL ? NULL : strdup(text);
}

/* Take what the file chooses and narrows, and what was granted. */
static int
project_apply(struct icctl *ctl, struct project *p, struct accepted *a,
    struct project_use *u, bool granted)
{
	char digest[SHA256_HEX];
	struct fault fault;
	int status = 0;

	if (granted) {
		u->agent = copied(project_text(p, "agent"));
		u->model = copied(project_text(p, "model"));
		u->image = copied(project_text(p, "image"));
	}
	u->read_only = json_object_object_get_ex(
	    project_member(p, "policy"), "workspace", NULL);
	u->settings =
	    project_merge(ctl, p, u->config, u->profile, granted, &fault);
	if (u->settings == NULL) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	u->installs = granted && !u->clone && !u->read_only &&
		      project_member(p, "install") != NULL;
	if (!u->installs)
		return 0;
	if (project_install_digest(p, digest, &fault) == -1) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	if (accepted_installed(a, digest))
		return 0;
	status = project_install(ctl, p, u->settings, u->runtime);
	/* Its lock files may be of its own making. */
	if (status == 0 && project_install_digest(p, digest, &fault) == 0)
		(void)accepted_set_installed(a, digest);
	return status;
}

static int
project_decide(struct icctl *ctl, struct project *p, struct accepted *a,
    struct project_use *u)
{
	char shown[ICCTL_PATH];
	bool granted = !project_has(p, PROJECT_ASKS) || accepted_is(a, p);
	int answer;

	if (!granted && !u->may_ask)
		return project_refuse(p, a);
	if (!granted) {
		if ((answer = project_ask(ctl, p, a)) == -1) {
			warnx("no session was started");
			return ICCTL_FAILED;
		}
		granted = answer == 1;
		if (granted && accepted_write(a, p) == -1)
			return ICCTL_FAILED;
	}
	fprintf(stderr, ">>> icctl: %s %s\n", icctl_path(p->path, shown),
	    granted ? "is in force"
		    : "is in force where it narrows, and grants nothing");
	if (granted)
		put_says(p, PROJECT_SHOWN, "");
	put_says(p, PROJECT_NARROWS, "");
	project_lacks(ctl, p, u->config);
	put_says(p, PROJECT_LACKS, "note: ");
	return project_apply(ctl, p, a, u, granted);
}

int
project_take(struct icctl *ctl, struct project_use *u)
{
	struct accepted a = {.root = NULL};
	struct project p;
	struct fault fault;
	int status = 0;

	if (u->off)
		return 0;
	if (project_read(&p, u->workspace, &fault) == -1) {
		warnx("%s%s", fault.text,
		    p.path[0] != '\0'
			? ". Start without it: icctl start --no-project"
			: "");
		status = ICCTL_FAILED;
	} else if (p.root != NULL) {
		accepted_open(&a, ctl, &p);
		status = project_decide(ctl, &p, &a, u);
		accepted_close(&a);
	}
	project_free(&p);
	return status;
}
