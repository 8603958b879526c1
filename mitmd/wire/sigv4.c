/* SPDX-License-Identifier: ISC */
/*
 * Signature Version 4, both ends.
 *
 * keyd signs with the real key: it hashes the head as it will be sent. It uses
 * OpenSSL's plain SHA-256, because the caller can wipe its state.
 *
 * mitmd does not verify the agent's signature. The id and the secret that the
 * agent has are both placeholders of this session, handed out together: whoever
 * can name the one could sign with the other, so a signature proves no more
 * than the id does. It protects nothing either: TLS ends in mitmd, and keyd
 * composes and signs its own request from what mitmd has checked.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "wire/sigv4.h"

#include <openssl/sha.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/sink.h"

#define SIGV4_BLOCK 64U
#define SIGV4_SUM SHA256_DIGEST_LENGTH
#define SIGV4_DAY 8U /* "20150830" */

_Static_assert(SIGV4_SUM == 32, "SHA-256");

static const char sigv4_end[] = "aws4_request";

void
sigv4_hex(const uint8_t sum[SIGV4_SUM], char out[SIGV4_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SIGV4_SUM; i++) {
		out[2 * i] = digits[sum[i] >> 4];
		out[2 * i + 1] = digits[sum[i] & 15];
	}
	out[2 * SIGV4_SUM] = '\0';
}

int
sigv4_date(uint64_t seconds, char out[SIGV4_DATE])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (seconds > 253402300799ULL || gmtime_r(&t, &tm) == NULL ||
	    strftime(out, SIGV4_DATE, "%Y%m%dT%H%M%SZ", &tm) !=
		SIGV4_DATE - 1) {
		errno = ERANGE;
		return -1;
	}
	return 0;
}

static void
sigv4_add(SHA256_CTX *c, struct span s)
{
	if (s.len != 0)
		SHA256_Update(c, s.p, s.len);
}

static bool
sigv4_unreserved(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_' ||
	       c == '~';
}

/* Hash the URI-encoding of `s`; if `slashes`, a slash is kept. */
static void
sigv4_add_uri(SHA256_CTX *c, struct span s, bool slashes)
{
	static const char digits[] = "0123456789ABCDEF";
	uint8_t esc[3] = {'%', 0, 0};
	size_t from = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (sigv4_unreserved(s.p[i]) || (slashes && s.p[i] == '/'))
			continue;
		sigv4_add(c, span_of(s.p + from, i - from));
		esc[1] = (uint8_t)digits[s.p[i] >> 4];
		esc[2] = (uint8_t)digits[s.p[i] & 15];
		sigv4_add(c, span_of(esc, sizeof(esc)));
		from = i + 1;
	}
	sigv4_add(c, span_of(s.p + from, s.len - from));
}

/* Hash without outer spaces, and with inner runs of them as one. */
static void
sigv4_add_value(SHA256_CTX *c, struct span s)
{
	size_t from;

	while (s.len != 0 && s.p[0] == ' ') {
		s.p++;
		s.len--;
	}
	while (s.len != 0 && s.p[s.len - 1] == ' ')
		s.len--;
	for (size_t i = 0; i < s.len;) {
		from = i;
		while (i < s.len && s.p[i] != ' ')
			i++;
		sigv4_add(c, span_of(s.p + from, i - from));
		if (i == s.len)
			break;
		sigv4_add(c, SPAN(" "));
		while (i < s.len && s.p[i] == ' ')
			i++;
	}
}

struct sigv4_pair {
	struct span name, value;
};

static int
sigv4_compare(const void *a, const void *b)
{
	const struct sigv4_pair *x = a, *y = b;
	int r = span_cmp(x->name, y->name);

	return r != 0 ? r : span_cmp(x->value, y->value);
}

/* Hash "a=b&c=d", sorted by name and encoded. */
static int
sigv4_add_query(SHA256_CTX *c, struct span q)
{
	struct sigv4_pair p[SIGV4_MAX_PARAMS];
	const uint8_t *at;
	struct span piece;
	size_t n = 0;

	while (q.len != 0) {
		if (n == SIGV4_MAX_PARAMS)
			return -1;
		at = memchr(q.p, '&', q.len);
		piece = span_of(q.p, at == NULL ? q.len : (size_t)(at - q.p));
		q.p += piece.len + (at != NULL);
		q.len -= piece.len + (at != NULL);
		at = piece.len == 0 ? NULL : memchr(piece.p, '=', piece.len);
		p[n].name = piece;
		p[n].value = span_of(NULL, 0);
		if (at != NULL) {
			p[n].name.len = (size_t)(at - piece.p);
			p[n].value =
			    span_of(at + 1, piece.len - p[n].name.len - 1);
		}
		n++;
	}
	qsort(p, n, sizeof(p[0]), sigv4_compare);
	for (size_t i = 0; i < n; i++) {
		if (i != 0)
			sigv4_add(c, SPAN("&"));
		sigv4_add_uri(c, p[i].name, false);
		sigv4_add(c, SPAN("="));
		sigv4_add_uri(c, p[i].value, false);
	}
	return 0;
}

/* Compute the hash of the canonical request; the fields are sorted. */
static int
sigv4_canonical(const struct sigv4_request *r, const struct sigv4_pair *f,
    uint8_t sum[SIGV4_SUM])
{
	SHA256_CTX c;
	int rv;

	SHA256_Init(&c);
	sigv4_add(&c, r->method);
	sigv4_add(&c, SPAN("\n"));
	sigv4_add_uri(&c, r->prefix, true);
	sigv4_add_uri(&c, r->path, true);
	sigv4_add(&c, SPAN("\n"));
	rv = sigv4_add_query(&c, r->query);
	sigv4_add(&c, SPAN("\n"));
	for (unsigned i = 0; i < r->nfields; i++) {
		sigv4_add(&c, f[i].name);
		sigv4_add(&c, SPAN(":"));
		sigv4_add_value(&c, f[i].value);
		sigv4_add(&c, SPAN("\n"));
	}
	sigv4_add(&c, SPAN("\n"));
	for (unsigned i = 0; i < r->nfields; i++) {
		if (i != 0)
			sigv4_add(&c, SPAN(";"));
		sigv4_add(&c, f[i].name);
	}
	sigv4_add(&c, SPAN("\n"));
	sigv4_add(&c, span_str(r->body));
	SHA256_Final(sum, &c);
	explicit_bzero(&c, sizeof(c));
	return rv;
}

/* Compute the HMAC over `data`. The key comes in two pieces. */
static void
sigv4_hmac(const struct span key[2], struct span data, uint8_t sum[SIGV4_SUM])
{
	uint8_t pad[SIGV4_BLOCK] = {0};
	SHA256_CTX c;
	size_t n = 0;

	if (key[0].len + key[1].len > SIGV4_BLOCK) {
		SHA256_Init(&c);
		sigv4_add(&c, key[0]);
		sigv4_add(&c, key[1]);
		SHA256_Final(pad, &c);
	} else {
		for (size_t k = 0; k < 2; k++)
			for (size_t i = 0; i < key[k].len; i++)
				pad[n++] = key[k].p[i];
	}
	for (size_t i = 0; i < SIGV4_BLOCK; i++)
		pad[i] ^= 0x36;
	SHA256_Init(&c);
	SHA256_Update(&c, pad, SIGV4_BLOCK);
	sigv4_add(&c, data);
	SHA256_Final(sum, &c);
	for (size_t i = 0; i < SIGV4_BLOCK; i++)
		pad[i] ^= 0x36 ^ 0x5c;
	SHA256_Init(&c);
	SHA256_Update(&c, pad, SIGV4_BLOCK);
	SHA256_Update(&c, sum, SIGV4_SUM);
	SHA256_Final(sum, &c);
	explicit_bzero(pad, sizeof(pad));
	explicit_bzero(&c, sizeof(c));
}

/* Derive the day's key for this region and service. */
static void
sigv4_key(const struct sigv4_key *k, const struct sigv4_scope *s,
    const char *date, uint8_t key[SIGV4_SUM])
{
	struct span of[2] = {SPAN("AWS4"), k->secret};

	sigv4_hmac(of, span_of(date, SIGV4_DAY), key);
	of[0] = span_of(key, SIGV4_SUM);
	of[1] = span_of(NULL, 0);
	sigv4_hmac(of, s->region, key);
	sigv4_hmac(of, s->service, key);
	sigv4_hmac(of, span_str(sigv4_end), key);
}

/* Write "20150830/us-east-1/service/aws4_request". */
static void
sigv4_put_scope(struct sink *o, const struct sigv4_scope *s, const char *date)
{
	sink_put(o, span_of(date, SIGV4_DAY));
	sink_put(o, SPAN("/"));
	sink_put(o, s->region);
	sink_put(o, SPAN("/"));
	sink_put(o, s->service);
	sink_put(o, SPAN("/"));
	sink_put(o, span_str(sigv4_end));
}

static int
sigv4_string(const struct sigv4_scope *s, const char *date,
    const uint8_t canonical[SIGV4_SUM], struct sink *o)
{
	char hex[SIGV4_HEX];

	sigv4_hex(canonical, hex);
	sink_put(o, SPAN(SIGV4_SCHEME "\n"));
	sink_put(o, span_str(date));
	sink_put(o, SPAN("\n"));
	sigv4_put_scope(o, s, date);
	sink_put(o, SPAN("\n"));
	sink_put(o, span_str(hex));
	return o->full ? -1 : 0;
}

static void
sigv4_put_value(struct sink *o, const struct sigv4_key *k,
    const struct sigv4_scope *s, const struct sigv4_request *r,
    const struct sigv4_pair *f, const char *signature)
{
	sink_put(o, SPAN(SIGV4_SCHEME " Credential="));
	sink_put(o, k->id);
	sink_put(o, SPAN("/"));
	sigv4_put_scope(o, s, r->date);
	sink_put(o, SPAN(", SignedHeaders="));
	for (unsigned i = 0; i < r->nfields; i++) {
		if (i != 0)
			sink_put(o, SPAN(";"));
		sink_put(o, f[i].name);
	}
	sink_put(o, SPAN(", Signature="));
	sink_put(o, span_str(signature));
}

int
sigv4_sign(const struct sigv4_key *k, const struct sigv4_scope *s,
    const struct sigv4_request *r, uint8_t *dst, size_t cap, size_t *len)
{
	struct sigv4_pair f[SIGV4_MAX_FIELDS];
	struct sink o = {.p = dst, .cap = cap}, text;
	uint8_t sum[SIGV4_SUM], key[SIGV4_SUM], string[256];
	struct span of[2] = {span_of(key, sizeof(key)), span_of(NULL, 0)};
	char hex[SIGV4_HEX];

	errno = EINVAL;
	if (r->nfields > SIGV4_MAX_FIELDS)
		return -1;
	for (unsigned i = 0; i < r->nfields; i++)
		f[i] =
		    (struct sigv4_pair){r->fields[i].name, r->fields[i].value};
	qsort(f, r->nfields, sizeof(f[0]), sigv4_compare);
	text = (struct sink){.p = string, .cap = sizeof(string)};
	if (sigv4_canonical(r, f, sum) == -1 ||
	    sigv4_string(s, r->date, sum, &text) == -1)
		return -1;
	sigv4_key(k, s, r->date, key);
	sigv4_hmac(of, span_of(string, text.len), sum);
	explicit_bzero(key, sizeof(key));
	sigv4_hex(sum, hex);
	sigv4_put_value(&o, k, s, r, f, hex);
	return sink_end(&o, len);
}

/* Take the text before `sep` off. Returns false if `sep` is missing. */
static bool
sigv4_take(struct span *rest, char sep, struct span *piece)
{
	const uint8_t *at;

	at = rest->len == 0 ? NULL : memchr(rest->p, sep, rest->len);
	if (at == NULL)
		return false;
	*piece = span_of(rest->p, (size_t)(at - rest->p));
	*rest = span_of(at + 1, rest->len - piece->len - 1);
	return true;
}

struct span
sigv4_claimed(struct span value, const struct sigv4_scope *scope)
{
	const struct span none = {NULL, 0};
	struct span id, day, region, service, end;

	if (!span_starts(value, SPAN(SIGV4_SCHEME " Credential=")))
		return none;
	value.p += sizeof(SIGV4_SCHEME " Credential=") - 1;
	value.len -= sizeof(SIGV4_SCHEME " Credential=") - 1;
	if (!sigv4_take(&value, '/', &id) || !sigv4_take(&value, '/', &day) ||
	    !sigv4_take(&value, '/', &region) ||
	    !sigv4_take(&value, '/', &service) ||
	    !sigv4_take(&value, ',', &end))
		return none;
	if (id.len == 0 || day.len != SIGV4_DAY ||
	    !span_eq(region, scope->region) ||
	    !span_eq(service, scope->service) || !span_is(end, sigv4_end))
		return none;
	return id;
}
