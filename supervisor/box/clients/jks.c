/* SPDX-License-Identifier: ISC */
/*
 * The format "JKS": all numbers in big endian, texts with a length of two bytes
 * before them, and at the end a SHA-1 of the password in UTF-16, a fixed text
 * and all that precedes. Every JDK reads it, whatever its default is.
 */
#include "box/clients/jks.h"

#include <errno.h>
#include <sha1.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/http/base64.h"

#define JKS_MAGIC 0xfeedfeedU
#define JKS_VERSION 2U
#define JKS_CERTIFICATE 2U
#define JKS_CERTS 4096

static const char jks_begin[] = "-----BEGIN CERTIFICATE-----",
		  jks_end[] = "-----END CERTIFICATE-----";

static void
jks_bytes(uint8_t to[4], uint32_t v)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void
jks_u32(struct buf *b, uint32_t v)
{
	uint8_t bytes[4];

	jks_bytes(bytes, v);
	buf_add(b, bytes, sizeof(bytes));
}

static void
jks_text(struct buf *b, const char *text)
{
	const size_t n = strlen(text);

	buf_addc(b, (uint8_t)(n >> 8));
	buf_addc(b, (uint8_t)n);
	buf_add(b, text, n);
}

/*
 * Append one, in base64 with white space in it; `der` is scratch memory.
 * Returns 1, 0 if it is empty, or -1 if it is not valid.
 */
static int
jks_certificate(struct buf *b, struct buf *der, struct span text, unsigned nth)
{
	uint8_t *p = buf_room(der, text.len);
	char alias[32];
	size_t len = 0;
	ssize_t n = -1;

	for (size_t i = 0; p != NULL && i < text.len; i++)
		if (text.p[i] != ' ' && text.p[i] != '\t' &&
		    text.p[i] != '\r' && text.p[i] != '\n')
			p[len++] = text.p[i];
	if (p != NULL && len % 4 == 0)
		n = base64_take(p, span_of(p, len));
	if (n <= 0)
		return (int)n;
	snprintf(alias, sizeof(alias), "ironcurtain-%u", nth);
	jks_u32(b, JKS_CERTIFICATE);
	jks_text(b, alias);
	jks_u32(b, 0); /* the time at which it was added, 64 bits */
	jks_u32(b, 0);
	jks_text(b, "X.509");
	jks_u32(b, (uint32_t)n);
	buf_add(b, p, (size_t)n);
	return 1;
}

/* Append all certificates. Returns their number, or -1. */
static int
jks_all(struct buf *b, struct buf *der, struct span pem)
{
	const uint8_t *from, *to, *end = pem.p + pem.len;
	int n = 0, one;

	for (const uint8_t *p = pem.p; n < JKS_CERTS; p = to) {
		from = memmem(
		    p, (size_t)(end - p), jks_begin, sizeof(jks_begin) - 1);
		if (from == NULL)
			return n;
		from += sizeof(jks_begin) - 1;
		to = memmem(
		    from, (size_t)(end - from), jks_end, sizeof(jks_end) - 1);
		if (to == NULL || (one = jks_certificate(b, der,
				       span_of(from, (size_t)(to - from)),
				       (unsigned)n)) == -1)
			return -1;
		n += one;
	}
	return -1;
}

static void
jks_digest(struct buf *b, size_t from)
{
	static const char password[] = JKS_PASSWORD,
			  whitener[] = "Mighty Aphrodite";
	uint8_t sum[SHA1_DIGEST_LENGTH], wide[2] = {0, 0};
	const struct span all = buf_span(b);
	SHA1_CTX ctx;

	SHA1Init(&ctx);
	for (size_t i = 0; i < sizeof(password) - 1; i++) {
		wide[1] = (uint8_t)password[i];
		SHA1Update(&ctx, wide, sizeof(wide));
	}
	SHA1Update(&ctx, (const uint8_t *)whitener, sizeof(whitener) - 1);
	SHA1Update(&ctx, all.p + from, all.len - from);
	SHA1Final(sum, &ctx);
	buf_add(b, sum, sizeof(sum));
}

int
jks_put(struct buf *b, struct span pem)
{
	const size_t from = b->len;
	struct buf der;
	int n;

	/* A certificate gets less here than its lines in PEM take. */
	(void)buf_room(b, pem.len + 64);
	buf_init(&der, JKS_MAX);
	jks_u32(b, JKS_MAGIC);
	jks_u32(b, JKS_VERSION);
	jks_u32(b, 0);
	n = jks_all(b, &der, pem);
	if (n != -1 && !b->failed) {
		jks_bytes(b->p + b->off + from + 8, (uint32_t)n);
		jks_digest(b, from);
	}
	buf_free(&der);
	if (n == -1)
		errno = EINVAL;
	return n;
}
