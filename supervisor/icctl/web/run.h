/* SPDX-License-Identifier: ISC */
/*
 * Commands of icctl that run for the page, beside it: this process does not
 * wait for them. Each gives its request one answer.
 */
#ifndef ICCTL_WEB_RUN_H
#define ICCTL_WEB_RUN_H

#include "common/wordlist.h"
#include "icctl/web/priv.h"

struct web_run {
	struct web *w;
	unsigned place;      /* in w->runs */
	uint64_t n;          /* the request */
	struct web_seen was; /* as the login was shown it */
	bool acts;           /* it does what was shown */
	/*
	 * Answer the request. `good`: its exit status was 0; the object that it
	 * printed, or NULL, is taken.
	 */
	void (*done)(struct web_run *, bool good, json_object *);
	struct spawned sp;
	struct loop_io io;
	struct buf out; /* its output and its errors */
};

/* Returns a new one, or NULL if too many run. */
struct web_run *web_run_new(struct web *, uint64_t n,
    void (*done)(struct web_run *, bool, json_object *));
/* Start it with these words; if that fails, the page is told and it is freed.
 */
void web_run_start(struct web_run *, struct wordlist *);
/* Tell the page why it failed, in its words; without any, in these. */
void web_run_refuse(struct web_run *, const char *otherwise);
void web_run_end(struct web_run *);

#endif
