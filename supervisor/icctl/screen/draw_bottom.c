/* SPDX-License-Identifier: ISC */
/*
 * The bottom line, which the agent cannot reach: the session, what waits in it,
 * the latest message or the budget, and the key for commands.
 */
#include "icctl/screen/draw_priv.h"

#include <stdio.h>
#include <string.h>

const struct edit *
draw_bottom_input(void)
{
	return draw_env.prefix || draw_env.messages == MESSAGES_ASKED
		   ? NULL
		   : draw_env.input;
}

/*
 * Put in what there is room for: what waits comes before the budget, that
 * before the words at the right end, and these before the session's name.
 */
static int
line_parts(char *text, size_t cap, const char *news, const char **right)
{
	unsigned cols = draw_env.term_cols;
	const char *pending = draw_env.pending, *meter = draw_env.meter;
	size_t room = cols, len;
	bool name;

	len = strlen(" ironcurtain ") + strlen(pending) + 2;
	room -= len < room ? len : room;
	/* A message has the room of the budget. */
	if (meter[0] == '\0' || news[0] != '\0' || strlen(meter) + 2 > room)
		meter = "";
	else
		room -= strlen(meter) + 2;
	if (draw_env.npending != 0 && strlen(*right) > room)
		*right = "";
	room -= strlen(*right) < room ? strlen(*right) : room;
	name = draw_env.npending == 0 ||
	       (news[0] == '\0' && strlen(viewer.name) + 2 <= room);
	return snprintf(text, cap, " ironcurtain %s%s%s%s%s%s",
	    name ? viewer.name : "", name ? "  " : "", pending,
	    draw_env.npending != 0 ? "  " : "", meter,
	    meter[0] != '\0' ? "  " : "");
}

/* Returns the text of the bottom line, and the words at its right end. */
static int
line_text(char *text, size_t cap, const char **right)
{
	static char keys[40];
	const char *news = says_latest();
	unsigned cols = draw_env.term_cols;
	size_t room;
	int n;

	*right = "";
	if (draw_env.prefix)
		return snprintf(text, cap,
		    "%s s say  m messages  u undo  k keep  d detach  z suspend "
		    " %s send it  v image  t keyboard  c copy  o open  "
		    "others: back",
		    draw_env.npending != 0 && viewer.may ? " a answer" : "",
		    viewer.key);
	if (draw_env.messages == MESSAGES_ASKED)
		return snprintf(text, cap, " any key: back to the agent");
	snprintf(keys, sizeof(keys),
	    viewer.how.attached ? " %s d leaves " : " %s for commands ",
	    viewer.key);
	if (cols > 60)
		*right = keys;
	n = line_parts(text, cap, news, right);
	if (n < 0 || n >= (int)cap || (unsigned)n >= cols || news[0] == '\0')
		return n;
	room = cols - (unsigned)n;
	/* A message is worth more than the words at the right. */
	if (strlen(news) + strlen(*right) > room && strlen(news) < room)
		*right = "";
	room -= strlen(*right) < room ? strlen(*right) : room;
	if (strlen(news) <= room)
		return n + snprintf(text + n, cap - (size_t)n, "%s", news);
	/* It does not fit: name the key that shows it whole. */
	snprintf(keys, sizeof(keys), " %s m: messages ", viewer.key);
	room = cols - (unsigned)n;
	if (cols <= 60 || room < strlen(keys) + 8)
		return n;
	*right = keys;
	room -= strlen(keys) + 3;
	return n +
	       snprintf(text + n, cap - (size_t)n, "%.*s...", (int)room, news);
}

void
draw_bottom(void)
{
	struct paint *p = &draw_env.paint;
	struct cell c = cell_of(' ');
	unsigned cols = draw_env.term_cols;
	const char *right;
	char text[2048];
	int n;

	draw_env.line_dirty = false;
	if (draw_bottom_input() != NULL) {
		draw_message(draw_env.input, draw_env.input_hint);
		return;
	}
	n = line_text(text, sizeof(text), &right);
	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	paint_printf(p, "\033[%u;1H", draw_env.term_rows);
	c.attr = CELL_REVERSE;
	for (unsigned i = 0; i < cols; i++) {
		unsigned from_right = cols - i;
		size_t len = strlen(right);

		c.chars[0] = ' ';
		if (from_right <= len)
			c.chars[0] = (uint8_t)right[len - from_right];
		else if ((int)i < n)
			c.chars[0] = (uint8_t)text[i];
		paint_cell(p, &c);
	}
	paint_plain(p);
}
