/* SPDX-License-Identifier: ISC */
#include "git.h"

#include <stdio.h>
#include <string.h>

#include "box/git/checkout.h"
#include "box/git/gitbox.h"
#include "box/system/shown.h"
#include "core/sup.h"
#include "errand.h"

/* ic-repo gives git 20 seconds, and ends by itself. */
#define GIT_MS 40000U

static int
git_keep(char **to, const char *text, struct fault *fault)
{
	free(*to);
	*to = strdup(text);
	return *to != NULL ? 0 : fault_errno(fault, "git");
}

static int
git_take(int letter, const char *text, struct fault *fault)
{
	switch (letter) {
	case ERRAND_IDENTITY:
		return git_keep(&gitbox_user.identity, text, fault);
	case ERRAND_CONFIG:
		return git_keep(&gitbox_user.settings, text, fault);
	case ERRAND_IGNORE:
		return git_keep(&gitbox_user.ignore, text, fault);
	case ERRAND_ATTRIBUTES:
		return git_keep(&gitbox_user.attributes, text, fault);
	default:
		return errand_take(letter, text, fault);
	}
}

bool
git_wanted(void)
{
	if (sup.opt.trial != NULL || box_bwrap() == NULL)
		return false;
	if (sup.opt.runtime != RUNTIME_NONE)
		return true;
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].def->git)
			return true;
	return false;
}

static void
git_tell(bool lacks)
{
	const struct shown *s;

	errand_tell(TOLD_WORKSPACE, sup.workspace_path);
	errand_tell(TOLD_NAMED, sup.opt.workspace);
	errand_tell(TOLD_INSIDE, sup.inside);
	if (sup.opt.runtime == RUNTIME_BWRAP)
		errand_tell(TOLD_BWRAP, "");
	if (checkout.gitfile != NULL)
		errand_tell(TOLD_GITFILE, "");
	if (lacks)
		errand_tell(TOLD_DIRTY, "");
	errand_destinations();
	for (size_t i = 0; (s = shown_nth(i)) != NULL; i++)
		if (!s->refused)
			errand_tell(TOLD_SHOWN, s->path);
}

void
git_begin(bool lacks)
{
	static struct helper h;
	struct fault fault;

	if (!git_wanted())
		return;
	if (errand_begin(&h, ERRAND_SETTINGS, git_take, &fault) == -1) {
		sup_warn("git: %s", fault.text);
	} else {
		git_tell(lacks);
		if (helper_run(&h, GIT_MS, &fault) == -1)
			sup_warn("git: %s", fault.text);
	}
	errand_end(&h);
}
