/* SPDX-License-Identifier: ISC */
/* The digits of a hash are written, and read back strictly. */
#include <errno.h>
#include <string.h>

#include "common/sha256.h"
#include "tap.h"

static void
test_hash_digits(void)
{
	uint8_t sum[SHA256_SIZE], back[SHA256_SIZE];
	char hex[SHA256_HEX];

	sha256_span(SPAN("abc"), sum);
	is_str(sha256_hex(sum, hex),
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	    "the digits of a hash");
	is_int(sha256_unhex(span_str(hex), back), 0, "are read");
	ok(memcmp(sum, back, sizeof(sum)) == 0, "as that hash");
	memset(back, 7, sizeof(back));
	errno = 0;
	is_int(sha256_unhex(span_of(hex, 63), back), -1, "one is missing");
	is_int(errno, EINVAL, "errno");
	hex[0] = 'B';
	is_int(sha256_unhex(span_str(hex), back), -1, "upper case");
	hex[0] = 'g';
	is_int(sha256_unhex(span_str(hex), back), -1, "no digit");
	hex[0] = ' ';
	is_int(sha256_unhex(span_str(hex), back), -1, "a blank");
	is_int(back[0], 7, "the hash is unchanged then");
}

int
main(void)
{
	test_hash_digits();
	return tap_done();
}
