/* SPDX-License-Identifier: ISC */
/* `icctl pull`: gets the work of a session's clone, as branches. */
#include "repo/pull.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/log.h"
#include "common/plural.h"
#include "icctl/repo/repo.h"
#include "icctl/repo/sign.h"
#include "icctl/words.h"

/* The most branches that an error names. */
#define PULL_NAMED 20U

static void
pull_json(const struct icctl *ctl, const struct repo_pull *p)
{
	json_object *o = json_object_new_object(),
		    *list = json_object_new_array(), *b;

	put_bool(o, "ok", true);
	put_str(o, "session", repo_id(ctl));
	put_str(o, "into", p->into);
	for (unsigned i = 0; i < p->n; i++) {
		b = json_object_new_object();
		put_str(b, "branch", p->list[i].ref);
		put_str(b, "of", p->list[i].from->name);
		put_str(b, "commit", p->list[i].oid);
		put_str(b, "was", p->list[i].was);
		put_int(b, "commits", p->list[i].commits);
		json_object_array_add(list, b);
	}
	json_object_object_add(o, "branches", list);
	icctl_put_json(o);
	json_object_put(o);
}

/* Returns the branch that has the most of what is checked out. */
static const struct repo_pulled *
pull_best(const struct repo_pull *p)
{
	const struct repo_pulled *best = &p->list[0];

	for (unsigned i = 0; i < p->n; i++)
		if (strcmp(p->list[i].from->name, p->work->branch) == 0)
			best = &p->list[i];
	/* It is on top of what is checked out. */
	if (strcmp(p->list[p->n - 1].from->name, REPO_UNSAVED) == 0)
		best = &p->list[p->n - 1];
	return best;
}

/* Say that there is nothing, and which branches have something. */
static void
pull_nothing(const struct repo_pull *p)
{
	const struct repo_work *w = p->work;
	const char *before = ". Branches with new work: ";

	printf("nothing new to pull%s%s", p->branch != NULL ? " of branch " : "",
	    p->branch != NULL ? p->branch : "");
	for (unsigned i = 0; p->branch != NULL && i < w->refs.n; i++) {
		/* Work in no commit belongs to what is checked out. */
		printf("%s%s", before,
		    strcmp(w->refs.list[i].name, REPO_UNSAVED) == 0
			? w->branch
			: w->refs.list[i].name);
		before = ", ";
	}
	putchar('\n');
}

static void
pull_show(const struct icctl *ctl, const struct repo_pull *p)
{
	const struct repo_pulled *best;
	char shown[ICCTL_PATH];

	if (p->n == 0) {
		pull_nothing(p);
		return;
	}
	printf("in %s:\n", icctl_path(p->into, shown));
	for (unsigned i = 0; i < p->n; i++) {
		const struct repo_pulled *l = &p->list[i];

		if (l->same)
			printf("  %s  was there already\n", l->ref);
		else if (l->commits == 0)
			printf("  %s  pulled again\n", l->ref);
		else if (strcmp(l->from->name, REPO_UNSAVED) == 0 &&
			 p->work->unsaved)
			printf("  %s  what was in no commit (%lld file%s)\n",
			    l->ref, (long long)p->work->files,
			    plural((uint64_t)p->work->files));
		else
			printf("  %s  %lld new commit%s\n", l->ref,
			    (long long)l->commits,
			    plural((uint64_t)l->commits));
	}
	best = pull_best(p);
	printf("look:  git log -p HEAD..%s\ntake:  git merge %s\n", best->ref,
	    best->ref);
	if (p->left)
		printf("other branches have new commits, too: icctl pull %s\n",
		    repo_id(ctl));
}

/* Returns true if --branch names a branch that the clone has. */
static bool
pull_is_branch(const struct repo_work *w, const char *name)
{
	/* pull can commit what is in no commit; a branch may have no commit. */
	if (strcmp(name, REPO_UNSAVED) == 0 ||
	    (w->branch[0] != '\0' && strcmp(name, w->branch) == 0))
		return true;
	for (unsigned i = 0; i < w->all.n; i++)
		if (strcmp(name, w->all.list[i].name) == 0)
			return true;
	return false;
}

/* Say which branches the clone has. Returns the exit status. */
static int
pull_no_branch(const struct icctl *ctl, const struct repo_pull *p)
{
	const struct repo_refs *all = &p->work->all;
	char shown[512], more[64] = "", list[PULL_NAMED * REPO_NAME * 2] = "";
	unsigned n = all->n < PULL_NAMED ? all->n : PULL_NAMED;

	for (unsigned i = 0; i < n; i++) {
		(void)strlcat(list, i == 0 ? "" : ", ", sizeof(list));
		(void)strlcat(list, all->list[i].name, sizeof(list));
	}
	if (n < all->n)
		snprintf(more, sizeof(more), " and %u more", all->n - n);
	warnx("the clone of session %s has no branch %s. Its branches: %s%s",
	    repo_id(ctl), log_vis(span_str(p->branch), shown, sizeof(shown)),
	    n == 0 ? "none yet" : list, more);
	return ICCTL_FAILED;
}

static int
pull_session(struct icctl *ctl, struct repo_pull *p)
{
	struct repo_work *w = p->work;
	struct fault fault;

	if (p->branch != NULL && !pull_is_branch(w, p->branch))
		return pull_no_branch(ctl, p);
	if (p->into == NULL)
		p->into = w->record.dir;
	if (p->into[0] == '\0') {
		warnx("the clone was made from a URL: say which repository of "
		      "yours gets the work: icctl pull %s --into DIR",
		    repo_id(ctl));
		return ICCTL_USAGE;
	}
	if (w->unsaved && repo_work_commit(w, &fault) == -1)
		return repo_failed(&fault);
	if (words_given("--sign") &&
	    (p->signer = sign_find(ctl, w->env, p->into, words_given("--yes"),
		 &fault)) == NULL)
		return repo_failed(&fault);
	if (repo_pull(p, &fault) == -1) {
		(void)repo_failed(&fault);
		if (p->into == w->record.dir && access(p->into, F_OK) == -1)
			warnx("to get the work into another repository: icctl "
			      "pull %s --into DIR",
			    repo_id(ctl));
		return ICCTL_FAILED;
	}
	if (ctl->json)
		pull_json(ctl, p);
	else
		pull_show(ctl, p);
	return ICCTL_OK;
}

int
icctl_pull(struct icctl *ctl, int argc, char **argv)
{
	static struct repo_work w;
	static struct repo_pull p = {.work = &w};
	const char *flow = words_option("--workflow");
	char name[64];
	int status;

	if (argc > 2 || (argc == 2 && flow != NULL))
		return words_usage();
	/* The driver's name for the session of a workflow. */
	snprintf(name, sizeof(name), "workflow-%.50s",
	    flow != NULL ? flow : "");
	p.branch = words_option("--branch");
	p.into = words_option("--into");
	if ((status = repo_enter(ctl, flow != NULL ? name : argv[1], &w)) == 0)
		status = pull_session(ctl, &p);
	repo_leave(&w);
	return status;
}
