/* SPDX-License-Identifier: ISC */
/*
 * Builds the patterns: the forms of a credential's secret part and the table of
 * all their four-byte pieces. Everything derived from the credential goes into
 * secret memory of the caller.
 */
#include "keyd/scrub_form.h"

#include <errno.h>

#include "keyd/scrub_text.h"

#define BITS_MIN 8U
#define BITS_MAX 14U
/* so that few places of a text have a mark by chance */
#define MARKS_PER_PIECE 64U
#define MARK_BITS_MIN 13U
#define MARK_BITS_MAX 17U

static const char scrub_b64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Most entries stay empty: each that is not costs a comparison. */
static unsigned
hash_bits(size_t len)
{
	unsigned bits = BITS_MIN;

	while (bits < BITS_MAX && ((size_t)1 << bits) < len * 2)
		bits++;
	return bits;
}

static unsigned
mark_bits(size_t len)
{
	unsigned bits = MARK_BITS_MIN;

	while (bits < MARK_BITS_MAX &&
	       ((size_t)1 << bits) < len * MARKS_PER_PIECE)
		bits++;
	return bits;
}

/* ---- forms */

/* Counts the bytes, and writes them unless `out` is NULL. */
struct scrub_out {
	uint8_t *out;
	size_t len;
};

static void
scrub_put(struct scrub_out *o, uint8_t c)
{
	if (o->out != NULL)
		o->out[o->len] = scrub_fold(c);
	o->len++;
}

/*
 * Write the base64 of the key after `skew` unknown bytes: only the characters
 * that depend on the key alone.
 */
static void
scrub_put_base64(struct scrub_out *o, struct span key, size_t skew)
{
	size_t bit, byte, i, last;
	unsigned v;

	last = (skew + key.len) * 8 / 6;
	for (i = (skew * 8 + 5) / 6; i < last; i++) {
		bit = i * 6 - skew * 8;
		byte = bit / 8;
		v = (unsigned)key.p[byte] << 8;
		if (byte + 1 < key.len)
			v |= key.p[byte + 1];
		v = (v >> (10 - bit % 8)) & 63;
		scrub_put(o, (uint8_t)scrub_b64[v]);
	}
}

static void
scrub_put_hex(struct scrub_out *o, struct span key, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	for (size_t i = 0; i < key.len; i++) {
		scrub_put(o, (uint8_t)digits[key.p[i] >> 4]);
		scrub_put(o, (uint8_t)digits[key.p[i] & 15]);
	}
}

/* ---- tables */

static void
build_tables(struct scrub *s)
{
	const struct scrub_form *f;
	size_t least = SCRUB_WINDOW, at;
	uint32_t h;

	for (size_t i = 0; i < (size_t)1 << s->bits; i++)
		s->head[i] = 0;
	for (size_t i = 0; i < (size_t)1 << (s->mark_bits - 3); i++)
		s->marks[i] = 0;
	for (size_t i = 0; i < s->nforms; i++) {
		f = &s->forms[i];
		if (scrub_window(f) < least)
			least = scrub_window(f);
		for (size_t j = 0; j + SCRUB_GRAM <= f->len; j++) {
			at = (size_t)(f->p - s->text) + j;
			h = scrub_hash(s, f->p + j);
			s->next[at] = s->head[h];
			s->head[h] = (uint16_t)(at + 1);
			scrub_mark(s, f->p + j);
		}
	}
	s->step = least - SCRUB_GRAM + 1;
}

/*
 * Write the key as the search reads it: anything that looks like an escape is
 * decoded.
 */
static void
put_decoded(struct scrub_out *o, struct span key)
{
	static struct scrub_block b;
	struct scrub_state st = {.ntail = 0};
	struct span rest = key;
	size_t n;

	while (rest.len != 0) {
		b.n = 0;
		n = scrub_decode(&st, &b, rest, 0);
		rest = span_of(rest.p + n, rest.len - n);
		for (size_t i = 0; i < b.n; i++)
			scrub_put(o, b.c[i]);
	}
	for (unsigned i = 0; i < st.nescape; i++)
		scrub_put(o, st.escape[i]);
	explicit_bzero(&b, sizeof(b));
	explicit_bzero(&st, sizeof(st));
}

static void
put_form(struct scrub_out *o, struct span key, size_t n)
{
	if (key.len > SCRUB_PART)
		key.len = SCRUB_PART;
	switch (n) {
	case 0:
		for (size_t i = 0; i < key.len; i++)
			scrub_put(o, key.p[i]);
		break;
	case 1:
		put_decoded(o, key);
		break;
	case 2:
	case 3:
	case 4:
		scrub_put_base64(o, key, n - 2);
		break;
	default:
		scrub_put_hex(o, key, n == 6);
		break;
	}
}

static size_t
forms_size(const struct span *keys, size_t n)
{
	struct scrub_out o = {NULL, 0};

	for (size_t i = 0; i < n * SCRUB_FORMS; i++)
		put_form(&o, keys[i / SCRUB_FORMS], i % SCRUB_FORMS);
	return o.len;
}

size_t
scrub_size(const struct span *keys, size_t n)
{
	size_t forms = forms_size(keys, n);

	return 2 * ((size_t)1 << hash_bits(forms)) + 2 * forms + forms +
	       ((size_t)1 << (mark_bits(forms) - 3));
}

static bool
is_jwt(struct span key, size_t *signature)
{
	unsigned dots = 0;

	for (size_t i = 0; i < key.len; i++) {
		if (key.p[i] != '.')
			continue;
		dots++;
		*signature = i + 1;
	}
	return dots == 2 && span_starts(key, SPAN("eyJ"));
}

struct span
scrub_secret(struct span key, const struct span *prefixes, size_t n)
{
	/* Temporary tokens begin with their service and region. */
	static const char *const aws[] = {"IQoJb3JpZ2lu", "FwoGZXIvYXdz"};
	size_t cut = 0, same;

	for (size_t i = 0; i < n; i++) {
		for (same = 0; same < prefixes[i].len && same < key.len &&
			       prefixes[i].p[same] == key.p[same];
		     same++)
			continue;
		if (same > cut)
			cut = same;
	}
	for (size_t i = 0; i < nitems(aws); i++) {
		if (span_starts(key, span_str(aws[i])))
			cut = 64;
	}
	(void)is_jwt(key, &cut);
	if (cut > key.len || key.len - cut < SCRUB_MIN)
		return key;
	return span_of(key.p + cut, key.len - cut);
}

/* Returns true if the form exists already. */
static bool
known(const struct scrub *s, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < s->nforms; i++) {
		if (s->forms[i].len == len && scrub_same(s->forms[i].p, p, len))
			return true;
	}
	return false;
}

int
scrub_build(struct scrub *s, const struct span *keys, size_t n, uint8_t *mem,
    size_t cap)
{
	bool legal = n != 0 && n <= SCRUB_KEYS;
	struct scrub_out o;
	uint8_t *p;

	*s = (struct scrub){.nforms = 0};
	for (size_t i = 0; legal && i < n; i++)
		legal = keys[i].len >= SCRUB_MIN && keys[i].len <= SCRUB_MAX;
	if (!legal) {
		errno = EINVAL;
		return -1;
	}
	if (scrub_size(keys, n) > cap) {
		errno = ENOSPC;
		return -1;
	}
	s->bits = hash_bits(forms_size(keys, n));
	s->head = (uint16_t *)(void *)mem;
	s->next = s->head + ((size_t)1 << s->bits);
	s->mark_bits = mark_bits(forms_size(keys, n));
	s->marks = (uint8_t *)(s->next + forms_size(keys, n));
	s->text = p = s->marks + ((size_t)1 << (s->mark_bits - 3));
	for (size_t i = 0; i < n * SCRUB_FORMS; i++) {
		o = (struct scrub_out){p, 0};
		put_form(&o, keys[i / SCRUB_FORMS], i % SCRUB_FORMS);
		if (o.len < SCRUB_MIN || known(s, p, o.len))
			continue;
		s->forms[s->nforms++] = (struct scrub_form){p, o.len};
		p += o.len;
	}
	s->len = (size_t)(p - s->text);
	build_tables(s);
	return 0;
}
