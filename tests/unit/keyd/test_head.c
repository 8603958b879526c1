/* SPDX-License-Identifier: ISC */
/* Request heads, byte for byte, and values that must not get into one. */
#include <errno.h>

#include "mitmd/keyd/head.h"
#include "mitmd/provider/provider.h"
#include "tap.h"

static uint8_t out[16384];

static struct keyd_head
base(void)
{
	return (struct keyd_head){.method = SPAN("POST"),
	    .path = SPAN("/v1/messages"), .query = SPAN("beta=true"),
	    .host = SPAN("api.anthropic.com"), .port = 443, .tls = true,
	    .auth_header = SPAN("x-api-key"), .credential = SPAN("sk-ant-0123456789"),
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
	h.auth_header = SPAN("authorization");
	h.auth_prefix = SPAN("Bearer ");
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

/* The signature comes from the second implementation (tests/lib/standins). */
static void
test_signed(struct buf *headers)
{
	static const uint8_t none[32] = {0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc,
	    0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
	    0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b,
	    0x78, 0x52, 0xb8, 0x55};
	static const struct sigv4_scope scope = {
	    .region = {(const uint8_t *)"us-west-2", 9},
	    .service = {(const uint8_t *)"bedrock", 7}};
	struct keyd_head h = base();
	size_t len = 0;

	h.path = SPAN("/model/a:0/invoke");
	h.query = SPAN("");
	h.prefix = SPAN("/gateway");
	h.host = SPAN("gw.example");
	h.port = 8443;
	h.headers = buf_span(headers);
	h.length = 0;
	h.sign = &scope;
	h.key = (struct sigv4_key){.id = SPAN("AKIDEXAMPLE"),
	    .secret = h.credential,
	    .token = SPAN("session-token-0123456789")};
	h.date = "20150830T123600Z";
	h.body = none;
	golden(&h, "POST /gateway/model/a:0/invoke HTTP/1.1\r\n"
	    "host: gw.example:8443\r\n"
	    "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/"
	    "us-west-2/bedrock/aws4_request, SignedHeaders=accept;"
	    "anthropic-version;host;x-amz-content-sha256;x-amz-date;"
	    "x-amz-security-token;x-empty, Signature="
	    "43cbd12f8d3c76e46d4b412d698f587f6267b118d10ee0b04441284ddb3a6127\r\n"
	    "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b"
	    "934ca495991b7852b855\r\nx-amz-date: 20150830T123600Z\r\n"
	    "x-amz-security-token: session-token-0123456789\r\n"
	    "accept-encoding: identity\r\ncontent-length: 0\r\n"
	    "anthropic-version: 2023-06-01\r\naccept: */*\r\nx-empty: \r\n\r\n",
	    "signed: what stands in the credential's place");
	is_int(keyd_head_compose(&h, out, sizeof(out), &len), 0, "composed");
	ok(memmem(out, len, "0123456789\r", 11) != NULL &&
		memmem(out, len, "sk-ant-", 7) == NULL,
	    "the token goes out, the secret does not");
	for (size_t cap = 0; cap < len; cap += 7) {
		size_t n = 7;

		if (keyd_head_compose(&h, out, cap, &n) != -1 || n != 7)
			ok(false, "%zu bytes are too few", cap);
	}
	h.key.token = SPAN("0123456789\r\nx: y");
	refused(&h, sizeof(out), EBADMSG, "CR LF in the session token");
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
	test_signed(&headers);
	test_refused();
	buf_free(&headers);
	return tap_done();
}
