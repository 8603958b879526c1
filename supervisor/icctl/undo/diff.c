/* SPDX-License-Identifier: ISC */
/*
 * `icctl diff --turn`: compares the checkpoints before and after a turn.
 * ic-snap finds the files and reads their texts, which are the agent's: they
 * are only compared by lines here, and escaped.
 */
#include "icctl/undo/diff.h"

#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "icctl/hold/hold_diff.h"
#include "icctl/undo/priv.h"
#include "icctl/words.h"

/* Returns what a turn did to the file, or NULL for a row of another kind. */
static const char *
diff_what(const struct undo_row *r)
{
	/* The plan leads back: what would come back was removed. */
	switch (r->what) {
	case SNAP_BACK:
		return "changed";
	case SNAP_COME:
		return "removed";
	case SNAP_GO:
		return "new";
	case SNAP_LEFT:
		return "not compared";
	case SNAP_KEPT:
	case SNAP_FAILED:
	case SNAP_WAS:
	case SNAP_IS:
	case SNAP_END:
	case SNAP_REFUSED:
		break;
	}
	return NULL;
}

/* Returns why a text cannot be shown, or NULL. */
static const char *
diff_why(char mark)
{
	switch (mark) {
	case SNAP_BINARY:
		return "  (not a text)";
	case SNAP_LONG:
		return "  (too long to be compared here)";
	case SNAP_BAD:
		return "  (its content is no longer in the store)";
	default:
		return NULL;
	}
}

static void
diff_name(const struct undo_row *r)
{
	printf("%s%s: ", diff_what(r),
	    r->later ? ", and may run on this machine later" : "");
	icctl_put(span_str(r->path), 4096, false);
	putchar('\n');
	if (r->why != NULL)
		printf("  %s\n", r->why);
}

/* Show a file: its row, and the two texts that follow it. */
static void
diff_file(const struct undo_row *r, const struct undo_row *was,
    const struct undo_row *is)
{
	struct hold_text t = {
	    .out = stdout, .flags = icctl_visible(), .full = true};
	const char *why = diff_why(was->mark);

	diff_name(r);
	/* Lines of git's own files tell nobody anything. */
	if (words_given("--stat") ||
	    (strncmp(r->path, ".git/", 5) == 0 && !r->later) ||
	    (was->mark == SNAP_NONE && is->mark == SNAP_NONE))
		return;
	if (why == NULL)
		why = diff_why(is->mark);
	if (why != NULL)
		puts(why);
	else
		hold_diff_texts(&t, span_str(was->path), span_str(is->path));
}

static void
diff_json(const struct undo *u)
{
	json_object *o = json_object_new_object(),
		    *list = json_object_new_array(), *f;

	for (size_t i = 0; i < u->rows.n; i++) {
		if (diff_what(&u->rows.list[i]) == NULL)
			continue;
		f = json_object_new_object();
		put_str(f, "path", u->rows.list[i].path);
		put_str(f, "what", diff_what(&u->rows.list[i]));
		put_bool(f, "runsLater", u->rows.list[i].later);
		json_object_array_add(list, f);
	}
	put_bool(o, "ok", true);
	put_str(o, "session", u->session);
	put_int(o, "from", u->to->number);
	put_int(o, "to", u->now);
	json_object_object_add(o, "files", list);
	icctl_put_json(o);
	json_object_put(o);
}

static void
diff_show(const struct undo *u)
{
	const struct undo_row *r = u->rows.list;
	size_t shown = 0;

	for (size_t i = 0; i < u->rows.n; i++) {
		if (diff_what(&r[i]) == NULL)
			continue;
		if (r[i].what == SNAP_LEFT)
			diff_name(&r[i]);
		else if (i + 2 < u->rows.n && r[i + 1].what == SNAP_WAS &&
			 r[i + 2].what == SNAP_IS)
			diff_file(&r[i], &r[i + 1], &r[i + 2]);
		shown++;
	}
	if (shown == 0)
		puts("No file changed.");
}

int
undo_diff(struct icctl *ctl, const char *turn, const char *upto)
{
	static struct undo u;
	int status;

	if ((status = undo_enter(&u, ctl)) == 0 &&
	    (status = undo_choose_turns(&u, turn, upto)) == 0) {
		u.text = true;
		status = undo_plan(&u, false);
	}
	if (status == 0 && ctl->json)
		diff_json(&u);
	else if (status == 0)
		diff_show(&u);
	undo_leave(&u);
	return status;
}
