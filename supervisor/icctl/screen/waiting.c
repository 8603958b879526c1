/* SPDX-License-Identifier: ISC */
/*
 * Pending calls reach the person.  On a full screen the bottom line counts
 * them, and a key opens the panel.  As lines the panel opens by itself, where
 * there is a terminal; elsewhere each is one line on standard error.
 */
#include "icctl/screen/waiting.h"

#include <stdio.h>
#include <string.h>

#include "icctl/screen/panel.h"
#include "icctl/screen/pending.h"
#include "icctl/screen/viewer.h"

/* The agent's lines from before the call arrive later, because termd sends
 * them. */
#define WAITING_FIRST_MS 150U
/* Until it is looked again whether our job is in front. */
#define WAITING_BACK_MS 500U

static struct loop_timer waiting_timer;

/* The bottom line, the title and the bell follow the list. */
static void
waiting_show(bool ring)
{
	const struct pending_call *c = pending_first();
	unsigned n = pending_count();
	char text[80] = "";

	if (n != 0 && viewer.may)
		snprintf(text, sizeof(text), "%u PENDING CALL%s: %s a", n,
		    n == 1 ? "" : "S", viewer.key);
	else if (n != 0)
		snprintf(text, sizeof(text),
		    "%u PENDING CALL%s: icctl approve %s", n, n == 1 ? "" : "S",
		    c->id);
	says_brief_end();
	draw_pending(n, text, ring);
}

static void
waiting_due(struct loop_timer *t)
{
	waiting_ask();
}

static void
waiting_soon(uint64_t ms)
{
	loop_timer_set(&viewer.loop, &waiting_timer, ms, waiting_due, NULL);
}

/* One line, for those who may answer it elsewhere. */
static void
waiting_say(const struct pending_call *c)
{
	says("pending call %s. Answer it: icctl approve %s (or: icctl deny %s)",
	    c->line, c->id, c->id);
	if (panel_could())
		waiting_soon(WAITING_BACK_MS);
}

static void
waiting_added(const struct pending_call *c)
{
	if (viewer.how.screen)
		waiting_show(true);
	else if (!c->asked && panel_may())
		waiting_soon(WAITING_FIRST_MS);
	else
		waiting_say(c);
}

static void
waiting_ended(const struct pending_call *c, const char *state)
{
	if (strcmp(state, "expired") == 0)
		says("pending call %s expired: nobody answered within %u s. "
		     "It was refused, and the agent may ask again. To be asked "
		     "for longer, raise escalationTimeoutSeconds in "
		     "config.json; to allow such calls without being asked, "
		     "add a rule: icctl policy --help",
		    c->line, c->seconds);
	else if (strcmp(state, "changed") == 0)
		says("pending call %s changed after it was shown, and was "
		     "refused",
		    c->id);
	if (viewer.how.screen)
		waiting_show(false);
}

static const struct pending_ops waiting_ops = {waiting_added, waiting_ended};

void
waiting_open(void)
{
	pending_open(viewer.dir, &waiting_ops);
}

void
waiting_ask(void)
{
	if (pending_count() == 0 || panel_open() || !panel_could())
		return;
	if (!panel_may())
		waiting_soon(WAITING_BACK_MS);
	else if (pending_asked())
		panel_run();
}

void
waiting_answer(void)
{
	if (pending_count() == 0) {
		says_brief("no calls are pending");
		return;
	}
	if (!viewer.may) {
		says_brief(
		    "calls of this session are answered in another terminal: "
		    "icctl watch");
		return;
	}
	(void)pending_asked();
	panel_run();
}
