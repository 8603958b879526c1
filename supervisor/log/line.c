/* SPDX-License-Identifier: ISC */
/*
 * Composes and checks lines of the audit log. Holds the position in the chain;
 * does no input or output.
 */
#include "log/line.h"

#include <errno.h>
#include <stdio.h>

#include "common/json/json.h"
#include "common/log.h"
#include "common/loop.h"

/* The members that every line has, sorted by name. */
static const struct span fixed_keys[] = {AUDITLOG_KEY("event"),
    AUDITLOG_KEY("mono"), AUDITLOG_KEY("prev"), AUDITLOG_KEY("seq"),
    AUDITLOG_KEY("time")};
#define FIXED_COUNT nitems(fixed_keys)
/* Keys are compared from their names on. */
#define KEY_NAME 2

static void
line_key(struct auditlog_line *l, struct span key)
{
	uint8_t *to;

	if ((to = buf_room(l->b, key.len)) == NULL)
		return;
	memcpy(to, key.p, key.len);
	if (l->b->len == l->start)
		to[0] = '{';
	buf_grow(l->b, key.len);
}

/* A quote sorts before every character of a name. */
static bool
key_before(struct span a, struct span b)
{
	if (a.p[KEY_NAME] != b.p[KEY_NAME])
		return a.p[KEY_NAME] < b.p[KEY_NAME];
	return span_cmp(a, b) < 0;
}

static void
put_digits(uint8_t *dst, unsigned v, size_t width)
{
	while (width-- != 0) {
		dst[width] = (uint8_t)('0' + v % 10);
		v /= 10;
	}
}

/* Convert days since 1970-01-01 to a date of the Gregorian calendar. */
static void
civil(uint64_t days, unsigned *year, unsigned *month, unsigned *day)
{
	uint64_t z = days + 719468, era = z / 146097, doe = z % 146097;
	uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	uint64_t mp = (5 * doy + 2) / 153;

	*day = (unsigned)(doy - (153 * mp + 2) / 5 + 1);
	*month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);
	*year = (unsigned)(yoe + era * 400 + (*month <= 2 ? 1 : 0));
}

static void
put_time(struct buf *b, uint64_t us)
{
	uint8_t text[] = "\"0000-00-00T00:00:00.000000Z\"";
	unsigned year, month, day, sec = (unsigned)(us / 1000000 % 86400);

	civil(us / 1000000 / 86400, &year, &month, &day);
	put_digits(text + 1, year, 4);
	put_digits(text + 6, month, 2);
	put_digits(text + 9, day, 2);
	put_digits(text + 12, sec / 3600, 2);
	put_digits(text + 15, sec / 60 % 60, 2);
	put_digits(text + 18, sec % 60, 2);
	put_digits(text + 21, (unsigned)(us % 1000000), 6);
	buf_add(b, text, sizeof(text) - 1);
}

static void
put_fixed(struct auditlog_line *l, unsigned which)
{
	line_key(l, fixed_keys[which]);
	switch (which) {
	case 0:
		json_write_string(l->b, span_str(l->event));
		break;
	case 1:
		buf_addu64(l->b, clock_mono_us());
		break;
	case 2:
		buf_addc(l->b, '"');
		buf_addhex(l->b, l->log->prev, AUDITLOG_HASH);
		buf_addc(l->b, '"');
		break;
	case 3:
		buf_addu64(l->b, l->log->seq);
		break;
	default:
		put_time(l->b, clock_wall_us());
		break;
	}
}

/* Add the fixed members that sort before `key`; then begin the member `key`. */
static void
line_member(struct auditlog_line *l, struct span key)
{
	while (l->fixed < FIXED_COUNT &&
	       key_before(fixed_keys[l->fixed], key))
		put_fixed(l, l->fixed++);
	line_key(l, key);
}

void
auditlog_begin(struct auditlog_line *l, struct auditlog *log, struct buf *b,
    const char *event)
{
	l->log = log;
	l->b = b;
	l->event = event;
	l->start = b->len;
	l->fixed = 0;
}

/*
 * Write a text that is not UTF-8. This is not part of auditlog_str(), because
 * the compiler zeroes `vis` in each call of the function that has it.
 */
static void __attribute__((noinline))
line_vis(struct auditlog_line *l, struct span s)
{
	char vis[1024];

	json_write_string(l->b, span_str(log_vis(s, vis, sizeof(vis))));
}

void
auditlog_add_str(struct auditlog_line *l, struct span key, struct span s)
{
	line_member(l, key);
	if (utf8_valid(s))
		json_write_string(l->b, s);
	else
		line_vis(l, s);
}

void
auditlog_add_json(struct auditlog_line *l, struct span key, struct span json)
{
	line_member(l, key);
	buf_addspan(l->b, json);
}

void
auditlog_add_u64(struct auditlog_line *l, struct span key, uint64_t v)
{
	line_member(l, key);
	buf_addu64(l->b, v);
}

void
auditlog_add_ms(struct auditlog_line *l, struct span key, uint64_t us)
{
	uint8_t frac[4] = ".000";

	line_member(l, key);
	buf_addu64(l->b, us / 1000);
	put_digits(frac + 1, (unsigned)(us % 1000), 3);
	buf_add(l->b, frac, sizeof(frac));
}

void
auditlog_add_time(struct auditlog_line *l, struct span key, uint64_t us)
{
	line_member(l, key);
	put_time(l->b, us);
}

void
auditlog_add_hex(
    struct auditlog_line *l, struct span key, const void *p, size_t len)
{
	line_member(l, key);
	buf_addc(l->b, '"');
	buf_addhex(l->b, p, len);
	buf_addc(l->b, '"');
}

int
auditlog_end(struct auditlog_line *l)
{
	struct auditlog *log = l->log;
	uint8_t hash[AUDITLOG_HASH];
	struct span line;

	while (l->fixed < FIXED_COUNT)
		put_fixed(l, l->fixed++);
	buf_addc(l->b, '}');
	/* Reserve space for the hash first, so that adding it cannot fail. */
	if (l->b->failed || buf_room(l->b, AUDITLOG_TAIL + 1) == NULL) {
		l->b->len = l->start;
		l->b->failed = false;
		errno = ENOBUFS;
		return -1;
	}
	line = buf_span(l->b);
	line.p += l->start;
	line.len -= l->start;
	sha256_span(line, hash);
	l->b->len--;
	buf_adds(l->b, ",\"hash\":\"");
	buf_addhex(l->b, hash, sizeof(hash));
	buf_add(l->b, "\"}\n", 3);
	memcpy(log->prev, hash, sizeof(hash));
	log->seq++;
	return 0;
}

void
auditlog_digest(struct span server, struct span tool, struct span arguments,
    struct span named, uint8_t out[AUDITLOG_HASH])
{
	static uint8_t bytes[2048];
	struct buf b = {.p = bytes, .cap = sizeof(bytes), .max = sizeof(bytes)};
	struct span runs[5] = {[1] = arguments, [4] = SPAN("]")};

	/* Names have at most 64 and 256 bytes, six times that when escaped. */
	buf_addc(&b, '[');
	json_write_string(&b, server);
	buf_addc(&b, ',');
	json_write_string(&b, tool);
	buf_addc(&b, ',');
	runs[0] = buf_span(&b);
	if (named.len != 0) {
		runs[2] = SPAN(",");
		runs[3] = named;
	}
	sha256_spans(runs, nitems(runs), out);
}

/*
 * Returns the text after the last `name` in the line, or a NULL span. It is
 * safe to search: the members from `prev` on contain no nested object, and a
 * string contains no unescaped quote.
 */
static struct span
find_last(struct span line, struct span name)
{
	for (size_t i = line.len; i-- > 0;) {
		struct span at = span_of(line.p + i, line.len - i);

		if (at.p[0] == ',' && span_starts(at, name))
			return span_of(at.p + name.len, at.len - name.len);
	}
	return (struct span){NULL, 0};
}

static bool
hex_is(struct span at, const uint8_t hash[AUDITLOG_HASH])
{
	static const char digits[] = "0123456789abcdef";

	if (at.p == NULL || at.len < AUDITLOG_HEX)
		return false;
	for (size_t i = 0; i < AUDITLOG_HASH; i++) {
		if (at.p[2 * i] != (uint8_t)digits[hash[i] >> 4] ||
		    at.p[2 * i + 1] != (uint8_t)digits[hash[i] & 15])
			return false;
	}
	return true;
}

/* Split the line at its hash. Returns false if there is none. */
static bool
line_split(struct span line, struct span *head, struct span *hex)
{
	struct span tail;

	if (line.len < AUDITLOG_TAIL + 2 || line.p[0] != '{')
		return false;
	tail = span_of(line.p + line.len - AUDITLOG_TAIL, AUDITLOG_TAIL);
	if (!span_starts(tail, SPAN(",\"hash\":\"")) ||
	    memcmp(tail.p + tail.len - 2, "\"}", 2) != 0)
		return false;
	*head = span_of(line.p, line.len - AUDITLOG_TAIL);
	*hex = span_of(tail.p + 9, AUDITLOG_HEX);
	return true;
}

/* Compute a line's hash from everything before it. */
static void
line_hash(struct span head, uint8_t hash[AUDITLOG_HASH])
{
	const struct span runs[2] = {head, SPAN("}")};

	sha256_spans(runs, 2, hash);
}

bool
auditlog_hash_is(struct span line, const uint8_t hash[AUDITLOG_HASH])
{
	uint8_t found[AUDITLOG_HASH];
	struct span head, hex;

	if (!line_split(line, &head, &hex) || !hex_is(hex, hash))
		return false;
	line_hash(head, found);
	return memcmp(found, hash, sizeof(found)) == 0;
}

bool
auditlog_before(struct span line, struct auditlog *log)
{
	struct span seq, prev, head, hex;
	unsigned byte;
	char pair[3] = "";
	size_t digits = 0;

	if (!line_split(line, &head, &hex))
		return false;
	prev = find_last(head, SPAN(",\"prev\":\""));
	seq = find_last(head, SPAN(",\"seq\":"));
	while (digits < seq.len && seq.p[digits] >= '0' && seq.p[digits] <= '9')
		digits++;
	if (prev.p == NULL || prev.len < AUDITLOG_HEX || seq.p == NULL ||
	    span_u64(span_of(seq.p, digits), UINT64_MAX, &log->seq) == -1)
		return false;
	for (size_t i = 0; i < AUDITLOG_HASH; i++) {
		memcpy(pair, prev.p + 2 * i, 2);
		if (sscanf(pair, "%2x", &byte) != 1)
			return false;
		log->prev[i] = (uint8_t)byte;
	}
	return true;
}

enum auditlog_check
auditlog_verify(struct auditlog *log, struct span line)
{
	struct span seq, prev, head, hex;
	uint8_t hash[AUDITLOG_HASH];
	uint64_t n;
	size_t digits = 0;

	if (!line_split(line, &head, &hex))
		return AUDITLOG_FORM;
	prev = find_last(head, SPAN(",\"prev\":\""));
	seq = find_last(head, SPAN(",\"seq\":"));
	while (digits < seq.len && seq.p[digits] >= '0' && seq.p[digits] <= '9')
		digits++;
	if (prev.p == NULL || seq.p == NULL ||
	    span_u64(span_of(seq.p, digits), UINT64_MAX, &n) == -1)
		return AUDITLOG_FORM;
	line_hash(head, hash);
	if (!hex_is(hex, hash))
		return AUDITLOG_BROKEN;
	if (!hex_is(prev, log->prev))
		return AUDITLOG_PREV;
	if (n != log->seq)
		return AUDITLOG_SEQ;
	memcpy(log->prev, hash, sizeof(hash));
	log->seq = n + 1;
	return AUDITLOG_GOOD;
}
