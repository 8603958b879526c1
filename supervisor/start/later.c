/* SPDX-License-Identifier: ISC */
#include "later.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/json_put.h"
#include "box/git/checkout.h"
#include "common/plural.h"
#include "core/sup.h"
#include "host/runs.h"

#define LATER_SHOWN 10U

static struct {
	struct runs runs;
	bool begun, ended;
} later;

void
later_begin(void)
{
	/* A clone or an empty directory is not where the user works. */
	if (sup.opt.workspace == NULL || sup.read_only ||
	    sup.opt.runtime == RUNTIME_NONE ||
	    sup.opt.trial != NULL)
		return;
	runs_begin(&later.runs, sup.workspace, sup.workspace_path,
	    getenv("PATH"));
	later.begun = true;
}

void
later_end(void)
{
	if (!later.begun || !sup.agent_started || later.ended)
		return;
	runs_end(&later.runs);
	later.ended = true;
}

void
later_say(void)
{
	const struct runs *r = &later.runs;

	if (!later.ended)
		return;
	checkout_say_left();
	if (r->n != 0)
		sup_warn("%u changed file%s may run on this machine later; read "
			 "%s before you use the workspace:",
		    r->total, plural(r->total), r->total == 1 ? "it" : "them");
	for (unsigned i = 0; i < r->n && i < LATER_SHOWN; i++)
		sup_warn("  %s (%s)", r->list[i].path, r->list[i].by);
	if (r->total > LATER_SHOWN)
		sup_warn("  and %u more: icctl --session %s status",
		    r->total - LATER_SHOWN, sup.session.id);
	if (r->cut)
		sup_warn("the workspace is too large or too deep for this list "
			 "to be whole");
}

struct json_object *
later_json(void)
{
	const struct runs *r = &later.runs;
	struct json_object *o, *list, *item;

	if (!later.ended)
		return NULL;
	o = json_object_new_object();
	list = json_object_new_array();
	for (unsigned i = 0; i < r->n; i++) {
		item = json_object_new_object();
		put_str(item, "path", r->list[i].path);
		put_str(item, "by", r->list[i].by);
		json_object_array_add(list, item);
	}
	put_int(o, "total", r->total);
	put_bool(o, "whole", !r->cut);
	json_object_object_add(o, "files", list);
	return o;
}
