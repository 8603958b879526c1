/* SPDX-License-Identifier: ISC */
/*
 * Placeholders of AWS credentials, and the credential in an agent's signature:
 * parses any input; results lie within the input and consist of characters that
 * a head may contain.
 */
#include <stdlib.h>

#include "mitmd/keyd/login/aws.h"
#include "mitmd/wire/sigv4.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
within(struct span s, struct span text)
{
	if (s.len == 0)
		return;
	if (s.p < text.p || s.p + s.len > text.p + text.len)
		abort();
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < 0x21 || s.p[i] > 0x7e)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sigv4_scope scope = {
	    .region = {(const uint8_t *)"us-west-2", 9},
	    .service = {(const uint8_t *)"bedrock", 7}};
	struct span text = span_of(data, size), id;
	const char *why = "";
	struct aws_key k;

	if (aws_parse(text, &k, &why) == AWS_KEYS) {
		within(k.id, text);
		within(k.secret, text);
		within(k.token, text);
		if (k.id.len == 0 || k.secret.len == 0)
			abort();
	}
	id = sigv4_claimed(text, &scope);
	if (id.p != NULL && (id.len == 0 || id.p < text.p ||
				id.p + id.len > text.p + text.len))
		abort();
	return 0;
}
