/* SPDX-License-Identifier: ISC */
/*
 * Finds the id of a request while its line comes. It needs no memory of the
 * line, so that one that is refused for its length, or that is no JSON, can be
 * refused on its id.
 */
#include "icctl/driver/priv.h"

#include <stdlib.h>

/* Take a byte of a member's name at the top. */
static void
ident_name(struct ident *d, char c)
{
	if (d->nname < sizeof(d->name))
		d->name[d->nname] = c;
	if (d->nname <= sizeof(d->name))
		d->nname++;
}

static void
ident_value(struct ident *d, char c)
{
	if (d->ntext < sizeof(d->text))
		d->text[d->ntext] = c;
	if (d->ntext <= sizeof(d->text))
		d->ntext++;
}

static void
ident_in_string(struct ident *d, char c)
{
	if (d->want)
		ident_value(d, c);
	else if (d->key && (c != '"' || d->escape))
		ident_name(d, c);
	if (d->escape) {
		d->escape = false;
	} else if (c == '\\') {
		d->escape = true;
	} else if (c == '"') {
		d->string = false;
		d->key = false;
	}
}

/* Take a byte between two values or members. */
static void
ident_between(struct ident *d, char c)
{
	switch (c) {
	case '{':
	case '[':
		/* No id is one of these, nor what is in it. */
		if (d->want)
			ident_value(d, c);
		d->depth++;
		d->value = d->depth != 1;
		d->nname = 0;
		break;
	case '}':
	case ']':
		d->done = d->done || d->want;
		d->want = false;
		if (d->depth != 0)
			d->depth--;
		break;
	case ':':
		if (d->depth == 1) {
			d->value = true;
			d->want = d->nname == 2 && d->name[0] == 'i' &&
				  d->name[1] == 'd';
		}
		break;
	case ',':
		d->done = d->done || d->want;
		d->want = false;
		if (d->depth == 1) {
			d->value = false;
			d->nname = 0;
		}
		break;
	case '"':
		d->string = true;
		d->key = d->depth == 1 && !d->value;
		if (d->want)
			ident_value(d, c);
		break;
	default:
		if (d->want)
			ident_value(d, c);
	}
}

void
ident_feed(struct ident *d, const char *p, size_t n)
{
	for (size_t i = 0; i < n && !d->done; i++) {
		if (d->string)
			ident_in_string(d, p[i]);
		else
			ident_between(d, p[i]);
	}
}

json_object *
ident_take(const struct ident *d)
{
	struct json_tokener *tok;
	json_object *o = NULL;
	char text[sizeof(d->text) + 1];

	if (!d->done || d->ntext > sizeof(d->text))
		return NULL;
	memcpy(text, d->text, d->ntext);
	text[d->ntext] = '\0';
	/* A number ends with the NUL. */
	if ((tok = json_tokener_new_ex(2)) == NULL)
		return NULL;
	o = json_tokener_parse_ex(tok, text, (int)d->ntext + 1);
	json_tokener_free(tok);
	if (json_object_is_type(o, json_type_string) &&
	    (size_t)json_object_get_string_len(o) <= DRIVER_ID)
		return o;
	if (json_object_is_type(o, json_type_int))
		return o;
	json_object_put(o);
	return NULL;
}
