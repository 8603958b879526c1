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
	if (r->secrets && named && role != REDACT_ADDRESS)
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
	return name.p != NULL && mask_name(name);
}

/*
 * Recursion is bounded by VALUE_MAX_DEPTH. `named`: the member that this is in,
 * or an array of it, has the name of a secret.
 */
static int
redact_value(struct redact *r, struct value *v, bool named)
{
	struct value *c;
	int one, any = 0;
	bool pair;

	if (v->type == VALUE_STRING)
		return redact_text(r, v, named);
	if (v->type == VALUE_NUMBER)
		return r->secrets && named && v->text.len >= 4 ? hide(r, v) : 0;
	pair = names_secret(v);
	for (c = v->child; c != NULL; c = c->next) {
		if (v->type == VALUE_OBJECT)
			named = mask_name(c->key) ||
				(pair && span_is(c->key, "value"));
		if ((one = redact_value(r, c, named)) == -1)
			return -1;
		any |= one;
	}
	return any;
}

int
redact_tree(struct redact *r, struct value *v)
{
	return redact_value(r, v, false);
}
