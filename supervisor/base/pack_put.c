/* SPDX-License-Identifier: ISC */
/* Writes members. icsupervisor only reads them, and does not link this. */
#include "base/pack.h"

#include <json-c/json.h>
#include <string.h>

#include "base/pack_priv.h"

static void
put_text(struct buf *b, const char *s)
{
	const uint32_t len = s == NULL ? PACK_NONE : (uint32_t)strlen(s);

	buf_add(b, &len, sizeof(len));
	if (s != NULL)
		buf_add(b, s, len);
}

static void
put_strings(struct buf *b, char *const *list)
{
	uint32_t n = PACK_NONE;

	if (list != NULL)
		for (n = 0; list[n] != NULL;)
			n++;
	buf_add(b, &n, sizeof(n));
	for (uint32_t i = 0; list != NULL && i < n; i++)
		put_text(b, list[i]);
}

static void
put_one(struct buf *b, const struct pack_row *r, const char *p)
{
	struct json_object *o;
	const char *s;
	char *const *list;

	switch (r->kind) {
	case PACK_BOOL:
	case PACK_NUMBER:
	case PACK_SIGNED:
	case PACK_DOUBLE:
	case PACK_BYTES:
		buf_add(b, p, r->size);
		return;
	case PACK_TEXT:
		put_text(b, p);
		return;
	case PACK_STRING:
	case PACK_NAME:
		memcpy(&s, p, sizeof(s));
		put_text(b, s);
		return;
	case PACK_STRINGS:
		memcpy(&list, p, sizeof(list));
		put_strings(b, list);
		return;
	case PACK_JSON:
		memcpy(&o, p, sizeof(o));
		put_text(b, o == NULL ? NULL
				      : json_object_to_json_string_ext(
					    o, JSON_C_TO_STRING_PLAIN));
		return;
	case PACK_PART:
		(void)pack_put(b, r->rows, r->nrows, p);
		return;
	}
}

int
pack_put(
    struct buf *b, const struct pack_row *rows, size_t nrows, const void *from)
{
	const char *base = from;

	for (size_t i = 0; i < nrows; i++)
		for (uint64_t k = 0; k < pack_count(&rows[i], base); k++)
			put_one(
			    b, &rows[i], base + rows[i].at + k * rows[i].size);
	return buf_check(b);
}
