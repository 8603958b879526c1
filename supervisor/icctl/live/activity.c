/* SPDX-License-Identifier: ISC */
/* The latest activity of a session: a ring of printable lines. */
#include "icctl/live/priv.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/visible.h"

#define ACTIVITY_MAX 4096U

void
live_tell(struct live_session *s, enum live_change what)
{
	s->set->ops->changed(s->set->arg, s, what);
}

void
activity_vis(const struct live *l, struct buf *b, struct span s)
{
	struct span head = span_of(s.p, visible_cut(s, LIVE_TEXT));

	if (s.p == NULL)
		return;
	(void)visible_add(b, head, l->flags | VISIBLE_AGAIN);
	if (head.len != s.len)
		buf_adds(b, "...");
}

void
activity_add(struct live_session *s, enum live_kind kind, uint64_t us,
    const char *id, const char *state, struct span text)
{
	struct live_item *it = &s->ring[s->nitems % LIVE_RING];
	size_t n = visible_cut(text, LIVE_TEXT - 1);

	*it = (struct live_item){.kind = kind, .us = us, .n = s->nitems};
	if (n != 0)
		memcpy(it->text, text.p, n);
	(void)strlcpy(it->id, id, sizeof(it->id));
	(void)strlcpy(it->state, state, sizeof(it->state));
	s->nitems++;
	live_tell(s, LIVE_ACTIVITY);
}

void
activity_printf(struct live_session *s, enum live_kind kind, const char *id,
    const char *state, const char *fmt, ...)
{
	char text[ACTIVITY_MAX];
	struct buf b;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_init(&b, ACTIVITY_MAX);
	activity_vis(s->set, &b, span_str(text));
	activity_add(s, kind, clock_wall_us(), id, state, buf_span(&b));
	buf_free(&b);
}

const struct live_item *
live_item(const struct live_session *s, unsigned back)
{
	if (back >= LIVE_RING || back >= s->nitems)
		return NULL;
	return &s->ring[(s->nitems - 1 - back) % LIVE_RING];
}
