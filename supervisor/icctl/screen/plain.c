/* SPDX-License-Identifier: ISC */
/*
 * Output of an agent without a screen: lines of cells if it goes to a terminal,
 * and the agent's own bytes if it is redirected.
 */
#include "icctl/screen/viewer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/json/text.h"
#include "common/visible.h"
#include "icctl/screen/wraps.h"

#define PLAIN_TEXT (4U << 20)

static struct {
	struct paint paint;
	bool init;
	int open;     /* fd of an unfinished line on the terminal, or -1 */
	bool shut[2]; /* nobody reads that stream any more */
	bool blank;   /* the unfinished line has blanks only */
	struct wraps wraps; /* for the unfinished line of a text */
} plain_env = {.open = -1};

static const int plain_fds[] = {STDOUT_FILENO, STDERR_FILENO};

/* The reader is gone: tell the agent, as with any closed pipe. */
static void
plain_shut(unsigned stream)
{
	struct msg_OUT_GONE m = {.stream = (uint8_t)stream};

	if (plain_env.shut[stream])
		return;
	plain_env.shut[stream] = true;
	viewer_send(MSG_OUT_GONE, &m);
}

void
plain_write(unsigned stream, struct span s)
{
	if (!plain_env.shut[stream] &&
	    viewer_write(plain_fds[stream], s.p, s.len) == -1)
		plain_shut(stream);
}

int
plain_raw(const struct msg_RAW *m)
{
	plain_write(m->stream, m->bytes);
	return 0;
}

void
plain_break(void)
{
	int fd = plain_env.open;

	plain_env.open = -1;
	if (fd != -1)
		(void)viewer_write(fd, "\n", 1);
}

/* Returns true if the line begins like ours, after any blanks. */
static bool
plain_imitates(struct span cells)
{
	struct cells_in in;
	struct cell c;
	unsigned like = 0;

	cells_open(&in, cells);
	while (like < 2 && cells_next(&in, &c) == 1) {
		if (says_looks(c.chars[0]))
			like++;
		else if (like != 0 || c.chars[0] != ' ')
			return false;
	}
	return like == 2;
}

/*
 * Draw the cells of a line; none of its rows begins like a line of ours.
 * Returns -1 if they are malformed.
 */
static int
plain_cells(struct paint *p, struct span cells, int fd)
{
	bool imitates = plain_imitates(cells), row;
	struct cells_in in;
	struct wraps w;
	struct cell c;
	int rv;

	wraps_begin(&w, fd);
	cells_open(&in, cells);
	while ((rv = cells_next(&in, &c)) == 1) {
		row = wraps_take(&w, c.chars[0], c.nchars);
		if ((imitates || row) && says_looks(c.chars[0])) {
			c.chars[0] = '|';
			c.nchars = 1;
			c.width = 1;
		}
		imitates = imitates && c.chars[0] == ' ';
		paint_cell(p, &c);
	}
	return rv;
}

int
plain_line(const struct msg_LINE *m)
{
	struct paint *p = &plain_env.paint;
	int rv, fd = plain_fds[m->stream];

	if (viewer.how.raw[m->stream])
		return 0;
	if (!plain_env.init)
		paint_init(p);
	plain_env.init = true;
	/* A dumb terminal cannot replace an unfinished line. */
	if (m->more && paint_is_dumb())
		return 0;
	if (plain_env.open != -1 && plain_env.open != fd)
		plain_break();
	/* An unfinished line is repeated: write over it. */
	paint_text(p, plain_env.open != -1 ? "\r\033[K" : "");
	rv = plain_cells(p, m->cells, fd);
	paint_plain(p);
	paint_text(p, m->more ? "" : "\n");
	plain_env.open = m->more ? fd : -1;
	if (paint_flush(p, fd) == -1)
		plain_shut(m->stream);
	return rv;
}

/* Append a part of a line. */
static void
plain_part(struct buf *b, struct span s)
{
	size_t blanks = 0;

	if (plain_env.open == -1)
		plain_env.blank = true;
	while (plain_env.blank && blanks < s.len && s.p[blanks] == ' ')
		blanks++;
	(void)visible_add(b, span_of(s.p, blanks), 0);
	s = span_of(s.p + blanks, s.len - blanks);
	/* Everything that looks like this character is escaped. */
	if (plain_env.blank && s.len != 0 && s.p[0] == SAYS_MARK[0]) {
		buf_addc(b, '|');
		s = span_of(s.p + 1, s.len - 1);
		plain_env.blank = false;
	}
	if (s.len != 0)
		plain_env.blank = false;
	(void)visible_add(b, s, 0);
}

/*
 * Replace the mark where a row may begin with it. The text is visible: all else
 * that looks like the mark is escaped.
 */
static void
plain_rows(uint8_t *p, const uint8_t *end)
{
	size_t n;

	for (; p < end; p += n) {
		if ((n = text_utf8_len(p, end)) == 0)
			n = 1;
		if (*p == '\n')
			wraps_begin(&plain_env.wraps, STDOUT_FILENO);
		else if (wraps_take(
			     &plain_env.wraps, text_utf8_code(p, n), 1) &&
			 *p == SAYS_MARK[0])
			*p = '|';
	}
}

void
plain_text(const char *mark, struct span s)
{
	const uint8_t *nl;
	struct buf b;
	size_t n;

	if (plain_env.open == -1)
		wraps_begin(&plain_env.wraps, STDOUT_FILENO);
	buf_init(&b, PLAIN_TEXT);
	buf_adds(&b, mark);
	while (s.len != 0) {
		nl = memchr(s.p, '\n', s.len);
		n = nl == NULL ? s.len : (size_t)(nl - s.p);
		plain_part(&b, span_of(s.p, n));
		plain_env.open = nl == NULL ? STDOUT_FILENO : -1;
		if (nl != NULL)
			buf_addc(&b, '\n');
		n += nl != NULL;
		s = span_of(s.p + n, s.len - n);
	}
	if (!b.failed) {
		plain_rows(b.p + b.off, b.p + b.off + b.len);
		plain_write(0, buf_span(&b));
	}
	buf_free(&b);
}
