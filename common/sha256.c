/* SPDX-License-Identifier: ISC */
/*
 * The plain functions of libcrypto, whose state is on our stack: the newer ones
 * would load providers, which a confined process cannot.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "common/sha256.h"

#include <errno.h>
#include <string.h>

#include <openssl/sha.h>

_Static_assert(SHA256_SIZE == SHA256_DIGEST_LENGTH, "SHA-256");

void
sha256_spans(const struct span *spans, size_t n, uint8_t sum[SHA256_SIZE])
{
	SHA256_CTX ctx;

	SHA256_Init(&ctx);
	for (size_t i = 0; i < n; i++)
		SHA256_Update(&ctx, spans[i].p, spans[i].len);
	SHA256_Final(sum, &ctx);
}

void
sha256_span(struct span s, uint8_t sum[SHA256_SIZE])
{
	sha256_spans(&s, 1, sum);
}

char *
sha256_hex(const uint8_t sum[SHA256_SIZE], char hex[SHA256_HEX])
{
	return hex_string(sum, SHA256_SIZE, hex);
}

static int
digit_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int
sha256_unhex(struct span hex, uint8_t sum[SHA256_SIZE])
{
	uint8_t got[SHA256_SIZE];
	int high, low;

	if (hex.len != 2 * SHA256_SIZE)
		goto bad;
	for (size_t i = 0; i < SHA256_SIZE; i++) {
		high = digit_value(hex.p[2 * i]);
		low = digit_value(hex.p[2 * i + 1]);
		if (high == -1 || low == -1)
			goto bad;
		got[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(sum, got, sizeof(got));
	return 0;
bad:
	errno = EINVAL;
	return -1;
}
