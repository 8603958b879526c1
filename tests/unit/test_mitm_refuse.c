/* SPDX-License-Identifier: ISC */
/*
 * Every refusal: its status is never one that SDKs retry for minutes unless
 * a retry can help, its text names a next step, and it is JSON inside TLS.
 */
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "mitmd_refuse.h"
#include "tap.h"

/* The answer as text. */
static char *
compose(
    enum refusal r, unsigned status, const char *detail, bool plain, bool close)
{
	struct buf b;
	char *text;

	buf_init(&b, 65536);
	if (refuse_compose(&b, r, status, 0x1f, detail, plain, close) == -1)
		return NULL;
	text = span_dup(buf_span(&b));
	buf_free(&b);
	return text;
}

static void
test_reason(enum refusal r)
{
	const struct refusal_text *t = refuse_text(r);
	struct value_pool *pool = value_pool_new(65536);
	const struct value *v, *e;
	char *text, *body, *len;
	bool retry = t->status == 408 || t->status >= 500;

	text = compose(r, 0, "x \"y\" \\ \n\x7f z", false, false);
	body = strstr(text, "\r\n\r\n") + 4;
	len = strstr(text, "Content-Length: ");
	ok(atoi(text + 9) == (int)t->status && t->status != 401 &&
		t->status != 429 && t->status >= 400,
	    "%s: status %u", t->code, t->status);
	ok(len != NULL && (size_t)atoi(len + 16) == strlen(body),
	    "... its length");
	v = json_read(pool, span_str(body), NULL);
	e = v == NULL ? NULL : value_get(v, "error");
	if (t->flat)
		ok(e != NULL && e->type == VALUE_STRING &&
			span_starts(e->text, SPAN("IronCurtain: ")) &&
			strncmp(text, "HTTP/1.1 403 x 'y' ' ?? z\r\n", 27) == 0,
		    "... JSON and phrase as package managers show them");
	else
		ok(e != NULL &&
			(t->before != NULL ||
			    span_is(value_str(v, "type"), "error")) &&
			(t->before != NULL ||
			    span_is(value_str(e, "code"), t->code)) &&
			span_starts(
			    value_str(e, "message"), SPAN("IronCurtain: ")),
		    "... JSON as both SDKs read it");
	ok(strstr(body, "(request 0000001f)") != NULL, "... its number");
	ok(retry == (strstr(text, "x-should-retry: false") == NULL) &&
		retry == (strstr(t->text, "Do not retry.") == NULL),
	    "... says whether to retry");
	ok(strchr(t->text, '.') != NULL && strlen(t->text) > 30,
	    "... says what to do");
	free(text);
	value_pool_free(pool);
}

int
main(void)
{
	char *text;

	for (unsigned r = REFUSE_MALFORMED; r < REFUSE_COUNT; r++)
		test_reason((enum refusal)r);
	text = compose(REFUSE_HOST, 0, "Allowed: a:443.", true, true);
	ok(strstr(text, "Content-Type: text/plain\r\n") != NULL &&
		strstr(text, "Connection: close\r\n\r\nIronCurtain: ") !=
		    NULL &&
		strstr(text, "Allowed: a:443. (request 0000001f)\n") != NULL,
	    "before TLS: plain text, closes");
	free(text);
	text = compose(REFUSE_OFFERED, 410, NULL, false, false);
	ok(strncmp(text, "HTTP/1.1 410 Gone\r\n", 19) == 0,
	    "a route's own status");
	free(text);
	text = compose(REFUSE_UPGRADE, 0, NULL, false, true);
	ok(strstr(text, "426 Upgrade Required") != NULL &&
		strstr(text, "Connection: Upgrade, close\r\n") != NULL,
	    "426 as RFC 9110 15.5.22 wants it");
	free(text);
	is_str(refuse_phrase(299), "Status", "a status without a name");
	ok(refuse_text(REFUSE_COUNT) == refuse_text(REFUSE_NONE),
	    "no such reason");
	return tap_done();
}
