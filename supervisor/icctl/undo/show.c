/* SPDX-License-Identifier: ISC */
/* Shows checkpoints and plans. Names of files are the agent's: escaped. */
#include "icctl/undo/priv.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "common/plural.h"
#include "common/time_text.h"
#include "common/visible.h"

#define SHOW_MAX (1U << 30) /* bytes of a plan */

static const struct {
	enum snap_row what;
	const char *title, *json;
} groups[] = {
    {SNAP_BACK, "go back to what they were:", "back"},
    {SNAP_COME, "come back:", "comeBack"},
    {SNAP_GO, "go away:", "goAway"},
    {SNAP_KEPT,
	"changed after the last turn, left as they are (--all: put "
	"them back, too):",
	"left"},
    {SNAP_LEFT, "cannot be put back, as a checkpoint lacks them:", "leftOut"},
    {SNAP_FAILED, "could not be put back:", "failed"},
};
#define GROUP_FAILED 5U

static const char *
list_of(const struct undo_record *r, char *dst, size_t cap)
{
	if (strcmp(r->kind, "turn") == 0)
		snprintf(dst, cap, "before turn %u", r->turn);
	else if (strcmp(r->kind, "after") == 0)
		snprintf(dst, cap, "after turn %u", r->turn);
	else if (strcmp(r->kind, "named") == 0 && r->name[0] != '\0')
		snprintf(dst, cap, "%s", r->name);
	else if (strcmp(r->kind, "undo") == 0)
		snprintf(dst, cap, "before an undo to %u", r->to);
	else
		snprintf(dst, cap, "%s",
		    strcmp(r->kind, "start") == 0 ? "the start"
		    : strcmp(r->kind, "end") == 0 ? "the end"
						  : "icctl checkpoint");
	return dst;
}

static void
list_json(const struct undo *u, bool all)
{
	json_object *o = json_object_new_object(),
		    *list = json_object_new_array(), *row;
	const struct undo_record *r;
	char when[TIME_TEXT];

	for (size_t i = 0; i < u->n; i++) {
		r = &u->list[i];
		if (!all && strcmp(r->session, u->session) != 0)
			continue;
		row = json_object_new_object();
		put_int(row, "checkpoint", r->number);
		put_str(row, "session", r->session);
		put_str(row, "of", r->kind);
		put_int(row, "turn", r->turn);
		put_str(row, "name", r->name);
		put_str(row, "time", time_text((int64_t)r->time, when));
		put_int(row, "files", r->files);
		put_int(row, "leftOut", r->left);
		put_int(row, "loose", r->loose);
		put_bool(row, "late", r->late != 0);
		put_int(row, "bytes", (int64_t)r->added);
		if (r->why[0] != '\0')
			put_str(row, "why", r->why);
		json_object_array_add(list, row);
	}
	put_bool(o, "ok", true);
	put_str(o, "workspace", u->workspace);
	json_object_object_add(o, "checkpoints", list);
	icctl_put_json(o);
	json_object_put(o);
}

void
undo_list(const struct undo *u, bool all)
{
	const struct undo_record *r;
	char when[TIME_TEXT], of[100];
	unsigned shown = 0;

	if (u->ctl->json) {
		list_json(u, all);
		return;
	}
	for (size_t i = u->n; i-- > 0;) {
		r = &u->list[i];
		if (!all && strcmp(r->session, u->session) != 0)
			continue;
		printf("%6u  %s  ", r->number,
		    time_text_local((int64_t)r->time, when));
		icctl_put_str(list_of(r, of, sizeof(of)));
		if (all)
			printf("  (session %s)", r->session);
		if (r->why[0] != '\0') {
			fputs("  NOT MADE: ", stdout);
			icctl_put_str(r->why);
		} else {
			printf("  %u entr%s", r->files,
			    r->files == 1 ? "y" : "ies");
		}
		if (r->left != 0)
			printf(", %u left out", r->left);
		if (r->loose != 0)
			printf(", %u changed while they were read", r->loose);
		if (r->late != 0)
			fputs(", late: the turn had begun", stdout);
		putchar('\n');
		shown++;
	}
	if (shown == 0)
		puts("No checkpoint of this session. Those of all sessions in "
		     "its workspace: icctl undo --list --all");
}

size_t
undo_count(const struct undo *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->rows.n; i++)
		n += u->rows.list[i].what != SNAP_KEPT &&
		     u->rows.list[i].what != SNAP_LEFT;
	return n;
}

static void
show_text(struct buf *b, const char *text)
{
	(void)visible_add(b, span_str(text), icctl_visible());
}

static void
show_row(struct buf *b, const struct undo_row *r)
{
	buf_adds(b, "  ");
	show_text(b, r->path);
	if (r->why != NULL) {
		buf_adds(b, ": ");
		show_text(b, r->why);
	}
	buf_addc(b, '\n');
}

/* Each row is named: a person says yes to all of them. */
static void
show_group(struct buf *b, const struct undo_rows *rows, const char *title,
    enum snap_row what)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		if (rows->list[i].what != what)
			continue;
		if (n++ == 0)
			buf_printf(b, "%s\n", title);
		show_row(b, &rows->list[i]);
	}
}

/* Print the text, which is taken. Returns false if not all was shown. */
static bool
show_out(struct buf *b, bool pages)
{
	const struct span text = buf_span(b);
	bool whole = !b->failed;

	if (!whole)
		warnx("the plan is too long to be shown: name paths");
	else if (pages)
		whole = icctl_put_pages(text);
	else if (text.len != 0)
		(void)fwrite(text.p, 1, text.len, stdout);
	buf_free(b);
	return whole;
}

bool
undo_show(const struct undo *u, bool pages)
{
	const struct undo_rows *rows = &u->rows;
	char of[100];
	size_t later = 0;
	struct buf b;

	buf_init(&b, SHOW_MAX);
	for (size_t i = 0; i < rows->n; i++) {
		if (!rows->list[i].later)
			continue;
		if (later++ == 0)
			buf_adds(&b, "may run on this machine later:\n");
		show_row(&b, &rows->list[i]);
	}
	for (size_t i = 0; i + 1 < sizeof(groups) / sizeof(groups[0]); i++)
		show_group(&b, rows, groups[i].title, groups[i].what);
	buf_printf(&b, "This is checkpoint %u, ", u->to->number);
	show_text(&b, list_of(u->to, of, sizeof(of)));
	buf_adds(&b, ".\n");
	return show_out(&b, pages);
}

void
undo_show_end(const struct undo *u)
{
	struct buf b;

	buf_init(&b, SHOW_MAX);
	show_group(&b, &u->bad, groups[GROUP_FAILED].title, SNAP_FAILED);
	(void)show_out(&b, false);
}

void
undo_json_out(const struct undo *u, bool done)
{
	json_object *o = json_object_new_object(), *list, *row;
	const struct undo_rows *rows;

	put_bool(o, "ok", true);
	put_bool(o, "done", done);
	put_int(o, "from", u->now);
	put_int(o, "to", u->to->number);
	put_str(o, "plan", u->digest);
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		rows = groups[g].what == SNAP_FAILED ? &u->bad : &u->rows;
		list = json_object_new_array();
		for (size_t i = 0; i < rows->n; i++) {
			if (rows->list[i].what != groups[g].what)
				continue;
			row = json_object_new_object();
			put_str(row, "path", rows->list[i].path);
			put_bool(row, "runsLater", rows->list[i].later);
			if (rows->list[i].why != NULL)
				put_str(row, "why", rows->list[i].why);
			json_object_array_add(list, row);
		}
		json_object_object_add(o, groups[g].json, list);
	}
	icctl_put_json(o);
	json_object_put(o);
}
