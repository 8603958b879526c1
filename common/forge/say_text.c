/* SPDX-License-Identifier: ISC */
/*
 * Every value of a call, whole: a line for each, and texts of more than one
 * line behind a bar, so that no text can look like a line of ours.
 */
#include "common/forge/say_priv.h"

#include <stdio.h>

#include "common/visible.h"

#define TEXT_MAX_DEPTH 3U

/* Append each line of a text behind a bar. */
static void
put_lines(struct buf *b, struct span s)
{
	struct span line;

	if (s.len == 0)
		buf_adds(b, "  |\n");
	while (span_line(&s, &line)) {
		/* A carriage return at the end of a line is part of it. */
		if (line.len != 0 && line.p[line.len - 1] == '\r')
			line.len--;
		buf_adds(b, "  | ");
		(void)visible_add(b, line, VISIBLE_PROSE);
		buf_addc(b, '\n');
	}
}

static void put_members(const struct sayer *, struct buf *, const char *label,
    const struct forge_member *, const struct value *object, unsigned depth);

/* Append one value, whose label has been built. */
static void
put_value(const struct sayer *s, struct buf *b, const char *label,
    const struct forge_member *m, const struct value *v, unsigned depth)
{
	if (v->type == VALUE_OBJECT) {
		if (depth < TEXT_MAX_DEPTH && m->form == FORGE_INPUT)
			put_members(s, b, label, m->members, v, depth + 1);
		return;
	}
	if (v->type == VALUE_STRING && m->form == FORGE_STRING &&
	    m->role != FORGE_NAME && m->role != FORGE_LOGIN &&
	    m->role != FORGE_REF) {
		buf_printf(b, "%s:\n", label);
		put_lines(b, v->text);
		return;
	}
	buf_printf(b, "%s: ", label);
	say_value(s, b, m, v);
	buf_addc(b, '\n');
}

static void
put_members(const struct sayer *s, struct buf *b, const char *label,
    const struct forge_member *m, const struct value *object, unsigned depth)
{
	const struct value *v, *item;
	char name[200];
	unsigned n;

	for (; m->name != NULL; m++) {
		v = value_get(object, m->name);
		/* To send null takes away what is there, where it is taken. */
		if (v == NULL || m->role == FORGE_NONE)
			continue;
		(void)snprintf(name, sizeof(name), "%s%s%s", label,
		    label[0] == '\0' ? "" : " ", m->name);
		if (v->type != VALUE_ARRAY) {
			put_value(s, b, name, m, v, depth);
			continue;
		}
		if (v->count == 0)
			buf_printf(b, "%s: none\n", name);
		n = 0;
		for (item = v->child; item != NULL; item = item->next) {
			(void)snprintf(name, sizeof(name), "%s%s%s %u", label,
			    label[0] == '\0' ? "" : " ", m->name, ++n);
			put_value(s, b, name, m, item, depth);
		}
	}
}

void
say_text(const struct sayer *s, struct buf *b)
{
	put_members(s, b, "", s->members, s->values, 0);
}
