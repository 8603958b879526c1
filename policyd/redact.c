/* SPDX-License-Identifier: ISC */
/*
 * Redacts arguments for the log. Its input comes from the agent. It is a help,
 * not a boundary: secrets of unknown form stay.
 */
#include "redact.h"

#include "common/sha256.h"

int
redact_string(const struct redact *r, struct span s, struct span *out)
{
	bool changed = false;
	uint8_t *p;
	size_t len;

	len = mask_text(s, r->known, NULL, &changed, NULL);
	if (!changed) {
		*out = s;
		return 0;
	}
	if ((p = value_pool_alloc(r->pool, len + 1)) == NULL)
		return -1;
	(void)mask_text(s, r->known, p, &changed, NULL);
	*out = span_of(p, len);
	return 1;
}

/*
 * Replace the string by {"head", "length", "sha256"}. More than the head is
 * searched, so that a secret that begins in it is masked to its end.
 */
static int
cut(struct redact *r, struct value *v)
{
	uint8_t digest[SHA256_SIZE];
	char *hex;
	struct span head = span_of(v->text.p, REDACT_LONG);
	size_t length = v->text.len;

	if ((hex = value_pool_alloc(r->pool, SHA256_HEX)) == NULL)
		return -1;
	sha256_span(v->text, digest);
	sha256_hex(digest, hex);
	if (r->secrets && redact_string(r, head, &head) == -1)
		return -1;
	/* Do not cut within a UTF-8 character. */
	if (head.len > REDACT_HEAD) {
		size_t n = REDACT_HEAD;

		while (n > 0 && (head.p[n] & 0xc0) == 0x80)
			n--;
		head.len = n;
	}
	*v = (struct value){
	    .type = VALUE_OBJECT, .key = v->key, .next = v->next};
	if (value_set(v, SPAN("head"), value_new_string(r->pool, head)) == -1 ||
	    value_set(v, SPAN("length"),
		value_new_number(r->pool, (int64_t)length)) == -1 ||
	    value_set(v, SPAN("sha256"),
		value_new_string(r->pool, span_str(hex))) == -1)
		return -1;
	return 1;
}

/* Hide the value of a member whose name says that it is a secret. */
static int
hide(struct redact *r, struct value *v)
{
	if (v->type == VALUE_NUMBER)
		*v = (struct value){
		    .type = VALUE_STRING, .key = v->key, .next = v->next};
	else if (v->type != VALUE_STRING || mask_refers(v->text))
		return 0;
	r->judged |=
	    v->type == VALUE_STRING && r->role(v, r->arg) == REDACT_JUDGED;
	v->text = SPAN(MASK_HIDDEN);
	return 1;
}

static int
redact_text(struct redact *r, struct value *v, bool named)
{
	const enum redact_role role = r->role(v, r->arg);
	int rv;

	if (role == REDACT_PATH)
		return 0;
	if (r->secrets && role != REDACT_ADDRESS &&
	    (named || mask_keyed(v->key, v->text)))
		return hide(r, v);
	if (v->text.len > REDACT_LONG && role != REDACT_ADDRESS) {
		r->judged |= role == REDACT_JUDGED;
		return cut(r, v);
	}
	rv = r->secrets ? redact_string(r, v->text, &v->text) : 0;
	r->judged |= rv == 1 && role == REDACT_JUDGED;
	return rv;
}

/*
 * Returns true for {"name": "DB_PASSWORD", "value": ...}, as variables and
 * headers are often listed.
 */
static bool
names_secret(const struct value *v)
{
	struct span name = value_str(v, "name");

	if (v->type != VALUE_OBJECT)
		return false;
	if (name.p == NULL)
		name = value_str(v, "key");
	return name.p != NULL &&
	       (mask_name(name) || mask_keyed(name, value_str(v, "value")));
}

/* How the name of a member, or of the one around it, concerns a value. */
enum named {
	NAMED_PLAIN,
	NAMED_ONE, /* it is a secret, or an array of them */
	NAMED_ALL, /* the texts of an object in it are secrets, too */
};

static enum named
named_by(struct span key)
{
	const bool plural = key.len > 3 && (key.p[key.len - 1] | 0x20) == 's';

	if (plural &&
	    (mask_name(key) || mask_name(span_of(key.p, key.len - 1))))
		return NAMED_ALL;
	return mask_name(key) ? NAMED_ONE : NAMED_PLAIN;
}

/* Returns true for the private members of a JSON Web Key (RFC 7518, 6). */
static bool
key_member(struct span key)
{
	static const char *const names[] = {
	    "d", "p", "q", "dp", "dq", "qi", "k"};

	for (size_t i = 0; i < nitems(names); i++)
		if (span_is(key, names[i]))
			return true;
	return false;
}

/*
 * Returns true if a string in an array announces the next one: ["--password",
 * "x"], and of two strings ["Authorization", "x"].
 */
static bool
names_next(const struct value *array, const struct value *s)
{
	const bool two =
	    s == array->child && s->next != NULL && s->next->next == NULL;

	if (s->type != VALUE_STRING || s->text.len < 3 || !mask_name(s->text))
		return false;
	return s->text.p[0] == '-' ||
	       (two && (memchr(s->text.p, '-', s->text.len) != NULL ||
			   span_ieq(s->text, SPAN("authorization")) ||
			   span_ieq(s->text, SPAN("cookie"))));
}

/* Returns 1 if the name of a member has a secret in it, 0, or -1. */
static int
key_is_secret(const struct redact *r, const struct value *object)
{
	struct span key;
	int rv = 0;

	for (struct value *c = object->child; c != NULL && rv == 0; c = c->next)
		rv = redact_string(r, c->key, &key);
	return rv;
}

/* Returns true if the name of a column says that a secret is in it. */
static bool
column_secret(const struct value *v)
{
	return mask_name(
	    v->type == VALUE_STRING ? v->text : value_str(v, "name"));
}

/*
 * Returns the names of the columns of an object's rows, or NULL: {"columns":
 * ["a", "b"], "rows": [["x", "y"], ...]}.
 */
static const struct value *
columns_of(const struct value *object)
{
	for (const struct value *c = object->child; c != NULL; c = c->next)
		for (const struct value *n = c->child;
		     n != NULL && c->type == VALUE_ARRAY; n = n->next)
			if (column_secret(n))
				return c->child;
	return NULL;
}

static int redact_value(struct redact *, struct value *, enum named);
static int redact_array(struct redact *, struct value *, enum named,
    const struct value *names, bool first);

/*
 * Masked names could be equal, so that an object with a secret among its names
 * is hidden whole.
 */
static int
redact_object(struct redact *r, struct value *v, enum named outer)
{
	const bool pair = names_secret(v);
	const bool jwk = value_str(v, "kty").p != NULL;
	const bool secret = span_is(value_str(v, "kind"), "Secret");
	const struct value *columns = columns_of(v);
	int one, any = r->secrets ? key_is_secret(r, v) : 0;

	if (any == -1)
		return -1;
	if (any == 1) {
		r->judged = true;
		*v = (struct value){
		    .type = VALUE_OBJECT, .key = v->key, .next = v->next};
		return value_set(v, SPAN(MASK_HIDDEN),
			   value_new_string(r->pool, SPAN(MASK_HIDDEN))) == -1
			   ? -1
			   : 1;
	}
	for (struct value *c = v->child; c != NULL; c = c->next) {
		enum named named = named_by(c->key);

		if ((pair && span_is(c->key, "value")) ||
		    (jwk && key_member(c->key)))
			named = NAMED_ONE;
		/* A Secret of Kubernetes. */
		if (secret && (span_is(c->key, "data") ||
				  span_is(c->key, "stringData")))
			named = NAMED_ALL;
		if (outer == NAMED_ALL && c->type != VALUE_NUMBER)
			named = NAMED_ALL;
		if (columns != NULL && c->type == VALUE_ARRAY &&
		    c->child != NULL && c->child->type == VALUE_ARRAY)
			one = redact_array(r, c, named, columns, true);
		else
			one = redact_value(r, c, named);
		if (one == -1)
			return -1;
		any |= one;
	}
	return any;
}

/*
 * Redact an array. `names` are the names of the columns of its rows, if `first`;
 * else the first row of the array that this one is a row of, whose texts name
 * the columns but for the first one; or NULL.
 */
static int
redact_array(struct redact *r, struct value *v, enum named named,
    const struct value *names, bool first)
{
	const struct value *head = v->child;
	bool announced = false, next;
	int one, any = 0;

	for (struct value *c = v->child; c != NULL; c = c->next) {
		next = names_next(v, c);
		if (c->type == VALUE_ARRAY && head->type == VALUE_ARRAY) {
			if (!first)
				names = c == head ? NULL : head->child;
			one = redact_array(r, c, named, names, first);
		} else {
			announced |= names != NULL &&
				     (first || c != v->child) &&
				     column_secret(names);
			names = names == NULL ? NULL : names->next;
			one = redact_value(
			    r, c, announced && !next ? NAMED_ONE : named);
		}
		if (one == -1)
			return -1;
		any |= one;
		announced = next;
	}
	return any;
}

/* Recursion is bounded by VALUE_MAX_DEPTH. */
static int
redact_value(struct redact *r, struct value *v, enum named named)
{
	switch (v->type) {
	case VALUE_STRING:
		return redact_text(r, v, named != NAMED_PLAIN);
	case VALUE_NUMBER:
		return r->secrets && named == NAMED_ONE && v->text.len >= 4
			   ? hide(r, v)
			   : 0;
	case VALUE_OBJECT:
		return redact_object(r, v, named);
	case VALUE_ARRAY:
		return redact_array(r, v, named, NULL, false);
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE:
		break;
	}
	return 0;
}

int
redact_tree(struct redact *r, struct value *v)
{
	return redact_value(r, v, NAMED_PLAIN);
}
