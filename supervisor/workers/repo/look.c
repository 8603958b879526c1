/* SPDX-License-Identifier: ISC */
/* Looks at the end of a session for work in its clone that is not pulled. */
#include "workers/repo/tasks.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/loop.h"
#include "repo/work.h"
#include "workers/repo/told.h"

#define LOOK_US 20000000U

static void
look_report(const struct repo_record *r)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, r->commits);
	errand_report(ERRAND_COMMITS, number);
	snprintf(number, sizeof(number), "%" PRId64, r->files);
	errand_report(ERRAND_FILES, number);
}

int
errand_look(struct fault *fault)
{
	static struct repo_work w;
	const struct repo_env env = {.libexecdir = errand.libexecdir,
	    .stopped = errand_stopped,
	    .until = clock_mono_us() + LOOK_US};
	struct repo_record *r = &w.record;
	int rv = 0;

	if (repo_work_open(
		&w, &env, ERRAND_SESSION, errand.session_path, fault) == -1 &&
	    w.record.session[0] == '\0')
		goto out;
	/* Nothing came from the URL, and no agent ran. */
	if (r->base[0] == '\0')
		goto out;
	w.ended = true;
	if (w.clone.n == 0 || repo_work_look(&w, fault) == -1) {
		rv = -1;
		goto out;
	}
	r->looked = true;
	r->commits = repo_work_commits(&w);
	r->files = w.files;
	if (repo_record_write(r, ERRAND_SESSION) == -1)
		errand_note("clone.json could not be written");
	look_report(r);
out:
	repo_work_close(&w);
	return rv;
}
