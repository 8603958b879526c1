/* SPDX-License-Identifier: ISC */
/*
 * A definition of a tool. Whatever it is, the check ends soon; what the agent
 * gets has no hidden character and a schema of an object, and checking it again
 * changes nothing; a tool that it does not get has a printable reason.
 */
#include <string.h>

#include "check.h"
#include "common/hidden.h"
#include "common/json/json.h"
#include "define/define.h"

static void
check_text(const char *text, size_t cap)
{
	CHECK(memchr(text, '\0', cap) != NULL);
	for (const char *p = text; *p != '\0'; p++)
		CHECK(*p >= 0x20 && *p < 0x7f);
}

static void
put(struct buf *b, const char *name, const struct value *v)
{
	if (v == NULL)
		return;
	buf_printf(b, ",\"%s\":", name);
	CHECK(json_write(b, v) == 0);
}

static void
put_text(struct buf *b, const char *name, struct span text)
{
	if (text.p == NULL)
		return;
	buf_printf(b, ",\"%s\":", name);
	CHECK(json_write_string(b, text) == 0);
}

static void
write_def(struct buf *b, const struct definition *d)
{
	buf_adds(b, "{\"name\":\"t\"");
	put(b, "annotations", d->annotations);
	put_text(b, "description", d->description);
	put(b, "inputSchema", d->schema);
	put(b, "outputSchema", d->output);
	put_text(b, "title", d->title);
	buf_addc(b, '}');
	CHECK(!b->failed);
}

/* Check what came out of the definition, by checking it once more. */
static void
check_again(struct value_pool *pool, const struct definition *d)
{
	struct value_pool *other = value_pool_new(16U << 20);
	char why[DEFINE_WHY];
	struct definition e;
	const struct value *v;
	struct buf once, twice;

	CHECK(other != NULL);
	buf_init(&once, 8U << 20);
	buf_init(&twice, 8U << 20);
	write_def(&once, d);
	CHECK(!hidden_in(buf_span(&once)));
	CHECK(span_is(value_str(d->schema, "type"), "object"));
	v = json_read(pool, buf_span(&once), NULL);
	CHECK(v != NULL);
	CHECK(define_tool(other, v, &e, why) == 0);
	write_def(&twice, &e);
	CHECK(span_eq(buf_span(&once), buf_span(&twice)));
	CHECK(e.mended == 0);
	buf_free(&once);
	buf_free(&twice);
	value_pool_free(other);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct value_pool *from, *to;
	char why[DEFINE_WHY];
	const struct value *v;
	struct definition d;

	if (len > 131072)
		return 0;
	from = value_pool_new(32U << 20);
	to = value_pool_new(16U << 20);
	CHECK(from != NULL && to != NULL);
	v = json_read_marked(from, span_of(p, len), NULL);
	if (v != NULL && define_tool(to, v, &d, why) == 0) {
		check_text(d.first, sizeof(d.first));
		CHECK((d.mended == 0) == (d.first[0] == '\0'));
		check_again(from, &d);
	} else if (v != NULL) {
		CHECK(why[0] != '\0');
		check_text(why, sizeof(why));
	}
	value_pool_free(from);
	value_pool_free(to);
	return 0;
}
