/* SPDX-License-Identifier: ISC */
/* The vectors of RFC 4648 section 10, and every byte. */
#include "common/http/base64.h"
#include "tap.h"

static const struct {
	const char *in, *out;
} rows[] = {
    {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"},
    {"\xff\xfe\xfd", "//79"}, {"\xfb\xf0", "+/A="},
};

int
main(void)
{
	uint8_t all[256], out[BASE64_LEN(256) + 1];
	size_t len, n;

	for (size_t i = 0; i < nitems(rows); i++) {
		n = strlen(rows[i].in);
		memset(out, '#', sizeof(out));
		base64_put(out, span_of(rows[i].in, n));
		len = BASE64_LEN(n);
		ok(span_is(span_of(out, len), rows[i].out) && out[len] == '#',
		    "\"%s\"", rows[i].out);
	}
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)i;
	out[BASE64_LEN(256)] = '#';
	base64_put(out, span_of(all, sizeof(all)));
	ok(span_starts(span_of(out, sizeof(out)), SPAN("AAECAwQF")) &&
	    span_is(span_of(out + BASE64_LEN(256) - 8, 8), "/P3+/w==") &&
	    out[BASE64_LEN(256)] == '#', "every byte");
	return tap_done();
}
