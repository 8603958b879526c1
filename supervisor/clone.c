/* SPDX-License-Identifier: ISC */
/*
 * The clone that a session works on: makes it when the session begins, and says
 * at its end what is not pulled yet.
 */
#include "clone.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "box/gitbox.h"
#include "repo/clone.h"
#include "sup.h"

#define CLONE_FIRST_US 3000000U
#define CLONE_EVERY_US 5000000U

static uint64_t clone_told;

static bool
clone_stopped(void)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	sigset_t set;

	/* They are blocked, and wait for the event loop. */
	if (sigpending(&set) == -1)
		return false;
	for (size_t i = 0; i < nitems(ends); i++)
		if (sigismember(&set, ends[i]) == 1)
			return true;
	return false;
}

static void
clone_progress(uint64_t bytes)
{
	uint64_t now = clock_mono_us();

	if (clone_told == 0)
		clone_told = now + CLONE_FIRST_US;
	if (now < clone_told)
		return;
	clone_told = now + CLONE_EVERY_US;
	sup_warn("cloning: %llu MiB so far", (unsigned long long)bytes >> 20);
}

static void
clone_say(const char *line)
{
	sup_warn("%s", line);
}

const char *
clone_summary(char *dst, size_t cap)
{
	static struct repo_record r;
	char where[4200];
	struct fault ignored;

	if (repo_record_read(&r, sup.session.fd, sup.session.dir, &ignored) ==
	    -1)
		return "an empty directory";
	snprintf(dst, cap, "a clone of %s (branch %s)",
	    paths_tilde(sup.paths.user_home, r.dir, where, sizeof(where)),
	    r.branch);
	return dst;
}

/* Refuse what can be refused before anything is done. */
int
clone_check(struct fault *fault)
{
	const char *source = sup.opt.clone;

	if (source == NULL || !repo_is_url(source))
		return 0;
	return fault_set(fault,
	    "--clone %s: a URL is not cloned here. Clone it yourself and give "
	    "the directory: git clone URL DIR; icctl start --clone DIR",
	    strchr(source, '@') != NULL ? "URL" : source);
}

int
clone_begin(struct fault *fault)
{
	struct repo_env env = {.libexecdir = sup.paths.libexecdir,
	    .stopped = clone_stopped,
	    .progress = clone_progress};
	const struct repo_clone how = {.env = &env,
	    .source = sup.opt.clone,
	    .changes = sup.opt.changes,
	    .with = sup.opt.with,
	    .nwith = sup.opt.nwith,
	    .session = sup.session.fd,
	    .session_path = sup.session.dir,
	    .sandbox = sup.session.sandbox,
	    .say = clone_say};
	struct fault why;

	if (sup.opt.clone == NULL ||
	    repo_cloned(sup.session.fd, sup.session.sandbox))
		return 0;
	env.until = clock_mono_us() + (uint64_t)REPO_MAX_SECONDS * 1000000;
	if (repo_clone(&how, &why) == -1)
		return fault_set(
		    fault, "--clone %s: %s", sup.opt.clone, why.text);
	return 0;
}
