/* SPDX-License-Identifier: ISC */
/* The command line that asks for the same again: a person copies it. */
#include "icctl/policy/compile/compile.h"

#include <string.h>

/* Append a text as one word of a shell. */
static void
put_word(struct buf *b, const char *s)
{
	size_t plain = strspn(s, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./");

	if (plain != 0 && s[plain] == '\0') {
		buf_printf(b, "%s ", s);
		return;
	}
	buf_addc(b, '\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'')
			buf_adds(b, "'\\'");
		buf_addc(b, (uint8_t)*s);
	}
	buf_adds(b, "' ");
}

void
again_put(const struct compile *c, const char *command, struct buf *b)
{
	const struct compile_opts *o = &c->o;
	bool named = o->persona != NULL || o->into != NULL;
	const struct {
		const char *name, *value;
	} given[] = {{"--list ", o->list}, {"--persona ", o->persona},
	    {"--task ", o->task},
	    {"--constitution ", o->persona == NULL ? o->constitution : NULL},
	    {"--into ", o->into},
	    {"--output-dir ", named || o->usual ? NULL : o->dir},
	    {"--server ", o->server}, {"--model ", o->model},
	    {"--audit ", o->audit}};

	buf_printf(b, "%s ", command);
	for (size_t i = 0; i < nitems(given); i++)
		if (given[i].value != NULL) {
			buf_adds(b, given[i].name);
			put_word(b, given[i].value);
		}
	if (o->with_mcp)
		buf_adds(b, "--with-mcp ");
	b->len--;
	buf_addc(b, '\0');
}
