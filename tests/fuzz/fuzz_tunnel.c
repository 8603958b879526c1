/* SPDX-License-Identifier: ISC */
/*
 * A corporate proxy's answer to a CONNECT, and rows of no_proxy. The first byte
 * selects which, and whether a credential was sent. Cutting the input must not
 * change the verdict, only its time; only a head with 200, of at most 8 KiB and
 * ended by an empty line, opens a tunnel; a refusal has a printable text; a
 * name in a row bypasses the proxy.
 */
#include <string.h>

#include "check.h"
#include "common/net/no_proxy.h"
#include "mitmd/tunneld/answer.h"

static void
check_answer(
    const struct tunnel_answer *a, enum tunnel_result r, struct span in)
{
	if (r == TUNNEL_ANSWER_OPEN) {
		CHECK(a->status == 200);
		CHECK(a->size <= in.len && a->size <= TUNNEL_ANSWER_MAX);
		CHECK(a->size >= 4 &&
		      memcmp(in.p + a->size - 4, "\r\n\r\n", 4) == 0);
		CHECK(memcmp(in.p, "HTTP/1.", 7) == 0);
		CHECK(memcmp(in.p + 8, " 200", 4) == 0);
	} else if (r == TUNNEL_ANSWER_FAIL) {
		CHECK(a->proxy != PROTO_PROXY_NONE && a->text[0] != '\0');
		for (const char *c = a->text; *c != '\0'; c++)
			CHECK(*c >= 0x20 && *c < 0x7f);
	} else {
		CHECK(in.len < TUNNEL_ANSWER_MAX);
	}
}

static void
fuzz_answer(struct span in, bool credential)
{
	struct tunnel_answer whole = {.seen = 0}, part = {.seen = 0};
	enum tunnel_result r = tunnel_answer(&whole, in, credential),
			   s = TUNNEL_ANSWER_MORE;
	size_t n = 0;

	check_answer(&whole, r, in);
	while (s == TUNNEL_ANSWER_MORE && n < in.len) {
		n += n % 3 + 1;
		if (n > in.len)
			n = in.len;
		s = tunnel_answer(&part, span_of(in.p, n), credential);
		check_answer(&part, s, span_of(in.p, n));
	}
	/* An error in a line is reported at its end at the latest. */
	if (s == TUNNEL_ANSWER_MORE && r == TUNNEL_ANSWER_FAIL) {
		CHECK(whole.proxy == PROTO_PROXY_BROKEN);
		return;
	}
	CHECK(r == s);
	if (r == TUNNEL_ANSWER_OPEN)
		CHECK(whole.size == part.size);
	if (r == TUNNEL_ANSWER_FAIL)
		CHECK(whole.proxy == part.proxy);
}

static void
fuzz_rows(struct span in)
{
	static struct no_proxy list;
	char host[EGRESS_MAX_HOST + 1];
	const uint8_t *nl;

	memset(&list, 0, sizeof(list));
	while (in.len != 0) {
		nl = memchr(in.p, '\n', in.len);
		if (nl == NULL)
			nl = in.p + in.len;
		(void)no_proxy_add(&list, span_of(in.p, (size_t)(nl - in.p)));
		in = nl == in.p + in.len
			 ? span_of(nl, 0)
			 : span_of(nl + 1, in.len - (size_t)(nl - in.p) - 1);
	}
	CHECK(list.n <= NO_PROXY_MAX_ROWS);
	for (unsigned i = 0; i < list.n; i++) {
		const struct no_proxy_row *r = &list.rows[i];

		CHECK(r->bits <= 128);
		if (r->kind != NO_PROXY_NAME)
			continue;
		/* A row is a valid name, which bypasses the proxy. */
		CHECK(egress_host(span_str(r->host), host) == 0);
		CHECK(strcmp(host, r->host) == 0);
		CHECK(no_proxy_direct(&list, host, r->port == 0 ? 1 : r->port));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	if (len == 0)
		return 0;
	if ((p[0] & 2) != 0)
		fuzz_rows(span_of(p + 1, len - 1));
	else
		fuzz_answer(span_of(p + 1, len - 1), (p[0] & 1) != 0);
	return 0;
}
