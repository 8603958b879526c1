/* SPDX-License-Identifier: ISC */
/*
 * Tests the scrub against an independent oracle: forms come from OpenSSL's
 * encoder and sprintf, and the search is memmem() over the whole text. Every
 * split of every form is fed, and pieces, look-alikes, and random streams over
 * tiny alphabets, in which possible beginnings overlap as badly as they can.
 */
#include <openssl/evp.h>

#include <stdio.h>
#include <stdlib.h>

#include "mitmd/keyd/scrub.h"
#include "rnd.h"
#include "tap.h"
#include "unit/keyd/scrub_oracle.h"

static _Alignas(uint16_t) uint8_t mem[1 << 18];
static struct scrub scrub;

struct fed {
	uint8_t out[1 << 16];
	size_t len;
	size_t late;	/* the most bytes withheld after a piece */
	bool hit;
};

static struct fed fed;

static void
take(struct span s)
{
	if (s.len != 0)
		memcpy(fed.out + fed.len, s.p, s.len);
	fed.len += s.len;
}

/* Feed the text split at the given places, the last of which is `n`. */
static void
feed(const char *text, size_t n, const size_t *cuts, size_t ncuts)
{
	struct scrub_state st = {.ntail = 0};
	struct span before, pass;
	size_t at = 0, end;

	fed.len = fed.late = 0;
	fed.hit = false;
	for (size_t i = 0; i <= ncuts && !fed.hit; i++) {
		uint8_t *exact;

		end = i < ncuts ? cuts[i] : n;
		exact = malloc(end - at + 1);
		memcpy(exact, text + at, end - at);
		fed.hit = scrub_feed(&scrub, &st, span_of(exact, end - at),
		    &before, &pass);
		if (!fed.hit) {
			take(before);
			take(pass);
			if (end - fed.len > fed.late)
				fed.late = end - fed.len;
		}
		free(exact);
		at = end;
	}
	if (!fed.hit)
		take(scrub_end(&st));
}

static int
build(struct span k, size_t cap)
{
	return scrub_build(&scrub, &k, 1, mem, cap);
}

static void
key(const char *k)
{
	if (build(span_str(k), sizeof(mem)) == -1)
		abort();
}

/* Compute all forms of a key independently, NUL-terminated. */
static size_t
forms(const char *k, char out[][1024])
{
	size_t n = 0, len = strlen(k), b, skip, keep;
	unsigned char in[512], enc[1024];
	char *p;

	strcpy(out[n++], k);
	for (size_t skew = 0; skew < 3; skew++) {
		memset(in, 'x', skew);
		memcpy(in + skew, k, len);
		b = (size_t)EVP_EncodeBlock(enc, in, (int)(skew + len));
		skip = skew == 0 ? 0 : skew + 1;
		while (b > 0 && enc[b - 1] == '=')
			b--;
		/*
		 * The last character of a partial group also encodes bits of
		 * what follows.
		 */
		keep = b - ((skew + len) % 3 != 0) - skip;
		snprintf(out[n++], 1024, "%.*s", (int)keep, enc + skip);
		snprintf(out[n], 1024, "%.*s", (int)keep, enc + skip);
		for (p = out[n++]; *p != '\0'; p++)
			*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	}
	for (int upper = 0; upper < 2; upper++) {
		for (size_t i = 0; i < len; i++)
			sprintf(out[n] + 2 * i, upper ? "%02X" : "%02x", k[i]);
		n++;
	}
	return n;
}

static void
test_splits(const char *k)
{
	static char f[16][1024], text[4096];
	size_t n, len, before, cut[2], missed = 0, leaked = 0, fed_n = 0;

	key(k);
	n = forms(k, f);
	for (size_t i = 0; i < n; i++) {
		before = (size_t)snprintf(text, sizeof(text),
		    "data: {\"delta\": \"");
		len = (size_t)snprintf(text, sizeof(text),
		    "data: {\"delta\": \"%s\"}\n\n", f[i]);
		for (cut[0] = 0; cut[0] <= len; cut[0]++) {
			for (cut[1] = cut[0]; cut[1] <= len;
			     cut[1] += 1 + rnd(9)) {
				feed(text, len, cut, 2);
				missed += !fed.hit;
				leaked += fed.len > before + SCRUB_HOLD - 1;
				fed_n++;
			}
		}
		if (!scrub_find(&scrub, span_of(text, len)))
			missed++;
	}
	is_int(missed, 0, 
	    "%zu splits of %zu forms of a %zu byte key: all found",
	    fed_n, n, strlen(k));
	is_int(leaked, 0, "never more than %u bytes of one got out",
	    SCRUB_HOLD - 1);
}

static void
test_bytewise(const char *k)
{
	static char f[16][1024];
	size_t n, cuts[1024], missed = 0;

	key(k);
	n = forms(k, f);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j + 1 < strlen(f[i]); j++)
			cuts[j] = j + 1;
		feed(f[i], strlen(f[i]), cuts, strlen(f[i]) - 1);
		missed += !fed.hit;
	}
	is_int(missed, 0, "byte by byte: all found");
}

/* The escapes of a key with characters that a URL or JSON string escapes. */
static void
test_escapes(void)
{
	static const char *const texts[] = {
	    "%2B%2Fab%22c%5Cd%3C0123456789%26%27",
	    "%2b%2fab%22c%5cd%3c0123456789%26%27",
	    "+/ab\\\"c\\\\d<0123456789&'", "+\\/ab\\\"c\\\\d<0123456789&'",
	    "+/ab\\\"c\\\\d\\u003c0123456789\\u0026\\u0027",
	    "+\\/ab\\\"c\\\\d\\u003c0123456789\\u0026\\u0027"};

	key("+/ab\"c\\d<0123456789&'");
	for (size_t i = 0; i < nitems(texts); i++) {
		size_t cut = strlen(texts[i]) / 2;

		feed(texts[i], strlen(texts[i]), &cut, 1);
		ok(fed.hit, "found: %s", texts[i]);
	}
}

/*
 * A piece of a key behind any number of literal characters, with one of its
 * characters escaped or after a line break: text is decoded in lanes of several
 * widths, which must notice that at every place.
 */
static void
test_lanes(const char *k)
{
	static char text[512], forms[5][16];
	size_t missed = 0, changed = 0, n;

	snprintf(forms[0], sizeof(forms[0]), "%c", k[30]);
	snprintf(forms[1], sizeof(forms[1]), "%%%02x", k[30]);
	snprintf(forms[2], sizeof(forms[2]), "\\u%04x", k[30]);
	snprintf(forms[3], sizeof(forms[3]), "\n%c", k[30]);
	snprintf(forms[4], sizeof(forms[4]), "\r%c", k[30]);
	key(k);
	for (size_t from = 0; from < 200; from++) {
		for (size_t i = 0; i < nitems(forms); i++) {
			memset(text, '.', sizeof(text));
			memcpy(text + from, k + 20, 10);
			n = strlen(forms[i]);
			memcpy(text + from + 10, forms[i], n);
			memcpy(text + from + 10 + n, k + 31, 10);
			feed(text, 400, NULL, 0);
			missed += !fed.hit;
			text[from + 5] = '*';
			feed(text, 400, NULL, 0);
			changed += fed.hit || fed.len != 400 ||
				   memcmp(fed.out, text, 400) != 0;
		}
	}
	is_int(missed, 0, "a piece is found at every place of a lane");
	is_int(changed, 0, "other text passes unchanged");
}

/*
 * The beginning of a piece is held back from its first byte on, even if that is
 * the end of a long run of literal bytes and the rest is as long as it can be:
 * every character escaped, after two escaped line breaks.
 */
static void
test_offsets(const char *k)
{
	static char text[4096 + 1024];
	size_t wrong = 0, n;

	key(k);
	for (size_t lead = 0; lead < 4200; lead += 1 + rnd(40)) {
		memset(text, '.', lead);
		memcpy(text + lead, k + 20, 5);
		n = lead + 5;
		for (size_t i = 25; i < 20 + SCRUB_WINDOW - 1; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "\\u000a\\u000d\\u%04x", k[i]);
		feed(text, n, NULL, 0);
		wrong += fed.hit || fed.len != n ||
			 memcmp(fed.out, text, n) != 0 ||
			 fed.late != n - lead;
		text[n++] = k[20 + SCRUB_WINDOW - 1];
		feed(text, n, NULL, 0);
		wrong += !fed.hit;
	}
	is_int(wrong, 0, "a piece is held back from its first byte on");
}

/* Every piece of a key from SCRUB_WINDOW characters on is found. */
static void
test_pieces(const char *k)
{
	static char text[1024];
	size_t n = strlen(k), len, cut, bad = 0, tried = 0;

	key(k);
	for (size_t from = 0; from < n; from++) {
		for (size_t to = from + 1; to <= n; to++) {
			len = (size_t)snprintf(text, sizeof(text),
			    "{\"error\":\"bad key %.*s*\"}", (int)(to - from),
			    k + from);
			cut = rnd((unsigned)len);
			feed(text, len, &cut, 1);
			bad += fed.hit != (to - from >= SCRUB_WINDOW);
			bad += !fed.hit && (fed.len != len ||
					       memcmp(fed.out, text, len) != 0);
			tried++;
		}
	}
	is_int(bad, 0, "%zu pieces of a key: those of %u and more are found",
	    tried, SCRUB_WINDOW);
	feed(k, n - 1, NULL, 0);
	ok(fed.hit, "all but the last character");
	feed(k + 1, n - 1, NULL, 0);
	ok(fed.hit, "all but the first one");
}

/* The characters of a key that get out, and those that wait, byte by byte. */
static void
test_held(const char *k)
{
	struct scrub_state st = {.ntail = 0};
	struct span before, pass;
	size_t out = 0, most = 0;

	key(k);
	for (size_t i = 0; i < SCRUB_WINDOW - 1; i++) {
		if (scrub_feed(&scrub, &st, span_of(k + i, 1), &before, &pass))
			break;
		out += before.len + pass.len;
		most = i + 1 - out > most ? i + 1 - out : most;
	}
	is_int(out, SCRUB_HOLD - 1, "the beginning of a piece gets out");
	is_int(most, SCRUB_WINDOW - SCRUB_HOLD, "the rest waits");
	is_int(scrub_end(&st).len, SCRUB_WINDOW - SCRUB_HOLD,
	    "and is passed where nothing follows");
}

/* Messages of one connection, each passed on completely. */
static void
test_messages(const char *k)
{
	struct scrub_state st = {.ntail = 0};
	struct span before, pass;
	bool hit = false;
	size_t i;

	key(k);
	for (i = 0; !hit && i + 8 <= strlen(k); i += 8) {
		hit = scrub_feed(&scrub, &st, span_of(k + i, 8), &before, &pass);
		(void)scrub_flush(&st);
		is_int(st.held, 0, "a message is whole");
	}
	ok(hit && i <= 24, "eight characters in each: found in the third");
}

/* The encodings of a key by honest and careless pages. */
static void
test_encodings(const char *k)
{
	static char text[4096], enc[1024];
	size_t n = strlen(k), len, b, missed = 0;
	const char *name[] = {"\\u00xx for all", "%xx for all",
	    "base64 in lines", "base64 in lines of JSON", "\\u002d for -"};

	key(k);
	b = (size_t)EVP_EncodeBlock((unsigned char *)enc,
	    (const unsigned char *)k, (int)n);
	for (unsigned kind = 0; kind < 5; kind++) {
		len = 0;
		for (size_t i = 0; kind < 2 && i < n; i++)
			len += (size_t)sprintf(text + len,
			    kind == 0 ? "\\u%04x" : "%%%02X", k[i]);
		for (size_t i = 0; (kind == 2 || kind == 3) && i < b; i++)
			len += (size_t)sprintf(text + len, "%c%s", enc[i],
			    i % 19 != 18 ? "" : kind == 2 ? "\r\n" : "\\r\\n");
		for (size_t i = 0; kind == 4 && i < n; i++)
			len += (size_t)sprintf(text + len,
			    k[i] == '-' ? "\\u002d" : "%c", k[i]);
		for (size_t cut = 0; cut <= len; cut++) {
			size_t cuts[2] = {cut, cut + rnd(12)};

			if (cuts[1] > len)
				cuts[1] = len;
			feed(text, len, cuts, 2);
			missed += !fed.hit;
		}
		is_int(missed, 0, "%s: found in every split", name[kind]);
		missed = 0;
	}
}

static void
secret_is(const char *k, const char *prefix, const char *want)
{
	struct span p = span_str(prefix);

	ok(span_is(scrub_secret(span_str(k), &p, 1), want),
	    "the secret part of %.30s", k);
}

static void
test_secret(void)
{
	secret_is("sk-ant-api03-abcdefghijklmnopqrstuvwxyz",
	    "sk-ant-api03-ironcurtain-", "abcdefghijklmnopqrstuvwxyz");
	secret_is("0123456789abcdefghij", "sk-", "0123456789abcdefghij");
	secret_is("sk-0123456789abcde", "sk-x", "sk-0123456789abcde");
	secret_is("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9."
		  "c2lnbmF0dXJlLXRoYXQtaXMtc2VjcmV0",
	    "eyJhbGciOiJub25lIn0.", "c2lnbmF0dXJlLXRoYXQtaXMtc2VjcmV0");
	secret_is("IQoJb3JpZ2luX2VjEPT//////////wEaCXVzLWVhc3QtMSJHMEUCIQDaaaaaaaaa"
		  "the-rest-of-the-token-is-secret",
	    "", "the-rest-of-the-token-is-secret");
	/* A page that quotes the other parts does not lock the provider. */
	key("c2lnbmF0dXJlLXRoYXQtaXMtc2VjcmV0");
	ok(!scrub_find(&scrub, SPAN("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.")),
	    "header and claims of a JWT pass");
}

/* Look-alikes have no run as long as a piece. */
static void
test_look_alikes(const char *k)
{
	static char text[2048];
	size_t len = strlen(k), cut, bad = 0, n = 0;

	key(k);
	for (size_t i = 0; i < SCRUB_WINDOW; i++) {
		snprintf(text, sizeof(text), "a %s b %s", k, k);
		for (char *p = text; (p = strstr(p, k)) != NULL; p++) {
			for (size_t j = i; j < len; j += SCRUB_WINDOW - 1)
				p[j] = (char)(p[j] == '~' ? '!' : '~');
		}
		for (cut = 0; cut < strlen(text); cut += 1 + rnd(5)) {
			feed(text, strlen(text), &cut, 1);
			bad += fed.hit || fed.len != strlen(text) ||
			    memcmp(fed.out, text, fed.len) != 0;
			n++;
		}
	}
	is_int(bad, 0, "%zu look-alikes pass unharmed", n);
}

/* Random text over few letters, compared with memmem() over the whole. */
static void
test_random(unsigned rounds)
{
	static const char *const alphabets[] = {
	    "ab", "abc", "aA+/", "sk-ant03"};
	static const char *const glue[] = {
	    "\n", "\\", "%", "\\u", "\\n", "\r\n\n", "%6", "\\u006", "~", "\""};
	static char f[16][1024], text[1024], k[64];
	static uint8_t plain[1024], form[1024];
	size_t cuts[16], ncuts, n, nf, at, differ = 0, hits = 0, torn = 0;
	size_t nplain, nform;

	for (unsigned r = 0; r < rounds; r++) {
		const char *abc = alphabets[rnd(4)];
		unsigned letters = (unsigned)strlen(abc);
		bool want = false;

		n = SCRUB_MIN + rnd(8);
		for (size_t i = 0; i < n; i++)
			k[i] = abc[i > 1 && rnd(3) != 0 ? 0 : rnd(letters)];
		k[n] = '\0';
		key(k);
		nf = forms(k, f);
		/*
		 * Pieces of forms one after the other, some of them complete.
		 */
		at = 0;
		while (at < 300) {
			const char *piece = f[rnd((unsigned)nf)];
			size_t from = rnd(3) == 0 ? rnd(4) : 0, len;

			len = strlen(piece) - from;
			if (len > SCRUB_WINDOW - 4 && rnd(40) != 0)
				len = 1 + rnd(SCRUB_WINDOW - 4);
			memcpy(text + at, piece + from, len);
			at += len;
			if (rnd(3) == 0)
				at += (size_t)sprintf(text + at, "%s",
				    glue[rnd(nitems(glue))]);
		}
		nplain = oracle_decode((uint8_t *)text, at, plain);
		for (size_t i = 0; i < nf; i++) {
			nform = oracle_decode(
			    (uint8_t *)f[i], strlen(f[i]), form);
			want |= oracle_form(plain, nplain, form, nform);
		}
		ncuts = rnd(16);
		for (size_t i = 0; i < ncuts; i++)
			cuts[i] = rnd((unsigned)at + 1);
		for (size_t i = 0; i < ncuts; i++) {
			for (size_t j = i + 1; j < ncuts; j++) {
				if (cuts[j] < cuts[i]) {
					size_t t = cuts[i];

					cuts[i] = cuts[j];
					cuts[j] = t;
				}
			}
		}
		feed(text, at, cuts, ncuts);
		differ += fed.hit != want;
		torn += !fed.hit &&
		    (fed.len != at || memcmp(fed.out, text, at) != 0);
		torn += fed.hit && memcmp(fed.out, text, fed.len) != 0;
		hits += want;
	}
	is_int(differ, 0, "%u random streams, %zu with a form: as memmem",
	    rounds, hits);
	is_int(torn, 0, "what passes is what came");
	ok(hits > rounds / 10 && hits < rounds - rounds / 10,
	    "both outcomes were among them");
}

static void
test_limits(void)
{
	static char big[SCRUB_MAX + 2];
	struct span pass, before, longest;
	struct scrub_state st = {.ntail = 0};

	is_int(build(SPAN("fifteen-bytes-x"), sizeof(mem)),
	    -1, "15 bytes are too few");
	ok(!scrub_find(&scrub, SPAN("fifteen-bytes-x")) &&
	    !scrub_feed(&scrub, &st, SPAN("fifteen-bytes-x"), &before, &pass) &&
	    pass.len == 15, "then nothing is searched for");
	memset(big, 'k', sizeof(big) - 1);
	is_int(build(span_of(big, SCRUB_MAX + 1), sizeof(mem)), -1, "over the maximum");
	is_int(build(span_of(big, SCRUB_MAX), sizeof(mem)),
	    0, "the longest key");
	ok(scrub_find(&scrub, span_of(big, SCRUB_MAX)), "is found");
	ok(scrub_find(&scrub, span_of(big, SCRUB_WINDOW)), "so is a piece");
	ok(!scrub_find(&scrub, span_of(big, SCRUB_WINDOW - 1)),
	    "one byte less is not");
	longest = span_of(big, SCRUB_MAX);
	is_int(build(longest, scrub_size(&longest, 1) - 1), -1,
	    "memory short by one");
}

/* Two keys with the same beginning, such as an access and a refresh token. */
static void
test_several(void)
{
	static const char a[] = "sk-ant-oat01-abcdefghijklmnop",
			  b[] = "sk-ant-ort01-qrstuvwxyz012345";
	struct span keys[SCRUB_KEYS + 1] = {SPAN(a), SPAN(b), SPAN(a), SPAN(b)};
	struct span before, pass;
	struct scrub_state st = {.ntail = 0};

	is_int(scrub_build(&scrub, keys, 2, mem, sizeof(mem)), 0, "two keys");
	ok(scrub_find(&scrub, keys[0]) && scrub_find(&scrub, keys[1]),
	    "both are found");
	ok(!scrub_find(&scrub, SPAN("sk-ant-oat01-qrstuvwxyz01234-")),
	    "one's beginning with the other's end is neither");
	ok(!scrub_feed(&scrub, &st, SPAN("sk-ant-o"), &before, &pass) &&
	    !scrub_feed(&scrub, &st, SPAN("rt01-qrst"), &before, &pass) &&
	    scrub_feed(&scrub, &st, SPAN("uvwxyz012345"), &before, &pass),
	    "the second, in three pieces");
	is_int(scrub_build(&scrub, keys, SCRUB_KEYS + 1, mem, sizeof(mem)), -1,
	    "too many keys");
	is_int(scrub_build(&scrub, keys, 0, mem, sizeof(mem)), -1, "no key");
}

int
main(void)
{
	static const char sk[] =
	    "sk-ant-api03-Zq9_x2LmP0rT5uVw8yAbCdEfGhIjKlMnOpQrStUv"
	    "WxYz01234567-89abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJAA";

	test_splits("0123456789abcdef");
	test_splits("sk-proj-?>~>?~?>zz+/");
	test_splits(sk);
	test_bytewise(sk);
	test_escapes();
	test_lanes(sk);
	test_offsets(sk);
	test_pieces(sk);
	test_held(sk);
	test_messages(sk);
	test_encodings(sk);
	test_secret();
	test_look_alikes(sk);
	test_random(20000);
	test_limits();
	test_several();
	return tap_done();
}
