/* SPDX-License-Identifier: ISC */
/*
 * The strict JSON reader.  It is the first to see bytes from agents and MCP
 * servers: one pass, one token at a time, a bounded stack of open containers,
 * and every limit checked as it is reached.  Strings without escapes point into
 * the text; others are decoded into the value pool, which is the only memory it
 * uses.
 *
 * Offsets of failures: the byte that breaks the grammar, or the first byte of
 * an ill-formed character; the backslash of a bad escape or lone surrogate; the
 * start of a name, value or bracket that is a duplicate or exceeds a limit; the
 * end of a text that is too short.
 */
#include "common/json/json.h"

#include "common/json/reader.h"

#include "common/json/number.h"
#include "common/json/pool.h"
#include "common/json/text.h"
#include "common/json/value_walk.h"

/*
 * Objects of up to this many members are sorted by insertion as they grow;
 * larger ones are sorted once they are complete, which avoids quadratic time.
 */
#define SORTED_INSERT_MAX 24
/* Bins of the merge sort: 2^14 > VALUE_MAX_MEMBERS. */
#define SORT_BINS 15

_Static_assert(VALUE_MAX_DEPTH <= 64, "one bit for each open object");
_Static_assert(VALUE_MAX_MEMBERS < 1 << SORT_BINS, "bins for every member");

/*
 * Skip white space.  Returns the next byte without consuming it, or -1 at the
 * end.
 */
static int
reader_peek(struct json_reader *r)
{
	for (; r->p < r->end; r->p++) {
		if (*r->p > ' ')
			return *r->p;
		if (*r->p != ' ' && *r->p != '\n' && *r->p != '\t' &&
		    *r->p != '\r')
			return *r->p;
	}
	return -1;
}

static int
read_number(struct json_reader *r, struct value *v)
{
	const uint8_t *stop;
	struct span text;

	if (!text_number_end(r->p, r->end, &stop)) {
		if (stop == r->end)
			return json_reader_fail(r, JSON_TRUNCATED, stop);
		return json_reader_fail(r, JSON_NUMBER, stop);
	}
	text = span_of(r->p, (size_t)(stop - r->p));
	if (text.len > VALUE_MAX_NUMBER || !number_is_finite(text)) {
		if (!r->mark)
			return json_reader_fail(r, JSON_NUMBER, r->p);
		json_reader_mark(v);
		text = span_of(r->p, 0);
	} else {
		v->text = text;
	}
	r->p = stop;
	return json_reader_count(r, sizeof(uint32_t) + v->text.len, text.p);
}

static int
read_literal(struct json_reader *r, const char *name)
{
	for (; *name != '\0'; name++, r->p++) {
		if (r->p == r->end || *r->p != (uint8_t)*name)
			return json_reader_unexpected(r);
	}
	return 0;
}

/*
 * Make the value that begins at r->p, its type and text still to be set.
 * Returns NULL with the failure recorded if a limit is reached.
 */
static struct value *
new_value(struct json_reader *r)
{
	struct value *v = NULL;

	if (json_reader_count(r, 1, r->p) == -1)
		return NULL;
	if (r->nodes++ < r->max_nodes)
		v = pool_value(r->pool, VALUE_NULL);
	if (v == NULL)
		(void)json_reader_fail(r, JSON_LIMIT, r->p);
	return v;
}

/*
 * Link a named member into the innermost object.  Returns NULL, or the member
 * of that name that the object already has.
 */
static struct value *
link_member(struct json_reader *r, struct value *v)
{
	struct value *in = r->open[r->depth - 1], **at;
	uint64_t bit = 1ULL << (r->depth - 1);
	int order;

	if (in->last == NULL || (r->unsorted & bit) != 0 ||
	    (order = span_cmp(v->key, in->last->key)) > 0) {
		value_link_last(in, v);
		return NULL;
	}
	if (in->count >= SORTED_INSERT_MAX && order < 0) {
		r->unsorted |= bit;
		value_link_last(in, v);
		return NULL;
	}
	/* This ends at the last member at the latest, which is not less. */
	at = &in->child;
	while ((order = span_cmp(v->key, (*at)->key)) > 0)
		at = &(*at)->next;
	if (order == 0)
		return *at;
	v->next = *at;
	*at = v;
	in->count++;
	return NULL;
}

/* Merge sorted lists; of equal members those of `a` come first. */
static struct value *
merge_members(struct value *a, struct value *b)
{
	struct value *head = NULL, **at = &head;

	while (a != NULL && b != NULL) {
		if (span_cmp(a->key, b->key) <= 0) {
			*at = a;
			a = a->next;
		} else {
			*at = b;
			b = b->next;
		}
		at = &(*at)->next;
	}
	*at = a != NULL ? a : b;
	return head;
}

/*
 * Sort the list in place, and stably.  qsort() would need an array of pointers
 * and memory to merge in; without that memory it takes quadratic time, and the
 * order is a peer's.
 */
static struct value *
sort_members(struct value *list)
{
	struct value *bin[SORT_BINS] = {NULL}, *run;
	unsigned i;

	while ((run = list) != NULL) {
		list = run->next;
		run->next = NULL;
		for (i = 0; bin[i] != NULL; i++) {
			run = merge_members(bin[i], run);
			bin[i] = NULL;
		}
		bin[i] = run;
	}
	for (i = 0; i < SORT_BINS; i++)
		run = merge_members(bin[i], run);
	return run;
}

/* Sort a large object that is complete, and find duplicates in it. */
static int
sort_object(struct json_reader *r, struct value *object)
{
	size_t at, first = SIZE_MAX;
	struct value *v;

	object->child = sort_members(object->child);
	for (v = object->child; v->next != NULL;) {
		if (!span_eq(v->key, v->next->key)) {
			v = v->next;
			continue;
		}
		if (r->mark) {
			json_reader_mark(v);
			v->next = v->next->next;
			object->count--;
			continue;
		}
		if ((at = json_reader_offset(r, v->next->key)) < first)
			first = at;
		v = v->next;
	}
	object->last = v;
	if (first != SIZE_MAX)
		return json_reader_fail(r, JSON_DUPLICATE, r->base + first);
	return 0;
}

/* Close the innermost open container at the bracket at r->p. */
static int
close_container(struct json_reader *r)
{
	uint64_t bit = 1ULL << --r->depth;

	r->p++;
	r->want = r->depth == 0 ? WANT_END : WANT_COMMA;
	if ((r->unsorted & bit) == 0)
		return 0;
	r->unsorted &= ~bit;
	return sort_object(r, r->open[r->depth]);
}

static int
open_container(struct json_reader *r, struct value *v, enum value_type type)
{
	if (r->depth == VALUE_MAX_DEPTH) {
		if (!r->mark)
			return json_reader_fail(r, JSON_DEPTH, r->p);
		json_reader_mark(v);
		r->want = WANT_COMMA;
		return json_reader_skip(r);
	}
	v->type = type;
	r->open[r->depth++] = v;
	r->want = type == VALUE_ARRAY ? WANT_ELEMENT : WANT_MEMBER;
	r->p++;
	return json_reader_count(r, sizeof(uint32_t), r->p - 1);
}

/* Read a name and its colon; make the member, whose value is still to come. */
static int
read_member(struct json_reader *r)
{
	struct value *in = r->open[r->depth - 1], *v, *same;
	const uint8_t *at = r->p;
	bool full = in->count == VALUE_MAX_MEMBERS;

	if (*r->p != '"')
		return json_reader_unexpected(r);
	if (full && !r->mark)
		return json_reader_fail(r, JSON_LIMIT, at);
	if ((v = new_value(r)) == NULL || json_reader_string(r, &v->key) == -1)
		return -1;
	/* A member that is not linked is read and forgotten. */
	same = full ? in->last : link_member(r, v);
	if (same != NULL && !r->mark)
		return json_reader_fail(r, JSON_DUPLICATE, at);
	if (same != NULL)
		json_reader_mark(same);
	if (reader_peek(r) != ':')
		return json_reader_unexpected(r);
	r->p++;
	r->slot = v;
	r->want = WANT_VALUE;
	return 0;
}

/*
 * Returns the node for the value at r->p: a member already made, a new element,
 * or the root.
 */
static struct value *
take_slot(struct json_reader *r)
{
	struct value *v = r->slot;

	if (v != NULL) {
		r->slot = NULL;
		return v;
	}
	if ((v = new_value(r)) == NULL)
		return NULL;
	if (r->depth == 0)
		r->root = v;
	else
		value_link_last(r->open[r->depth - 1], v);
	return v;
}

/* Read the scalar at r->p, which begins with `c`. */
static int
read_scalar(struct json_reader *r, struct value *v, int c)
{
	switch (c) {
	case '"':
		v->type = VALUE_STRING;
		return json_reader_string(r, &v->text);
	case 't':
		v->type = VALUE_TRUE;
		return read_literal(r, "true");
	case 'f':
		v->type = VALUE_FALSE;
		return read_literal(r, "false");
	case 'n':
		v->type = VALUE_NULL;
		return read_literal(r, "null");
	default:
		if (c != '-' && !text_is_digit((uint8_t)c))
			return json_reader_unexpected(r);
		v->type = VALUE_NUMBER;
		return read_number(r, v);
	}
}

static int
read_value(struct json_reader *r, int c)
{
	struct value *v;

	if ((v = take_slot(r)) == NULL)
		return -1;
	if (c == '{')
		return open_container(r, v, VALUE_OBJECT);
	if (c == '[')
		return open_container(r, v, VALUE_ARRAY);
	r->want = r->depth == 0 ? WANT_END : WANT_COMMA;
	return read_scalar(r, v, c);
}

static int
read_comma(struct json_reader *r, int c)
{
	enum value_type type = r->open[r->depth - 1]->type;

	if (c == ',') {
		r->want = type == VALUE_ARRAY ? WANT_VALUE : WANT_NAME;
		r->p++;
		return 0;
	}
	if (c == (type == VALUE_ARRAY ? ']' : '}'))
		return close_container(r);
	return json_reader_unexpected(r);
}

static int
read_token(struct json_reader *r, int c)
{
	switch (r->want) {
	case WANT_ELEMENT:
		if (c == ']')
			return close_container(r);
		return read_value(r, c);
	case WANT_VALUE:
		return read_value(r, c);
	case WANT_MEMBER:
		if (c == '}')
			return close_container(r);
		return read_member(r);
	case WANT_NAME:
		return read_member(r);
	case WANT_COMMA:
		return read_comma(r, c);
	case WANT_END:
		break;
	}
	return json_reader_fail(r, JSON_TRAILING, r->p);
}

enum read_how {
	READ_STRICT,
	READ_REPAIRED,
	READ_MARKED
};

static const struct value *
read_text(struct value_pool *pool, struct span text, unsigned nodes,
    size_t bytes, enum read_how how, struct json_fail *fail)
{
	struct json_reader r UNCLEARED;
	int c;

	if (text.p == NULL)
		text = SPAN("");
	r.pool = pool;
	r.base = r.p = text.p;
	r.end = text.p + text.len;
	r.root = r.slot = NULL;
	r.unsorted = 0;
	r.depth = r.nodes = 0;
	r.bytes = 0;
	r.max_nodes = nodes;
	r.max_bytes = bytes;
	r.want = WANT_VALUE;
	r.repair = how != READ_STRICT;
	r.mark = how == READ_MARKED;
	r.fail = (struct json_fail){JSON_OK, 0};
	while ((c = reader_peek(&r)) != -1) {
		if (read_token(&r, c) == -1)
			break;
	}
	if (c == -1 && r.want != WANT_END)
		(void)json_reader_fail(&r, JSON_TRUNCATED, r.end);
	if (fail != NULL)
		*fail = r.fail;
	return r.fail.error == JSON_OK ? r.root : NULL;
}

const struct value *
json_read(struct value_pool *pool, struct span text, struct json_fail *fail)
{
	return read_text(
	    pool, text, VALUE_MAX_NODES, VALUE_MAX_BYTES, READ_STRICT, fail);
}

const struct value *
json_read_repaired(
    struct value_pool *pool, struct span text, struct json_fail *fail)
{
	return read_text(
	    pool, text, VALUE_MAX_NODES, VALUE_MAX_BYTES, READ_REPAIRED, fail);
}

const struct value *
json_read_marked(
    struct value_pool *pool, struct span text, struct json_fail *fail)
{
	return read_text(
	    pool, text, VALUE_MAX_NODES, VALUE_MAX_BYTES, READ_MARKED, fail);
}

const struct value *
json_read_large(struct value_pool *pool, struct span text, unsigned nodes,
    size_t bytes, struct json_fail *fail)
{
	return read_text(pool, text, nodes, bytes, READ_STRICT, fail);
}

const char *
json_strerror(enum json_error error)
{
	switch (error) {
	case JSON_OK:
		return "no error";
	case JSON_SYNTAX:
		return "not JSON";
	case JSON_TRUNCATED:
		return "ends too early";
	case JSON_TRAILING:
		return "something after the value";
	case JSON_DUPLICATE:
		return "duplicate member name";
	case JSON_UTF8:
		return "not well-formed Unicode";
	case JSON_NUMBER:
		return "bad number";
	case JSON_DEPTH:
		return "nested more than 64 deep";
	case JSON_LIMIT:
		return "more values, members or bytes than are taken";
	}
	return "unknown error";
}
