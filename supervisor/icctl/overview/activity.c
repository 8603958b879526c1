/* SPDX-License-Identifier: ISC */
/*
 * Activity: calls that were allowed or denied, answers of models, requests that
 * were refused, and the decisions of people. The live set has made all text
 * printable.
 */
#include "icctl/overview/priv.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define ACTIVITY_NAME 16U /* bytes of a session's name */

/* Returns the word for an item. */
static const char *
activity_word(const struct live_item *i)
{
	switch (i->kind) {
	case LIVE_ALLOWED:
		return "allowed";
	case LIVE_DENIED:
		return "denied";
	case LIVE_HELD:
		return "waits";
	case LIVE_ANSWERED:
		return i->state;
	case LIVE_MODEL:
		return "model";
	case LIVE_REFUSED:
		return "refused";
	case LIVE_ALARM:
		return "ALARM";
	case LIVE_NOTE:
		break;
	}
	return "";
}

/* Write the item's time of day, in local time. */
static void
activity_time(const struct live_item *i, char *dst, size_t cap)
{
	time_t t = (time_t)(i->us / 1000000);
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL ||
	    strftime(dst, cap, "%H:%M:%S", &tm) == 0)
		dst[0] = '\0';
}

void
activity_put(FILE *f, const struct live_session *s)
{
	const struct live_item *i;
	char at[16];

	for (unsigned back = 0; (i = live_item(s, back)) != NULL; back++) {
		activity_time(i, at, sizeof(at));
		fprintf(f, "%s %-8s %s\n", at, activity_word(i), i->text);
	}
}

/* Returns the bytes of the session's name that a line has. */
static int
activity_name(const char *name)
{
	size_t n = strlen(name);

	if (n <= ACTIVITY_NAME)
		return (int)n;
	n = ACTIVITY_NAME;
	while (n != 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	return (int)n;
}

static void
activity_line(char *dst, const struct live_session *s,
    const struct live_item *i, bool named)
{
	const char *name =
	    s->workspace[0] != '\0' ? rows_base(s->workspace) : s->id;
	char at[16];

	activity_time(i, at, sizeof(at));
	(void)snprintf(dst, ACTIVITY_LINE, "%s  %.*s%s%-8s %s", at,
	    named ? activity_name(name) : 0, name, named ? "  " : "",
	    activity_word(i), i->text);
}

unsigned
activity_latest(
    const struct overview *o, char (*lines)[ACTIVITY_LINE], unsigned max)
{
	unsigned back[LIVE_MAX] = {0}, n, newest = 0;
	const struct live_item *item, *best;
	struct live_session *s;

	for (n = 0; n < max; n++) {
		best = NULL;
		for (unsigned k = 0;
		     k < LIVE_MAX && (s = live_at(o->live, k)) != NULL; k++) {
			item = live_item(s, back[k]);
			if (item != NULL &&
			    (best == NULL || item->us > best->us)) {
				best = item;
				newest = k;
			}
		}
		if (best == NULL)
			break;
		back[newest]++;
		activity_line(lines[max - 1 - n], live_at(o->live, newest),
		    best, live_at(o->live, 1) != NULL);
	}
	if (n < max)
		memmove(lines, lines + (max - n), n * sizeof(lines[0]));
	return n;
}
