/* SPDX-License-Identifier: ISC */
#include "errand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "core/sup.h"
#include "files/providers/destinations.h"

extern char **environ;

#define ERRAND_MAX_ENV 256U

static struct buf errand_job;
static char *errand_env[ERRAND_MAX_ENV + 1];

void
errand_tell(enum errand_told kind, const char *text)
{
	if (text != NULL)
		report_add(&errand_job, (int)kind, text);
}

/* Take what git itself goes by. No other variable is a matter of ic-repo's. */
static void
errand_environment(void)
{
	static const char *const names[] = {
	    "GIT_", "HOME=", "XDG_CONFIG_HOME=", "PWD=", "EMAIL=", "LANG="};
	unsigned n = 0;

	for (char **e = environ; *e != NULL && n < ERRAND_MAX_ENV; e++)
		for (size_t i = 0; i < nitems(names); i++)
			if (strncmp(*e, names[i], strlen(names[i])) == 0) {
				errand_env[n++] = *e;
				break;
			}
	errand_env[n] = NULL;
}

static void
errand_places(const struct places *p)
{
	char text[PATH_MAX + 64];

	for (unsigned i = 0; i < p->n; i++) {
		snprintf(text, sizeof(text), "%" PRIu64 ":%" PRIu64 ":%s",
		    (uint64_t)p->ids[i].dev, (uint64_t)p->ids[i].ino,
		    p->paths[i]);
		errand_tell(TOLD_PLACE, text);
	}
}

int
errand_begin(struct helper *h, const char *task,
    int (*take)(int letter, const char *text, struct fault *),
    struct fault *fault)
{
	struct places now;

	buf_init(&errand_job, 2 * ERRAND_MAX_TEXT);
	errand_environment();
	*h = (struct helper){.libexecdir = sup.paths.libexecdir,
	    .name = ERRAND_PROGRAM,
	    .task = task,
	    .job = &errand_job,
	    .envp = errand_env,
	    .fds = {sup.session.fd},
	    .nfds = 1,
	    .take = take,
	    .sp = SPAWNED_INIT,
	    .out = -1};
	if (host_places_now(&now, fault) == -1)
		return -1;
	errand_places(&now);
	places_clear(&now);
	errand_tell(TOLD_LIBEXEC, sup.paths.libexecdir);
	errand_tell(TOLD_HOME, sup.paths.user_home);
	errand_tell(TOLD_SESSION, sup.session.dir);
	errand_tell(TOLD_PATH, sup.host.path);
	errand_tell(TOLD_CLONE, sup.opt.clone);
	return 0;
}

void
errand_told(void)
{
	buf_free(&errand_job);
}

void
errand_end(struct helper *h)
{
	helper_stop(h);
	errand_told();
}

void
errand_destinations(void)
{
	const struct config_destination *d;

	for (size_t i = 0; i < sup.config.ndestinations; i++) {
		d = &sup.config.destinations[i];
		for (char **host = d->hosts; d->kind == &destination_git &&
					     host != NULL && *host != NULL;
		     host++)
			errand_tell(TOLD_DESTINATION, *host);
	}
}

int
errand_take(int letter, const char *text, struct fault *fault)
{
	switch (letter) {
	case ERRAND_WARN:
		sup_warn("%s", text);
		return 0;
	case ERRAND_NOTE:
		sup_note("%s", text);
		return 0;
	case ERRAND_FAILED:
		return fault_set(fault, "%s", text);
	case ERRAND_WRONG:
		return fault_set_kind(fault, FAULT_CONFIG, "%s", text);
	case ERRAND_SCARCE:
		return fault_set_kind(fault, FAULT_SCARCE, "%s", text);
	default:
		return fault_set(
		    fault, ERRAND_PROGRAM ": the report is not valid");
	}
}
