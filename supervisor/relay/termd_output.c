/* SPDX-License-Identifier: ISC */
/* The agent's output goes to what the mode says: raw, lines, the screen. */
#include "relay/termd.h"

static void
on_line(struct lines *l, bool more, bool joined)
{
	unsigned stream = l == &termd_env.lines[1];

	viewers_line(l, stream, more, joined);
}

static void
output_partial(struct loop_timer *t)
{
	(void)t;
	for (unsigned i = 0; i < 2; i++)
		lines_flush(&termd_env.lines[i]);
}

void
output_start(void)
{
	for (unsigned i = 0; i < 2; i++)
		lines_init(&termd_env.lines[i], on_line, NULL);
}

static bool
output_is_raw(unsigned stream)
{
	return stream == 0 ? termd_env.mode.raw_out : termd_env.mode.raw_err;
}

void
output_bytes(unsigned stream, struct span s)
{
	struct lines *l = &termd_env.lines[stream];

	if (termd_env.gone[stream])
		return;
	if (output_is_raw(stream))
		viewers_raw(stream, s);
	lines_feed(l, s);
	if (l->fresh && termd_env.partial.at == 0)
		loop_timer_set(&termd_env.w.loop, &termd_env.partial,
		    TERMD_PARTIAL_MS, output_partial, NULL);
}

void
output_end(unsigned stream)
{
	lines_end(&termd_env.lines[stream]);
}
