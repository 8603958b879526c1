/* SPDX-License-Identifier: ISC */
/*
 * Tests that the arguments judged are those sent, the exact reasons, and arrays
 * of many paths. Decisions are tested by the cases of tests/policy.
 */
#include "tap.h"
#include "unit/policyd/rig.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static struct rig rig;

static void
tree(void)
{
	rig_link(&rig, "a", "ws/link-in");
	rig_link(&rig, "@D/home/docs", "out/to-docs");
}

static void
servers(void)
{
	rig_server(&rig, 0, "filesystem", false, "");
	rig_server(&rig, 1, "git", false, "");
	rig_server(&rig, 2, "fetch", false, "");
	rig_server(&rig, 3, "gated", false, "github.com\n*.example.com");
	rig_server(&rig, 4, "memory", true, "");
	/* The server's view shows the whole tree at the host's paths. */
	rig_row(&rig, 0, "@D", "@D");
}

static const char rules[] =
    "{\"rules\":["
    "{\"name\":\"read-docs\",\"if\":{\"paths\":{\"roles\":[\"read-path\"],"
    "\"within\":\"@D/home/docs\"}},\"then\":\"allow\",\"reason\":\"docs\"},"
    "{\"name\":\"ask-read\",\"if\":{\"roles\":[\"read-path\"],\"server\":"
    "[\"filesystem\",\"other\"]},\"then\":\"escalate\",\"reason\":\"ask\"},"
    "{\"name\":\"free\",\"if\":{\"server\":[\"cond\"]},\"then\":\"allow\","
    "\"reason\":\"because free\"}]}";

static void
sent(const char *server, const char *tool, const char *args, const char *want)
{
	struct decision d;
	struct value *v = rig_tree(&rig, args);
	struct buf b;

	eval_call(rig.engine, span_str(server), span_str(tool), v, rig.pool,
	    &d);
	buf_init(&b, 1 << 20);
	(void)json_write(&b, v);
	want = rig_text(&rig, want);
	is_mem(buf_span(&b).p, buf_span(&b).len, want, strlen(want),
	    "1.5 what is decided about is what is sent: %s", args);
	buf_free(&b);
}

static void
reason(const char *statement, const char *server, const char *tool,
    const char *args, const char *want)
{
	struct decision d;
	char got[2048];

	rig_eval(&rig, server, tool, args, &d);
	(void)span_copy(d.reason, got, sizeof(got));
	is_str(got, rig_text(&rig, want), "%s: reason", statement);
}

static void
test_sent(void)
{
	sent("filesystem", "read", "{\"path\":\"/workspace/sub/../a\"}",
	    "{\"path\":\"/workspace/a\"}");
	sent("filesystem", "read", "{\"path\":\"sub/c\"}",
	    "{\"path\":\"/workspace/sub/c\"}");
	sent("filesystem", "read", "{\"path\":\"@D/ws/a\"}",
	    "{\"path\":\"@D/ws/a\"}");
	sent("git", "status", "{\"path\":\"@D/ws/sub\"}",
	    "{\"path\":\"/workspace/sub\"}");
	sent("git", "status", "{\"path\":\"@D/out/to-docs\"}",
	    "{\"path\":\"@D/home/docs\"}");
	sent("filesystem", "read", "{\"path\":\"/workspace/link-in\"}",
	    "{\"path\":\"/workspace/a\"}");
	sent("filesystem", "write",
	    "{\"content\":\"~/x\",\"path\":\"~/docs/n\"}",
	    "{\"content\":\"~/x\",\"path\":\"@D/home/docs/n\"}");
	sent("filesystem", "many", "{\"paths\":[\"a\",{\"p\":\"b/\"},7]}",
	    "{\"paths\":[\"/workspace/a\",{\"p\":\"/workspace/b\"},7]}");
	sent("fetch", "get", "{\"url\":\"HTTPS://News.example.:443/a/../b/\"}",
	    "{\"url\":\"https://news.example/b\"}");
	sent("github", "issue", "{\"owner\":\"OUR\",\"title\":\"Big\"}",
	    "{\"owner\":\"our\",\"title\":\"Big\"}");
	sent("filesystem", "read", "{\"path\":\"/workspace/./%2e%2e//x\"}",
	    "{\"path\":\"/workspace/%2e%2e/x\"}");
}

static void
test_reasons(void)
{
	reason("1.3.1", "memory", "x", "{}", "Server \"memory\" is trusted");
	reason("1.3.3a", "filesystem", "read", "{\"path\":\"@D/prot/p\"}",
	    "Access to protected path is forbidden: @D/prot/p");
	reason("1.3.3d", "gated", "get", "{\"url\":\"https://evil.com/x\"}",
	    "URL domain \"evil.com\" is not in the allowlist for server "
	    "\"gated\"");
	reason("1.3.3e", "filesystem", "zzz", "{}",
	    "Unknown tool: filesystem/zzz");
	reason("1.4 default", "other", "list_allowed_directories", "{}",
	    "No matching policy rule -- denied by default");
	reason("1.4 sandbox", "filesystem", "read",
	    "{\"path\":\"/workspace/a\"}",
	    "All path roles resolved by sandbox containment");
	reason("1.4 rule", "cond", "absent", "{\"path\":\"@D/out/o\"}",
	    "because free");
	reason("safe: place and reason", "filesystem", "read",
	    "{\"path\":\"a\\u0000\\u001b[m\"}",
	    "Path in argument \"path\" holds a NUL byte: a\\x00\\x1b[m");
}

/* Arrays of paths: the number judged, and the limit. */
static void
many(unsigned n, const char *path, enum proto_status status, const char *rule)
{
	struct decision d;
	struct buf b;
	char *text;

	buf_init(&b, 4 << 20);
	buf_adds(&b, "{\"paths\":[");
	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, "\"%s/%u\",", path, i);
	buf_adds(&b, "\"@D/home/docs/d\"]}");
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	rig_eval(&rig, "filesystem", "many", text, &d);
	ok(d.status == status && span_is(d.rule, rule),
	    "%u paths like %s and one more: %s", n, path, rule);
	free(text);
	buf_free(&b);
}

static void
test_many(void)
{
	many(1000, "/workspace/sub", PROTO_ALLOW, "read-docs");
	many(1000, "@D/out", PROTO_ESCALATE, "ask-read");
	many(1000, "@D/prot", PROTO_DENY, "structural-protected-path");
	many(9999, "a", PROTO_ALLOW, "read-docs");
	many(10001, "a", PROTO_DENY, "invalid-arguments");
	many(3000, "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v", PROTO_DENY,
	    "structural-invalid-path");
}

/* No file has been loaded. */
static void
test_nothing(void)
{
	struct decision d;

	rig_eval(&rig, "filesystem", "read", "{\"path\":\"a\"}", &d);
	ok(d.status == PROTO_DENY && span_is(d.rule, "structural-unknown-tool"),
	    "without annotations all is denied");
	rig_eval(&rig, "memory", "read", "{}", &d);
	ok(d.status == PROTO_ALLOW && span_is(d.rule, "trusted-server"),
	    "but for trusted servers");
}

/* Equal or below; the root has two spellings. */
static void
test_below(void)
{
	static const struct {
		const char *path, *dir;
		bool below;
	} rows[] = {
	    {"/x", "/", true},
	    {"/", "/", true},
	    {"", "/", true},
	    {"/x/y", "", true},
	    {"/x", "/x", true},
	    {"/x/y", "/x", true},
	    {"/xy", "/x", false},
	    {"/y", "/x", false},
	    {"/", "/x", false},
	    {"/x", "/x/y", false},
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ok(path_below(span_str(rows[i].path), span_str(rows[i].dir)) ==
			rows[i].below,
		    "\"%s\" below \"%s\"", rows[i].path, rows[i].dir);
}

/* A sandbox within a protected directory, and the reverse. */
static void
test_sandbox_within(void)
{
	struct decision d;

	rig_init(&rig, NULL);
	if (engine_protect(rig.engine, span_str(rig_text(&rig, "@D"))) == -1 ||
	    engine_protect(
		rig.engine, span_str(rig_text(&rig, "@D/ws/sub"))) == -1)
		err(1, "engine_protect");
	rig_server(&rig, 0, "filesystem", false, "");
	rig_must_load(&rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_eval(&rig, "filesystem", "read", "{\"path\":\"a\"}", &d);
	ok(span_is(d.rule, "structural-sandbox-allow"), "1.3.3a the sandbox");
	rig_eval(&rig, "filesystem", "read", "{\"path\":\"@D/out/o\"}", &d);
	ok(span_is(d.rule, "structural-protected-path"), "1.3.3a around it");
	rig_eval(&rig, "filesystem", "read", "{\"path\":\"sub/c\"}", &d);
	ok(span_is(d.rule, "structural-protected-path"), "1.3.3a within it");
	rig_free(&rig);
}

/* The maximum number of arguments of a tool, and one more. */
static void
test_arguments(void)
{
	struct buf b;
	char *text;

	for (unsigned n = ANNOT_MAX_ARGS; n <= ANNOT_MAX_ARGS + 1; n++) {
		buf_init(&b, 1 << 20);
		buf_adds(&b, "{\"servers\":{\"s\":{\"tools\":[{"
				   "\"toolName\":\"t\",\"args\":{");
		for (unsigned i = 0; i < n; i++)
			buf_printf(&b, "%s\"a%u\":[\"none\"]",
			    i == 0 ? "" : ",", i);
		buf_adds(&b, "}}]}}}");
		if ((text = span_dup(buf_span(&b))) == NULL)
			err(1, "span_dup");
		ok((rig_load(&rig, PROTO_RULES_ANNOTATIONS, text) == 0) ==
			(n == ANNOT_MAX_ARGS),
		    "%u arguments of a tool", n);
		free(text);
		buf_free(&b);
	}
}

int
main(void)
{
	rig_init(&rig, NULL);
	tree();
	servers();
	test_nothing();
	test_below();
	rig_must_load(&rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&rig, PROTO_RULES_POLICY, rules);
	test_sent();
	test_reasons();
	test_many();
	test_arguments();
	rig_free(&rig);
	test_sandbox_within();
	return tap_done();
}
