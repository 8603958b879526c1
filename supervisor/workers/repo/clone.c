/* SPDX-License-Identifier: ISC */
/* Makes the clone that a session works on, or notes the URL of it. */
#include "workers/repo/tasks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/loop.h"
#include "repo/clone.h"
#include "repo/work.h"
#include "workers/repo/told.h"

#define CLONE_FIRST_US 3000000U
#define CLONE_EVERY_US 5000000U

static void
clone_progress(uint64_t bytes)
{
	static uint64_t told, every = CLONE_EVERY_US;
	const uint64_t now = clock_mono_us();

	if (told == 0)
		told = now + CLONE_FIRST_US;
	if (now < told)
		return;
	told = now + every;
	/* A long one is told of less and less often. */
	every *= 2;
	errand_warn(
	    "cloning: %llu MiB so far", (unsigned long long)bytes >> 20);
}

static void
clone_say(const char *line)
{
	errand_warn("%s", line);
}

/* Forget what an earlier run of the session has left: it will change. */
static void
clone_unlook(void)
{
	static struct repo_record r;
	struct fault ignored;

	if (repo_record_read(
		&r, ERRAND_SESSION, errand.session_path, &ignored) == -1 ||
	    !r.looked)
		return;
	r.looked = false;
	(void)repo_record_write(&r, ERRAND_SESSION);
}

/* Note the URL; git gets it when mitmd is there: fetch.c. */
static int
clone_later(struct fault *fault)
{
	static struct repo_record r;
	const char *name = strrchr(errand.session_path, '/');
	const char *host = errand.url + 8;
	const size_t n = strcspn(host, "/");

	if (!errand_listed(span_of(host, n)))
		return fault_set(fault,
		    "--clone %s: %.*s is no git destination in config.json, "
		    "which a session could reach (ironcurtain-config(5), "
		    "destinations). Clone it yourself and give the directory: "
		    "git clone URL DIR; icctl start --clone DIR",
		    strchr(errand.clone, '@') != NULL ? "URL" : errand.clone,
		    (int)(n > 200 ? 200 : n), host);
	name = name == NULL ? errand.session_path : name + 1;
	if (strlen(name) >= sizeof(r.session) ||
	    repo_name_wrong(span_str(name)) != NULL)
		name = "session";
	(void)strlcpy(r.session, name, sizeof(r.session));
	if (strlcpy(r.url, errand.url, sizeof(r.url)) >= sizeof(r.url) ||
	    (errand.ref != NULL && strlcpy(r.branch, errand.ref,
				       sizeof(r.branch)) >= sizeof(r.branch)))
		return fault_set(fault, "--clone: the name is too long");
	if (repo_record_write(&r, ERRAND_SESSION) == -1)
		return fault_errno(
		    fault, "%s/" REPO_RECORD, errand.session_path);
	return 0;
}

static int
clone_make(int sandbox, struct fault *fault)
{
	struct repo_env env = {.libexecdir = errand.libexecdir,
	    .stopped = errand_stopped,
	    .progress = clone_progress,
	    .until = clock_mono_us() + (uint64_t)REPO_MAX_SECONDS * 1000000};
	const struct repo_clone how = {.env = &env,
	    .source = errand.clone,
	    .changes = errand.changes,
	    .dirty = errand.dirty,
	    .with = errand.with.list,
	    .nwith = errand.with.n,
	    .ignore = errand.ignore,
	    .session = ERRAND_SESSION,
	    .session_path = errand.session_path,
	    .sandbox = sandbox,
	    .say = clone_say};
	struct fault why;

	if (repo_clone(&how, &why) == 0)
		return 0;
	return fault_set(fault, "--clone %s: %s", errand.clone, why.text);
}

int
errand_clone(struct fault *fault)
{
	static struct repo_record r;
	struct fault ignored;
	int sandbox, rv = 0;

	clone_unlook();
	sandbox = errand_sandbox(fault);
	if (sandbox == -1)
		return -1;
	if (errand.clone != NULL && !repo_cloned(ERRAND_SESSION, sandbox))
		rv = errand.url != NULL ? clone_later(fault)
					: clone_make(sandbox, fault);
	close(sandbox);
	if (rv == -1 || repo_record_read(&r, ERRAND_SESSION,
			    errand.session_path, &ignored) == -1)
		return rv;
	errand_report(ERRAND_DIR, r.dir);
	errand_report(ERRAND_URL, r.url);
	errand_report(ERRAND_BRANCH, r.branch);
	if (r.url[0] != '\0' && r.base[0] == '\0')
		errand_report(ERRAND_WANTED, "");
	return 0;
}
