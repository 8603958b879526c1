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
#include "common/plural.h"
#include "json_put.h"
#include "repo/clone.h"
#include "repo/work.h"
#include "sup.h"

#define CLONE_FIRST_US 3000000U
#define CLONE_EVERY_US 5000000U
#define CLONE_LOOK_US 20000000U

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

struct json_object *
clone_json(void)
{
	static struct repo_record r;
	struct json_object *o;
	struct fault ignored;

	if (repo_record_read(&r, sup.session.fd, sup.session.dir, &ignored) ==
	    -1)
		return NULL;
	o = json_object_new_object();
	put_str(o, "dir", r.dir);
	put_str(o, "url", r.url);
	put_str(o, "branch", r.branch);
	return o;
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

/* Forget what an earlier run of the session has left: it will change. */
static void
clone_unlook(void)
{
	static struct repo_record r;
	struct fault ignored;

	if (repo_record_read(&r, sup.session.fd, sup.session.dir, &ignored) ==
		-1 ||
	    !r.looked)
		return;
	r.looked = false;
	(void)repo_record_write(&r, sup.session.fd);
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

	clone_unlook();
	if (sup.opt.clone == NULL ||
	    repo_cloned(sup.session.fd, sup.session.sandbox))
		return 0;
	env.until = clock_mono_us() + (uint64_t)REPO_MAX_SECONDS * 1000000;
	if (repo_clone(&how, &why) == -1)
		return fault_set(
		    fault, "--clone %s: %s", sup.opt.clone, why.text);
	return 0;
}

/* Write "2 commits and 1 file in no commit". */
static void
clone_count(const struct repo_record *r, char *dst, size_t cap)
{
	char commits[64] = "", files[64] = "";

	if (r->commits != 0)
		snprintf(commits, sizeof(commits), "%lld commit%s",
		    (long long)r->commits, plural((uint64_t)r->commits));
	if (r->files != 0)
		snprintf(files, sizeof(files), "%lld file%s in no commit",
		    (long long)r->files, plural((uint64_t)r->files));
	snprintf(dst, cap, "%s%s%s", commits,
	    r->commits != 0 && r->files != 0 ? " and " : "", files);
}

const char *
clone_end(char *dst, size_t cap)
{
	static struct repo_work w;
	const struct repo_env env = {.libexecdir = sup.paths.libexecdir,
	    .stopped = clone_stopped,
	    .until = clock_mono_us() + CLONE_LOOK_US};
	const char *id = sup.session.id;
	struct repo_record *r = &w.record;
	char count[160], where[4200];
	struct fault fault;

	if (repo_work_open(
		&w, &env, sup.session.fd, sup.session.dir, &fault) == -1 &&
	    w.record.session[0] == '\0') {
		repo_work_close(&w);
		return NULL;
	}
	if (w.clone.n == 0 || repo_work_look(&w, &fault) == -1) {
		snprintf(dst, cap,
		    "it could not be found out what is new in the clone, %s/"
		    "sandbox: %s. To get it: icctl pull %s",
		    paths_tilde(sup.paths.user_home, sup.session.dir, where,
			sizeof(where)),
		    fault.text, id);
		repo_work_close(&w);
		return dst;
	}
	r->looked = true;
	r->commits = repo_work_commits(&w);
	r->files = w.files;
	if (repo_record_write(r, sup.session.fd) == -1)
		sup_note("clone.json could not be written");
	clone_count(r, count, sizeof(count));
	if (count[0] == '\0')
		snprintf(dst, cap, "nothing new is in the clone");
	else
		snprintf(dst, cap,
		    "the clone has %s that you do not have. See: icctl diff "
		    "%s; get it: icctl pull %s",
		    count, id, id);
	repo_work_close(&w);
	return dst;
}
