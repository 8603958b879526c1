/* SPDX-License-Identifier: ISC */
/* The page's line about jobs that failed, were skipped or are overdue. */
#include "icctl/web/priv.h"

#include "icctl/job/trouble.h"

static void
jobs_again(struct loop_timer *t)
{
	web_jobs_look(t->arg);
}

/* Make a row of text that cannot hide other text. */
static json_object *
jobs_shown(json_object *all)
{
	json_object *out = json_object_new_array(), *o, *row;

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		o = json_object_array_get_idx(all, i);
		row = json_object_new_object();
		json_object_object_foreach(o, key, v) json_object_object_add(
		    row, key, state_vis(json_object_get_string(v)));
		json_object_array_add(out, row);
	}
	return out;
}

void
web_jobs_look(struct web *w)
{
	json_object *all = job_troubles(w->ctl), *shown = jobs_shown(all);

	json_object_put(all);
	if (!json_object_equal(shown, w->jobs)) {
		json_object_put(w->jobs);
		w->jobs = json_object_get(shown);
		state_changed(w, NULL, LIVE_ROW);
	}
	json_object_put(shown);
	loop_timer_set(&w->loop, &w->look, JOB_TROUBLE_MS, jobs_again, w);
}

void
web_jobs_free(struct web *w)
{
	loop_timer_clear(&w->loop, &w->look);
	json_object_put(w->jobs);
	w->jobs = NULL;
}
