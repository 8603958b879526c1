/* SPDX-License-Identifier: ISC */
#include "icctl/screen/wraps.h"

#include <sys/ioctl.h>

#define WRAPS_COLS 80U
#define WRAPS_TAB 8U
#define WRAPS_WIDEST 3U /* columns: two, and one that is left at the edge */

void
wraps_begin(struct wraps *w, int fd)
{
	struct winsize ws;

	*w = (struct wraps){.cols = WRAPS_COLS};
	if (ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col != 0)
		w->cols = ws.ws_col;
}

bool
wraps_take(struct wraps *w, uint32_t c, unsigned nchars)
{
	/* The last row that may begin at or before this character. */
	const uint64_t row = w->most - w->most % w->cols;
	const bool blank = c == ' ' || c == '\t';
	const bool first = row != 0 && row >= w->from_least;

	w->least++;
	if (c == '\t')
		w->most += WRAPS_TAB;
	else
		w->most += c < 0x7f ? 1 : (uint64_t)WRAPS_WIDEST * nchars;
	if (!blank)
		w->from_least = w->least;
	return first && !blank;
}
