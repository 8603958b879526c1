/* SPDX-License-Identifier: ISC */
/*
 * Installs a proposal as a policy of the user's own. It is written beside the
 * place first, where `icctl policy check` and `icctl policy diff` read it, and
 * put in place by a rename once a person has said yes.
 */
#include "icctl/propose/propose.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/plural.h"
#include "files/policy_install.h"
#include "files/policydir.h"
#include "icctl/policy/learn.h"

struct place {
	char dir[PATH_MAX];  /* the policy, once it is installed */
	char next[PATH_MAX]; /* the policy until then */
	bool there;	     /* a policy is there already */
};

static int
place_dir(const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	icctl_warn_errno(path);
	return -1;
}

static int
place_find(const struct propose *p, struct place *at)
{
	const char *what = p->opts->into != NULL ? p->opts->into : "recorded";
	char above[PATH_MAX], file[PATH_MAX];
	struct fault fault;

	if (strchr(what, '/') != NULL) {
		snprintf(at->dir, sizeof(at->dir), "%.4000s", what);
	} else if (what[0] == '.' || what[0] == '\0' ||
		   strcmp(what, "default") == 0) {
		warnx("%s: not a name for a policy of your own", what);
		return -1;
	} else {
		snprintf(above, sizeof(above), "%.3600s/policies", p->ctl->home);
		snprintf(at->dir, sizeof(at->dir), "%.3800s/%.200s", above, what);
		if (place_dir(p->ctl->home) == -1 || place_dir(above) == -1)
			return -1;
	}
	while (at->dir[1] != '\0' && at->dir[strlen(at->dir) - 1] == '/')
		at->dir[strlen(at->dir) - 1] = '\0';
	snprintf(at->next, sizeof(at->next), "%.4080s.proposed", at->dir);
	snprintf(file, sizeof(file), "%.4050s/%s", at->dir,
	    policydir_names[PROTO_RULES_POLICY]);
	if (policy_install_recover(at->dir, &fault) == -1) {
		warnx("%s", fault.text);
		return -1;
	}
	at->there = access(file, F_OK) == 0;
	return 0;
}

/* Write the three files into `dir`. */
static int
place_write(const struct propose *p, const char *dir, const struct buf *text)
{
	char path[PATH_MAX];
	const struct policy_file *f;

	if (place_dir(dir) == -1)
		return -1;
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		f = &p->base.files[k];
		snprintf(path, sizeof(path), "%.4050s/%s", dir,
		    policydir_names[k]);
		if (k == PROTO_RULES_POLICY) {
			if (learn_write(path, text) == -1)
				return -1;
		} else if (f->path != NULL &&
			   jsonfile_replace(path, span_of(f->text, f->len)) ==
			       -1) {
			icctl_warn_errno(path);
			return -1;
		}
	}
	return 0;
}

static void
place_drop(const struct place *at)
{
	char path[PATH_MAX];

	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		snprintf(path, sizeof(path), "%.4050s/%s", at->next,
		    policydir_names[k]);
		(void)unlink(path);
	}
	(void)rmdir(at->next);
}

/* Returns 0 if `icctl policy check` finds no error. */
static int
place_check(const struct propose *p, const struct place *at)
{
	struct policy_opts o = {.files = {[PROTO_RULES_POLICY] = at->next},
	    .sandbox = p->opts->sandbox};
	struct icctl ctl = *p->ctl;
	unsigned errors, warnings;

	policy_count(&ctl, &o, &errors, &warnings);
	if (errors + warnings != 0)
		(void)icctl_policy_check(&ctl, &o);
	if (errors == 0)
		return 0;
	warnx("the proposal is in %s and was not installed", at->next);
	return -1;
}

/* Show how the proposal differs from the policy that is there, or its base. */
static void
place_diff(const struct propose *p, const struct place *at)
{
	char old[PATH_MAX], *slash;
	struct policy_opts o = {.sandbox = p->opts->sandbox, .nargs = 2};
	struct icctl ctl = *p->ctl;

	snprintf(old, sizeof(old), "%.4090s",
	    at->there ? at->dir : p->base.files[PROTO_RULES_POLICY].path);
	if (!at->there && (slash = strrchr(old, '/')) != NULL)
		*slash = '\0';
	o.args[0] = old;
	o.args[1] = (char *)(uintptr_t)at->next;
	printf("\nCompared with %s:\n", at->there ? at->dir : p->base_name);
	(void)fflush(stdout);
	(void)icctl_policy_diff(&ctl, &o);
}

static int
place_install(const struct propose *p, const struct place *at)
{
	struct policy_move moves[PROTO_RULES_LAST + 1];
	char shown[ICCTL_PATH];
	struct fault fault;
	size_t n = 0;

	if (at->there) {
		for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
			if (k == PROTO_RULES_POLICY ||
			    p->base.files[k].path != NULL)
				moves[n++].name = policydir_names[k];
		for (size_t i = 0; i < n; i++)
			moves[i].remove = false;
		if (policy_install(at->dir, at->next, moves, n, &fault) == -1) {
			warnx("%s; the policy there is as before", fault.text);
			return ICCTL_FAILED;
		}
		place_drop(at);
	} else if (rename(at->next, at->dir) == -1) {
		icctl_warn_errno(at->dir);
		return ICCTL_FAILED;
	}
	printf("Installed in %s. Use it: icctl start --policy %s\n",
	    icctl_path(at->dir, shown),
	    p->opts->into != NULL ? p->opts->into : "recorded");
	return ICCTL_OK;
}

int
propose_install(struct propose *p, const struct buf *text)
{
	unsigned n = propose_count(p, PROTO_ALLOW);
	struct place at;
	char question[200];

	if (place_find(p, &at) == -1)
		return ICCTL_FAILED;
	if (place_write(p, at.next, text) == -1 || place_check(p, &at) == -1)
		return ICCTL_FAILED;
	place_diff(p, &at);
	snprintf(question, sizeof(question),
	    "\nInstall it, with the %u rule%s above that allow%s something?", n,
	    plural(n), n == 1 ? "s" : "");
	(void)fflush(stdout);
	if (icctl_confirm(question))
		return place_install(p, &at);
	place_drop(&at);
	puts("Nothing was installed.");
	return ICCTL_FAILED;
}
