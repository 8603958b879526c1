/* SPDX-License-Identifier: ISC */
/*
 * SCRAM-SHA-256. It uses the plain functions of libcrypto, whose state is on
 * our stack, so that it can be wiped; the newer ones would load providers,
 * which a confined process cannot. Everything that a server sends is strictly
 * checked: a nonce that does not begin with ours, extensions, and numbers of
 * rounds that weaken the password or stop this process are refused.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "pgkeyd/scram.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <stdio.h>

#include "common/http/base64.h"
#include "common/log.h"

#define BLOCK 64U

/* The states of an HMAC after the two paddings of its key. */
struct hmac {
	SHA256_CTX in, out;
};

static void
hmac_key(struct hmac *h, struct span key)
{
	uint8_t pad[BLOCK] = {0};

	if (key.len > BLOCK)
		sha256_span(key, pad);
	else if (key.len != 0)
		memcpy(pad, key.p, key.len);
	for (size_t i = 0; i < BLOCK; i++)
		pad[i] ^= 0x36;
	SHA256_Init(&h->in);
	SHA256_Update(&h->in, pad, BLOCK);
	for (size_t i = 0; i < BLOCK; i++)
		pad[i] ^= 0x36 ^ 0x5c;
	SHA256_Init(&h->out);
	SHA256_Update(&h->out, pad, BLOCK);
	explicit_bzero(pad, sizeof(pad));
}

static void
hmac_sum(const struct hmac *h, const struct span *data, size_t n,
    uint8_t sum[SHA256_SIZE])
{
	SHA256_CTX c = h->in;

	for (size_t i = 0; i < n; i++)
		SHA256_Update(&c, data[i].p, data[i].len);
	SHA256_Final(sum, &c);
	c = h->out;
	SHA256_Update(&c, sum, SHA256_SIZE);
	SHA256_Final(sum, &c);
	explicit_bzero(&c, sizeof(c));
}

static void
hmac_once(struct span key, struct span data, uint8_t sum[SHA256_SIZE])
{
	struct hmac h;

	hmac_key(&h, key);
	hmac_sum(&h, &data, 1, sum);
	explicit_bzero(&h, sizeof(h));
}

/* Hi() of RFC 5802: PBKDF2 with one block of output. */
static void
scram_salt(
    struct span password, const struct scram_kept *k, uint8_t key[SHA256_SIZE])
{
	const struct span salt[2] = {
	    span_of(k->salt, k->nsalt), SPAN("\0\0\0\1")};
	uint8_t u[SHA256_SIZE];
	const struct span again = span_of(u, sizeof(u));
	struct hmac h;

	hmac_key(&h, password);
	hmac_sum(&h, salt, 2, u);
	memcpy(key, u, SHA256_SIZE);
	for (uint32_t i = 1; i < k->rounds; i++) {
		hmac_sum(&h, &again, 1, u);
		for (size_t n = 0; n < SHA256_SIZE; n++)
			key[n] ^= u[n];
	}
	explicit_bzero(u, sizeof(u));
	explicit_bzero(&h, sizeof(h));
}

void
scram_bind(struct scram *s, struct span hash)
{
	s->nbound = hash.len < SCRAM_MAX_BOUND ? hash.len : SCRAM_MAX_BOUND;
	memcpy(s->bound, hash.p, s->nbound);
}

const char *
scram_head(const struct scram *s)
{
	return s->nbound != 0 ? "p=tls-server-end-point,," : "n,,";
}

/* Write "c=" and the head and what is bound. Returns the length. */
static size_t
scram_channel(const struct scram *s, char *out)
{
	uint8_t raw[32 + SCRAM_MAX_BOUND];
	const size_t n = strlen(scram_head(s));

	memcpy(raw, scram_head(s), n);
	memcpy(raw + n, s->bound, s->nbound);
	memcpy(out, "c=", 2);
	base64_put((uint8_t *)out + 2, span_of(raw, n + s->nbound));
	return 2 + BASE64_LEN(n + s->nbound);
}

const char *
scram_begin(struct scram *s, const char *user, const char *nonce)
{
	memset(s, 0, sizeof(*s));
	snprintf(s->bare, sizeof(s->bare), "n=%s,r=%s", user, nonce);
	s->nonce = strlen(s->bare) - strlen(nonce);
	return s->bare;
}

static bool
scram_fail(struct scram *s, const char *why)
{
	(void)strlcpy(s->why, why, sizeof(s->why));
	return false;
}

/* Take "X=value" off the front. Behind the last one `rest` has no place. */
static bool
scram_take(struct span *rest, const char *name, struct span *value)
{
	const uint8_t *comma;

	if (!span_starts(*rest, span_str(name)))
		return false;
	*value = span_of(rest->p + 2, rest->len - 2);
	*rest = span_of(NULL, 0);
	comma = value->len == 0 ? NULL : memchr(value->p, ',', value->len);
	if (comma != NULL) {
		*rest = span_of(
		    comma + 1, value->len - (size_t)(comma - value->p) - 1);
		value->len = (size_t)(comma - value->p);
	}
	return true;
}

static bool
scram_nonce_ok(struct scram *s, struct span nonce)
{
	const struct span ours = span_str(s->bare + s->nonce);

	for (size_t i = 0; i < nonce.len; i++)
		if (nonce.p[i] < 0x21 || nonce.p[i] > 0x7e)
			return false;
	return nonce.len > ours.len && nonce.len <= SCRAM_MAX_NONCE &&
	       span_starts(nonce, ours);
}

/* Read "r=...,s=...,i=..."; sets salt and rounds. */
static bool
scram_first(struct scram *s, struct span first, struct span *nonce,
    struct scram_kept *k)
{
	struct span rest = first, salt, rounds;
	uint8_t raw[SCRAM_MAX_SALT / 3 * 4 + 8];
	uint64_t n;
	ssize_t got;

	if (first.len >= SCRAM_MAX_TEXT || !scram_take(&rest, "r=", nonce) ||
	    !scram_take(&rest, "s=", &salt) ||
	    !scram_take(&rest, "i=", &rounds) || rest.p != NULL)
		return scram_fail(s, "its challenge is malformed, or has an "
				     "extension");
	if (!scram_nonce_ok(s, *nonce))
		return scram_fail(s, "its nonce does not begin with ours");
	if (salt.len == 0 || salt.len > SCRAM_MAX_SALT ||
	    (got = base64_take(raw, salt)) <= 0)
		return scram_fail(s, "its salt is malformed, or too long");
	if (span_u64(rounds, UINT32_MAX, &n) == -1 || n < SCRAM_MIN_ROUNDS ||
	    n > SCRAM_MAX_ROUNDS) {
		snprintf(s->why, sizeof(s->why),
		    "it wants a number of rounds (scram_iterations) that is "
		    "not from %u to %u",
		    SCRAM_MIN_ROUNDS, SCRAM_MAX_ROUNDS);
		return false;
	}
	k->nsalt = (size_t)got;
	memcpy(k->salt, raw, k->nsalt);
	k->rounds = (uint32_t)n;
	return true;
}

/* Salt the password, unless that was done before. */
static void
scram_keep(
    struct scram_kept *kept, struct scram_kept *now, struct span password)
{
	if (kept->nsalt == now->nsalt && kept->rounds == now->rounds &&
	    memcmp(kept->salt, now->salt, now->nsalt) == 0)
		return;
	scram_salt(password, now, now->key);
	*kept = *now;
}

size_t
scram_answer(struct scram *s, struct span first, struct span password,
    struct scram_kept *kept, char out[SCRAM_MAX_TEXT])
{
	uint8_t client[SHA256_SIZE], stored[SHA256_SIZE], sign[SHA256_SIZE];
	const struct span comma = SPAN(",");
	struct scram_kept now = {.nsalt = 0};
	struct span nonce, said[5];
	struct hmac h;
	size_t len;

	if (!scram_first(s, first, &nonce, &now))
		return 0;
	scram_keep(kept, &now, password);
	explicit_bzero(&now, sizeof(now));
	len = scram_channel(s, out);
	len += (size_t)snprintf(out + len, SCRAM_MAX_TEXT - len, ",r=%.*s",
	    (int)nonce.len, (const char *)nonce.p);
	said[0] = span_str(s->bare);
	said[1] = comma;
	said[2] = first;
	said[3] = comma;
	said[4] = span_of(out, len);
	hmac_once(span_of(kept->key, SHA256_SIZE), SPAN("Client Key"), client);
	sha256_span(span_of(client, SHA256_SIZE), stored);
	hmac_key(&h, span_of(stored, SHA256_SIZE));
	hmac_sum(&h, said, nitems(said), sign);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		client[i] ^= sign[i];
	hmac_once(span_of(kept->key, SHA256_SIZE), SPAN("Server Key"), stored);
	hmac_key(&h, span_of(stored, SHA256_SIZE));
	hmac_sum(&h, said, nitems(said), s->server);
	memcpy(out + len, ",p=", 3);
	base64_put((uint8_t *)out + len + 3, span_of(client, SHA256_SIZE));
	explicit_bzero(&h, sizeof(h));
	explicit_bzero(stored, sizeof(stored));
	s->answered = true;
	return len + 3 + BASE64_LEN(SHA256_SIZE);
}

bool
scram_verify(struct scram *s, struct span last)
{
	uint8_t got[BASE64_LEN(SHA256_SIZE)];
	char vis[64];

	if (span_starts(last, SPAN("e="))) {
		snprintf(s->why, sizeof(s->why), "it says: %s",
		    log_vis(
			span_of(last.p + 2, last.len - 2), vis, sizeof(vis)));
		return false;
	}
	if (!s->answered || last.len != 2 + BASE64_LEN(SHA256_SIZE) ||
	    !span_starts(last, SPAN("v=")) ||
	    base64_take(got, span_of(last.p + 2, last.len - 2)) !=
		SHA256_SIZE ||
	    CRYPTO_memcmp(got, s->server, SHA256_SIZE) != 0)
		return scram_fail(s, "it does not know the password itself: "
				     "it is another server, or pretends to be "
				     "this one");
	return true;
}
