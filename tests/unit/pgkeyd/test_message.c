/* SPDX-License-Identifier: ISC */
/* Tests the reader of a database server's messages, which may be hostile. */
#include <stdlib.h>
#include <string.h>

#include "pgkeyd/message.h"
#include "tap.h"

static size_t
size(uint8_t type, uint32_t len)
{
	const uint8_t head[MESSAGE_HEAD] = {type, (uint8_t)(len >> 24),
	    (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len};

	return message_size(head);
}

static void
test_size(void)
{
	unsigned good = 0;

	for (unsigned type = 0; type < 256; type++)
		good += size((uint8_t)type, 8) != 0;
	is_int(good, 9, "so many types are read");
	is_int((long long)size('R', 4), 5, "the shortest message");
	is_int(
	    (long long)size('R', MESSAGE_MAX - 1), MESSAGE_MAX, "the longest");
	is_int((long long)size('R', MESSAGE_MAX), 0, "a longer one is refused");
	is_int((long long)size('R', 3), 0, "and so is a shorter one");
	is_int((long long)size('R', UINT32_MAX), 0, "and a negative length");
	is_int((long long)size('H', 1414811695), 0, "and HTTP");
}

static void
test_error(void)
{
	char text[MESSAGE_TEXT];
	static const char body[] =
	    "SFATAL\0C28P01\0Mpassword\x1b[31m failed\0\0";

	message_error(span_of(body, sizeof(body) - 1), text);
	is_str(text, "password\\x1b[31m failed (28P01)",
	    "an error is told, escaped");
	ok(message_has_code(span_of(body, sizeof(body) - 1), "28P01"),
	    "and its code is known");
	ok(!message_has_code(SPAN("C28P01"), "28P01"), "an unended one is not");
	message_error(SPAN(""), text);
	is_str(text, "an error without a text ()", "an empty error");
}

static void
test_parts(void)
{
	struct span a, b;
	uint32_t auth;

	ok(message_auth(SPAN("\0\0\0"), &auth, &a) == -1, "a short request");
	ok(message_auth(SPAN("\0\0\0\12rest"), &auth, &a) == 0 &&
		auth == MESSAGE_AUTH_SASL && span_is(a, "rest"),
	    "an authentication request");
	ok(message_has_mechanism(
	       SPAN("SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0"), "SCRAM-SHA-256"),
	    "a mechanism of a list");
	ok(!message_has_mechanism(
	       SPAN("SCRAM-SHA-256-PLUS\0"), "SCRAM-SHA-256"),
	    "one that is not there");
	ok(!message_has_mechanism(SPAN("\0SCRAM-SHA-256\0"), "SCRAM-SHA-256"),
	    "one behind the end");
	ok(message_parameter(SPAN("TimeZone\0UTC\0"), &a, &b) == 0 &&
		span_is(a, "TimeZone") && span_is(b, "UTC"),
	    "a parameter");
	ok(message_parameter(SPAN("TimeZone\0UTC\0x"), &a, &b) == -1 &&
		message_parameter(SPAN("TimeZone\0UTC"), &a, &b) == -1 &&
		message_parameter(SPAN("\0UTC\0"), &a, &b) == -1 &&
		message_parameter(SPAN(""), &a, &b) == -1,
	    "malformed ones");
	ok(message_column(SPAN("\0\1\0\0\0\3app"), &a) == 0 &&
		span_is(a, "app"),
	    "a row of one column");
	ok(message_column(SPAN("\0\1\377\377\377\377"), &a) == -1 &&
		message_column(SPAN("\0\2\0\0\0\3app"), &a) == -1 &&
		message_column(SPAN("\0\1\0\0\0\4app"), &a) == -1 &&
		message_column(SPAN("\0\1\0\0\0"), &a) == -1,
	    "no other row");
}

int
main(void)
{
	test_size();
	test_error();
	test_parts();
	return tap_done();
}
