/* SPDX-License-Identifier: ISC */
/* The answers of a corporate proxy, whole and byte by byte. */
#include <stdio.h>
#include <string.h>

#include "mitmd/tunneld/answer.h"
#include "tap.h"

#define BASIC "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n"

/* clang-format off */
static const struct {
	const char *in;
	enum tunnel_result result;
	enum proto_proxy proxy;
	const char *text;	/* beginning of the text */
	bool credential;
} cases[] = {
	{"HTTP/1.1 200 OK\r\n\r\n", TUNNEL_ANSWER_OPEN, 0, "", 0},
	{"HTTP/1.0 200 Connection established\r\n\r\n", TUNNEL_ANSWER_OPEN, 0,
	    "", 0},
	{"HTTP/1.1 200 \r\nA: b\r\nContent-Length: 7\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n", TUNNEL_ANSWER_OPEN, 0, "", 0},
	{"", TUNNEL_ANSWER_MORE, 0, "", 0},
	{"HTTP/1.1 200 OK\r\n", TUNNEL_ANSWER_MORE, 0, "", 0},
	{BASIC, TUNNEL_ANSWER_FAIL, PROTO_PROXY_AUTH,
	    "the proxy wants a credential, and none is set (407)", 0},
	{BASIC, TUNNEL_ANSWER_FAIL, PROTO_PROXY_AUTH,
	    "the proxy does not accept the credential (407)", 1},
	{"HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM, basic realm=x\r\n\r\n",
	    TUNNEL_ANSWER_FAIL, PROTO_PROXY_AUTH,
	    "the proxy does not accept the credential (407)", 1},
	{"HTTP/1.1 407 No\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_AUTH,
	    "the proxy does not accept the credential (407)", 1},
	{"HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\n"
	    "Proxy-Authenticate: NTLM\r\n\r\n", TUNNEL_ANSWER_FAIL,
	    PROTO_PROXY_AUTH, "the proxy takes no user name and password", 1},
	{"HTTP/1.1 403 No\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_DENIED,
	    "the proxy forbids this host (403)", 0},
	{"HTTP/1.1 405 No\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_DENIED,
	    "the proxy answered 405 to a CONNECT", 0},
	{"HTTP/1.1 500 No\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_FAILED,
	    "the proxy answered 500 to a CONNECT", 0},
	{"HTTP/1.1 502 No\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_FAILED,
	    "the proxy cannot reach the host (502)", 0},
	{"HTTP/1.1 503 No\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_FAILED,
	    "the proxy cannot serve just now (503)", 0},
	{"HTTP/1.1 504 No\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_FAILED,
	    "the host does not answer the proxy (504)", 0},
	{"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", TUNNEL_ANSWER_FAIL,
	    PROTO_PROXY_BROKEN, "the proxy answered 100 to a CONNECT", 0},
	{"HTTP/1.1 204 OK\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_BROKEN,
	    "the proxy answered 204 to a CONNECT", 0},
	{"HTTP/1.1 302 Go\r\nLocation: http://x/\r\n\r\n", TUNNEL_ANSWER_FAIL,
	    PROTO_PROXY_BROKEN, "the proxy answered 302 to a CONNECT", 0},
	{"HTTP/2 200\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_BROKEN,
	    "what the proxy answers is no HTTP: ", 0},
	{"HTTP/1.1 200 OK\n\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_BROKEN,
	    "what the proxy answers is no HTTP: ", 0},
	{"HTTP/1.1 +200 OK\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_BROKEN,
	    "what the proxy answers is no HTTP: ", 0},
	{"HTTP/1.1 0200 OK\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_BROKEN,
	    "what the proxy answers is no HTTP: ", 0},
	{"HTTP/1.1 999 OK\r\n\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_BROKEN,
	    "what the proxy answers is no HTTP: ", 0},
	{"HTTP/1.1 200 OK\r\n A: b\r\n\r\n", TUNNEL_ANSWER_FAIL,
	    PROTO_PROXY_BROKEN, "what the proxy answers is no HTTP: ", 0},
	{"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", TUNNEL_ANSWER_FAIL,
	    PROTO_PROXY_BROKEN, "what the proxy answers is no HTTP: ", 0},
	{"SSH-2.0-x\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_BROKEN,
	    "what the proxy answers is no HTTP: ", 0},
	{"\x05\x01\r\n", TUNNEL_ANSWER_FAIL, PROTO_PROXY_BROKEN,
	    "what the proxy answers is no HTTP: ", 0},
};
/* clang-format on */

static void
test_cases(void)
{
	for (size_t i = 0; i < nitems(cases); i++) {
		struct tunnel_answer a = {.seen = 0}, b = {.seen = 0};
		struct span in = span_str(cases[i].in);
		enum tunnel_result r = tunnel_answer(
				       &a, in, cases[i].credential),
				   s = TUNNEL_ANSWER_MORE;
		size_t n = 0;

		while (s == TUNNEL_ANSWER_MORE && n < in.len)
			s = tunnel_answer(
			    &b, span_of(in.p, ++n), cases[i].credential);
		ok(r == cases[i].result && s == r,
		    "%.*s...: whole and byte by byte",
		    (int)strcspn(cases[i].in, "\r\n"), cases[i].in);
		if (r == TUNNEL_ANSWER_OPEN)
			ok(a.size == in.len && b.size == n, "its size");
		if (r != TUNNEL_ANSWER_FAIL)
			continue;
		ok(a.proxy == cases[i].proxy && b.proxy == a.proxy &&
			strncmp(a.text, cases[i].text, strlen(cases[i].text)) ==
			    0 &&
			strcmp(a.text, b.text) == 0,
		    "%s", a.text);
	}
}

static void
test_long(void)
{
	static char in[3 * TUNNEL_ANSWER_MAX];
	struct tunnel_answer a = {.seen = 0};
	int n = snprintf(in, sizeof(in), "HTTP/1.1 200 OK\r\nA: %0*d\r\n\r\n",
	    (int)TUNNEL_ANSWER_MAX - 24, 0);

	is_int(n, TUNNEL_ANSWER_MAX, "a head of 8 KiB");
	ok(tunnel_answer(&a, span_of(in, (size_t)n), false) ==
		TUNNEL_ANSWER_OPEN,
	    "is taken");
	a = (struct tunnel_answer){.seen = 0};
	ok(tunnel_answer(&a, span_of(in, sizeof(in)), false) ==
		    TUNNEL_ANSWER_OPEN &&
		a.size == TUNNEL_ANSWER_MAX,
	    "whatever stands behind it");
	in[n - 2] = 'x';
	a = (struct tunnel_answer){.seen = 0};
	ok(tunnel_answer(&a, span_of(in, (size_t)n - 2), false) ==
		TUNNEL_ANSWER_MORE,
	    "almost that much");
	(void)snprintf(in, sizeof(in), "HTTP/1.1 200 OK\r\nA: %0*d\r\n\r\n",
	    (int)TUNNEL_ANSWER_MAX - 23, 0);
	a = (struct tunnel_answer){.seen = 0};
	ok(tunnel_answer(&a, span_of(in, TUNNEL_ANSWER_MAX), false) ==
		    TUNNEL_ANSWER_FAIL &&
		strstr(a.text, "over 8 KiB") != NULL,
	    "a byte more is too much");
	a = (struct tunnel_answer){.seen = 0};
	ok(tunnel_answer(&a, span_of(in, TUNNEL_ANSWER_MAX + 1), false) ==
		TUNNEL_ANSWER_FAIL,
	    "also if it is there at once");
}

int
main(void)
{
	struct tunnel_answer a = {.seen = 0};

	test_cases();
	test_long();
	tunnel_answer_closed(&a, 0);
	is_str(a.text, "the proxy closed the connection without an answer",
	    "closed");
	tunnel_answer_closed(&a, 3);
	is_str(a.text, "the proxy closed the connection within its answer",
	    "closed later");
	return tap_done();
}
