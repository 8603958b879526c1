/* SPDX-License-Identifier: ISC */
#include "policy_cases.h"

#define URL_RULES \
	RULE("search", "\"server\":[\"fetch\"],\"tool\":[\"search\"]", \
	    "allow") "," \
	RULE("news", "\"server\":[\"fetch\"],\"domains\":{\"roles\":" \
	    "[\"fetch-url\"],\"allowed\":[\"@news\",\"docs.example.org\"]}", \
	    "allow") "," \
	RULE("missing-list", "\"server\":[\"fetch\"],\"domains\":{\"roles\":" \
	    "[\"fetch-url\"],\"allowed\":[\"@not-there\"]}", "allow") "," \
	RULE("any-name", "\"server\":[\"fetch\"],\"domains\":{\"roles\":" \
	    "[\"fetch-url\"],\"allowed\":[\"*\"]}", "escalate") "," \
	RULE("gated-all", "\"server\":[\"gated\"]", "allow") "," \
	RULE("mixed-url", "\"server\":[\"other\"],\"domains\":{\"roles\":" \
	    "[\"fetch-url\"],\"allowed\":[\"ok.com\"]}", "allow") "," \
	RULE("mixed-path", "\"server\":[\"other\"],\"paths\":{\"roles\":" \
	    "[\"read-path\"],\"within\":\"@D/out\"}", "allow") "," \
	RULE("domain-id", "\"server\":[\"other\"],\"domains\":{\"roles\":" \
	    "[\"proxy-domain\"],\"allowed\":[\"*.ok.com\"]}", "allow")

#define URL_LISTS \
	"{\"generatedAt\":\"x\",\"lists\":{\"news\":{\"values\":" \
	"[\"news.example\",\"*.times.example\",\"gone.example\"]," \
	"\"manualAdditions\":[\"added.example\"]," \
	"\"manualRemovals\":[\"gone.example\"]," \
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

#define GIT_RULES \
	RULE("push-ours", "\"server\":[\"git\"],\"tool\":[\"push\"]," \
	    "\"domains\":{\"roles\":[\"git-remote-url\"],\"allowed\":" \
	    "[\"github.com/our/repo\",\"*.ours.example\"]}", "allow") "," \
	RULE("push-ask", "\"server\":[\"git\"],\"tool\":[\"push\"]," \
	    "\"domains\":{\"roles\":[\"git-remote-url\"],\"allowed\":" \
	    "[\"*\"]}", "escalate") "," \
	RULE("clone", "\"server\":[\"git\"],\"tool\":[\"clone\"]," \
	    "\"roles\":[\"git-remote-url\"]", "allow") "," \
	RULE("remote", "\"server\":[\"git\"],\"tool\":[\"remote\"]," \
	    "\"domains\":{\"roles\":[\"git-remote-url\"],\"allowed\":" \
	    "[\"*\"]}", "escalate")

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
	E, "remote", GU},
    {"safe: a remote that is not known, to a rule that asks", "git", "remote",
	"{\"path\":\"/workspace\",\"mode\":\"add\",\"url\":\"up\"}", E,
	"remote", GU},
    {"safe: branch that is an option", "git", "push",
	"{\"path\":\"/workspace\",\"branch\":\"--mirror\","
	"\"remote\":\"https://github.com/our/repo\"}",
	D, "structural-git-argument", 0},
    {"1.6 branch is opaque", "git", "push",
	"{\"path\":\"/workspace\",\"branch\":\"main\","
	"\"remote\":\"https://github.com/our/repo\"}",
	A, "push-ours", 0},
};

#define LIST_RULES \
	RULE("own-repo", "\"server\":[\"github\"],\"lists\":[" \
	    "{\"roles\":[\"github-owner\"],\"allowed\":[\"our-org\"]," \
	    "\"matchType\":\"identifiers\"}," \
	    "{\"roles\":[\"github-repo\"],\"allowed\":[\"app\",\"lib\"]," \
	    "\"matchType\":\"identifiers\"}]", "allow") "," \
	RULE("ask-other", "\"server\":[\"github\"]", "escalate") "," \
	RULE("team", "\"server\":[\"mail\"],\"lists\":[{\"roles\":" \
	    "[\"email-address\"],\"allowed\":[\"@team\"," \
	    "\"Boss@X.org\",\"AZ@q.org\"]," \
	    "\"matchType\":\"emails\"}]", "allow") "," \
	RULE("viewer", "\"server\":[\"mail\"],\"lists\":[{\"roles\":" \
	    "[\"share-permission\"],\"allowed\":[\"viewer\"]," \
	    "\"matchType\":\"identifiers\"}]", "escalate")

#define LIST_LISTS \
	"{\"lists\":{\"team\":{\"values\":[\"a@x.org\",\"b@x.org\"]," \
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
    {"1.10 e-mail, every letter", "mail", "send", "{\"to\":\"az@Q.org\"}", A,
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

#define COND_RULES \
	RULE("ask", "\"roles\":[\"write-path\",\"read-path\"]", "escalate") "," \
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

const struct policy_group policy_more[] = {
    GROUP(URL_RULES, URL_LISTS, urls),
    GROUP(GIT_RULES, NULL, git),
    GROUP(LIST_RULES, LIST_LISTS, lists),
    GROUP(COND_RULES, NULL, conditions),
};
const size_t policy_nmore = sizeof(policy_more) / sizeof(policy_more[0]);
