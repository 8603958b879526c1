/* SPDX-License-Identifier: ISC */
/*
 * The kinds of images. Nothing here decodes one: that is for a program in the
 * sandbox, where a hostile image can do no more than the agent.
 */
#include "icctl/paste/priv.h"

#include <string.h>

/* clang-format off */
static const struct paste_mark {
	struct paste_kind kind;
	struct span begins;
	struct span then; /* at byte 8 */
} marks[] = {
	{{"png",  "image/png"},  SPAN("\x89PNG\r\n\x1a\n"), SPAN("")},
	{{"jpg",  "image/jpeg"}, SPAN("\xff\xd8\xff"),      SPAN("")},
	{{"gif",  "image/gif"},  SPAN("GIF87a"),            SPAN("")},
	{{"gif",  "image/gif"},  SPAN("GIF89a"),            SPAN("")},
	{{"webp", "image/webp"}, SPAN("RIFF"),              SPAN("WEBP")},
};
/* clang-format on */

static bool
mark_fits(const struct paste_mark *m, struct span s)
{
	return span_starts(s, m->begins) &&
	       (m->then.len == 0 ||
		   (s.len > 8 &&
		       span_starts(span_of(s.p + 8, s.len - 8), m->then)));
}

const struct paste_kind *
paste_kind(struct span image)
{
	for (size_t i = 0; i < nitems(marks); i++)
		if (mark_fits(&marks[i], image))
			return &marks[i].kind;
	return NULL;
}

const struct paste_kind *
paste_kind_nth(size_t i)
{
	return i < nitems(marks) ? &marks[i].kind : NULL;
}
