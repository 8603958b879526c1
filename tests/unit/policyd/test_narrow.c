/* SPDX-License-Identifier: ISC */
/*
 * Tests what the settings take from the policy: which texts are read, which
 * calls they meet, and that they only make a decision more severe.
 */
#include "common/narrow.h"

#include "tap.h"
#include "unit/policyd/rig.h"

#include <stdio.h>

static struct rig rig;

static const char rules[] =
    "{\"rules\":["
    "{\"name\":\"no\",\"if\":{\"tool\":[\"search\"]},\"then\":\"deny\","
    "\"reason\":\"no\"},"
    "{\"name\":\"ask\",\"if\":{\"tool\":[\"get\"]},\"then\":\"escalate\","
    "\"reason\":\"ask\"},"
    "{\"name\":\"free\",\"if\":{},\"then\":\"allow\",\"reason\":\"free\"}]}";

static const char *const bad[] = {"", "tool", "tool x", "tool /x", "tool x/",
    "tool a b/c", "tool a*/c", "tool a/b/c", "write ", "write /etc",
    "write ../x", "write a/../b", "write ./a", "write a//b", "write a/",
    "write a*", "write */a", "write a/**/b", "write a\\b", "write a\nb",
    "delete a", "WRITE a", " write a", "read a?", "read [a]"};

static const struct {
	const char *in, *path;
} good[] = {{"write a", "a"}, {"write a/**", "a"}, {"write **", ""},
    {"read a b/.c", "a b/.c"}, {"write ...", "..."}};

static void
test_texts(void)
{
	struct narrow n;
	char got[600];

	for (size_t i = 0; i < nitems(bad); i++)
		ok(narrow_parse(span_str(bad[i]), &n) == -1, "refused: \"%.*s\"",
		    (int)strcspn(bad[i], "\n"), bad[i]);
	for (size_t i = 0; i < nitems(good); i++) {
		got[0] = '\0';
		ok(narrow_parse(span_str(good[i].in), &n) == 0 &&
			span_copy(n.path, got, sizeof(got)) == 0,
		    "read: %s", good[i].in);
		is_str(got, good[i].path, "its path");
	}
	ok(narrow_parse(SPAN("tool git/git_push*"), &n) == 0 &&
		n.kind == NARROW_TOOL && span_is(n.server, "git") &&
		span_is(n.tool, "git_push*"),
	    "a tool");
	ok(engine_narrow(rig.engine, SPAN("deny write /x")) == -1 &&
		engine_narrow(rig.engine, SPAN("write x")) == -1 &&
		engine_narrow(rig.engine, SPAN("allow write x")) == -1,
	    "the engine refuses one, too");
}

static const struct {
	const char *server, *tool, *args, *want;
} calls[] = {
    {"filesystem", "write", "{\"path\":\"sub/x\"}", "deny"},
    {"filesystem", "write", "{\"path\":\"sub\"}", "deny"},
    {"filesystem", "write", "{\"path\":\"@D/ws/sub/x\"}", "deny"},
    {"filesystem", "write", "{\"path\":\"a/../sub/c\"}", "deny"},
    {"filesystem", "write", "{\"path\":\"in/c\"}", "deny"},
    {"filesystem", "write", "{\"path\":\"sub2\"}", "allow"},
    {"filesystem", "write", "{\"path\":\"a\"}", "allow"},
    {"filesystem", "read", "{\"path\":\"sub/c\"}", "allow"},
    {"filesystem", "delete", "{\"path\":\"/workspace\"}", "deny"},
    {"filesystem", "delete", "{\"path\":\"a\"}", "allow"},
    {"filesystem", "move", "{\"source\":\"a\",\"destination\":\"sub/a\"}",
	"deny"},
    {"filesystem", "move", "{\"source\":\"sub\",\"destination\":\"x\"}",
	"deny"},
    {"filesystem", "read", "{\"path\":\"a\"}", "escalate"},
    {"filesystem", "write", "{\"path\":\"@D/home/docs/sub/x\"}", "allow"},
    {"git", "status", "{\"path\":\"/workspace\"}", "allow"},
    {"git", "push", "{\"path\":\"/workspace\",\"remote\":"
		    "\"https://a.example/x\"}",
	"deny"},
    {"fetch", "get", "{\"url\":\"https://a.example/\"}", "escalate"},
    {"fetch", "search", "{\"query\":\"x\"}", "deny"},
    {"fetch", "save", "{\"url\":\"https://a.example/\",\"to\":\"y\"}",
	"escalate"},
    {"memory", "anything", "{}", "deny"},
    /* A directory takes what is below it along, and brings it. */
    {"filesystem", "move", "{\"source\":\"conf\",\"destination\":\"x\"}",
	"deny"},
    {"filesystem", "move", "{\"source\":\"b\",\"destination\":\"hub\"}",
	"deny"},
    {"filesystem", "move", "{\"source\":\"b\",\"destination\":\"hub/b\"}",
	"allow"},
    {"filesystem", "move", "{\"source\":\"b\",\"destination\":\"conf\"}",
	"allow"},
    {"filesystem", "write", "{\"path\":\"hub\"}", "allow"},
    {"filesystem", "delete", "{\"path\":\"conf\"}", "allow"},
    {"filesystem", "read", "{\"path\":\"conf\"}", "allow"},
    /* A trusted server, where its tools' paths are known. */
    {"cond", "present", "{\"path\":\"sub/x\"}", "deny"},
    {"cond", "present", "{\"path\":\"b\"}", "allow"},
    {"cond", "present", "{\"path\":\"sub/x\",\"a\":1}", "allow"},
    {"cond", "other", "{\"path\":\"sub/x\"}", "allow"},
};

static void
test_calls(void)
{
	struct decision d;

	for (size_t i = 0; i < nitems(calls); i++) {
		rig_eval(&rig, calls[i].server, calls[i].tool, calls[i].args,
		    &d);
		is_str(rig_status[d.status], calls[i].want, "%s %s %s",
		    calls[i].server, calls[i].tool, calls[i].args);
	}
	rig_eval(&rig, "filesystem", "write", "{\"path\":\"sub/x\"}", &d);
	ok(span_is(d.rule, "narrowed-deny") && d.by == NULL &&
		span_is(d.reason,
		    "The settings of this session say: deny write sub/**"),
	    "the reason names the setting");
	rig_eval(&rig, "fetch", "get", "{\"url\":\"https://a.example/\"}", &d);
	ok(span_is(d.rule, "ask") && d.person,
	    "the settings leave to a person what a rule asks about");
	rig_eval(&rig, "filesystem", "read", "{\"path\":\"a\"}", &d);
	ok(span_is(d.rule, "narrowed-ask") && d.person, "and what none does");
	rig_eval(&rig, "filesystem", "read", "{\"path\":\"b\"}", &d);
	ok(!d.person, "but nothing else");
}

int
main(void)
{
	static const char *const all[] = {"ask tool fetch/*", "ask read a",
	    "ask write sub", "deny write sub/**", "deny tool git/push",
	    "deny tool memory/*", "deny read conf/keys",
	    "deny write hub/workflows"};

	rig_init(&rig, NULL);
	rig_link(&rig, "sub", "ws/in");
	rig_server(&rig, 0, "filesystem", false, "");
	rig_server(&rig, 1, "git", false, "");
	rig_server(&rig, 2, "fetch", false, "");
	rig_server(&rig, 3, "memory", true, "");
	rig_server(&rig, 4, "cond", true, "");
	rig_must_load(&rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&rig, PROTO_RULES_POLICY, rules);
	test_texts();
	for (size_t i = 0; i < nitems(all); i++)
		ok(engine_narrow(rig.engine, span_str(all[i])) == 0, "%s",
		    all[i]);
	test_calls();
	rig_free(&rig);
	return tap_done();
}
