/* SPDX-License-Identifier: ISC */
/*
 * The search itself.  The text is decoded into blocks; of each block one place
 * in seventeen is looked up in a table of all four-byte pieces of the forms,
 * which no match of twenty bytes can escape, and what fits is compared in both
 * directions.  Holds nothing of its own; everything derived from the
 * credential is in the secret memory it was given.  The text comes from a
 * provider and may be anything.
 */
#include "keyd/scrub.h"

#include <errno.h>

#include "keyd/scrub_text.h"

#define GRAM 4U /* bytes that the table looks at */
#define BITS_MIN 8U
#define BITS_MAX 14U

static const char scrub_b64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static unsigned
hash_bits(size_t len)
{
	unsigned bits = BITS_MIN;

	while (bits < BITS_MAX && ((size_t)1 << bits) < len / 2)
		bits++;
	return bits;
}

/* ---- forms */

/* Writes when out is not NULL; always counts. */
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
 * With `skew` unknown bytes before it: the characters that the key alone
 * decides.
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

static uint32_t
scrub_hash(const struct scrub *s, const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return (w * 0x9e3779b1U) >> (32 - s->bits);
}

static size_t
form_window(const struct scrub_form *f)
{
	return f->len < SCRUB_WINDOW ? f->len : SCRUB_WINDOW;
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

static const struct scrub_form *
form_at(const struct scrub *s, const uint8_t *p)
{
	size_t i = 0;

	while (p >= s->forms[i].p + s->forms[i].len)
		i++;
	return &s->forms[i];
}

static void
build_tables(struct scrub *s)
{
	const struct scrub_form *f;
	size_t least = SCRUB_WINDOW, at;
	uint32_t h;

	for (size_t i = 0; i < (size_t)1 << s->bits; i++)
		s->head[i] = 0;
	for (size_t i = 0; i < s->nforms; i++) {
		f = &s->forms[i];
		if (form_window(f) < least)
			least = form_window(f);
		for (size_t j = 0; j + GRAM <= f->len; j++) {
			at = (size_t)(f->p - s->text) + j;
			h = scrub_hash(s, f->p + j);
			s->next[at] = s->head[h];
			s->head[h] = (uint16_t)(at + 1);
		}
	}
	s->step = least - GRAM + 1;
}

/* The key as the text would read it: with what looks like an escape undone. */
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

	return 2 * ((size_t)1 << hash_bits(forms)) + 2 * forms + forms;
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
	/* Temporary tokens begin with the service and region they are from. */
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
	for (size_t i = 0; i < sizeof(aws) / sizeof(aws[0]); i++) {
		if (span_starts(key, span_str(aws[i])))
			cut = 64;
	}
	(void)is_jwt(key, &cut);
	if (cut > key.len || key.len - cut < SCRUB_MIN)
		return key;
	return span_of(key.p + cut, key.len - cut);
}

/* Is it a form that we have already? */
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
	s->text = p = (uint8_t *)(s->next + forms_size(keys, n));
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

/* ---- search */

/*
 * How far text and form agree around a place: to the left of both, and from
 * there on to the right.
 */
static size_t
extend(const struct scrub_form *f, const uint8_t *form, const uint8_t *text,
    size_t before, size_t after)
{
	size_t left = 0, right = 0;
	size_t room = (size_t)(form - f->p),
	       rest = (size_t)(f->p + f->len - form);

	while (left < before && left < room &&
	       text[-1 - (ptrdiff_t)left] == form[-1 - (ptrdiff_t)left])
		left++;
	while (right < after && right < rest && text[right] == form[right])
		right++;
	return left + right;
}

static bool
found_at(const struct scrub *s, const struct scrub_block *b, size_t at)
{
	const struct scrub_form *f;
	const uint8_t *form;

	for (size_t k = s->head[scrub_hash(s, b->c + at)]; k != 0;
	     k = s->next[k - 1]) {
		form = s->text + k - 1;
		if (!scrub_same(form, b->c + at, GRAM))
			continue;
		f = form_at(s, form);
		if (extend(f, form, b->c + at, at, b->n - at) >= form_window(f))
			return true;
	}
	return false;
}

static bool
search(const struct scrub *s, const struct scrub_block *b)
{
	size_t at;

	for (at = 0; at + GRAM <= b->n; at += s->step) {
		if (s->head[scrub_hash(s, b->c + at)] != 0 &&
		    found_at(s, b, at))
			return true;
	}
	return false;
}

/* The longest end of the text that lies in a form. */
static size_t
open_end(const struct scrub *s, const struct scrub_block *b)
{
	size_t at, longest = 0, n;
	const uint8_t *form;

	if (b->n < GRAM)
		return 0;
	at = b->n - GRAM;
	for (size_t k = s->head[scrub_hash(s, b->c + at)]; k != 0;
	     k = s->next[k - 1]) {
		form = s->text + k - 1;
		if (!scrub_same(form, b->c + at, GRAM))
			continue;
		n = extend(form_at(s, form), form, b->c + at, at, GRAM);
		if (n > longest)
			longest = n;
	}
	return longest;
}

/* The end of a block is the beginning of the next one. */
static void
keep_tail(struct scrub_state *st, const struct scrub_block *b)
{
	size_t n = b->n < SCRUB_WINDOW ? b->n : SCRUB_WINDOW;

	memcpy(st->tail, b->c + b->n - n, n);
	memcpy(st->at, b->at + b->n - n, n * sizeof(st->at[0]));
	st->ntail = (unsigned)n;
}

static void
begin_block(const struct scrub_state *st, struct scrub_block *b)
{
	memcpy(b->c, st->tail, st->ntail);
	memcpy(b->at, st->at, st->ntail * sizeof(st->at[0]));
	b->n = st->ntail;
}

/*
 * Reads on. true: found. Else *open is where the text begins that may become
 * a match, from the beginning of `in`, or in.len.
 */
static bool
read_on(const struct scrub *s, struct scrub_state *st, struct span in,
    int32_t *open)
{
	static struct scrub_block b;
	size_t done = 0, n;
	bool hit = false;

	*open = (int32_t)in.len;
	do {
		begin_block(st, &b);
		n = scrub_decode(
		    st, &b, span_of(in.p + done, in.len - done), (int32_t)done);
		done += n;
		hit = search(s, &b);
		keep_tail(st, &b);
	} while (!hit && done < in.len);
	if (!hit && (n = open_end(s, &b)) >= SCRUB_HOLD)
		*open = b.at[b.n - n];
	/* Places count from the end of what was read. */
	for (unsigned i = 0; i < st->ntail; i++)
		st->at[i] -= (int32_t)in.len;
	if (hit)
		explicit_bzero(&b, sizeof(b));
	return hit;
}

bool
scrub_find(const struct scrub *s, struct span in)
{
	struct scrub_state st = {.ntail = 0};
	int32_t open;
	bool hit;

	if (s->nforms == 0)
		return false;
	hit = read_on(s, &st, in, &open);
	explicit_bzero(&st, sizeof(st));
	return hit;
}

bool
scrub_feed(const struct scrub *s, struct scrub_state *st, struct span in,
    struct span *before, struct span *pass)
{
	const uint8_t *old = st->hold[st->which];
	size_t all = st->held + in.len, keep, give;
	uint8_t *hold;
	int32_t open;

	*before = span_of(NULL, 0);
	*pass = in;
	if (in.len == 0 || s->nforms == 0)
		return false;
	*pass = span_of(in.p, 0);
	if (read_on(s, st, in, &open))
		return true;
	keep = (size_t)((int64_t)in.len - open);
	/* What was passed before it looked like this is gone. */
	if (keep > all)
		keep = all;
	if (keep > SCRUB_HELD_MAX)
		return true;
	give = all - keep;
	*before = span_of(old, give < st->held ? give : st->held);
	*pass = span_of(in.p, give - before->len);
	st->which ^= 1;
	hold = st->hold[st->which];
	memcpy(hold, old + before->len, st->held - before->len);
	memcpy(hold + st->held - before->len, in.p + pass->len,
	    in.len - pass->len);
	st->held = keep;
	return false;
}

struct span
scrub_flush(struct scrub_state *st)
{
	struct span held = span_of(st->hold[st->which], st->held);

	st->held = 0;
	return held;
}

struct span
scrub_end(struct scrub_state *st)
{
	struct span held = scrub_flush(st);

	st->ntail = st->nescape = st->breaks = 0;
	return held;
}
