/* SPDX-License-Identifier: ISC */
/*
 * Input of a server or a browser on the way to a login, as any bytes; the
 * first one says which: a challenge, the two kinds of documents, a callback, or
 * an address. What is accepted can be used as it is: addresses are https and
 * public, scopes are plain, and a code comes with the awaited state only.
 */
#include <stdint.h>
#include <stdlib.h>

#include "common/http/challenge.h"
#include "common/http/https_url.h"
#include "logind/documents.h"
#include "workers/callbackd/callback.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
require_url(struct span s)
{
	struct https_url u;
	const char *why;

	if (s.len != 0 && https_url_read(s, &u, &why) == -1)
		abort();
}

static void
check_document(enum proto_meta kind, struct span text)
{
	static struct document d;
	const bool head = kind == PROTO_META_CHALLENGE;

	document_read(&d, kind, head ? 401 : 200, head ? text : SPAN(""),
	    head ? SPAN("") : text);
	if (d.m.good != (d.m.why.len == 0))
		abort();
	if (d.m.scopes.len != 0 && d.m.good && !challenge_is_scopes(d.m.scopes))
		abort();
	require_url(d.m.authorization);
	require_url(d.m.token);
	require_url(d.m.registration);
	require_url(d.m.revocation);
	if (d.m.metadata.len > PROTO_MAX_URL ||
	    d.m.resource.len > PROTO_MAX_URL ||
	    d.m.issuers.len > PROTO_MAX_ISSUERS ||
	    d.m.scopes.len > PROTO_MAX_SCOPES)
		abort();
	document_free(&d);
}

static void
check_callback(struct span text)
{
	static const struct callback_want want = {.state = "s1",
	    .host = "127.0.0.1:7",
	    .issuer = "https://b.com",
	    .iss = true};
	static struct callback c;
	static struct http1_head h;
	enum proto_seen how = callback_target(text, &want, &c);

	if ((how == PROTO_SEEN_CODE) != (c.code[0] != '\0') ||
	    (how == PROTO_SEEN_ERROR) != (c.error[0] != '\0'))
		abort();
	if (http1_request(text, &h) == HTTP1_OK)
		(void)callback_head(&h, &want);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t size)
{
	struct https_url u;
	struct span text;
	const char *why;

	if (size == 0)
		return 0;
	text = span_of(p + 1, size - 1);
	switch (p[0] % 5) {
	case 0:
		check_document(PROTO_META_CHALLENGE, text);
		break;
	case 1:
		check_document(PROTO_META_RESOURCE, text);
		break;
	case 2:
		check_document(PROTO_META_SERVER, text);
		break;
	case 3:
		check_callback(text);
		break;
	default:
		if (https_url_read(text, &u, &why) == 0 &&
		    (u.port == 0 || u.host[0] == '\0' ||
			u.path.len > u.target.len))
			abort();
		break;
	}
	return 0;
}
