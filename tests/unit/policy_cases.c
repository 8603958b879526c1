/* SPDX-License-Identifier: ISC */
#include "policy_cases.h"

#define A PROTO_ALLOW
#define D PROTO_DENY
#define E PROTO_ESCALATE
#define RP ARG_BIT(ARG_READ_PATH)
#define WP ARG_BIT(ARG_WRITE_PATH)
#define DP ARG_BIT(ARG_DELETE_PATH)
#define FU ARG_BIT(ARG_FETCH_URL)
#define GU ARG_BIT(ARG_GIT_REMOTE_URL)
#define RULE(name, cond, then)						\
	"{\"name\":\"" name "\",\"if\":{" cond "},\"then\":\"" then	\
	"\",\"reason\":\"because " name "\"}"
#define GROUP(rules, lists, cases)					\
	{rules, lists, cases, sizeof(cases) / sizeof((cases)[0])}

/* No rules at all: only structure speaks. */
static const struct policy_case bare[] = {
    {"1.3.1 trusted", "memory", "anything", "{\"path\":\"@D/prot/p\"}", A,
	"trusted-server", 0},
    {"1.3.1 not trusted", "other", "read", "{\"path\":\"@D/out/o\"}", D,
	"default-deny", 0},
    {"1.3.3a itself", "filesystem", "read", "{\"path\":\"@D/prot\"}", D,
	"structural-protected-path", 0},
    {"1.3.3a below", "filesystem", "read", "{\"path\":\"@D/prot/p\"}", D,
	"structural-protected-path", 0},
    {"1.3.3a not there yet", "filesystem", "write",
	"{\"path\":\"@D/prot/new/x\"}", D, "structural-protected-path", 0},
    {"1.3.3a beside", "filesystem", "read", "{\"path\":\"@D/protx\"}", D,
	"default-deny", 0},
    {"1.3.3a above", "filesystem", "read", "{\"path\":\"@D\"}", D,
	"default-deny", 0},
    {"1.3.3a through ..", "filesystem", "read",
	"{\"path\":\"@D/out/../prot/p\"}", D, "structural-protected-path", 0},
    {"1.3.3a through a link", "filesystem", "read",
	"{\"path\":\"@D/home/docs/to-prot\"}", D, "structural-protected-path",
	0},
    {"1.3.3a one of many", "filesystem", "many",
	"{\"paths\":[\"/workspace/a\",\"@D/prot/p\"]}", D,
	"structural-protected-path", 0},
    {"1.3.3a any server", "other", "read", "{\"path\":\"@D/prot/p\"}", D,
	"structural-protected-path", 0},
    {"1.3.3a before rules and roles", "filesystem", "move",
	"{\"source\":\"/workspace/a\",\"destination\":\"@D/prot/x\"}", D,
	"structural-protected-path", 0},
    {"1.3.3b", "filesystem", "list_allowed_directories", "{}", A,
	"structural-introspection-allow", 0},
    {"1.3.3b with arguments", "filesystem", "list_allowed_directories",
	"{\"x\":1}", D, "default-deny", 0},
    {"1.3.3b other server", "other", "list_allowed_directories", "{}", D,
	"default-deny", 0},
    {"1.3.3b other tool", "filesystem", "nothing", "{}", D, "default-deny",
	0},
    {"1.3.3c read", "filesystem", "read", "{\"path\":\"/workspace/a\"}", A,
	"structural-sandbox-allow", 0},
    {"1.3.3c the sandbox itself", "filesystem", "read",
	"{\"path\":\"/workspace\"}", A, "structural-sandbox-allow", 0},
    {"1.3.3c by its name on the host", "filesystem", "read",
	"{\"path\":\"@D/ws/a\"}", A, "structural-sandbox-allow", 0},
    {"1.3.3c write, new file", "filesystem", "write",
	"{\"path\":\"/workspace/new/file\"}", A, "structural-sandbox-allow",
	0},
    {"1.3.3c delete", "filesystem", "delete", "{\"path\":\"/workspace/a\"}",
	A, "structural-sandbox-allow", 0},
    {"1.3.3c history", "filesystem", "history",
	"{\"path\":\"/workspace/.git\"}", A, "structural-sandbox-allow", 0},
    {"1.3.3c git", "git", "status", "{\"path\":\"/workspace\"}", A,
	"structural-sandbox-allow", 0},
    {"1.3.3c git history", "git", "reset", "{\"path\":\"/workspace\"}", A,
	"structural-sandbox-allow", 0},
    {"1.3.3c not for others", "other", "read", "{\"path\":\"/workspace/a\"}",
	D, "default-deny", 0},
    {"1.3.3c all of many", "filesystem", "many",
	"{\"paths\":[\"/workspace/a\",\"/workspace/b\"]}", A,
	"structural-sandbox-allow", 0},
    {"1.3.3c one outside", "filesystem", "many",
	"{\"paths\":[\"/workspace/a\",\"@D/out/o\"]}", D, "default-deny", 0},
    {"1.3.3c per role", "filesystem", "move",
	"{\"source\":\"/workspace/a\",\"destination\":\"@D/out/x\"}", D,
	"default-deny", 0},
    {"1.3.3c both inside", "filesystem", "move",
	"{\"source\":\"/workspace/a\",\"destination\":\"/workspace/z\"}", A,
	"structural-sandbox-allow", 0},
    {"1.3.3c no path at all", "filesystem", "read", "{}", D, "default-deny",
	0},
    {"1.3.3c relative", "filesystem", "read", "{\"path\":\"sub/c\"}", A,
	"structural-sandbox-allow", 0},
    {"1.3.3c link that stays", "filesystem", "read",
	"{\"path\":\"/workspace/link-in\"}", A, "structural-sandbox-allow", 0},
    {"1.3.3c link that leaves", "filesystem", "read",
	"{\"path\":\"/workspace/link-out\"}", D, "default-deny", 0},
    {"safe: dangling link is where it points", "filesystem", "write",
	"{\"path\":\"/workspace/dangling\"}", D, "default-deny", 0},
    {"safe: dangling link into the sandbox", "filesystem", "write",
	"{\"path\":\"/workspace/dangling-in\"}", A,
	"structural-sandbox-allow", 0},
    {"safe: .. after a link is real", "filesystem", "read",
	"{\"path\":\"/workspace/link-dir/../o\"}", D, "default-deny", 0},
    {"safe: .. out of the view", "filesystem", "read",
	"{\"path\":\"/workspace/../etc/passwd\"}", D, "default-deny", 0},
    {"1.5 .. that stays", "filesystem", "read",
	"{\"path\":\"/workspace/sub/../a\"}", A, "structural-sandbox-allow",
	0},
    {"1.5 not /workspace", "filesystem", "read",
	"{\"path\":\"/workspacex/a\"}", D, "default-deny", 0},
    {"safe: nested in an object", "filesystem", "read",
	"{\"path\":{\"x\":\"@D/prot/p\"}}", D, "structural-protected-path",
	0},
    {"safe: nested in arrays", "filesystem", "many",
	"{\"paths\":[\"/workspace/a\",[[\"@D/out/o\"]]]}", D, "default-deny",
	0},
    {"safe: NUL", "filesystem", "read", "{\"path\":\"/workspace/a\\u0000b\"}",
	D, "structural-invalid-path", 0},
    {"safe: empty", "filesystem", "read", "{\"path\":\"\"}", D,
	"structural-invalid-path", 0},
    {"safe: ~user", "filesystem", "read", "{\"path\":\"~root/x\"}", D,
	"structural-invalid-path", 0},
    {"safe: file:", "filesystem", "read",
	"{\"path\":\"file:///workspace/a\"}", D, "structural-invalid-path",
	0},
    {"safe: file: in capitals", "filesystem", "read",
	"{\"path\":\"FILE:/workspace/a\"}", D, "structural-invalid-path", 0},
    {"safe: a literal % is a name", "filesystem", "read",
	"{\"path\":\"/workspace/%2e%2e/x\"}", A, "structural-sandbox-allow",
	0},
    {"safe: magic link", "filesystem", "read",
	"{\"path\":\"/proc/self/root/etc/passwd\"}", D,
	"structural-invalid-path", 0},
    {"safe: device", "filesystem", "read", "{\"path\":\"/dev/null\"}", D,
	"structural-invalid-path", 0},
    {"safe: FIFO", "filesystem", "read", "{\"path\":\"/workspace/fifo\"}", D,
	"structural-invalid-path", 0},
    {"safe: hard link", "filesystem", "write",
	"{\"path\":\"/workspace/hard\"}", E, "structural-hard-link", WP},
    {"safe: a hard link may be read", "filesystem", "read",
	"{\"path\":\"/workspace/hard\"}", A, "structural-sandbox-allow", 0},
    {"1.5 ~ is the home", "filesystem", "read", "{\"path\":\"~/private\"}",
	D, "default-deny", 0},
    {"1.3.3d off the list", "gated", "get",
	"{\"url\":\"https://evil.com/x\"}", E, "structural-domain-escalate",
	FU},
    {"1.3.3d on the list does not resolve", "gated", "get",
	"{\"url\":\"https://github.com/x\"}", D, "default-deny", 0},
    {"1.3.3d sub-domain", "gated", "get",
	"{\"url\":\"https://a.example.com/x\"}", D, "default-deny", 0},
    {"safe: 1.7 capitals and a dot", "gated", "get",
	"{\"url\":\"https://GitHub.COM./x\"}", D, "default-deny", 0},
    {"1.3.3d no gate", "fetch", "get", "{\"url\":\"https://evil.com/\"}", D,
	"default-deny", 0},
    {"1.3.3d empty host", "gated", "get", "{\"url\":\"file:///x\"}", E,
	"structural-domain-escalate", FU},
    {"safe: 2.3 user in a URL", "gated", "get",
	"{\"url\":\"https://github.com@evil.com/\"}", D,
	"structural-invalid-url", 0},
    {"1.3.3e", "filesystem", "unknown", "{}", D, "structural-unknown-tool",
	0},
    {"1.3.3e server", "nobody", "read", "{\"path\":\"/workspace/a\"}", D,
	"structural-unknown-tool", 0},
    {"1.8 default roles", "filesystem", "edit",
	"{\"path\":\"/workspace/hard\"}", E, "structural-hard-link", WP},
    {"1.8 condition", "filesystem", "edit",
	"{\"path\":\"/workspace/hard\",\"dryRun\":true}", A,
	"structural-sandbox-allow", 0},
    {"1.8 not equal", "filesystem", "edit",
	"{\"path\":\"/workspace/hard\",\"dryRun\":\"true\"}", E,
	"structural-hard-link", WP},
    {"safe: git argument that is a path", "git", "status",
	"{\"path\":\"/workspace\",\"files\":[\"/etc/passwd\"]}", D,
	"structural-git-argument", 0},
    {"safe: git argument that is an option", "git", "status",
	"{\"path\":\"/workspace\",\"files\":\"--exec=x\"}", D,
	"structural-git-argument", 0},
    {"safe: git argument without role", "git", "status",
	"{\"path\":\"/workspace\",\"x\":{\"y\":\"file:/etc\"}}", D,
	"structural-git-argument", 0},
    {"safe: git argument with a last newline", "git", "status",
	"{\"path\":\"/workspace\",\"files\":\"-x\\n\"}", D,
	"structural-git-argument", 0},
    {"safe: git text of more lines", "git", "status",
	"{\"path\":\"/workspace\",\"files\":\"- a\\n- b\"}", A,
	"structural-sandbox-allow", 0},
    {"safe: git relative is fine", "git", "status",
	"{\"path\":\"/workspace\",\"files\":[\"a\",\"sub/c\"]}", A,
	"structural-sandbox-allow", 0},
    {"safe: git message may begin with -", "git", "commit",
	"{\"path\":\"/workspace\",\"message\":\"- one\"}", A,
	"structural-sandbox-allow", 0},
    {"safe: other servers are not judged so", "filesystem", "nothing",
	"{\"x\":\"--exec=/etc\"}", D, "default-deny", 0},
    {"1.4 no roles", "fetch", "search", "{\"query\":\"x\"}", D,
	"default-deny", 0},
};

#define FS_RULES							\
	RULE("read-docs", "\"paths\":{\"roles\":[\"read-path\"],"	\
	    "\"within\":\"@D/home/docs\"}", "allow") ","		\
	RULE("write-deep", "\"paths\":{\"roles\":[\"write-path\"],"	\
	    "\"within\":\"~/docs/deep\"}", "allow") ","			\
	RULE("ask-read", "\"roles\":[\"read-path\"],"			\
	    "\"server\":[\"filesystem\",\"other\"]", "escalate") ","	\
	RULE("ask-write", "\"roles\":[\"write-path\"],"			\
	    "\"server\":[\"filesystem\"],"				\
	    "\"tool\":[\"write\",\"move\",\"edit\"]", "escalate") ","	\
	RULE("no-delete", "\"roles\":[\"delete-path\"]", "deny")

static const struct policy_case files[] = {
    {"1.4 within", "filesystem", "read", "{\"path\":\"@D/home/docs/d\"}", A,
	"read-docs", 0},
    {"1.4 within, itself", "filesystem", "read",
	"{\"path\":\"@D/home/docs\"}", A, "read-docs", 0},
    {"1.4 within, deep", "filesystem", "read",
	"{\"path\":\"@D/home/docs/deep/e\"}", A, "read-docs", 0},
    {"1.4 within, not there", "filesystem", "read",
	"{\"path\":\"@D/home/docs/none/x\"}", A, "read-docs", 0},
    {"1.4 within, ~", "filesystem", "read", "{\"path\":\"~/docs/d\"}", A,
	"read-docs", 0},
    {"1.4 outside", "filesystem", "read", "{\"path\":\"@D/home/private\"}",
	E, "ask-read", RP},
    {"1.4 beside", "filesystem", "read", "{\"path\":\"@D/home/docsx\"}", E,
	"ask-read", RP},
    {"1.4 by ..", "filesystem", "read",
	"{\"path\":\"@D/home/docs/../private\"}", E, "ask-read", RP},
    {"1.4 by link", "filesystem", "read",
	"{\"path\":\"@D/home/docs/to-out\"}", E, "ask-read", RP},
    {"1.4 link into", "filesystem", "read",
	"{\"path\":\"@D/out/to-docs/d\"}", A, "read-docs", 0},
    {"1.4 role of the rule", "filesystem", "write",
	"{\"path\":\"@D/home/docs/d\"}", E, "ask-write", WP},
    {"1.9 ~ expanded", "filesystem", "write",
	"{\"path\":\"@D/home/docs/deep/n\"}", A, "write-deep", 0},
    {"1.4 server not named", "other", "two",
	"{\"a\":\"@D/out/x\",\"z\":\"@D/home/docs/d\"}", D, "default-deny",
	0},
    {"1.4 tool not named", "filesystem", "history",
	"{\"path\":\"@D/out\"}", D, "default-deny", 0},
    {"1.4 deny rule", "filesystem", "delete", "{\"path\":\"@D/out/o\"}", D,
	"no-delete", 0},
    {"1.4 sandbox before rules", "filesystem", "delete",
	"{\"path\":\"/workspace/a\"}", A, "structural-sandbox-allow", 0},
    {"1.4 first match", "filesystem", "edit",
	"{\"path\":\"@D/home/docs/d\",\"dryRun\":true}", A, "read-docs", 0},
    {"1.4 most severe of two roles", "filesystem", "edit",
	"{\"path\":\"@D/home/docs/d\"}", E, "ask-write", WP},
    {"1.4 both roles escalate, the first names it", "filesystem", "edit",
	"{\"path\":\"@D/out/o\"}", E, "ask-read", RP | WP},
    {"1.4 both roles allow", "filesystem", "edit",
	"{\"path\":\"@D/home/docs/deep/e\"}", A, "read-docs", 0},
    {"1.4 deny returns at once", "filesystem", "move",
	"{\"source\":\"@D/out/o\",\"destination\":\"@D/out/x\"}", D,
	"no-delete", 0},
    {"1.4 resolved roles are skipped", "filesystem", "move",
	"{\"source\":\"/workspace/a\",\"destination\":\"@D/out/x\"}", E,
	"ask-write", WP},
    {"1.4 resolved and allowed", "filesystem", "move",
	"{\"source\":\"/workspace/a\","
	"\"destination\":\"@D/home/docs/deep/n\"}",
	A, "write-deep", 0},
    {"1.4 discharge: all by one", "filesystem", "many",
	"{\"paths\":[\"@D/home/docs/d\",\"@D/home/docs/deep/e\"]}", A,
	"read-docs", 0},
    {"1.4 discharge: sandbox and rule", "filesystem", "many",
	"{\"paths\":[\"/workspace/a\",\"@D/home/docs/d\"]}", A, "read-docs",
	0},
    {"1.4 discharge: rule and escalate", "filesystem", "many",
	"{\"paths\":[\"@D/home/docs/d\",\"@D/out/o\"]}", E, "ask-read", RP},
    {"1.4 discharge: sandbox, rule, escalate", "filesystem", "many",
	"{\"paths\":[\"/workspace/a\",\"@D/home/docs/d\",\"@D/out/o\"]}", E,
	"ask-read", RP},
    {"1.4 empty array", "filesystem", "many", "{\"paths\":[]}", E,
	"ask-read", RP},
    {"1.4 not a string", "filesystem", "read", "{\"path\":5}", E, "ask-read",
	RP},
    {"1.4 tie: the first role", "other", "two",
	"{\"a\":\"@D/out/x\",\"z\":\"@D/out/y\"}", D, "default-deny", 0},
    {"1.4 file order of arguments", "other", "two_other_way",
	"{\"a\":\"@D/out/x\",\"z\":\"@D/out/y\"}", D, "default-deny", 0},
    {"1.4 no sandbox for others", "other", "read",
	"{\"path\":\"/workspace/a\"}", E, "ask-read", RP},
    {"1.3.3a before an allow", "filesystem", "read",
	"{\"path\":\"@D/home/docs/to-prot\"}", D,
	"structural-protected-path", 0},
};

#define ORDER_RULES							\
	RULE("one", "\"roles\":[\"read-path\"],\"server\":[\"other\"]",	\
	    "escalate") ","						\
	RULE("two", "\"roles\":[\"write-path\"],\"server\":[\"other\"]",	\
	    "escalate") ","						\
	RULE("root", "\"paths\":{\"roles\":[\"write-history\"],"	\
	    "\"within\":\"/\"}", "allow") ","				\
	RULE("never", "\"roles\":[]", "allow") ","			\
	RULE("everything", "\"server\":[\"filesystem\"]", "allow") ","	\
	RULE("has-none", "\"roles\":[\"none\"],"			\
	    "\"server\":[\"fetch\"]", "allow")

static const struct policy_case order[] = {
    {"1.4 first role of the file names the tie", "other", "two",
	"{\"a\":\"@D/out/x\",\"z\":\"@D/out/y\"}", E, "two", RP | WP},
    {"1.4 and not of the alphabet", "other", "two_other_way",
	"{\"a\":\"@D/out/x\",\"z\":\"@D/out/y\"}", E, "one", RP | WP},
    {"1.4 a rule without role conditions", "filesystem", "read",
	"{\"path\":\"@D/out/o\"}", A, "everything", 0},
    {"1.4 and for each role", "filesystem", "move",
	"{\"source\":\"@D/out/o\",\"destination\":\"@D/out/x\"}", A,
	"everything", 0},
    {"1.4 unscoped scan", "filesystem", "nothing", "{\"x\":1}", A,
	"everything", 0},
    {"1.4 roles: any argument, opaque too", "fetch", "search",
	"{\"query\":\"x\"}", A, "has-none", 0},
    {"1.4 roles: resource roles are scoped", "fetch", "get",
	"{\"url\":\"https://a.com\"}", D, "default-deny", 0},
    {"safe: within / is everything", "git", "reset",
	"{\"path\":\"@D/out\"}", D, "default-deny", 0},
    {"safe: within / is everything, one role", "filesystem", "history",
	"{\"path\":\"@D/out\"}", A, "root", 0},
    {"safe: within / is / too", "filesystem", "history",
	"{\"path\":\"/\"}", A, "root", 0},
    {"1.4 tie: a rule replaces the placeholder", "filesystem", "many",
	"{\"paths\":[\"/workspace/a\",\"@D/out/o\"]}", A, "everything", 0},
    {"1.3.3a whatever the rules allow", "filesystem", "read",
	"{\"path\":\"@D/prot/p\"}", D, "structural-protected-path", 0},
};

#define URL_RULES							\
	RULE("search", "\"server\":[\"fetch\"],\"tool\":[\"search\"]",	\
	    "allow") ","						\
	RULE("news", "\"server\":[\"fetch\"],\"domains\":{\"roles\":"	\
	    "[\"fetch-url\"],\"allowed\":[\"@news\",\"docs.example.org\"]}",	\
	    "allow") ","						\
	RULE("missing-list", "\"server\":[\"fetch\"],\"domains\":{\"roles\":"	\
	    "[\"fetch-url\"],\"allowed\":[\"@not-there\"]}", "allow") ","	\
	RULE("any-name", "\"server\":[\"fetch\"],\"domains\":{\"roles\":"	\
	    "[\"fetch-url\"],\"allowed\":[\"*\"]}", "escalate") ","	\
	RULE("gated-all", "\"server\":[\"gated\"]", "allow") ","	\
	RULE("mixed-url", "\"server\":[\"other\"],\"domains\":{\"roles\":"	\
	    "[\"fetch-url\"],\"allowed\":[\"ok.com\"]}", "allow") ","	\
	RULE("mixed-path", "\"server\":[\"other\"],\"paths\":{\"roles\":"	\
	    "[\"read-path\"],\"within\":\"@D/out\"}", "allow") ","	\
	RULE("domain-id", "\"server\":[\"other\"],\"domains\":{\"roles\":"	\
	    "[\"proxy-domain\"],\"allowed\":[\"*.ok.com\"]}", "allow")

#define URL_LISTS							\
	"{\"generatedAt\":\"x\",\"lists\":{\"news\":{\"values\":"	\
	"[\"news.example\",\"*.times.example\",\"gone.example\"],"	\
	"\"manualAdditions\":[\"added.example\"],"			\
	"\"manualRemovals\":[\"gone.example\"],"			\
	"\"resolvedAt\":\"x\",\"inputHash\":\"x\"}}}"

static const struct policy_case urls[] = {
    {"1.4 unscoped", "fetch", "search", "{\"query\":\"x\"}", A, "search", 0},
    {"1.10 value of a list", "fetch", "get",
	"{\"url\":\"https://news.example/x\"}", A, "news", 0},
    {"1.10 wildcard of a list", "fetch", "get",
	"{\"url\":\"https://a.times.example/\"}", A, "news", 0},
    {"1.10 added by hand", "fetch", "get",
	"{\"url\":\"https://added.example/\"}", A, "news", 0},
    {"1.10 removed by hand", "fetch", "get",
	"{\"url\":\"https://gone.example/\"}", E, "any-name", FU},
    {"1.10 beside the list", "fetch", "get",
	"{\"url\":\"https://docs.example.org/\"}", A, "news", 0},
    {"1.7 other host", "fetch", "get", "{\"url\":\"https://evil.com/\"}", E,
	"any-name", FU},
    {"1.7 suffix is no label", "fetch", "get",
	"{\"url\":\"https://xtimes.example/\"}", E, "any-name", FU},
    {"1.7 * is no address", "fetch", "get",
	"{\"url\":\"http://127.0.0.1/\"}", D, "default-deny", 0},
    {"safe: * is no address in any spelling", "fetch", "get",
	"{\"url\":\"http://0x7f000001/\"}", D, "default-deny", 0},
    {"safe: * is no empty host", "fetch", "get",
	"{\"url\":\"file:///etc/passwd\"}", D, "default-deny", 0},
    {"safe: * is no punycode", "fetch", "get",
	"{\"url\":\"https://xn--80ak6aa92e.com/\"}", D, "default-deny", 0},
    {"1.4 every value", "fetch", "get",
	"{\"url\":[\"https://news.example/\",\"https://evil.com/\"]}", E,
	"any-name", FU},
    {"safe: nested URL is seen", "fetch", "get",
	"{\"url\":[\"https://news.example/\",{\"u\":\"https://evil.com/\"}]}",
	E, "any-name", FU},
    {"1.4 no value, no match", "fetch", "get", "{}", D, "default-deny", 0},
    {"1.3.3d then rules", "gated", "get", "{\"url\":\"https://github.com\"}",
	A, "gated-all", 0},
    {"safe: allowed without a host", "gated", "get",
	"{\"url\":\"mailto:x@y\"}", E, "structural-domain-escalate", FU},
    {"1.4 roles one by one: both good", "other", "mixed",
	"{\"p\":\"@D/out/o\",\"u\":\"https://ok.com/\"}", A, "mixed-path", 0},
    {"1.4 roles one by one: bad URL", "other", "mixed",
	"{\"p\":\"@D/out/o\",\"u\":\"https://evil.com/\"}", D,
	"default-deny", 0},
    {"1.4 roles one by one: bad path", "other", "mixed",
	"{\"p\":\"@D/home\",\"u\":\"https://ok.com/\"}", D, "default-deny",
	0},
    {"1.6 proxy-domain is a host", "other", "domain",
	"{\"name\":\"A.ok.com\"}", A, "domain-id", 0},
    {"1.6 proxy-domain off the list", "other", "domain",
	"{\"name\":\"ok.com.evil.com\"}", D, "default-deny", 0},
    {"safe: 2.3 URL unreadable", "fetch", "get", "{\"url\":\"nothing\"}", D,
	"structural-invalid-url", 0},
    {"safe: 2.3 URL with a tab", "fetch", "get",
	"{\"url\":\"https://news.exa\\tmple/\"}", D,
	"structural-invalid-url", 0},
};

#define GIT_RULES							\
	RULE("push-ours", "\"server\":[\"git\"],\"tool\":[\"push\"],"	\
	    "\"domains\":{\"roles\":[\"git-remote-url\"],\"allowed\":"	\
	    "[\"github.com/our/repo\",\"*.ours.example\"]}", "allow") ","	\
	RULE("push-ask", "\"server\":[\"git\"],\"tool\":[\"push\"],"	\
	    "\"domains\":{\"roles\":[\"git-remote-url\"],\"allowed\":"	\
	    "[\"*\"]}", "escalate") ","					\
	RULE("clone", "\"server\":[\"git\"],\"tool\":[\"clone\"],"	\
	    "\"roles\":[\"git-remote-url\"]", "allow") ","		\
	RULE("remote", "\"server\":[\"git\"],\"tool\":[\"remote\"]",	\
	    "allow")

static const struct policy_case git[] = {
    {"1.7 host/owner/repo", "git", "push",
	"{\"path\":\"/workspace\","
	"\"remote\":\"https://github.com/our/repo.git\"}",
	A, "push-ours", 0},
    {"1.7 scp-like", "git", "push",
	"{\"path\":\"/workspace\",\"remote\":\"git@github.com:our/repo\"}", A,
	"push-ours", 0},
    {"1.7 host of a pattern", "git", "push",
	"{\"path\":\"/workspace\",\"remote\":\"ssh://git@x.ours.example/r\"}",
	A, "push-ours", 0},
    {"1.7 other repository", "git", "push",
	"{\"path\":\"/workspace\",\"remote\":\"https://github.com/e/r\"}", E,
	"push-ask", GU},
    {"safe: 10.3.6 a name is not known", "git", "push",
	"{\"path\":\"/workspace\",\"remote\":\"origin\"}", E,
	"structural-unknown-remote", GU},
    {"safe: 10.3.6 none given", "git", "push", "{\"path\":\"/workspace\"}",
	E, "structural-unknown-remote", GU},
    {"safe: 10.3.6 null", "git", "push",
	"{\"path\":\"/workspace\",\"remote\":null}", E,
	"structural-unknown-remote", GU},
    {"safe: 10.3.6 empty", "git", "push",
	"{\"path\":\"/workspace\",\"remote\":\"\"}", E,
	"structural-unknown-remote", GU},
    {"safe: 10.3.6 allow without a list", "git", "clone",
	"{\"url\":\"origin\",\"localPath\":\"/workspace/x\"}", E,
	"structural-unknown-remote", GU},
    {"1.4 allow without a list, URL given", "git", "clone",
	"{\"url\":\"https://x.com/r\",\"localPath\":\"/workspace/x\"}", A,
	"clone", 0},
    {"safe: a path as remote", "git", "clone",
	"{\"url\":\"/srv/repo\",\"localPath\":\"/workspace/x\"}", E,
	"structural-unknown-remote", GU},
    {"safe: file: as remote", "git", "clone",
	"{\"url\":\"file:///srv/repo\",\"localPath\":\"/workspace/x\"}", E,
	"structural-url-scheme", GU},
    {"safe: 2.3 ext::", "git", "clone",
	"{\"url\":\"ext::sh -c x\",\"localPath\":\"/workspace/x\"}", D,
	"structural-invalid-url", 0},
    {"safe: 2.3 option", "git", "clone",
	"{\"url\":\"--upload-pack=x\",\"localPath\":\"/workspace/x\"}", D,
	"structural-invalid-url", 0},
    {"1.3.3c path outside", "git", "clone",
	"{\"url\":\"https://x.com/r\",\"localPath\":\"@D/out/x\"}", D,
	"default-deny", 0},
    {"1.8 in: no remote role", "git", "remote",
	"{\"path\":\"/workspace\",\"mode\":\"list\"}", A,
	"structural-sandbox-allow", 0},
    {"1.8 not in", "git", "remote",
	"{\"path\":\"/workspace\",\"mode\":\"add\","
	"\"url\":\"https://x.com/r\"}",
	A, "remote", 0},
    {"safe: branch that is an option", "git", "push",
	"{\"path\":\"/workspace\",\"branch\":\"--mirror\","
	"\"remote\":\"https://github.com/our/repo\"}",
	D, "structural-git-argument", 0},
    {"1.6 branch is opaque", "git", "push",
	"{\"path\":\"/workspace\",\"branch\":\"main\","
	"\"remote\":\"https://github.com/our/repo\"}",
	A, "push-ours", 0},
};

#define LIST_RULES							\
	RULE("own-repo", "\"server\":[\"github\"],\"lists\":["		\
	    "{\"roles\":[\"github-owner\"],\"allowed\":[\"our-org\"],"	\
	    "\"matchType\":\"identifiers\"},"				\
	    "{\"roles\":[\"github-repo\"],\"allowed\":[\"app\",\"lib\"],"	\
	    "\"matchType\":\"identifiers\"}]", "allow") ","		\
	RULE("ask-other", "\"server\":[\"github\"]", "escalate") ","	\
	RULE("team", "\"server\":[\"mail\"],\"lists\":[{\"roles\":"	\
	    "[\"email-address\"],\"allowed\":[\"@team\",\"Boss@X.org\"],"	\
	    "\"matchType\":\"emails\"}]", "allow") ","			\
	RULE("viewer", "\"server\":[\"mail\"],\"lists\":[{\"roles\":"	\
	    "[\"share-permission\"],\"allowed\":[\"viewer\"],"		\
	    "\"matchType\":\"identifiers\"}]", "escalate")

#define LIST_LISTS							\
	"{\"lists\":{\"team\":{\"values\":[\"a@x.org\",\"b@x.org\"],"	\
	"\"manualAdditions\":[],\"manualRemovals\":[\"b@x.org\"]}}}"

static const struct policy_case lists[] = {
    {"1.4 lists: all conditions", "github", "issue",
	"{\"owner\":\"our-org\",\"repo\":\"app\",\"title\":\"x\"}", A,
	"own-repo", 0},
    {"1.6 lower case", "github", "issue",
	"{\"owner\":\"OUR-Org\",\"repo\":\"APP\"}", A, "own-repo", 0},
    {"1.4 lists: one fails", "github", "issue",
	"{\"owner\":\"our-org\",\"repo\":\"other\"}", E, "ask-other",
	ARG_BIT(ARG_GITHUB_OWNER) | ARG_BIT(ARG_GITHUB_REPO)},
    {"1.4 lists: the other fails", "github", "issue",
	"{\"owner\":\"evil\",\"repo\":\"app\"}", E, "ask-other",
	ARG_BIT(ARG_GITHUB_OWNER) | ARG_BIT(ARG_GITHUB_REPO)},
    {"1.4 lists: no value", "github", "issue", "{\"owner\":\"our-org\"}", E,
	"ask-other", ARG_BIT(ARG_GITHUB_OWNER) | ARG_BIT(ARG_GITHUB_REPO)},
    {"1.4 lists: every value", "github", "issue",
	"{\"owner\":[\"our-org\",\"evil\"],\"repo\":\"app\"}", E,
	"ask-other", ARG_BIT(ARG_GITHUB_OWNER) | ARG_BIT(ARG_GITHUB_REPO)},
    {"1.10 e-mail of a list", "mail", "send", "{\"to\":\"A@x.ORG\"}", A,
	"team", 0},
    {"1.10 e-mail removed", "mail", "send", "{\"to\":\"b@x.org\"}", D,
	"default-deny", 0},
    {"1.10 e-mail beside the list", "mail", "send",
	"{\"to\":\"boss@x.org\"}", A, "team", 0},
    {"1.4 every address", "mail", "send",
	"{\"to\":[\"a@x.org\",\"evil@y.org\"]}", D, "default-deny", 0},
    {"1.6 opaque alone drives nothing", "mail", "send", "{\"body\":\"x\"}",
	D, "default-deny", 0},
    {"1.6 share-permission in lower case", "mail", "share",
	"{\"who\":\"evil@y.org\",\"how\":\"Viewer\"}", E, "viewer", 0},
    {"1.6 share-permission other", "mail", "share",
	"{\"who\":\"evil@y.org\",\"how\":\"owner\"}", D, "default-deny", 0},
};

#define COND_RULES							\
	RULE("ask", "\"roles\":[\"write-path\",\"read-path\"]", "escalate") ","	\
	RULE("free", "\"server\":[\"cond\"]", "allow")

static const struct policy_case conditions[] = {
    {"1.8 present", "cond", "present", "{\"path\":\"@D/out/o\",\"a\":1}", A,
	"free", 0},
    {"1.8 present: false is", "cond", "present",
	"{\"path\":\"@D/out/o\",\"a\":false}", A, "free", 0},
    {"1.8 present: null is not", "cond", "present",
	"{\"path\":\"@D/out/o\",\"a\":null}", E, "ask", WP},
    {"1.8 present: nothing is not", "cond", "present",
	"{\"path\":\"@D/out/o\"}", E, "ask", WP},
    {"1.8 absent", "cond", "absent", "{\"path\":\"@D/out/o\"}", A, "free",
	0},
    {"1.8 absent: null", "cond", "absent",
	"{\"path\":\"@D/out/o\",\"a\":null}", A, "free", 0},
    {"1.8 absent: 0 is there", "cond", "absent",
	"{\"path\":\"@D/out/o\",\"a\":0}", E, "ask", WP},
    {"1.8 truthy: true", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":true}", A, "free", 0},
    {"1.8 truthy: text", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":\"x\"}", A, "free", 0},
    {"1.8 truthy: empty array", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":[]}", A, "free", 0},
    {"1.8 truthy: number", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":0.5}", A, "free", 0},
    {"1.8 truthy: false", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":false}", E, "ask", WP},
    {"1.8 truthy: empty text", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":\"\"}", E, "ask", WP},
    {"1.8 truthy: zero", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":0}", E, "ask", WP},
    {"1.8 truthy: zero in another way", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":-0.0e5}", E, "ask", WP},
    {"safe: 1.8 a number that may be zero: not truthy", "cond", "truthy",
	"{\"path\":\"@D/out/o\",\"a\":1e-400}", E, "ask", WP},
    {"safe: 1.8 a number that may be zero: not falsy", "cond", "falsy",
	"{\"path\":\"@D/out/o\",\"a\":1e-400}", E, "ask", WP},
    {"1.8 falsy: nothing", "cond", "falsy", "{\"path\":\"@D/out/o\"}", A,
	"free", 0},
    {"1.8 falsy: null", "cond", "falsy",
	"{\"path\":\"@D/out/o\",\"a\":null}", A, "free", 0},
    {"1.8 falsy: zero", "cond", "falsy", "{\"path\":\"@D/out/o\",\"a\":0}",
	A, "free", 0},
    {"1.8 falsy: text", "cond", "falsy",
	"{\"path\":\"@D/out/o\",\"a\":\"0\"}", E, "ask", WP},
    {"1.8 equals text", "cond", "equals",
	"{\"path\":\"@D/out/o\",\"a\":\"x\"}", A, "free", 0},
    {"1.8 equals other text", "cond", "equals",
	"{\"path\":\"@D/out/o\",\"a\":\"X\"}", E, "ask", WP},
    {"1.8 equals number", "cond", "equals",
	"{\"path\":\"@D/out/o\",\"a\":1}", A, "free", 0},
    {"1.8 equals is of one type", "cond", "equals",
	"{\"path\":\"@D/out/o\",\"a\":\"1\"}", E, "ask", WP},
    {"1.8 equals in an array is none", "cond", "equals",
	"{\"path\":\"@D/out/o\",\"a\":[\"x\"]}", E, "ask", WP},
    {"1.8 first when wins", "cond", "first",
	"{\"path\":\"@D/out/o\",\"a\":\"x\"}", E, "ask", RP},
    {"1.8 else default", "cond", "first", "{\"path\":\"@D/out/o\"}", E,
	"ask", RP | WP},
};

const struct policy_group policy_groups[] = {
    GROUP("", NULL, bare),
    GROUP(FS_RULES, NULL, files),
    GROUP(ORDER_RULES, NULL, order),
    GROUP(URL_RULES, URL_LISTS, urls),
    GROUP(GIT_RULES, NULL, git),
    GROUP(LIST_RULES, LIST_LISTS, lists),
    GROUP(COND_RULES, NULL, conditions),
};
const size_t policy_ngroups =
    sizeof(policy_groups) / sizeof(policy_groups[0]);
