/* SPDX-License-Identifier: ISC */
/*
 * ic-repo: does one errand about git for icsupervisor (repo/errand.h), and
 * ends. It has the user's rights, because it starts sandboxes, opens the user's
 * files and makes the clone; but of a session it holds the directory alone: no
 * channel, no credential, and no environment beside git's own. What it reads
 * from repositories, which agents may have written, cannot reach icsupervisor
 * but as a report.
 */
#include <sys/prctl.h>

#include <signal.h>
#include <string.h>

#include "base/report.h"
#include "box/box.h"
#include "common/confine/confine.h"
#include "common/log.h"
#include "workers/repo/tasks.h"
#include "workers/repo/told.h"

static const struct {
	const char *name;
	int (*run)(struct fault *);
} tasks[] = {
    {ERRAND_SETTINGS, errand_settings},
    {ERRAND_CLONE, errand_clone},
    {ERRAND_FETCH, errand_fetch},
    {ERRAND_LOOK, errand_look},
};

/* Resolve bubblewrap as icsupervisor does: where no agent writes. */
static int
errand_bwrap(struct fault *fault)
{
	const struct host_how how = {.places = &errand.places,
	    .path = errand.path != NULL ? errand.path : "",
	    .user_home = errand.home};

	if (box_bwrap() == NULL)
		return 0;
	return host_program_find(
	    box_program(), &how, "bubblewrap", box_bwrap(), fault);
}

/* SIGTERM waits: a task ends in order, and leaves nothing half done. */
static void
errand_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_SETMASK, &set, NULL) == -1 ||
	    signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		fatal("signals");
}

int
main(int argc, char **argv)
{
	struct fault fault = {""};

	errand_signals();
	log_init(ERRAND_PROGRAM, false);
	if (spawn_init() == -1 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    confine_no_core() == -1)
		fatal("cannot become private");
	for (size_t i = 0; argc == 2 && i < nitems(tasks); i++) {
		if (strcmp(argv[1], tasks[i].name) != 0)
			continue;
		errand_read();
		if (errand_bwrap(&fault) == -1 || tasks[i].run(&fault) == -1)
			errand_report(fault.kind == FAULT_SCARCE
					  ? ERRAND_SCARCE
					  : ERRAND_WRONG,
			    fault.text);
		errand_report((enum errand_report)REPORT_END, "");
		return 0;
	}
	fatalx("icsupervisor starts this program");
}
