/* SPDX-License-Identifier: ISC */
/*
 * A server's first bytes: hellos that are whole, cut at each byte, in several
 * records and wrong in each field.
 */
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "egressd/hello.h"
#include "tap.h"

/* The parts of a ClientHello, each of which a test may replace. */
struct parts {
	const char *version;
	unsigned id, ciphers, methods;
	const char *extensions; /* NULL: none, and no length of them */
	size_t len;
	const char *tail; /* after the extensions */
};

static const struct parts usual = {
    .version = "\3\3", .id = 32, .ciphers = 4, .methods = 1};

static void
add_number(struct buf *b, size_t bytes, size_t n)
{
	while (bytes-- > 0)
		buf_addc(b, (uint8_t)(n >> 8 * bytes));
}

static void
add_some(struct buf *b, size_t bytes, size_t n)
{
	add_number(b, bytes, n);
	for (size_t i = 0; i < n; i++)
		buf_addc(b, (uint8_t)i);
}

/* Append a handshake message with these parts. */
static void
add_hello(struct buf *b, const struct parts *p)
{
	struct buf body;

	buf_init(&body, 70000);
	buf_add(&body, p->version, 2);
	for (unsigned i = 0; i < 32; i++)
		buf_addc(&body, 'r');
	add_some(&body, 1, p->id);
	add_some(&body, 2, p->ciphers);
	add_some(&body, 1, p->methods);
	if (p->extensions != NULL) {
		add_number(&body, 2, p->len);
		buf_add(&body, p->extensions, p->len);
	}
	if (p->tail != NULL)
		buf_adds(&body, p->tail);
	buf_addc(b, 1);
	add_number(b, 3, body.len);
	buf_addspan(b, buf_span(&body));
	buf_free(&body);
}

/* Append the bytes in records of `size` bytes. */
static void
add_records(struct buf *b, struct span s, size_t size)
{
	size_t n;

	for (; s.len != 0; s.p += n, s.len -= n) {
		n = s.len < size ? s.len : size;
		buf_add(b, "\26\3\1", 3);
		add_number(b, 2, n);
		buf_add(b, s.p, n);
	}
}

static enum hello_result
parse(const struct parts *p, size_t size, const char *after, struct hello *h)
{
	struct buf hello, raw;
	enum hello_result r;

	buf_init(&hello, 80000);
	buf_init(&raw, 600000);
	add_hello(&hello, p);
	add_records(&raw, buf_span(&hello), size);
	if (after != NULL)
		buf_adds(&raw, after);
	r = hello_parse(buf_span(&raw), h);
	buf_free(&hello);
	buf_free(&raw);
	return r;
}

/* One server_name of this name, with what stands before and after it. */
static struct parts
named(char *dst, const char *before, size_t nbefore, const char *name,
    const char *after, size_t nafter)
{
	struct parts p = usual;
	struct buf b;
	size_t n = strlen(name);

	buf_init(&b, 70000);
	buf_add(&b, before, nbefore);
	add_number(&b, 2, 0);
	add_number(&b, 2, n + 5);
	add_number(&b, 2, n + 3);
	add_number(&b, 1, 0);
	add_number(&b, 2, n);
	buf_adds(&b, name);
	buf_add(&b, after, nafter);
	p.len = b.len;
	memcpy(dst, buf_span(&b).p, b.len);
	buf_free(&b);
	p.extensions = dst;
	return p;
}

static void
test_good(void)
{
	static const char grease[] = "\x1a\x1a\0\0", ech[] = "\xfe\x0d\0\2ab";
	static const size_t sizes[] = {1, 2, 4, 5, 63, 16384};
	char ext[70000];
	struct parts p = named(ext, grease, 4, "Api.Example.org", "", 0);
	struct hello h;

	for (size_t i = 0; i < nitems(sizes); i++) {
		is_int(parse(&p, sizes[i], NULL, &h), HELLO_NAMED,
		    "records of %zu bytes", sizes[i]);
		is_str(h.name, "api.example.org", "... and the name, %zu",
		    sizes[i]);
	}
	ok(!h.ech, "no ECH");
	is_int(parse(&p, 16384, "\24\3\3", &h), HELLO_NAMED,
	    "a record of another kind behind it is not looked at");
	p = named(ext, "", 0, "a.example", ech, 6);
	is_int(parse(&p, 16384, NULL, &h), HELLO_NAMED, "with ECH");
	ok(h.ech && strcmp(h.name, "a.example") == 0, "... the outer name");
	p = named(ext, "", 0, "a.example.", grease, 4);
	is_int(parse(&p, 16384, NULL, &h), HELLO_NAMED, "a name with a dot");
	is_str(h.name, "a.example", "... is the same name");
	p = usual;
	is_int(parse(&p, 16384, NULL, &h), HELLO_NAMELESS, "no extensions");
	p.extensions = "";
	is_int(parse(&p, 16384, NULL, &h), HELLO_NAMELESS, "none of them");
	p.extensions = ech;
	p.len = 6;
	is_int(parse(&p, 16384, NULL, &h), HELLO_NAMELESS, "ECH alone");
	ok(h.ech, "... is seen");
}

/* No cut of a good one has another answer than MORE. */
static void
test_cuts(void)
{
	static const size_t sizes[] = {16384, 7};
	char ext[400];
	struct parts p = named(ext, "", 0, "a.example", "", 0);
	struct buf hello, raw;
	struct hello h;
	size_t bad;

	for (size_t i = 0; i < nitems(sizes); i++) {
		buf_init(&hello, 80000);
		buf_init(&raw, 80000);
		add_hello(&hello, &p);
		add_records(&raw, buf_span(&hello), sizes[i]);
		bad = 0;
		for (size_t n = 0; n < raw.len; n++)
			bad += hello_parse(span_of(buf_span(&raw).p, n), &h) !=
			       HELLO_MORE;
		is_int(bad, 0, "each beginning of it waits for more");
		is_int(hello_parse(buf_span(&raw), &h), HELLO_NAMED,
		    "the whole of it does not");
		buf_free(&hello);
		buf_free(&raw);
	}
}

static void
test_other(void)
{
	static const char *const texts[] = {"G", "GET / HTTP/1.1\r\n",
	    "SSH-2.0-x\r\n", "\200\56\1\3\1", "\26\2", "\26\3\5", "\26\3\0",
	    "\27\3\3", "\25\3\3"};
	struct hello h;

	for (size_t i = 0; i < nitems(texts); i++)
		is_int(
		    hello_parse(
			span_of(texts[i], i == 6 ? 3 : strlen(texts[i])), &h),
		    HELLO_OTHER, "not TLS: row %zu", i);
	is_int(hello_parse(span_of("\26\3\1\0\0", 5), &h), HELLO_BAD,
	    "an empty record");
	is_int(hello_parse(SPAN("\26\3\1\100\1"), &h), HELLO_BAD,
	    "a record of 16385 bytes");
	is_int(
	    hello_parse(SPAN("\26\3\1\1\1\2"), &h), HELLO_BAD, "a ServerHello");
	is_int(hello_parse(span_of("\26\3\1\0\1\1\27\3\3", 9), &h), HELLO_BAD,
	    "another record in the middle");
}

static void
test_bad(void)
{
	static const struct {
		const char *what, *ext;
		size_t len;
	} rows[] = {
	    {"an extension cut in its length", "\0\1\0", 3},
	    {"an extension cut in its body", "\0\1\0\2a", 5},
	    {"an empty server_name", "\0\0\0\0", 4},
	    {"an empty list", "\0\0\0\2\0\0", 6},
	    {"an empty name", "\0\0\0\5\0\3\0\0\0", 9},
	    {"a name of another type", "\0\0\0\6\0\4\1\0\1a", 10},
	    {"bytes after the list", "\0\0\0\7\0\4\0\0\1az", 11},
	    {"two names", "\0\0\0\12\0\10\0\0\1a\0\0\1b", 14},
	    {"a name that is longer than its list", "\0\0\0\6\0\4\0\0\2a", 10},
	    {"a NUL in a name", "\0\0\0\10\0\6\0\0\3a\0b", 12},
	    {"a blank in a name", "\0\0\0\10\0\6\0\0\3a b", 12},
	    {"two extensions with a name",
		"\0\0\0\6\0\4\0\0\1a\0\0\0\6\0\4\0\0\1a", 20},
	};
	char ext[70000], longest[300];
	struct parts p;
	struct hello h;

	for (size_t i = 0; i < nitems(rows); i++) {
		p = usual;
		p.extensions = rows[i].ext;
		p.len = rows[i].len;
		is_int(
		    parse(&p, 16384, NULL, &h), HELLO_BAD, "%s", rows[i].what);
	}
	p = named(ext, "", 0, "a", "", 0);
	p.version = "\2\3";
	is_int(parse(&p, 16384, NULL, &h), HELLO_BAD, "version 2");
	p = named(ext, "", 0, "a", "", 0);
	p.id = 33;
	is_int(parse(&p, 16384, NULL, &h), HELLO_BAD, "a long session id");
	p = named(ext, "", 0, "a", "", 0);
	p.ciphers = 3;
	is_int(parse(&p, 16384, NULL, &h), HELLO_BAD, "half a cipher");
	p.ciphers = 0;
	is_int(parse(&p, 16384, NULL, &h), HELLO_BAD, "no cipher");
	p = named(ext, "", 0, "a", "", 0);
	p.methods = 0;
	is_int(parse(&p, 16384, NULL, &h), HELLO_BAD, "no compression");
	p = named(ext, "", 0, "a", "", 0);
	p.tail = "x";
	is_int(parse(&p, 16384, NULL, &h), HELLO_BAD, "bytes at the end");
	memset(longest, 'a', sizeof(longest));
	longest[254] = '\0';
	p = named(ext, "", 0, longest, "", 0);
	is_int(parse(&p, 16384, NULL, &h), HELLO_BAD, "a name of 254 bytes");
}

static void
test_limits(void)
{
	/* An extension that fills the hello. */
	static char ext[70000];
	struct parts p = usual;
	struct buf b;
	struct hello h;
	const size_t fixed = 4 + 34 + 33 + 6 + 2 + 2;

	memcpy(ext, "\0\25", 2);
	p.extensions = ext;
	p.len = HELLO_MAX - fixed;
	ext[2] = (char)((p.len - 4) >> 8);
	ext[3] = (char)(p.len - 4);
	is_int(parse(&p, 16384, NULL, &h), HELLO_NAMELESS, "16 KiB");
	is_int(parse(&p, 1000, NULL, &h), HELLO_NAMELESS, "... in pieces");
	is_int(parse(&p, 1, NULL, &h), HELLO_BAD, "... of a byte: too many");
	p.len++;
	ext[2] = (char)((p.len - 4) >> 8);
	ext[3] = (char)(p.len - 4);
	is_int(parse(&p, 8000, NULL, &h), HELLO_BAD, "and one byte more");
	buf_init(&b, 70000);
	for (size_t i = 0; i < HELLO_MAX_RAW; i++)
		buf_addc(&b, 22);
	ok(hello_parse(buf_span(&b), &h) != HELLO_MORE,
	    "with so many bytes nothing is waited for");
	buf_free(&b);
	/* Its second record is longer than it needs. */
	buf_init(&b, 1000);
	buf_add(&b, "\26\3\1\0\4\1\0\0\3\26\3\1\0\4", 14);
	is_int(hello_parse(buf_span(&b), &h), HELLO_BAD,
	    "more than the hello in its record");
	buf_free(&b);
}

/* SHA-256 of "HelloRetryRequest". */
static const char retry[] =
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";

/*
 * Feed an answer with this first byte of its random, byte by byte, in records
 * of `size` bytes.
 */
static enum answer_result
answer(const char *before, size_t n, char random, size_t size)
{
	enum answer_result r = ANSWER_MORE;
	struct answer a = {.nhead = 0};
	struct buf message, raw;

	buf_init(&message, 1000);
	buf_init(&raw, 1000);
	buf_add(&message, "\2\0\0\46\3\3", 6);
	buf_addc(&message, (uint8_t)random);
	buf_add(&message, retry + 1, 31);
	buf_add(&message, "\0\23\1\0", 4);
	buf_add(&raw, before, n);
	add_records(&raw, buf_span(&message), size);
	for (size_t i = 0; r == ANSWER_MORE && i < raw.len; i++)
		r = answer_feed(&a, span_of(buf_span(&raw).p + i, 1));
	buf_free(&message);
	buf_free(&raw);
	return r;
}

/* The answers of a host, and records before a second ClientHello. */
static void
test_answer(void)
{
	static const char skipped[] = "\24\3\3\0\1\1\27\3\3\0\2xy\26\3\1";
	struct answer a = {.nhead = 0};
	struct hello h;

	is_int(parse(&usual, 1000, "more", &h), HELLO_NAMELESS, "a hello");
	is_int((int)h.used, 5 + 4 + 34 + 33 + 6 + 2, "its bytes are counted");
	is_int(answer("", 0, '\xcf', 1000), ANSWER_RETRY, "a retry");
	is_int(answer("", 0, '\xcf', 1), ANSWER_RETRY, "... in bytes");
	is_int(answer("\25\3\3\0\2\1\160", 7, '\xcf', 9), ANSWER_RETRY,
	    "... behind a warning");
	is_int(answer("", 0, 'x', 1000), ANSWER_OTHER, "another ServerHello");
	is_int(answer("\24\3\3\0\1\1", 6, '\xcf', 9), ANSWER_OTHER,
	    "another record before it");
	is_int(answer_feed(&a, SPAN("\26\3\3\0\1\2\26\3\3\0")), ANSWER_MORE,
	    "a part of one");
	is_int((int)answer_skip(span_of(skipped, sizeof(skipped) - 1)), 13,
	    "change_cipher_spec and early data are skipped");
	is_int((int)answer_skip(span_of(skipped, 12)), 6, "if they are whole");
	is_int((int)answer_skip(span_of(skipped, 0)), 0, "nothing of nothing");
}

int
main(void)
{
	test_answer();
	test_good();
	test_cuts();
	test_other();
	test_bad();
	test_limits();
	return tap_done();
}
