/* SPDX-License-Identifier: ISC */
/* Collects the rows that `plan` and `restore` report. */
#include "workers/snap/snap.h"

#include <string.h>

struct buf snap_rows;

void
snap_row(enum snap_row what, bool later, struct span path, const char *why)
{
	buf_addc(&snap_rows, (uint8_t)what);
	buf_addc(&snap_rows, later ? '!' : ' ');
	buf_addspan(&snap_rows, path);
	buf_addc(&snap_rows, '\0');
	if (what == SNAP_FAILED || what == SNAP_LEFT)
		buf_add(&snap_rows, why, strlen(why) + 1);
}

static void
row_text(enum snap_row what, enum snap_text mark, struct span text)
{
	buf_addc(&snap_rows, (uint8_t)what);
	buf_addc(&snap_rows, (uint8_t)mark);
	buf_addspan(&snap_rows, text);
	buf_addc(&snap_rows, '\0');
}

/* Returns what the file's content is, which is in `b` if it is a text. */
static enum snap_text
row_content(const struct store *s, const struct entry *e, struct buf *b)
{
	char hex[65];

	if (e->size > SNAP_MAX_TEXT || snap_rows.len > SNAP_MAX_TEXTS)
		return SNAP_LONG;
	if (span_copy(e->text, hex, sizeof(hex)) == -1)
		return SNAP_BAD;
	switch (store_text(s, hex, SNAP_MAX_TEXT, b)) {
	case 0:
		return span_find(buf_span(b), span_of("", 1)) == NULL
			   ? SNAP_TEXT
			   : SNAP_BINARY;
	case 1:
		return SNAP_LONG;
	default:
		return SNAP_BAD;
	}
}

void
snap_row_text(enum snap_row what, const struct store *s, const struct entry *e)
{
	enum snap_text mark;
	struct buf b;

	if (e != NULL && e->kind == ENTRY_LINK) {
		row_text(what, SNAP_TEXT, e->text);
		return;
	}
	if (e == NULL || e->kind != ENTRY_FILE) {
		row_text(what, SNAP_NONE, SPAN(""));
		return;
	}
	buf_init(&b, SNAP_MAX_TEXT + (2U << 16));
	mark = row_content(s, e, &b);
	row_text(what, mark, mark == SNAP_TEXT ? buf_span(&b) : SPAN(""));
	buf_free(&b);
}
