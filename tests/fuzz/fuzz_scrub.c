/* SPDX-License-Identifier: ISC */
/*
 * The scrub: byte 0 is the length of the key minus 16, then the key, then
 * pieces of text, each a length byte and its bytes (0x40 and more repeat the
 * beginning of the key). The result must be that of searching the whole decoded
 * text for every piece of the forms that were built, and the text that passes
 * must be unchanged.
 */
#include <stdlib.h>

#include "mitmd/keyd/scrub.h"
#include "tests/unit/keyd/scrub_oracle.h"

static _Alignas(uint16_t) uint8_t mem[1 << 16];
static uint8_t text[1 << 16], out[1 << 16];
static size_t ntext, nout;

static void
take(struct span s)
{
	if (s.len != 0)
		memcpy(out + nout, s.p, s.len);
	nout += s.len;
}

static bool
naive(const struct scrub *s)
{
	static uint8_t plain[1 << 16];
	size_t n = oracle_decode(text, ntext, plain);

	for (size_t i = 0; i < s->nforms; i++) {
		if (oracle_form(plain, n, s->forms[i].p, s->forms[i].len))
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct scrub_state st = {.ntail = 0};
	struct span before, pass, form, key;
	struct scrub s;
	size_t len, start;
	bool hit = false;

	ntext = nout = 0;
	if (n < 1 || n - 1 < (len = 16U + p[0] % 64U))
		return 0;
	key = span_of(p + 1, len);
	if (scrub_build(&s, &key, 1, mem, sizeof(mem)) == -1)
		abort();
	p += 1 + len;
	n -= 1 + len;
	while (n > 0 && !hit && ntext < sizeof(text) / 2) {
		len = *p++;
		n--;
		start = ntext;
		if (len >= 0x40) {
			form = span_of(s.forms[len % s.nforms].p,
			    s.forms[len % s.nforms].len);
			len = n > 0 ? *p % (form.len + 1) : form.len;
			memcpy(text + ntext, form.p, len);
		} else {
			len = len < n ? len : n;
			memcpy(text + ntext, p, len);
			p += len;
			n -= len;
		}
		ntext += len;
		hit = scrub_feed(&s, &st, span_of(text + start, len), &before,
		    &pass);
		if (!hit) {
			take(before);
			take(pass);
		}
	}
	if (!hit)
		take(scrub_end(&st));
	if (hit != naive(&s) || scrub_find(&s, span_of(text, ntext)) != hit)
		abort();
	if ((!hit && nout != ntext) || memcmp(out, text, nout) != 0)
		abort();
	return 0;
}
