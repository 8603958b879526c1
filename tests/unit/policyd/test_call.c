/* SPDX-License-Identifier: ISC */
/*
 * Tests calls through policyd and sessions with servers: the messages sent,
 * their receivers and contents.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static struct ring ring;

static const char rules[] =
    "{\"rules\":[{\"name\":\"docs\",\"if\":{\"paths\":{\"roles\":"
    "[\"read-path\"],\"within\":\"@D/home/docs\"}},\"then\":\"allow\","
    "\"reason\":\"documents\"},"
    "{\"name\":\"rest\",\"if\":{\"roles\":[\"read-path\",\"write-path\","
    "\"git-remote-url\"]},\"then\":\"escalate\",\"reason\":\"ask first\"},"
    "{\"name\":\"free\",\"if\":{\"server\":[\"fetch\",\"github\"]},"
    "\"then\":\"allow\",\"reason\":\"free\"}]}";

/* Returns the only RELEASE, and ends the call. */
static const struct msg_RELEASE *
only(uint64_t id)
{
	const union proto_any *m = ring_find(&ring, MSG_RELEASE, 0);
	const char *why;

	if (m == NULL || ring_find(&ring, MSG_RELEASE, 1) != NULL ||
	    m->RELEASE.id != id)
		errx(1, "not one RELEASE");
	if (call_ended(&ring.env, id, false, &why) == -1)
		errx(1, "%s", why);
	return &m->RELEASE;
}

static const struct msg_RELEASE *
call(unsigned server, const char *tool, const char *args)
{
	ring_clear(&ring);
	return only(ring_call(&ring, server, tool, args));
}

static void
refused(unsigned server, const char *tool, const char *args, const char *rule,
    const char *answer)
{
	const struct msg_RELEASE *m = call(server, tool, args);
	bool good = !m->forward && m->line_len == 0 &&
	    m->status == PROTO_DENY && span_is(m->rule, rule);

	ok(good, "refused by %s", rule);
	if (!good)
		printf("# got %s %s\n", ring_str(m->rule),
		    ring_str(m->reason));
	is_str(ring_str(m->answer), rig_text(&ring.rig, answer), "answer");
}

#define FINAL "\nDo not retry: the answer will be the same."

static void
test_refusals(void)
{
	refused(0, "zap", "{}", "unknown-tool",
	    "Unknown tool: filesystem__zap");
	refused(PROTO_NO_SERVER, "what\x1b", "{}", "unknown-tool",
	    "Unknown tool: what\\x1b");
	refused(0, "unannotated", "{}", "missing-annotation",
	    "Missing annotation for tool: filesystem__unannotated. No policy "
	    "knows it. The user can annotate it: icctl mcp annotate "
	    "filesystem" FINAL);
	refused(2, "get", "{\"url\":\"https://x.com\",\"b\":1,\"a\":2}",
	    "invalid-arguments",
	    "Unknown argument(s): \"a\", \"b\". Valid parameters are: "
	    "\"flag\", \"headers\", \"n\", \"num\", \"url\"");
	refused(2, "get", "{\"url\":7}", "invalid-arguments",
	    "Argument \"url\" must be a string (got number).");
	refused(2, "get", "{\"n\":1.5}", "invalid-arguments",
	    "Argument \"n\" must be an integer (got number).");
	refused(2, "get", "{\"n\":1e-2}", "invalid-arguments",
	    "Argument \"n\" must be an integer (got number).");
	refused(2, "get", "{\"n\":1.0e1}", "invalid-arguments",
	    "Argument \"n\" must be an integer (got number).");
	refused(2, "get", "{\"n\":\"1\"}", "invalid-arguments",
	    "Argument \"n\" must be an integer (got string).");
	refused(2, "get", "{\"headers\":[]}", "invalid-arguments",
	    "Argument \"headers\" must be an object (got array).");
	refused(2, "get", "{\"flag\":null}", "invalid-arguments",
	    "Argument \"flag\" must be a boolean (got null).");
	refused(1, "status", "{}", "git-path-enrichment-failed",
	    "Error: Git server has no working directory set. Call "
	    "git_set_working_dir first.");
	refused(1, "status", "{\"path\":\" \\t\"}",
	    "git-path-enrichment-failed",
	    "Error: Git server has no working directory set. Call "
	    "git_set_working_dir first.");
	refused(0, "read", "{\"path\":\"\"}", "structural-invalid-path",
	    "DENIED: Path in argument \"path\" is empty" FINAL);
	refused(0, "delete", "{\"path\":\"@D/home/docs/d\"}", "default-deny",
	    "DENIED: No matching policy rule -- denied by default" FINAL);
	refused(0, "read", "{\"path\":\"@D/prot/p\"}",
	    "structural-protected-path",
	    "DENIED: Access to protected path is forbidden: @D/prot/p" FINAL);
}

static void
forwarded(unsigned server, const char *tool, const char *args,
    const char *rule, const char *sent)
{
	const struct msg_RELEASE *m = call(server, tool, args);
	bool good = m->forward && span_is(m->rule, rule) &&
	    m->hold == PROTO_HOLD_NONE && m->line_len != 0;

	ok(good, "forwarded by %s", rule);
	if (!good)
		printf("# got %s %s\n", ring_str(m->rule),
		    ring_str(m->reason));
	is_str(ring_str(span_of(m->payload.p + m->args_off, m->args_len)),
	    rig_text(&ring.rig, sent), "arguments");
}

static void
test_forward(void)
{
	forwarded(0, "read", "{\"path\":\"a\"}", "structural-sandbox-allow",
	    "{\"path\":\"/workspace/a\"}");
	forwarded(0, "read", "{\"path\":\"@D/home/docs/d\"}", "docs",
	    "{\"path\":\"@D/home/docs/d\"}");
	forwarded(2, "get", "{\"n\":1e2,\"url\":\"https://X.com/\"}", "free",
	    "{\"n\":1e2,\"url\":\"https://x.com\"}");
	forwarded(2, "get",
	    "{\"n\":-1.00,\"num\":\"x\",\"url\":\"https://y.com\"}", "free",
	    "{\"n\":-1.00,\"num\":\"x\",\"url\":\"https://y.com\"}");
	forwarded(2, "get", "{\"n\":1e2,\"url\":\"https://z.com\"}", "free",
	    "{\"n\":1e2,\"url\":\"https://z.com\"}");
	forwarded(3, "anything", "{\"path\":\"@D/prot/p\",\"z\":[1]}",
	    "trusted-server", "{\"path\":\"@D/prot/p\",\"z\":[1]}");
}

static void
test_line(void)
{
	struct msg_CALL m = {.id = ++ring.id, .server = 0, .progress = 1,
	    .tool = SPAN("read")};
	const struct msg_RELEASE *r;
	const char *why;
	char want[512];
	struct buf b;

	ring_clear(&ring);
	buf_init(&b, 4096);
	if (value_encode(rig_tree(&ring.rig, "{\"path\":\"a\"}"), &b) == -1)
		err(1, "value_encode");
	m.args = buf_span(&b);
	ok(call_take(&ring.env, &m, &why) == 0, "with progress");
	r = only(m.id);
	snprintf(want, sizeof(want),
	    "{\"id\":%llu,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\","
	    "\"params\":{\"_meta\":{\"progressToken\":%llu},\"arguments\":"
	    "{\"path\":\"/workspace/a\"},\"name\":\"read\"}}\n",
	    (unsigned long long)m.id, (unsigned long long)m.id);
	is_str(ring_str(span_of(r->payload.p, r->line_len)), want,
	    "the line, with a token of ours");
	ok(r->log_len == 0 && !r->redacted, "nothing else for the log");
	buf_free(&b);
}

static void
test_git(void)
{
	const struct msg_RELEASE *m;

	forwarded(1, "git_set_working_dir", "{\"path\":\"/workspace/sub/\"}",
	    "structural-sandbox-allow", "{\"path\":\"/workspace/sub\"}");
	forwarded(1, "status", "{}", "structural-sandbox-allow",
	    "{\"path\":\"/workspace/sub\"}");
	forwarded(1, "status", "{\"path\":\"\"}", "structural-sandbox-allow",
	    "{\"path\":\"/workspace/sub\"}");
	forwarded(1, "status", "{\"path\":\"/workspace\"}",
	    "structural-sandbox-allow", "{\"path\":\"/workspace\"}");
	/* A refused call changes nothing. */
	m = call(1, "git_set_working_dir", "{\"path\":\"@D/prot\"}");
	ok(!m->forward, "a working directory that is refused");
	forwarded(1, "status", "{}", "structural-sandbox-allow",
	    "{\"path\":\"/workspace/sub\"}");
}

static void
test_breaker(void)
{
	const struct msg_RELEASE *m = NULL;
	bool all = true;

	for (unsigned i = 0; i < 20; i++) {
		m = call(0, "read", "{\"path\":\"breaker\"}");
		all = all && m->forward;
	}
	ok(all, "1.12 the same call 20 times");
	refused(0, "read", "{\"path\":\"/workspace/breaker\"}",
	    "circuit-breaker",
	    "CIRCUIT BREAKER: Tool 'filesystem__read' called 20 times with "
	    "identical arguments within 60s window. Try a different "
	    "approach.");
	ok(call(0, "read", "{\"path\":\"breaker2\"}")->forward,
	    "1.12 other arguments are another call");
	ring.loop.now += 59999;
	ok(!call(0, "read", "{\"path\":\"breaker\"}")->forward,
	    "1.12 still within 60 s");
	ring.loop.now += 1;
	ok(call(0, "read", "{\"path\":\"breaker\"}")->forward,
	    "1.12 after 60 s");
}

static void
test_headless(void)
{
	const struct msg_RELEASE *m;

	ring.env.engine.ask = false;
	m = call(0, "read", "{\"path\":\"@D/out/o\"}");
	ok(!m->forward && m->status == PROTO_ESCALATE &&
		m->hold == PROTO_HOLD_NONE && span_is(m->rule, "rest"),
	    "1.2.7b nobody to ask");
	is_str(ring_str(m->answer),
	    "ESCALATION REQUIRED: ask first. Action denied (no escalation "
	    "handler)." FINAL,
	    "1.2.7b answer");
	ring.env.engine.ask = true;
}

static void
test_redaction(void)
{
	const struct msg_RELEASE *m;
	struct buf b;
	char *text;

	m = call(4, "issue",
	    "{\"owner\":\"o\",\"repo\":\"r\",\"title\":\"card 4111 1111 1111 "
	    "1111, 4111111111111112, ssn 123-45-6789, key "
	    "sk-abcdefghijklmnopqrstuvwx. AKIAABCDEFGHIJKLMNOP\"}");
	ok(m->forward && m->redacted && m->log_len != 0, "2.8 redacted");
	is_str(ring_str(span_of(m->payload.p + m->log_off, m->log_len)),
	    "{\"owner\":\"o\",\"repo\":\"r\",\"title\":\"card 4111 ******** "
	    "1111, 4111111111111112, ssn ***-**-6789, key sk-a...uvwx. "
	    "AKIA...MNOP\"}",
	    "2.8 for the log");
	ok(memmem(m->payload.p, m->line_len, "4111 1111", 9) != NULL,
	    "2.8 not for the server");
	ok(m->redacted == PROTO_REDACTED_OTHER, "no rule judges it");
	m = call(2, "get", "{\"headers\":{\"Cookie\":\"abc\"},\"n\":1,"
			   "\"url\":\"https://x.com/p?token=abcdefgh1\"}");
	is_str(ring_str(span_of(m->payload.p + m->log_off, m->log_len)),
	    "{\"headers\":{\"Cookie\":\"***\"},\"n\":1,"
	    "\"url\":\"https://x.com/p?token=***\"}",
	    "host and path stay, members are known by their names");
	ok(m->redacted == PROTO_REDACTED_OTHER, "rules can be learned from it");
	m = call(2, "get", "{\"n\":1,\"url\":\"https://u:secret77@x.com/\"}");
	ok(!m->forward && memmem(m->reason.p, m->reason.len, "secret77", 8) ==
			      NULL,
	    "reasons are masked, too: %s", ring_str(m->reason));
	ok(memmem(m->payload.p + m->log_off, m->log_len, "secret77", 8) == NULL,
	    "and a refused address");
	buf_init(&b, 1 << 20);
	buf_adds(&b, "{\"content\":\"");
	for (unsigned i = 0; i < 20000; i++)
		buf_addc(&b, 'x');
	buf_adds(&b, "\",\"path\":\"/workspace/long\"}");
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	m = call(0, "write", text);
	ok(m->forward && m->redacted && m->log_len < 1000 &&
		m->args_len > 20000,
	    "long strings are cut for the log only");
	is_str(ring_str(span_of(m->payload.p + m->log_off + 12 + 8 + 256,
		   m->log_len - 12 - 8 - 256)),
	    "\",\"length\":20000,\"sha256\":\"42e8bc96b8eec8c4e5d503483ba0cb84"
	    "3ce95243c8ca8575ffc69cd25d12c61c\"},\"path\":\"/workspace/long\"}",
	    "head, length and digest");
	free(text);
	buf_free(&b);
}

/* Text that grows when written: control characters take six bytes each. */
static void
test_too_large(void)
{
	const struct msg_RELEASE *m;
	struct buf b;
	char *text;

	buf_init(&b, 16 << 20);
	buf_adds(&b, "{\"path\":\"/workspace/a\",\"content\":\"");
	for (unsigned i = 0; i < 750000; i++)
		buf_adds(&b, "\\u001b");
	buf_adds(&b, "\"}");
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	m = call(0, "write", text);
	ok(!m->forward && m->line_len == 0 &&
		span_is(m->rule, "invalid-arguments"),
	    "more than a line holds");
	is_str(ring_str(m->answer),
	    "DENIED: Arguments are too large for one line" FINAL, "and said");
	free(text);
	buf_free(&b);
}

static void
test_admission(void)
{
	struct msg_CALL m = {.server = 0, .tool = SPAN("read")};
	uint64_t first = ring.id + 1;
	const char *why = "";
	unsigned n = 0;
	struct buf b;

	buf_init(&b, 32 << 20);
	if (value_encode(rig_tree(&ring.rig, "{\"path\":\"a\"}"), &b) == -1)
		err(1, "value_encode");
	m.args = buf_span(&b);
	for (; n < PROTO_MAX_SERVER_CALLS; n++) {
		m.id = ++ring.id;
		if (call_take(&ring.env, &m, &why) == -1)
			break;
		ring_clear(&ring);
	}
	is_int(n, PROTO_MAX_SERVER_CALLS,
	    "128 calls of a server");
	m.id = ++ring.id;
	ok(call_take(&ring.env, &m, &why) == -1, "one more: %s", why);
	m.id = first;
	m.server = 1;
	ok(call_take(&ring.env, &m, &why) == -1, "an id again: %s", why);
	m.id = 0;
	ok(call_take(&ring.env, &m, &why) == -1, "an id of 0: %s", why);
	m.id = ++ring.id;
	m.server = 31;
	ok(call_take(&ring.env, &m, &why) == -1, "no such server: %s", why);
	m.id = ++ring.id;
	m.server = 1;
	m.args = SPAN("\x05\0\0\0\0");
	ok(call_take(&ring.env, &m, &why) == -1, "an array: %s", why);
	m.id = ++ring.id;
	m.args = SPAN("\x06\1\0\0\0");
	ok(call_take(&ring.env, &m, &why) == -1, "cut short: %s", why);
	for (uint64_t id = first; id <= ring.id; id++)
		(void)call_ended(&ring.env, id, false, &why);
	/* A violation would have ended the session: clean up. */
	ok(ring.env.calls.server_calls[0] == 0 &&
		ring.env.calls.server_bytes[0] == 0,
	    "all over");
	buf_free(&b);
}

static void
test_cancel(void)
{
	const union proto_any *m;
	const char *why;
	uint64_t id;
	char want[200];

	ring_clear(&ring);
	id = ring_call(&ring, 0, "read", "{\"path\":\"a\"}");
	call_cancel(&ring.env, id);
	call_cancel(&ring.env, id);
	m = ring_find(&ring, MSG_SESSION, 0);
	snprintf(want, sizeof(want),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	    "\"params\":{\"requestId\":%llu}}\n",
	    (unsigned long long)id);
	ok(m != NULL && m->SESSION.server == 0 && m->SESSION.id == id &&
		ring_find(&ring, MSG_SESSION, 1) == NULL,
	    "a released call that is cancelled: the server is told, once");
	is_str(ring_str(m->SESSION.line), want, "the line");
	ok(call_ended(&ring.env, id, false, &why) == 0, "and ends later");
	ring_clear(&ring);
	call_cancel(&ring.env, id);
	ok(ring.n == 0, "cancelled when it is over: nothing");
}

static void
setup(void)
{
	struct msg_INIT_RESULT init = {.good = 1, .tools = 1,
	    .version = SPAN("2025-11-25"), .text = SPAN("fetch")};
	struct msg_TOOLS_PAGE page = {.good = 1};
	struct buf b;

	ring_init(&ring, true);
	rig_server(&ring.rig, 0, "filesystem", false, "");
	rig_row(&ring.rig, 0, "@D/prot", "@D/prot");
	rig_server(&ring.rig, 1, "git", false, "");
	rig_server(&ring.rig, 2, "fetch", false, "");
	rig_server(&ring.rig, 3, "memory", true, "");
	rig_server(&ring.rig, 4, "github", false, "");
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS,
	    "{\"servers\":{\"filesystem\":{\"tools\":["
	    "{\"toolName\":\"read\",\"args\":{\"path\":[\"read-path\"]}},"
	    "{\"toolName\":\"write\",\"args\":{\"path\":[\"write-path\"],"
	    "\"content\":[\"none\"]}},"
	    "{\"toolName\":\"delete\",\"args\":{\"path\":[\"delete-path\"]}}]},"
	    "\"git\":{\"tools\":["
	    "{\"toolName\":\"status\",\"args\":{\"path\":[\"read-path\"]}},"
	    "{\"toolName\":\"git_set_working_dir\",\"args\":{\"path\":"
	    "[\"read-path\"]}}]},"
	    "\"github\":{\"tools\":[{\"toolName\":\"issue\",\"args\":"
	    "{\"owner\":[\"github-owner\"],\"repo\":[\"github-repo\"],"
	    "\"title\":[\"none\"]}}]},"
	    "\"fetch\":{\"tools\":[{\"toolName\":\"get\",\"args\":{\"url\":"
	    "[\"fetch-url\"],\"headers\":[\"none\"],\"n\":[\"none\"],"
	    "\"num\":[\"none\"],\"flag\":[\"none\"]}}]}}}");
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, rules);
	ring_ready(&ring, 0, "filesystem", "read write delete unannotated");
	ring_ready(&ring, 1, "git", "status git_set_working_dir");
	ring_ready(&ring, 3, "memory", "anything");
	ring_ready(&ring, 4, "github", "issue");
	session_start(&ring.env, 2);
	session_init_result(&ring.env, 2, &init);
	buf_init(&b, 65536);
	if (value_encode(rig_tree(&ring.rig,
			     "[{\"name\":\"get\",\"inputSchema\":{\"type\":"
			     "\"object\",\"properties\":{\"url\":{\"type\":"
			     "\"string\"},\"headers\":{\"type\":\"object\"},"
			     "\"n\":{\"type\":\"integer\"},\"num\":{\"type\":"
			     "[\"number\",\"null\"]},\"flag\":{\"type\":"
			     "\"boolean\"}}}}]"),
		&b) == -1)
		err(1, "value_encode");
	page.seq = ring.env.sessions[2].seq;
	page.tree = buf_span(&b);
	session_tools_page(&ring.env, 2, &page);
	buf_free(&b);
}

int
main(void)
{
	setup();
	test_refusals();
	test_forward();
	test_line();
	test_git();
	test_breaker();
	test_headless();
	test_redaction();
	test_cancel();
	test_too_large();
	test_admission();
	ring_free(&ring);
	return tap_done();
}
