/* SPDX-License-Identifier: ISC */
/*
 * References within a schema (JSON Schema 2020-12, section 8.2; JSON pointers,
 * RFC 6901).  Nothing is ever fetched: a reference to another document does not
 * fit.
 */
#include "define/fit.h"

#include "common/log.h"

#define REF_NAME 256U /* bytes of a name in a pointer */
#define REF_HOPS 32U

static int
hex_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Take the next name of the pointer, decoded, into `name`.  Returns its length,
 * or -1 if it is malformed or longer than REF_NAME.
 */
static int
next_name(struct span *rest, uint8_t name[REF_NAME])
{
	size_t i = 1, n = 0;
	uint8_t c;

	for (; i < rest->len && rest->p[i] != '/'; i++) {
		c = rest->p[i];
		if (c == '%') {
			if (i + 2 >= rest->len || hex_of(rest->p[i + 1]) < 0 ||
			    hex_of(rest->p[i + 2]) < 0)
				return -1;
			c = (uint8_t)(hex_of(rest->p[i + 1]) * 16 +
				      hex_of(rest->p[i + 2]));
			i += 2;
		}
		if (c == '~') {
			if (++i >= rest->len ||
			    (rest->p[i] != '0' && rest->p[i] != '1'))
				return -1;
			c = rest->p[i] == '0' ? '~' : '/';
		}
		if (n == REF_NAME)
			return -1;
		name[n++] = c;
	}
	rest->p += i;
	rest->len -= i;
	return (int)n;
}

static const struct value *
by_pointer(const struct value *v, struct span rest)
{
	uint8_t name[REF_NAME];
	uint64_t at;
	int n;

	while (v != NULL && rest.len != 0) {
		if (rest.p[0] != '/' || (n = next_name(&rest, name)) == -1)
			return NULL;
		if (v->type == VALUE_ARRAY) {
			if (span_u64(span_of(name, (size_t)n), VALUE_MAX_NODES,
				&at) == -1)
				return NULL;
			for (v = v->child; v != NULL && at != 0; at--)
				v = v->next;
		} else {
			v = value_getspan(v, span_of(name, (size_t)n));
		}
	}
	return v;
}

bool
ref_is_anchor(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    c != '_' &&
		    (i == 0 ||
			(!(c >= '0' && c <= '9') && c != '-' && c != '.')))
			return false;
	}
	return s.len != 0;
}

static const char *const anchors[] = {"$anchor", "$dynamicAnchor"};

static unsigned
count(const struct value *v, struct span name)
{
	unsigned n = 0;

	for (size_t i = 0; i < nitems(anchors); i++)
		n += v->type == VALUE_OBJECT &&
		     span_eq(value_str(v, anchors[i]), name);
	for (const struct value *c = v->child; c != NULL; c = c->next)
		n += count(c, name);
	return n;
}

unsigned
ref_anchors(const struct fit *f, struct span name)
{
	return count(f->root, name);
}

/* Find the object that has the anchor. */
static const struct value *
by_anchor(const struct value *v, struct span name)
{
	const struct value *c, *found;

	for (size_t i = 0; i < nitems(anchors); i++)
		if (v->type == VALUE_OBJECT &&
		    span_eq(value_str(v, anchors[i]), name))
			return v;
	for (c = v->child; c != NULL; c = c->next)
		if ((found = by_anchor(c, name)) != NULL)
			return found;
	return NULL;
}

static const struct value *
find_one(struct fit *f, struct span ref)
{
	const struct value *v;
	char shown[80];

	if (ref.len == 0 || ref.p[0] != '#') {
		(void)fit_bad(f, "refers to another document: %s",
		    log_vis(ref, shown, sizeof(shown)));
		return NULL;
	}
	ref.p++;
	ref.len--;
	if (ref.len == 0)
		return f->root;
	v = NULL;
	if (ref.p[0] == '/')
		v = by_pointer(f->root, ref);
	else if (ref_is_anchor(ref))
		v = by_anchor(f->root, ref);
	if (v == NULL || (v->type != VALUE_OBJECT && v->type != VALUE_TRUE &&
			     v->type != VALUE_FALSE)) {
		(void)fit_bad(f,
		    "refers to a part that the schema does not have: #%s",
		    log_vis(ref, shown, sizeof(shown)));
		return NULL;
	}
	return v;
}

const struct value *
ref_find(struct fit *f, struct span ref)
{
	const struct value *first = find_one(f, ref), *v = first;
	struct span next;

	/* A reference that leads only to references would never end. */
	for (unsigned i = 0; v != NULL; i++) {
		next = value_str(v, "$ref");
		if (next.p == NULL)
			return first;
		if (i == REF_HOPS) {
			(void)fit_bad(f, "refers to itself");
			return NULL;
		}
		v = find_one(f, next);
	}
	return NULL;
}
