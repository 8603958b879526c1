/* SPDX-License-Identifier: ISC */
/* Request heads, byte for byte, and what cannot get into one. */
#include <errno.h>

#include "keyd_head.h"
#include "provider.h"
#include "tap.h"

static uint8_t out[16384];

static struct keyd_head
base(void)
{
	return (struct keyd_head){.method = SPAN("POST"),
	    .path = SPAN("/v1/messages"), .query = SPAN("beta=true"),
	    .host = SPAN("api.anthropic.com"), .port = 443, .tls = true,
	    .kind = SPAN("x-api-key"), .credential = SPAN("sk-ant-0123456789"),
	    .length = 42};
}

static void
golden(const struct keyd_head *h, const char *want, const char *what)
{
	size_t len = 0;

	if (keyd_head_compose(h, out, sizeof(out), &len) == -1)
		len = 0;
	is_mem(out, len, want, strlen(want), "%s", what);
}

static void
refused(const struct keyd_head *h, size_t cap, int error, const char *what)
{
	size_t len = 7;
	int r;

	memset(out, 0xee, sizeof(out));
	r = keyd_head_compose(h, out, cap, &len);
	ok(r == -1 && errno == error && len == 7, "refused: %s", what);
	ok(memmem(out, sizeof(out), "0123456789", 10) == NULL,
	    "and nothing of the credential stays: %s", what);
}

static void
test_golden(struct buf *headers)
{
	struct keyd_head h = base();

	golden(&h, "POST /v1/messages?beta=true HTTP/1.1\r\n"
	    "host: api.anthropic.com\r\nx-api-key: sk-ant-0123456789\r\n"
	    "accept-encoding: identity\r\ncontent-length: 42\r\n\r\n",
	    "the default");
	h.headers = buf_span(headers);
	h.kind = SPAN("authorization");
	h.kind_prefix = SPAN("Bearer ");
	h.prefix = SPAN("/gateway");
	h.query = SPAN("");
	h.host = SPAN("gw.example");
	h.port = 8443;
	h.close = true;
	golden(&h, "POST /gateway/v1/messages HTTP/1.1\r\n"
	    "host: gw.example:8443\r\n"
	    "authorization: Bearer sk-ant-0123456789\r\n"
	    "accept-encoding: identity\r\ncontent-length: 42\r\n"
	    "connection: close\r\nanthropic-version: 2023-06-01\r\n"
	    "accept: */*\r\nx-empty: \r\n\r\n",
	    "a gateway: prefix, port, bearer, single use, headers");
	h = base();
	h.method = SPAN("GET");
	h.path = SPAN("/v1/models");
	h.query = SPAN("");
	h.length = 0;
	h.tls = false;
	h.port = 80;
	h.host = SPAN("::1");
	golden(&h, "GET /v1/models HTTP/1.1\r\nhost: [::1]\r\n"
	    "x-api-key: sk-ant-0123456789\r\n"
	    "accept-encoding: identity\r\n\r\n",
	    "no body, no length; an IPv6 literal; plain on its port");
	h.port = 443;
	h.method = SPAN("POST");
	h.length = UINT64_MAX;
	golden(&h, "POST /v1/models HTTP/1.1\r\nhost: [::1]:443\r\n"
	    "x-api-key: sk-ant-0123456789\r\n"
	    "accept-encoding: identity\r\n"
	    "content-length: 18446744073709551615\r\n\r\n",
	    "plain on 443 names its port; the largest length");
	h = base();
	h.length = 0;
	h.query = SPAN("");
	golden(&h, "POST /v1/messages HTTP/1.1\r\n"
	    "host: api.anthropic.com\r\nx-api-key: sk-ant-0123456789\r\n"
	    "accept-encoding: identity\r\ncontent-length: 0\r\n\r\n",
	    "a POST without body says so");
}

static void
test_refused(void)
{
	struct keyd_head h = base();
	size_t len = 0;
	struct buf b;

	is_int(keyd_head_compose(&h, out, sizeof(out), &len), 0, "composed");
	refused(&h, len - 1, ENOBUFS, "one byte too little room");
	h.path = SPAN("/v1/messages HTTP/1.1\r\nx: y");
	refused(&h, sizeof(out), EBADMSG, "CR LF in the path");
	h = base();
	h.query = SPAN("a=\n");
	refused(&h, sizeof(out), EBADMSG, "LF in the query");
	h = base();
	h.credential = SPAN("sk-0123456789\rx");
	refused(&h, sizeof(out), EBADMSG, "CR in the credential");
	h = base();
	h.headers = SPAN("\x05");
	refused(&h, sizeof(out), EBADMSG, "a list cut short");
	buf_init(&b, 65536);
	(void)provider_pack(&b, SPAN("accept"), SPAN("x\0y"));
	h.headers = buf_span(&b);
	refused(&h, sizeof(out), EBADMSG, "NUL in a value");
	buf_free(&b);
}

int
main(void)
{
	struct buf headers;

	buf_init(&headers, 65536);
	(void)provider_pack(&headers, SPAN(":credential"), SPAN("0"));
	(void)provider_pack(&headers, SPAN("anthropic-version"),
	    SPAN("2023-06-01"));
	(void)provider_pack(&headers, SPAN("accept"), SPAN("*/*"));
	(void)provider_pack(&headers, SPAN("x-empty"), SPAN(""));
	test_golden(&headers);
	test_refused();
	buf_free(&headers);
	return tap_done();
}
