/* SPDX-License-Identifier: ISC */
/*
 * The lines that an editor reads, from what a broken acpd could send: nothing
 * but updates, permission requests, cancellations and answers.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "icctl/screen/viewer.h"
#include "tap.h"

static char written[2][65536];

void
plain_write(unsigned stream, struct span s)
{
	size_t n = strlen(written[stream]);

	if (s.len >= sizeof(written[0]) - n)
		errx(1, "too much");
	memcpy(written[stream] + n, s.p, s.len);
	written[stream][n + s.len] = '\0';
}

/* Send a tree, as JSON here. Returns what editor_line() returns. */
static int
line(enum proto_acp kind, uint64_t n, const char *json)
{
	struct msg_ACP_OUT m = {.kind = (uint8_t)kind, .n = n};
	struct value_pool *pool = value_pool_new(1 << 20);
	const struct value *v;
	struct buf b;
	int rv;

	written[0][0] = written[1][0] = '\0';
	buf_init(&b, 1 << 20);
	if (pool == NULL ||
	    (v = json_read(pool, span_str(json), NULL)) == NULL ||
	    value_encode(v, &b) == -1)
		errx(1, "%s", json);
	m.tree = buf_span(&b);
	rv = editor_line(&m);
	buf_free(&b);
	value_pool_free(pool);
	return rv;
}

static void
is_line(enum proto_acp kind, uint64_t n, const char *json, const char *want,
    const char *what)
{
	is_int(line(kind, n, json), 0, "%s is passed on", what);
	is_str(written[0], want, "%s", what);
}

static void
test_lines(void)
{
	is_line(PROTO_ACP_UPDATE, 0, "{\"body\":{\"a\":\"x\\ny\"}}",
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":"
	    "{\"a\":\"x\\ny\"}}\n",
	    "an update");
	is_line(PROTO_ACP_PERMISSION, 7, "{\"body\":{}}",
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":"
	    "\"session/request_permission\",\"params\":{}}\n",
	    "a permission request");
	is_line(PROTO_ACP_CANCEL, 7, "{\"body\":{\"x\":1}}",
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":"
	    "{\"requestId\":7}}\n",
	    "a cancellation");
	is_line(PROTO_ACP_RESULT, 0, "{\"body\":{},\"id\":\"a\\u0001\"}",
	    "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0001\",\"result\":{}}\n",
	    "a result");
	is_line(PROTO_ACP_ERROR, 0, "{\"body\":{\"code\":1}}",
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1}}\n",
	    "an error");
}

static void
test_refused(void)
{
	static const struct {
		enum proto_acp kind;
		const char *json, *what;
	} bad[] = {
	    {PROTO_ACP_UPDATE, "{}", "no body"},
	    {PROTO_ACP_UPDATE, "[]", "no object"},
	    {PROTO_ACP_UPDATE, "{\"body\":\"x\"}", "a body that is a text"},
	    {PROTO_ACP_UPDATE, "{\"body\":{},\"id\":1}",
		"an update with an id, which is a request"},
	    {PROTO_ACP_PERMISSION, "{\"body\":{},\"id\":1}", "a second id"},
	    {PROTO_ACP_RESULT, "{\"body\":{},\"id\":{}}", "an id of a kind "
							  "that none is"},
	    {PROTO_ACP_UPDATE,
		"{\"body\":{\"a\":[{\"_meta\":{\"terminal-auth\":1}}]}}",
		"private members, deep inside"},
	    {PROTO_ACP_RESULT,
		"{\"body\":{\"authMethods\":[{\"id\":\"x\"}]},\"id\":1}",
		"ways to log in"},
	};

	for (size_t i = 0; i < nitems(bad); i++) {
		is_int(line(bad[i].kind, 1, bad[i].json), -1, "refused: %s",
		    bad[i].what);
		is_str(written[0], "", "the editor sees nothing of it");
	}
}

int
main(void)
{
	test_lines();
	test_refused();
	return tap_done();
}
