/* SPDX-License-Identifier: ISC */
/*
 * Masks secrets for the log. Its input comes from the agent. It is a help, not
 * a boundary: secrets of unknown form stay. One pass, no backtracking.
 */
#include "redact.h"

#include <errno.h>

#include "common/sha256.h"

#define DIGITS_MIN 13U
#define DIGITS_MAX 19U
#define SSN_DIGITS 9U

struct key_kind {
	const char *prefix;
	size_t least; /* minimum length after the prefix */
	bool exact;
	const char *more; /* allowed in addition to letters and digits */
};

#define KEY_KINDS(K)                                                           \
	K("sk-", 20, false, "-_")                                              \
	K("ghp_", 36, true, "")                                                \
	K("xoxb-", 20, false, "-")                                             \
	K("xoxp-", 20, false, "-")                                             \
	K("AKIA", 16, true, "")

static const struct key_kind kinds[] = {
#define KEY_KIND(...) {__VA_ARGS__},
    KEY_KINDS(KEY_KIND)
#undef KEY_KIND
};

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool
is_word(uint8_t c)
{
	static const bool words[UINT8_MAX + 1] = {['0' ... '9'] = true,
	    ['a' ... 'z'] = true,
	    ['A' ... 'Z'] = true,
	    ['_'] = true};

	return words[c];
}

static bool
boundary(struct span s, size_t at)
{
	return at >= s.len || !is_word(s.p[at]);
}

static bool
luhn(const uint8_t *digits, size_t n)
{
	unsigned sum = 0, d;

	for (size_t i = 0; i < n; i++) {
		d = digits[n - 1 - i] - (unsigned)'0';
		if (i % 2 == 1 && (d *= 2) > 9)
			d -= 9;
		sum += d;
	}
	return sum % 10 == 0;
}

/*
 * Match a card number at s.p[at]. Returns its length, or 0; its mask is in
 * `dst`.
 */
static size_t
match_card(struct span s, size_t at, uint8_t *dst, size_t *n)
{
	uint8_t digits[DIGITS_MAX];
	size_t ends[DIGITS_MAX], count = 0, i = at;

	while (i < s.len && count < DIGITS_MAX) {
		if (count != 0 && (s.p[i] == ' ' || s.p[i] == '-') &&
		    i + 1 < s.len && is_digit(s.p[i + 1]))
			i++;
		if (!is_digit(s.p[i]))
			break;
		digits[count] = s.p[i];
		ends[count++] = ++i;
	}
	for (; count >= DIGITS_MIN; count--) {
		if (!boundary(s, ends[count - 1]) || !luhn(digits, count))
			continue;
		memcpy(dst, digits, 4);
		dst[4] = ' ';
		memset(dst + 5, '*', count - 8);
		dst[count - 3] = ' ';
		memcpy(dst + count - 2, digits + count - 4, 4);
		*n = count + 2;
		return ends[count - 1] - at;
	}
	return 0;
}

/* Match a US social security number. */
static size_t
match_ssn(struct span s, size_t at, uint8_t *dst, size_t *n)
{
	uint8_t d[SSN_DIGITS];
	size_t i = at, count = 0;

	while (count < SSN_DIGITS && i < s.len) {
		if ((count == 3 || count == 5) &&
		    (s.p[i] == '-' || s.p[i] == ' '))
			i++;
		if (i >= s.len || !is_digit(s.p[i]))
			return 0;
		d[count++] = s.p[i++];
	}
	if (count < SSN_DIGITS || !boundary(s, i) || d[0] == '9' ||
	    memcmp(d, "000", 3) == 0 || memcmp(d, "666", 3) == 0 ||
	    memcmp(d + 3, "00", 2) == 0 || memcmp(d + 5, "0000", 4) == 0)
		return 0;
	memcpy(dst, "***-**-", 7);
	memcpy(dst + 7, d + 5, 4);
	*n = 11;
	return i - at;
}

static size_t
match_key(struct span s, size_t at, uint8_t *dst, size_t *n)
{
	struct span rest = span_of(s.p + at, s.len - at);
	size_t i, len;

	for (size_t k = 0; k < nitems(kinds); k++) {
		len = strlen(kinds[k].prefix);
		if (!span_starts(rest, span_of(kinds[k].prefix, len)))
			continue;
		for (i = len; i < rest.len; i++) {
			uint8_t c = rest.p[i];

			if ((!is_word(c) || c == '_') &&
			    (c == '\0' || strchr(kinds[k].more, c) == NULL))
				break;
		}
		if (i - len < kinds[k].least ||
		    (kinds[k].exact && i - len != kinds[k].least))
			return 0;
		memcpy(dst, rest.p, 4);
		memcpy(dst + 4, "...", 3);
		memcpy(dst + 7, rest.p + i - 4, 4);
		*n = 11;
		return i;
	}
	return 0;
}

/* Returns true if a key may begin there, by its first two letters. */
static bool
may_begin(struct span s, size_t at)
{
	uint8_t c = s.p[at], next = at + 1 < s.len ? s.p[at + 1] : 0;

	return false
#define KEY_BEGINS(prefix, ...) || (c == (prefix)[0] && next == (prefix)[1])
	    KEY_KINDS(KEY_BEGINS)
#undef KEY_BEGINS
		;
}

/* Returns true if the text may contain a secret: a key, or enough digits. */
static bool
may_hold(struct span s)
{
	size_t digits = 0;

	for (size_t i = 0; i < s.len; i++) {
		digits += is_digit(s.p[i]);
		if (digits == SSN_DIGITS || may_begin(s, i))
			return true;
	}
	return false;
}

static size_t
match_any(struct span s, size_t at, uint8_t *dst, size_t *n)
{
	size_t took;

	switch (s.p[at]) {
	case 's':
	case 'g':
	case 'x':
	case 'A':
		return match_key(s, at, dst, n);
	default:
		if (!is_digit(s.p[at]))
			return 0;
		took = match_card(s, at, dst, n);
		return took != 0 ? took : match_ssn(s, at, dst, n);
	}
}

/* Copy s to `dst`, unless NULL, with secrets masked. Returns the new length. */
static size_t
mask(struct span s, uint8_t *dst, bool *changed)
{
	uint8_t text[32];
	size_t len = 0, took, n = 0;
	bool start = true;

	for (size_t i = 0; i < s.len;) {
		took = start ? match_any(s, i, text, &n) : 0;
		if (took != 0) {
			*changed = true;
			if (dst != NULL)
				memcpy(dst + len, text, n);
			len += n;
			i += took;
			start = false;
			continue;
		}
		if (dst != NULL)
			dst[len] = s.p[i];
		len++;
		start = !is_word(s.p[i]);
		i++;
	}
	return len;
}

int
redact_string(struct value_pool *pool, struct span s, struct span *out)
{
	bool changed = false;
	uint8_t *p;
	size_t len;

	if (!may_hold(s)) {
		*out = s;
		return 0;
	}
	len = mask(s, NULL, &changed);
	if (!changed) {
		*out = s;
		return 0;
	}
	if ((p = value_pool_alloc(pool, len + 1)) == NULL)
		return -1;
	(void)mask(s, p, &changed);
	*out = span_of(p, len);
	return 1;
}

/* Replace the string by {"head", "length", "sha256"}. */
static int
cut(struct value *v, struct value_pool *pool, bool secrets)
{
	uint8_t digest[SHA256_SIZE];
	char *hex;
	struct span head = span_of(v->text.p, REDACT_HEAD);
	size_t length = v->text.len;

	/* Do not cut within a UTF-8 character. */
	while (head.len > 0 && (v->text.p[head.len] & 0xc0) == 0x80)
		head.len--;
	if ((hex = value_pool_alloc(pool, SHA256_HEX)) == NULL)
		return -1;
	sha256_span(v->text, digest);
	sha256_hex(digest, hex);
	if (secrets && redact_string(pool, head, &head) == -1)
		return -1;
	*v = (struct value){
	    .type = VALUE_OBJECT, .key = v->key, .next = v->next};
	if (value_set(v, SPAN("head"), value_new_string(pool, head)) == -1 ||
	    value_set(v, SPAN("length"),
		value_new_number(pool, (int64_t)length)) == -1 ||
	    value_set(
		v, SPAN("sha256"), value_new_string(pool, span_str(hex))) == -1)
		return -1;
	return 1;
}

/* Recursion is bounded by VALUE_MAX_DEPTH. */
int
redact_tree(struct value *v, struct value_pool *pool, bool secrets,
    redact_whole_fn *whole, void *arg)
{
	struct value *c;
	int one, any = 0;

	if (v->type == VALUE_STRING) {
		if (v->text.len > REDACT_LONG && !whole(v, arg))
			return cut(v, pool, secrets);
		return secrets ? redact_string(pool, v->text, &v->text) : 0;
	}
	for (c = v->child; c != NULL; c = c->next) {
		if ((one = redact_tree(c, pool, secrets, whole, arg)) == -1)
			return -1;
		any |= one;
	}
	return any;
}
