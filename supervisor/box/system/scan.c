/* SPDX-License-Identifier: ISC */
#include "box/system/scan.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/json_get.h"
#include "base/report.h"
#include "core/sup.h"

#define SCAN_MS 20000U

static int
scan_take(int letter, const char *text, struct fault *fault)
{
	if (letter != SCAN_WARN)
		return fault_set(fault, "the report is not valid");
	sup_warn("%s", text);
	return 0;
}

/* Open the workspace, or what is cloned. Returns it, or -1 if there is none. */
static int
scan_workspace(void)
{
	if (sup.opt.workspace == NULL && sup.opt.clone == NULL)
		return -1;
	return openat(sup.opt.workspace != NULL ? sup.workspace : AT_FDCWD,
	    sup.opt.workspace != NULL ? "." : sup.opt.clone,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Compose the job: secrets of a workspace in place, and the agent's settings.
 */
static void
scan_tell(struct buf *job, bool workspace, bool home)
{
	if (workspace)
		report_add(job, SCAN_HAS, "workspace");
	if (home)
		report_add(job, SCAN_HAS, "home");
	if (sup.opt.workspace != NULL && sup.opt.runtime != RUNTIME_NONE)
		report_add(job, SCAN_SECRETS, "");
	report_add(job, SCAN_AGENT, sup.adapter.title);
	for (char **s = sup.adapter.left_out; s != NULL && *s != NULL; s++)
		report_add(job, SCAN_LEFT, *s);
	for (size_t i = 0; i < sup.opt.ncover; i++)
		report_add(job, SCAN_COVER, sup.opt.cover[i]);
	for (size_t i = 0; i < sup.defs.n; i++)
		report_add(job, SCAN_SERVER, sup.defs.defs[i].name);
}

/* Run it in the workspace, or what is cloned, and in the home; or -1 each. */
static void
scan_run(struct buf *job, int workspace, int home, const char *what)
{
	static char *const envp[] = {NULL};
	struct fault fault;
	struct helper h = {.libexecdir = sup.paths.libexecdir,
	    .name = SCAN_PROGRAM,
	    .task = "start",
	    .job = job,
	    .envp = envp,
	    .fds = {workspace, home},
	    .nfds = 2,
	    .take = scan_take,
	    .sp = SPAWNED_INIT,
	    .out = -1};

	if (buf_check(job) == -1 || helper_run(&h, SCAN_MS, &fault) == -1)
		sup_warn("%s", what);
	helper_stop(&h);
	buf_free(job);
	for (unsigned i = 0; i < 2; i++)
		if (h.fds[i] != -1)
			close(h.fds[i]);
}

static int
scan_home(void)
{
	return open(sup.paths.user_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void
scan_say(void)
{
	struct buf job;
	int workspace, home;

	if (sup.opt.trial != NULL || sup.adapter.name == NULL)
		return;
	workspace = scan_workspace();
	home = scan_home();
	buf_init(&job, SCAN_JOB);
	scan_tell(&job, workspace != -1, home != -1);
	scan_run(&job, workspace, home,
	    "the workspace could not be looked through for secrets");
}

void
scan_path(struct buf *job)
{
	const int home = scan_home();

	if (home != -1)
		report_add(job, SCAN_HAS, "home");
	scan_run(job, -1, home,
	    "the directories of PATH could not be looked through");
}
