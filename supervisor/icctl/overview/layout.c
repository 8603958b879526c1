/* SPDX-License-Identifier: ISC */
/* Divides the screen. */
#include "icctl/overview/priv.h"

void
layout_make(struct overview *o, unsigned height, unsigned width)
{
	unsigned body = height > 4 ? height - 3 : 1;

	o->height = height;
	o->width = width;
	o->news_rows = height < 24 ? 0 : height < 36 ? 3 : ACTIVITY_ROWS;
	if (o->news_rows != 0)
		body -= o->news_rows + 1;
	if (width >= 70) {
		o->list_cols = width * 2 / 5 > 50 ? 50 : width * 2 / 5;
		o->list_rows = o->text_rows = body;
		o->text_top = 1;
		o->text_left = o->list_cols + 1;
		o->text_cols = width - o->text_left;
		return;
	}
	o->list_cols = o->text_cols = width;
	o->list_rows = body > 4 ? body / 3 : 1;
	o->text_top = 1 + o->list_rows + 1;
	o->text_left = 0;
	o->text_rows = body > o->list_rows + 1 ? body - o->list_rows - 1 : 1;
}
