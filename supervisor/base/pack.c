/* SPDX-License-Identifier: ISC */
#include "base/pack.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack_priv.h"

#define PACK_DEPTH 128

uint64_t
pack_number(const void *p, size_t size)
{
	uint64_t n = 0;

	/* All machines that this runs on have the low byte first. */
	memcpy(&n, p, size);
	return n;
}

uint64_t
pack_count(const struct pack_row *r, const char *base)
{
	if (r->n == 0)
		return 1;
	if (r->count_size == 0)
		return r->n;
	return pack_number(base + r->count, r->count_size);
}

static bool
take_bytes(struct span *s, void *to, size_t len)
{
	if (s->len < len)
		return false;
	memcpy(to, s->p, len);
	*s = span_of(s->p + len, s->len - len);
	return true;
}

/* Take a text; one that is NULL becomes a span without a pointer. */
static bool
take_text(struct span *s, struct span *text)
{
	uint32_t len;

	*text = (struct span){NULL, 0};
	if (!take_bytes(s, &len, sizeof(len)))
		return false;
	if (len == PACK_NONE)
		return true;
	if (len > PACK_MAX_TEXT || len > s->len)
		return false;
	*text = span_of(s->p, len);
	*s = span_of(s->p + len, s->len - len);
	return memchr(text->p, '\0', len) == NULL;
}

static bool
take_string(struct span *s, char **to)
{
	struct span text;

	*to = NULL;
	if (!take_text(s, &text))
		return false;
	return text.p == NULL || (*to = span_dup(text)) != NULL;
}

static bool
take_strings(struct span *s, char ***to)
{
	uint32_t n;

	*to = NULL;
	if (!take_bytes(s, &n, sizeof(n)))
		return false;
	if (n == PACK_NONE)
		return true;
	if (n > PACK_MAX_STRINGS ||
	    (*to = calloc((size_t)n + 1, sizeof(char *))) == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!take_string(s, &(*to)[i]) || (*to)[i] == NULL)
			return false;
	return true;
}

static bool
take_json(struct span *s, struct json_object **to)
{
	struct json_tokener *tok;
	struct span text;

	*to = NULL;
	if (!take_text(s, &text))
		return false;
	if (text.p == NULL)
		return true;
	if ((tok = json_tokener_new_ex(PACK_DEPTH)) == NULL)
		return false;
	*to = json_tokener_parse_ex(tok, (const char *)text.p, (int)text.len);
	json_tokener_free(tok);
	return *to != NULL;
}

static bool
take_name(struct span *s, const char *const *names, const char **to)
{
	struct span text;

	*to = NULL;
	if (!take_text(s, &text))
		return false;
	if (text.p == NULL)
		return true;
	for (; *names != NULL && *to == NULL; names++)
		if (span_is(text, *names))
			*to = *names;
	return *to != NULL;
}

/* Take a number or bytes. A value that is refused is not stored. */
static bool
take_number(struct span *s, const struct pack_row *r, char *p)
{
	double d;

	if (s->len < r->size)
		return false;
	if (r->kind == PACK_BOOL && pack_number(s->p, r->size) > 1)
		return false;
	if (r->kind == PACK_NUMBER && pack_number(s->p, r->size) > r->most)
		return false;
	if (r->kind == PACK_DOUBLE) {
		memcpy(&d, s->p, sizeof(d));
		if (!isfinite(d) || d < 0)
			return false;
	}
	return take_bytes(s, p, r->size);
}

static bool
take_one(struct span *s, const struct pack_row *r, char *p)
{
	struct span text;
	union {
		char *string, **strings;
		const char *name;
		struct json_object *json;
	} to;
	bool ok;

	switch (r->kind) {
	case PACK_BOOL:
	case PACK_NUMBER:
	case PACK_SIGNED:
	case PACK_DOUBLE:
	case PACK_BYTES:
		return take_number(s, r, p);
	case PACK_TEXT:
		return take_text(s, &text) && text.p != NULL &&
		       span_copy(text, p, r->size) == 0;
	case PACK_PART:
		return pack_take(s, r->rows, r->nrows, p) == 0;
	case PACK_STRING:
		ok = take_string(s, &to.string);
		break;
	case PACK_STRINGS:
		ok = take_strings(s, &to.strings);
		break;
	case PACK_JSON:
		ok = take_json(s, &to.json);
		break;
	case PACK_NAME:
		ok = take_name(s, r->names, &to.name);
		break;
	default:
		return false;
	}
	memcpy(p, &to, sizeof(to));
	return ok;
}

int
pack_take(struct span *s, const struct pack_row *rows, size_t nrows, void *to)
{
	char *base = to;

	for (size_t i = 0; i < nrows; i++) {
		const uint64_t n = pack_count(&rows[i], base);

		/* The count stands in a row before this one. */
		if (rows[i].n != 0 && n > rows[i].n)
			return -1;
		/* If one is refused, those behind it count, too. */
		if (rows[i].count_size != 0)
			memset(base + rows[i].at, 0, n * rows[i].size);
		for (uint64_t k = 0; k < n; k++)
			if (!take_one(s, &rows[i],
				base + rows[i].at + k * rows[i].size))
				return -1;
	}
	return 0;
}
