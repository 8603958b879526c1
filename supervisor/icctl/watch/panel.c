/* SPDX-License-Identifier: ISC */
/*
 * Counts rows of the terminal, in case of doubt too many: a character beyond
 * ASCII counts as two columns.
 */
#include "icctl/watch/panel.h"

#include <sys/ioctl.h>

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "icctl/hold/hold_view.h"
#include "icctl/icctl.h"
#include "icctl/wrap.h"

/*
 * A call that has just appeared cannot be answered yet: the key may have been
 * meant for the call before it, and the agent controls when that ends.
 */
#define PANEL_LOOK_MS 1000
#define PANEL_SPARE 4U /* rows for the prompt and messages about keys */

static uint64_t
now_ms(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts) == -1)
		err(ICCTL_FAILED, "clock");
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void
screen(unsigned *rows, unsigned *cols)
{
	struct winsize ws;

	*rows = 24;
	*cols = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == -1 || ws.ws_row == 0 ||
	    ws.ws_col == 0)
		return;
	*rows = ws.ws_row;
	*cols = ws.ws_col;
}

/*
 * Returns the number of rows of the line that begins at `at`, and in `*next`
 * where the next line begins.
 */
static unsigned
line_rows(const char *p, size_t len, size_t at, unsigned cols, size_t *next)
{
	unsigned columns = 0;

	while (at < len && p[at] != '\n') {
		/* Do not count the continuation bytes of a character. */
		if (((unsigned char)p[at] & 0xc0) != 0x80)
			columns += (unsigned char)p[at] < 0x80 ? 1 : 2;
		at++;
	}
	*next = at < len ? at + 1 : at;
	return columns == 0 ? 1 : (columns + cols - 1) / cols;
}

static unsigned
text_rows(const char *p, size_t len)
{
	unsigned n = 0, rows, cols;

	screen(&rows, &cols);
	for (size_t at = 0; at < len;)
		n += line_rows(p, len, at, cols, &at);
	return n;
}

void
panel_begin(struct watch_panel *p)
{
	free(p->caught);
	p->caught = NULL;
	p->ncaught = p->drawn = 0;
	p->drew = false;
	p->real = stdout;
	if ((stdout = open_memstream(&p->caught, &p->ncaught)) == NULL)
		err(ICCTL_FAILED, "output");
}

void
panel_end(struct watch_panel *p)
{
	fclose(stdout);
	stdout = p->real;
	p->real = NULL;
	if (!p->drew)
		p->drawn = 0;
	p->below += text_rows(p->caught + p->drawn, p->ncaught - p->drawn);
	if (p->ncaught != 0) /* fwrite() takes no null pointer */
		(void)fwrite(p->caught, 1, p->ncaught, stdout);
	fflush(stdout);
}

/* Show as much as fits, but at least one line. */
void
panel_page(struct watch_panel *p)
{
	unsigned rows, cols, used = 0, n;
	size_t from = p->off, next;

	if (!panel_more(p))
		return;
	screen(&rows, &cols);
	rows = rows > PANEL_SPARE + 1 ? rows - PANEL_SPARE : 1;
	while (p->off < p->len) {
		n = line_rows(p->text, p->len, p->off, cols, &next);
		if (used != 0 && used + n > rows)
			break;
		used += n;
		p->off = next;
	}
	(void)fwrite(p->text + from, 1, p->off - from, stdout);
	fflush(stdout);
	p->rows = used;
	p->below = 0;
	p->drawn = p->ncaught;
	p->drew = true;
	p->since = now_ms();
}

void
panel_draw(struct watch_panel *p, json_object *hold, bool paged, bool full)
{
	unsigned rows, cols;
	char *text;
	size_t len;
	FILE *f;

	panel_clear(p);
	if ((f = open_memstream(&p->text, &p->len)) == NULL)
		err(ICCTL_FAILED, "output");
	p->full = full;
	p->complete = hold_view(
	    f, hold, full ? HOLD_VIEW_FULL : HOLD_VIEW_WHOLE, icctl_visible());
	if (fclose(f) != 0)
		err(ICCTL_FAILED, "output");
	if (paged) {
		screen(&rows, &cols);
		if ((text = wrap_text(p->text, p->len, cols, &len)) == NULL)
			err(ICCTL_FAILED, "output");
		free(p->text);
		p->text = text;
		p->len = len;
		/*
		 * Keys that were typed before the call appeared are not meant
		 * for it.
		 */
		(void)tcflush(STDIN_FILENO, TCIFLUSH);
		panel_page(p);
		return;
	}
	(void)fwrite(p->text, 1, p->len, stdout);
	p->off = p->len;
}

void
panel_clear(struct watch_panel *p)
{
	free(p->text);
	p->text = NULL;
	p->len = p->off = 0;
	p->complete = p->full = false;
	p->rows = p->below = 0;
	p->armed = '\0';
}

bool
panel_more(const struct watch_panel *p)
{
	return p->off < p->len;
}

bool
panel_visible(const struct watch_panel *p)
{
	unsigned rows, cols;

	screen(&rows, &cols);
	return p->rows + p->below <= (rows > p->rows ? rows : p->rows + 2);
}

bool
panel_stood(const struct watch_panel *p)
{
	return now_ms() - p->since >= PANEL_LOOK_MS;
}
