/* SPDX-License-Identifier: ISC */
/*
 * Messages of a PostgreSQL server, one behind the other, each read as all that
 * it could be; and SCRAM: the first byte's lowest bit selects the challenge,
 * which must not be answered unless it continues our nonce, or the server's
 * signature, which is never right.
 */
#include <string.h>

#include "check.h"
#include "pgkeyd/message.h"
#include "pgkeyd/scram.h"

#define NONCE "rOprNGfwEbeRWgbNEkqO"

static void
fuzz_body(struct span body)
{
	struct span a = span_of(NULL, 0), b = span_of(NULL, 0);
	char text[MESSAGE_TEXT];
	uint32_t auth;

	message_error(body, text);
	for (const char *c = text; *c != '\0'; c++)
		CHECK(*c >= 0x20 && *c < 0x7f);
	(void)message_has_code(body, "28P01");
	(void)message_has_mechanism(body, "SCRAM-SHA-256");
	if (message_auth(body, &auth, &a) == 0)
		CHECK(a.len == body.len - 4);
	if (message_parameter(body, &a, &b) == 0)
		CHECK(a.len != 0 && a.len + b.len + 2 == body.len);
	if (message_column(body, &a) == 0)
		CHECK(a.len + 6 == body.len);
}

static void
fuzz_messages(struct span in)
{
	size_t n;

	while (in.len >= MESSAGE_HEAD && (n = message_size(in.p)) != 0) {
		CHECK(n >= MESSAGE_HEAD && n <= MESSAGE_MAX);
		if (n > in.len)
			break;
		fuzz_body(span_of(in.p + MESSAGE_HEAD, n - MESSAGE_HEAD));
		in = span_of(in.p + n, in.len - n);
	}
}

static void
fuzz_scram(struct span in, bool last)
{
	struct scram_kept kept = {.nsalt = 0};
	char out[SCRAM_MAX_TEXT];
	struct scram s;
	size_t n;

	scram_begin(&s, "user", NONCE);
	if (last) {
		CHECK(!scram_verify(&s, in));
		CHECK(s.why[0] != '\0');
		return;
	}
	if (span_find(in, SPAN("i=4096")) == NULL &&
	    span_find(in, SPAN("i=10000000000")) == NULL &&
	    span_find(in, SPAN("i=")) != NULL)
		return; /* up to 600,000 rounds are made */
	n = scram_answer(&s, in, SPAN("pencil"), &kept, out);
	CHECK(n < SCRAM_MAX_TEXT);
	if (n == 0)
		CHECK(s.why[0] != '\0');
	else
		CHECK(span_starts(in, SPAN("r=" NONCE)) &&
		      span_starts(span_of(out, n), SPAN("c=biws,r=" NONCE)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	fuzz_messages(span_of(data, size));
	fuzz_scram(span_of(data + 1, size - 1), (data[0] & 1) != 0);
	return 0;
}
