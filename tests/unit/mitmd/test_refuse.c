/* SPDX-License-Identifier: ISC */
/*
 * Every refusal: SDKs do not retry its status for minutes unless a retry can
 * help, its text names a next step, and it is JSON inside TLS.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "mitmd/refuse.h"
#include "tap.h"

/* Returns the answer as text. */
static char *
compose(enum refusal r, unsigned status, const char *detail,
    enum refuse_form form, bool close)
{
	struct buf b;
	char *text;

	buf_init(&b, 65536);
	if (refuse_compose(&b, r, status, 0x1f, detail, form, close) == -1)
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
	bool retry =
	    t->status == 408 || t->status == 429 || t->status >= 500;

	text = compose(r, 0, "x \"y\" \\ \n\x7f z", REFUSE_AS_JSON, false);
	body = strstr(text, "\r\n\r\n") + 4;
	len = strstr(text, "Content-Length: ");
	ok(atoi(text + 9) == (int)t->status && t->status != 401 &&
		t->status >= 400,
	    "%s: status %u", t->code, t->status);
	/* SDKs wait for minutes unless they are told for how long. */
	ok((t->status == 429) == (strstr(text, "\r\nretry-after: ") != NULL) &&
		(t->status != 429 || refuse_is_budget(r)),
	    "... and when to come back");
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

/* Check the form that AWS SDKs read: message and type, and nothing else. */
static void
test_aws(enum refusal r, const char *type)
{
	const struct refusal_text *t = refuse_text(r);
	struct value_pool *pool = value_pool_new(65536);
	const struct value *v;
	char *text, *body, line[80];

	snprintf(line, sizeof(line), "\r\nx-amzn-errortype: %s\r\n", type);
	text = compose(r, 0, "x \"y\"", REFUSE_AS_AWS, false);
	body = strstr(text, "\r\n\r\n") + 4;
	v = json_read(pool, span_str(body), NULL);
	ok(v != NULL && v->type == VALUE_OBJECT && v->count == 1 &&
		span_starts(value_str(v, "message"), SPAN("IronCurtain: ")) &&
		strstr(body, "x 'y' (request 0000001f)\"}\n") != NULL,
	    "%s for AWS: a message alone", t->code);
	ok(strstr(text, line) != NULL, "... is a %s", type);
	free(text);
	value_pool_free(pool);
}

int
main(void)
{
	char *text;

	for (unsigned r = REFUSE_MALFORMED; r < REFUSE_COUNT; r++)
		test_reason((enum refusal)r);
	test_aws(REFUSE_BUDGET, "ValidationException");
	test_aws(REFUSE_LENGTH, "ValidationException");
	ok(strcmp(refuse_aws_type(429), "ThrottlingException") == 0,
	    "AWS SDKs come back, too");
	test_aws(REFUSE_WRONG_KEY, "AccessDeniedException");
	test_aws(REFUSE_OFFERED, "ResourceNotFoundException");
	test_aws(REFUSE_TIMEOUT, "RequestTimeoutException");
	test_aws(REFUSE_PROVIDER, "ServiceUnavailableException");
	test_aws(REFUSE_NONE, "InternalServerException");
	text = compose(REFUSE_HOST, 0, "b.example is not in \"x\". Allowed: a.",
	    REFUSE_AS_TEXT, true);
	ok(strncmp(text, "HTTP/1.1 403 b.example is not in 'x'\r\n", 38) == 0,
	    "the phrase names the host: pip and npm show nothing else");
	ok(strstr(text, "Content-Type: text/plain\r\n") != NULL &&
		strstr(text,
		    "Connection: close\r\n\r\nIronCurtain: b.example is not "
		    "in \"x\". Allowed: a. (request 0000001f)\n") != NULL,
	    "before TLS: plain text, closes");
	free(text);
	text = compose(REFUSE_HOST, 0, NULL, REFUSE_AS_TEXT, true);
	ok(strncmp(text, "HTTP/1.1 403 Forbidden\r\n", 24) == 0 &&
		strstr(text, "IronCurtain: This host or port is not") != NULL,
	    "without a name: the text of the reason");
	free(text);
	text = compose(REFUSE_OFFERED, 410, NULL, REFUSE_AS_JSON, false);
	ok(strncmp(text, "HTTP/1.1 410 Gone\r\n", 19) == 0,
	    "a route's own status");
	free(text);
	text = compose(REFUSE_UPGRADE, 0, NULL, REFUSE_AS_JSON, true);
	ok(strstr(text, "426 Upgrade Required") != NULL &&
		strstr(text, "Connection: Upgrade, close\r\n") != NULL,
	    "426 as RFC 9110 15.5.22 wants it");
	free(text);
	is_str(refuse_phrase(299), "Status", "a status without a name");
	ok(refuse_text(REFUSE_COUNT) == refuse_text(REFUSE_NONE),
	    "no such reason");
	return tap_done();
}
