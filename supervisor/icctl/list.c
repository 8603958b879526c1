/* SPDX-License-Identifier: ISC */
/* The commands that list what waits and what was allowed: pending, show,
 * grants. */
#include "icctl/icctl.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/json_put.h"
#include "icctl/hold/hold_view.h"
#include "icctl/words.h"

/* Fetch a call that is too long for a list, so that it is shown in full. */
static void
list_hold(struct icctl *ctl, json_object *hold)
{
	json_object *whole = NULL;

	if (json_object_object_get_ex(hold, "cut", NULL) &&
	    (whole = icctl_hold_fetch(ctl, icctl_text(hold, "id"), false)) ==
		NULL)
		return; /* it was answered meanwhile */
	(void)hold_view(stdout, whole != NULL ? whole : hold, HOLD_VIEW_LIST,
	    icctl_visible());
	json_object_put(whole);
}

int
icctl_pending(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply, *holds = NULL;
	size_t n;
	int r;

	if ((r = icctl_no_arguments(argc)) != 0)
		return r;
	reply = icctl_command(ctl, icctl_request("pending", NULL), &r);
	if (reply == NULL)
		return r;
	json_object_object_get_ex(reply, "holds", &holds);
	n = holds == NULL ? 0 : json_object_array_length(holds);
	if (ctl->json)
		icctl_put_json(reply);
	else if (n == 0)
		puts("No calls are pending.");
	for (size_t i = 0; i < n && !ctl->json; i++)
		list_hold(ctl, json_object_array_get_idx(holds, i));
	json_object_put(reply);
	return 0;
}

/*
 * Show the call in full on a terminal, and let the person approve what was
 * shown. Returns an exit status.
 */
static int
show_paged(struct icctl *ctl, json_object *hold)
{
	char *text = NULL;
	size_t len = 0;
	bool whole;
	FILE *f;

	if ((f = open_memstream(&text, &len)) == NULL)
		err(ICCTL_FAILED, "output");
	whole = hold_view(f, hold, HOLD_VIEW_FULL, icctl_visible());
	if (fclose(f) != 0)
		err(ICCTL_FAILED, "output");
	if (!icctl_put_pages(span_of(text, len))) {
		free(text);
		puts("Nothing was approved.");
		return ICCTL_OK;
	}
	free(text);
	if (!whole)
		return ICCTL_OK;
	/* Input typed before is not meant for this question. */
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	if (icctl_confirm("\nApprove this call, as it was shown?"))
		return icctl_approve_shown(ctl, hold);
	puts("Nothing was approved.");
	hold_view_answers(stdout, hold, true, icctl_visible());
	return ICCTL_OK;
}

/* Show a pending call. Returns an exit status. */
static int
show_hold(struct icctl *ctl, json_object *hold, bool full)
{
	if (full && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return show_paged(ctl, hold);
	if (hold_view(stdout, hold, full ? HOLD_VIEW_FULL : HOLD_VIEW_WHOLE,
		icctl_visible()))
		hold_view_answers(stdout, hold, full, icctl_visible());
	return ICCTL_OK;
}

int
icctl_show(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply, *hold = NULL;
	int r;

	if (argc != 2)
		return words_usage();
	reply = icctl_command(ctl, icctl_request("show", argv[1]), &r);
	if (reply == NULL)
		return r;
	json_object_object_get_ex(reply, "hold", &hold);
	if (ctl->json)
		icctl_put_json(reply);
	else
		r = show_hold(ctl, hold, words_given("--full"));
	json_object_put(reply);
	return r;
}

void
icctl_put_grant(json_object *grant)
{
	icctl_put_str(icctl_text(grant, "description"));
	fputs("  (rule ", stdout);
	icctl_put_str(icctl_text(grant, "rule"));
	if (json_object_object_get_ex(grant, "left", NULL))
		printf("; %lld left", (long long)icctl_number(grant, "left"));
	printf("; icctl revoke %s)\n", icctl_text(grant, "id"));
}

int
icctl_grants(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply, *list = NULL;
	size_t n;
	int r;

	if ((r = icctl_no_arguments(argc)) != 0)
		return r;
	reply = icctl_command(ctl, icctl_request("status", NULL), &r);
	if (reply == NULL)
		return r;
	json_object_object_get_ex(reply, "granted", &list);
	n = list == NULL ? 0 : json_object_array_length(list);
	if (ctl->json) {
		json_object *o = json_object_new_object();

		put_bool(o, "ok", true);
		json_object_object_add(o, "granted",
		    list == NULL ? json_object_new_array()
				 : json_object_get(list));
		icctl_put_json(o);
		json_object_put(o);
	} else if (n == 0) {
		puts("Nothing was allowed beyond single calls.");
	}
	for (size_t i = 0; i < n && !ctl->json; i++)
		icctl_put_grant(json_object_array_get_idx(list, i));
	json_object_put(reply);
	return 0;
}
