/* SPDX-License-Identifier: ISC */
/*
 * The search itself: skips by a table over the last four bytes of a window
 * (Wu and Manber, 1994), so that text without a form costs one look-up for
 * some twenty bytes.  Holds nothing of its own; everything derived from the
 * credential, the table included, is in the secret memory it was given.  The
 * text comes from a provider and may be anything.
 */
#include "keyd/scrub.h"

#include <errno.h>

#define GRAM 4U /* bytes that the table looks at */
#define WINDOW_MAX 32U

struct scrub_live {
	size_t start;
	size_t len; /* 0: none */
	size_t form;
};

static const char scrub_b64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char scrub_b64url[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Writes when out is not NULL; always counts. */
struct scrub_out {
	uint8_t *out;
	size_t len;
};

static void
scrub_put(struct scrub_out *o, uint8_t c)
{
	if (o->out != NULL)
		o->out[o->len] = c;
	o->len++;
}

static void
scrub_puts(struct scrub_out *o, const char *s)
{
	while (*s != '\0')
		scrub_put(o, (uint8_t)*s++);
}

static void
scrub_put_hex(struct scrub_out *o, uint8_t c, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	scrub_put(o, (uint8_t)digits[c >> 4]);
	scrub_put(o, (uint8_t)digits[c & 15]);
}

/*
 * With `skew` unknown bytes before it: the characters that the key alone
 * decides.
 */
static void
scrub_put_base64(
    struct scrub_out *o, struct span key, size_t skew, const char *alphabet)
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
		scrub_put(o, (uint8_t)alphabet[v]);
	}
}

static bool
scrub_is_unreserved(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_' ||
	       c == '~';
}

static void
scrub_put_url(struct scrub_out *o, struct span key, bool upper)
{
	for (size_t i = 0; i < key.len; i++) {
		if (scrub_is_unreserved(key.p[i])) {
			scrub_put(o, key.p[i]);
			continue;
		}
		scrub_put(o, '%');
		scrub_put_hex(o, key.p[i], upper);
	}
}

/* slash: PHP and others write \/; html: Go and others write \u003c. */
static void
scrub_put_json(struct scrub_out *o, struct span key, bool slash, bool html)
{
	uint8_t c;

	for (size_t i = 0; i < key.len; i++) {
		c = key.p[i];
		if (html && strchr("<>&'", c) != NULL) {
			scrub_puts(o, "\\u00");
			scrub_put_hex(o, c, false);
			continue;
		}
		if (c == '"' || c == '\\' || (slash && c == '/'))
			scrub_put(o, '\\');
		scrub_put(o, c);
	}
}

static void
scrub_put_form(struct scrub_out *o, struct span key, size_t n)
{
	switch (n) {
	case 0:
		for (size_t i = 0; i < key.len; i++)
			scrub_put(o, key.p[i]);
		break;
	case 1:
	case 2:
	case 3:
		scrub_put_base64(o, key, n - 1, scrub_b64);
		break;
	case 4:
	case 5:
	case 6:
		scrub_put_base64(o, key, n - 4, scrub_b64url);
		break;
	case 7:
	case 8:
		for (size_t i = 0; i < key.len; i++)
			scrub_put_hex(o, key.p[i], n == 8);
		break;
	case 9:
	case 10:
		scrub_put_url(o, key, n == 10);
		break;
	default:
		scrub_put_json(o, key, n == 12 || n == 13, n >= 13);
		break;
	}
}

size_t
scrub_size(const struct span *keys, size_t n)
{
	struct scrub_out o;
	size_t longest = 0, total = SCRUB_TABLE + 256;

	for (size_t i = 0; i < n * SCRUB_FORMS; i++) {
		o = (struct scrub_out){NULL, 0};
		scrub_put_form(&o, keys[i / SCRUB_FORMS], i % SCRUB_FORMS);
		total += o.len;
		if (o.len > longest)
			longest = o.len;
	}
	return total + 2 * longest;
}

static uint32_t
scrub_hash(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return (w * 0x9e3779b1U) >> 20;
}

/* Not memcmp: that is for what is not secret. */
static bool
scrub_same(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i == n;
}

/* Is form n of the key one that we have already? */
static bool
scrub_known(const struct scrub *s, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < s->nforms; i++) {
		if (s->forms[i].len == len && scrub_same(s->forms[i].p, p, len))
			return true;
	}
	return false;
}

static void
scrub_build_tables(struct scrub *s)
{
	const struct scrub_form *f;
	size_t gap;
	uint8_t *slot;

	for (size_t i = 0; i < SCRUB_TABLE; i++)
		s->shift[i] = (uint8_t)(s->window - GRAM + 1);
	for (size_t i = 0; i < 256; i++)
		s->first[i] = 0;
	for (size_t i = 0; i < s->nforms; i++) {
		f = &s->forms[i];
		s->first[f->p[0]] = 1;
		for (size_t j = 0; j + GRAM <= s->window; j++) {
			gap = s->window - GRAM - j;
			slot = &s->shift[scrub_hash(f->p + j)];
			if (*slot > gap)
				*slot = (uint8_t)gap;
		}
	}
}

int
scrub_build(struct scrub *s, const struct span *keys, size_t n, uint8_t *mem,
    size_t cap)
{
	bool legal = n != 0 && n <= SCRUB_KEYS;
	struct scrub_out o;

	*s = (struct scrub){.window = WINDOW_MAX};
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
	s->shift = mem;
	mem += SCRUB_TABLE;
	s->first = mem;
	mem += 256;
	for (size_t i = 0; i < n * SCRUB_FORMS; i++) {
		o = (struct scrub_out){mem, 0};
		scrub_put_form(&o, keys[i / SCRUB_FORMS], i % SCRUB_FORMS);
		if (scrub_known(s, mem, o.len))
			continue;
		s->forms[s->nforms++] = (struct scrub_form){mem, o.len};
		mem += o.len;
		if (o.len < s->window)
			s->window = o.len;
		if (o.len > s->longest)
			s->longest = o.len;
	}
	s->seam = mem;
	scrub_build_tables(s);
	return 0;
}

/*
 * Do the n bytes at p begin with a form? If they only end before it does,
 * that is *live, unless an earlier place is.
 */
static bool
scrub_try(const struct scrub *s, const uint8_t *p, size_t n, size_t start,
    struct scrub_live *live)
{
	const struct scrub_form *f;
	size_t k;

	for (size_t i = 0; i < s->nforms; i++) {
		f = &s->forms[i];
		k = f->len < n ? f->len : n;
		if (f->p[0] != p[0] || !scrub_same(f->p, p, k))
			continue;
		if (k == f->len)
			return true;
		if (live->len == 0)
			*live = (struct scrub_live){start, k, i};
	}
	return false;
}

/* true: a whole form. Else *live is the longest end that may become one. */
static bool
scrub_scan(const struct scrub *s, struct span in, struct scrub_live *live)
{
	size_t at = 0, skip;

	*live = (struct scrub_live){0, 0, 0};
	if (s->nforms == 0)
		return false;
	while (at + s->window <= in.len) {
		skip = s->shift[scrub_hash(in.p + at + s->window - GRAM)];
		if (skip != 0) {
			at += skip;
			continue;
		}
		if (scrub_try(s, in.p + at, in.len - at, at, live))
			return true;
		at++;
	}
	/* Too short for any form from here on: only the beginning of one. */
	for (; at < in.len && live->len == 0; at++) {
		if (s->first[in.p[at]] != 0)
			(void)scrub_try(s, in.p + at, in.len - at, at, live);
	}
	return false;
}

bool
scrub_find(const struct scrub *s, struct span in)
{
	struct scrub_live live;

	return scrub_scan(s, in, &live);
}

/*
 * What began in earlier pieces, with as much of this one as any form that
 * began there could still need.
 */
static bool
scrub_scan_seam(const struct scrub *s, const struct scrub_state *st,
    struct span in, struct scrub_live *live)
{
	size_t n;

	n = in.len < s->longest - 1 ? in.len : s->longest - 1;
	memcpy(s->seam, s->forms[st->form].p, st->len);
	memcpy(s->seam + st->len, in.p, n);
	return scrub_scan(s, span_of(s->seam, st->len + n), live);
}

bool
scrub_feed(const struct scrub *s, struct scrub_state *st, struct span in,
    struct span *before, struct span *pass)
{
	struct scrub_live live;
	size_t all, held, give;
	struct span old;

	*before = *pass = span_of(in.p, 0);
	if (in.len == 0)
		return false;
	live.len = 0;
	if (st->len != 0 && scrub_scan_seam(s, st, in, &live))
		return true;
	if (st->len == 0 || in.len >= s->longest) {
		if (scrub_scan(s, in, &live))
			return true;
	}
	old = span_of(NULL, 0);
	if (st->held != 0)
		old = span_of(
		    s->forms[st->form].p + st->len - st->held, st->held);
	all = old.len + in.len;
	held = live.len < SCRUB_HOLD ? 0 : live.len;
	if (held > all)
		held = all;
	give = all - held;
	*before = span_of(old.p, give < old.len ? give : old.len);
	*pass = span_of(in.p, give - before->len);
	*st = (struct scrub_state){
	    (uint16_t)live.form, (uint16_t)live.len, (uint16_t)held};
	return false;
}

struct span
scrub_end(const struct scrub *s, struct scrub_state *st)
{
	struct span held;

	held = span_of(NULL, 0);
	if (st->held != 0)
		held = span_of(
		    s->forms[st->form].p + st->len - st->held, st->held);
	*st = (struct scrub_state){0, 0, 0};
	return held;
}
