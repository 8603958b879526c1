/* SPDX-License-Identifier: ISC */
/*
 * Judges the proxy's answer. Nothing of it is passed on except the number of
 * its status.
 */
#include "tunneld/answer.h"

#include <stdio.h>

static enum tunnel_result
fail(struct tunnel_answer *a, enum proto_proxy proxy, const char *text)
{
	a->proxy = proxy;
	snprintf(a->text, sizeof(a->text), "%s", text);
	return TUNNEL_ANSWER_FAIL;
}

/*
 * Returns true if the proxy accepts a user name and password. A scheme is the
 * first word of a header's value or of a list element.
 */
static bool
takes_basic(const struct http1_head *h)
{
	struct span v;
	bool named = false;

	for (unsigned i = 0; i < h->nheaders; i++) {
		if (!span_ieq(h->headers[i].name, SPAN("proxy-authenticate")))
			continue;
		named = true;
		v = h->headers[i].value;
		/* One header may list several schemes. */
		for (size_t k = 0; k + 5 <= v.len; k++)
			if ((k == 0 || v.p[k - 1] == ' ' ||
				v.p[k - 1] == ',') &&
			    span_ieq(span_of(v.p + k, 5), SPAN("Basic")))
				return true;
	}
	return !named;
}

static enum tunnel_result
refused(struct tunnel_answer *a, const struct http1_head *h, bool credential)
{
	char text[96];

	switch (a->status) {
	case 407:
		if (!takes_basic(h))
			return fail(a, PROTO_PROXY_AUTH,
			    "the proxy takes no user name and password (407 "
			    "without Basic); other ways to log in to it are "
			    "not spoken");
		return fail(a, PROTO_PROXY_AUTH,
		    credential ? "the proxy does not accept the credential "
				 "(407)"
			       : "the proxy wants a credential, and none is "
				 "set (407)");
	case 403:
		return fail(
		    a, PROTO_PROXY_DENIED, "the proxy forbids this host (403)");
	case 502:
		return fail(a, PROTO_PROXY_FAILED,
		    "the proxy cannot reach the host (502)");
	case 503:
		return fail(a, PROTO_PROXY_FAILED,
		    "the proxy cannot serve just now (503)");
	case 504:
		return fail(a, PROTO_PROXY_FAILED,
		    "the host does not answer the proxy (504)");
	default:
		break;
	}
	snprintf(text, sizeof(text), "the proxy answered %u to a CONNECT",
	    a->status);
	if (a->status >= 500)
		return fail(a, PROTO_PROXY_FAILED, text);
	return fail(a,
	    a->status >= 400 ? PROTO_PROXY_DENIED : PROTO_PROXY_BROKEN, text);
}

enum tunnel_result
tunnel_answer(struct tunnel_answer *a, struct span in, bool credential)
{
	static struct http1_head head;
	struct span start = in;
	char text[160];

	/*
	 * More bytes than the limit may have arrived; the head must end within
	 * it.
	 */
	if (start.len > TUNNEL_ANSWER_MAX)
		start.len = TUNNEL_ANSWER_MAX;
	switch (http1_response_more(start, &a->seen, &head)) {
	case HTTP1_OK:
		break;
	case HTTP1_MORE:
		if (in.len < TUNNEL_ANSWER_MAX)
			return TUNNEL_ANSWER_MORE;
		return fail(a, PROTO_PROXY_BROKEN,
		    "the head of the proxy's answer is over 8 KiB");
	case HTTP1_BAD:
		snprintf(text, sizeof(text),
		    "what the proxy answers is no HTTP: %s", head.reason);
		return fail(a, PROTO_PROXY_BROKEN, text);
	}
	a->status = head.status;
	a->size = head.size;
	if (a->status == 200)
		return TUNNEL_ANSWER_OPEN;
	return refused(a, &head, credential);
}

void
tunnel_answer_closed(struct tunnel_answer *a, size_t had)
{
	(void)fail(a, PROTO_PROXY_BROKEN,
	    had == 0 ? "the proxy closed the connection without an answer"
		     : "the proxy closed the connection within its answer");
}
