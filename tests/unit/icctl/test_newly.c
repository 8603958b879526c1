/* SPDX-License-Identifier: ISC */
/*
 * The statement of what a policy newly allows says too much at times, and never
 * too little. Pairs of random policies decide the same calls: each call that
 * the new policy allows and the old one does not must be of a tool that the
 * statement names as one that is allowed, or of a kind that has a line of its
 * own. The first argument sets the number of pairs.
 */
#include "tap.h"
#include "unit/policyd/rig.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icctl/policy/compile/compile.h"
#include "rnd.h"

#define PAIRS 500
#define CALLS 150
#define RULES 5U

#define PICK(list) ((list)[rnd((unsigned)(sizeof(list) / sizeof((list)[0])))])

/* The tools of the rig's annotations, and arguments of theirs. */
static const char *const tools[][2] = {{"filesystem", "read"},
    {"filesystem", "write"}, {"filesystem", "delete"}, {"filesystem", "many"},
    {"filesystem", "edit"}, {"filesystem", "move"}, {"filesystem", "nothing"},
    {"git", "status"}, {"git", "push"}, {"git", "clone"}, {"git", "reset"},
    {"fetch", "get"}, {"fetch", "save"}, {"fetch", "search"},
    {"github", "issue"}, {"other", "read"}, {"other", "two"},
    {"other", "mixed"}, {"cond", "present"}, {"cond", "first"}};
static const char *const names[] = {"path", "paths", "source", "destination",
    "url", "to", "remote", "localPath", "owner", "repo", "p", "u", "a", "z"};
static const char *const paths[] = {"a", "/workspace/sub/c", "@D/out/o",
    "~/docs/d", "~/docs/deep/e", "~/private", "/workspace/through/b",
    "/workspace/through/sub/c", "@D/out/back/a", "@D/link/d",
    "/workspace/new/file", "@D/ws/b"};
static const char *const urls[] = {"https://ok.com/x", "https://a.ok.com/",
    "https://evil.com/", "git@ok.com:o/r", "our", "repo"};
static const char *const places[] = {"/", "@D", "@D/ws", "@D/out", "~/docs",
    "~/docs/deep", "@D/link", "/workspace", "@D/link/deep", "@D/none"};
static const char *const hosts[] = {
    "*", "*.ok.com", "ok.com", "evil.com", "@l", "our", "repo"};
static const char *const path_roles[] = {
    "read-path", "write-path", "delete-path"};
static const char *const all_roles[] = {"read-path", "write-path",
    "delete-path", "write-history", "delete-history", "fetch-url",
    "git-remote-url", "github-owner", "github-repo"};

static struct rig rig;

static void
add_some(struct buf *b, const char *name, const char *const *list, unsigned n)
{
	buf_printf(b, "\"%s\":[\"%s\"", name, list[rnd(n)]);
	if (rnd(2) == 0)
		buf_printf(b, ",\"%s\"", list[rnd(n)]);
	buf_addc(b, ']');
}

/* Append the conditions of a rule. Rules that allow may limit links. */
static void
add_conditions(struct buf *b, bool allow)
{
	unsigned tool = rnd(nitems(tools)), kind = rnd(5);

	buf_printf(b, "\"server\":[\"%s\"", tools[tool][0]);
	if (rnd(3) == 0)
		buf_printf(b, ",\"%s\"", PICK(tools)[0]);
	buf_addc(b, ']');
	if (rnd(3) == 0)
		buf_printf(b, ",\"tool\":[\"%s\",\"%s\"]", tools[tool][1],
		    PICK(tools)[1]);
	if (rnd(4) == 0) {
		buf_addc(b, ',');
		add_some(b, "roles", all_roles, nitems(all_roles));
	}
	if (kind < 2) {
		buf_adds(b, ",\"paths\":{");
		add_some(b, "roles", path_roles, nitems(path_roles));
		buf_printf(b, ",\"within\":\"%s\"%s}", PICK(places),
		    !allow || rnd(4) != 0 ? ""
		    : rnd(2) == 0         ? ",\"links\":[]"
					  : ",\"links\":[\"@D/ws/through\"]");
	} else if (kind == 2) {
		buf_adds(b, ",\"domains\":{");
		add_some(b, "roles", all_roles + 5, 2);
		buf_addc(b, ',');
		add_some(b, "allowed", hosts, nitems(hosts));
		buf_addc(b, '}');
	} else if (kind == 3 && rnd(2) == 0) {
		buf_adds(b, ",\"lists\":[{");
		add_some(b, "roles", all_roles + 7, 2);
		buf_addc(b, ',');
		add_some(b, "allowed", hosts, nitems(hosts));
		buf_adds(b, ",\"matchType\":\"identifiers\"}]");
	}
}

static char *
make_rule(unsigned i)
{
	static const char *const then[] = {
	    "allow", "allow", "escalate", "deny"};
	const char *what = PICK(then);
	struct buf b;
	char *text;

	buf_init(&b, 65536);
	buf_printf(&b,
	    "{\"name\":\"r%u\",\"then\":\"%s\",\"reason\":\"r\","
	    "\"if\":{",
	    i, what);
	add_conditions(&b, strcmp(what, "allow") == 0);
	buf_adds(&b, "}}");
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	buf_free(&b);
	return text;
}

/* Compose a policy of rules; without any, there is only the sandbox. */
static char *
make_policy(char *const rules[], unsigned n, bool read_only)
{
	struct buf b;
	char *given, *text;

	buf_init(&b, 1U << 20);
	buf_printf(&b, "{%s\"rules\":[",
	    read_only ? "\"workspace\":\"read-only\"," : "");
	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i == 0 ? "" : ",", rules[i]);
	buf_adds(&b, "]}");
	given = span_dup(buf_span(&b));
	buf_free(&b);
	if (given == NULL || (text = strdup(rig_text(&rig, given))) == NULL)
		err(1, "policy");
	free(given);
	return text;
}

/* Make the old policy, and a new one that has changes in it. */
static void
make_pair(char *pair[2])
{
	char *rules[RULES + 1];
	unsigned n = 1 + rnd(RULES - 1), k;

	for (unsigned i = 0; i < n; i++)
		rules[i] = make_rule(i);
	pair[0] = make_policy(rules, n, rnd(12) == 0);
	for (unsigned changes = 1 + rnd(2); changes != 0; changes--) {
		k = rnd(n);
		if (rnd(3) == 0 && n > 1) {
			free(rules[k]);
			rules[k] = rules[--n];
		} else if (rnd(2) == 0 && n < RULES) {
			rules[n] = rules[k];
			rules[k] = make_rule(100 + n);
			n++;
		} else {
			free(rules[k]);
			rules[k] = make_rule(200 + k);
		}
	}
	pair[1] = make_policy(rules, n, rnd(12) == 0);
	while (n != 0)
		free(rules[--n]);
}

struct call {
	unsigned tool;
	char args[1024];
	enum proto_status was;
};

static void
make_call(struct call *c)
{
	size_t n = 0;

	c->tool = rnd(nitems(tools));
	n = (size_t)snprintf(c->args, sizeof(c->args), "{\"x\":1");
	for (size_t i = 0; i < nitems(names); i++) {
		if (rnd(8) == 0)
			continue;
		n += (size_t)snprintf(c->args + n, sizeof(c->args) - n,
		    ",\"%s\":\"%s\"", names[i],
		    strchr("uor", names[i][0]) != NULL &&
			    strcmp(names[i], "paths") != 0
			? PICK(urls)
			: PICK(paths));
	}
	(void)snprintf(c->args + n, sizeof(c->args) - n, "%s}",
	    rnd(4) == 0 ? ",\"dryRun\":true" : "");
}

static void
put(struct policy_set *set, unsigned kind, const char *text)
{
	set->files[kind] = (struct policy_file){
	    .path = strdup("test"), .text = strdup(text), .len = strlen(text)};
}

static void
drop(struct policy_set *set)
{
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		free(set->files[k].path);
		free(set->files[k].text);
	}
}

#define LISTS "{\"lists\":{\"l\":{\"values\":[\"ok.com\"]}}}"

/* Returns true if a line of allowed tools names the tool of the server. */
static bool
stated(const char *text, const char *server, const char *tool)
{
	char want[80], *copy = strdup(text), *line, *rest = copy, *at, *word;
	bool found = false, here;

	snprintf(want, sizeof(want), "%s:", server);
	while (!found && (line = strsep(&rest, "\n")) != NULL) {
		if (strstr(line, "the workspace may be written") != NULL ||
		    (strstr(line, "no longer withholds") != NULL &&
			(strcmp(server, "filesystem") == 0 ||
			    strcmp(server, "git") == 0)))
			found = true;
		/* "    2 tools: filesystem: read many" */
		if (strncmp(line, "    ", 4) != 0 || line[4] < '0' ||
		    line[4] > '9' || (at = strstr(line, " tool")) == NULL ||
		    strcspn(line + 4, " ") != (size_t)(at - line - 4))
			continue;
		here = false;
		for (at = strchr(at, ':') + 1;
		     !found && (word = strsep(&at, " ")) != NULL;) {
			if (word[0] != '\0' && word[strlen(word) - 1] == ':')
				here = strcmp(word, want) == 0;
			else
				found = here && strcmp(word, tool) == 0;
		}
	}
	free(copy);
	return found;
}

/* Returns the statement, for the caller to free. */
static char *
state(char *pair[2])
{
	struct policy_set old = {0}, new = {0};
	struct fault fault = {""};
	struct buf b;
	char *text;

	put(&old, PROTO_RULES_POLICY, pair[0]);
	put(&new, PROTO_RULES_POLICY, pair[1]);
	put(&old, PROTO_RULES_LISTS, LISTS);
	put(&new, PROTO_RULES_LISTS, LISTS);
	put(&old, PROTO_RULES_ANNOTATIONS, rig_annotations);
	put(&new, PROTO_RULES_ANNOTATIONS, rig_annotations);
	buf_init(&b, 1U << 20);
	if (grants_new(NULL, &old, &new, &b, &fault) == -1)
		errx(1, "%s", fault.text);
	drop(&old);
	drop(&new);
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	buf_free(&b);
	return text;
}

static unsigned fresh, missing;

static void
decide(struct call *calls, const char *policy, const char *statement)
{
	struct decision d;

	rig_must_load(&rig, PROTO_RULES_POLICY, policy);
	for (unsigned i = 0; i < CALLS; i++) {
		const char *server = tools[calls[i].tool][0],
			   *tool = tools[calls[i].tool][1];

		rig_eval(&rig, server, tool, calls[i].args, &d);
		if (statement == NULL)
			calls[i].was = d.status;
		else if (d.status == PROTO_ALLOW &&
			 calls[i].was != PROTO_ALLOW) {
			fresh++;
			if (stated(statement, server, tool))
				continue;
			if (missing++ < 6)
				fprintf(stderr, "%s %s %s by %.*s\nnew %s\n%s",
				    server, tool, calls[i].args,
				    (int)d.rule.len, (const char *)d.rule.p,
				    policy, statement);
		}
	}
}

static void
test_pairs(unsigned n)
{
	static struct call calls[CALLS];
	unsigned silent = 0, was;
	char *pair[2], *statement;

	for (unsigned i = 0; i < n; i++) {
		make_pair(pair);
		for (unsigned k = 0; k < CALLS; k++)
			make_call(&calls[k]);
		was = missing;
		statement = state(pair);
		silent += statement[0] == '\0';
		decide(calls, pair[0], NULL);
		decide(calls, pair[1], statement);
		if (missing != was)
			fprintf(stderr, "old %s\n", pair[0]);
		free(statement);
		free(pair[0]);
		free(pair[1]);
	}
	ok(missing == 0,
	    "%u pairs: %u calls are newly allowed, %u of a tool "
	    "that is not stated",
	    n, fresh, missing);
	ok(fresh > n && silent > n / 10,
	    "pairs of both kinds were made (%u without a statement)", silent);
}

/* Rules for which the statement used to name tools that stay withheld. */
static void
test_whole(void)
{
#define READ(tools)                                                            \
	"{\"name\":\"r\",\"then\":\"allow\",\"reason\":\"r\",\"if\":{"         \
	"\"server\":[\"filesystem\"]" tools ",\"paths\":{\"roles\":["          \
	"\"read-path\"],\"within\":\"/d\"}}}"
#define WRITE                                                                  \
	"{\"name\":\"w\",\"then\":\"allow\",\"reason\":\"r\",\"if\":{"         \
	"\"server\":[\"filesystem\"],\"paths\":{\"roles\":[\"write-path\","    \
	"\"delete-path\"],\"within\":\"/d\"}}}"
	static const struct {
		const char *rules, *tool;
		bool is;
	} rows[] = {
	    {READ(""), "read", true},
	    {READ(""), "many", true},
	    {READ(""), "move", false},
	    {READ(""), "write", false},
	    /* Its dry run only reads, and so some of its calls are allowed. */
	    {READ(""), "edit", true},
	    {READ("") "," WRITE, "move", true},
	    {READ("") "," WRITE, "write", true},
	    {READ(",\"tool\":[\"move\"]"), "read", false},
	};
	char *pair[2] = {NULL, NULL}, *statement;

	for (size_t i = 0; i < nitems(rows); i++) {
		if (asprintf(&pair[1], "{\"rules\":[%s]}", rows[i].rules) ==
			-1 ||
		    (pair[0] = strdup("{\"rules\":[]}")) == NULL)
			err(1, "rules");
		statement = state(pair);
		ok(stated(statement, "filesystem", rows[i].tool) == rows[i].is,
		    "%s is %sstated as allowed by %s", rows[i].tool,
		    rows[i].is ? "" : "not ", rows[i].rules);
		free(statement);
		free(pair[0]);
		free(pair[1]);
	}
}

int
main(int argc, char **argv)
{
	const char *bad = NULL;
	unsigned pairs = PAIRS;

	if (argc > 1)
		pairs = (unsigned)strtonum(argv[1], 1, 1000000, &bad);
	rig_init(&rig, NULL);
	if (bad != NULL || setenv("HOME", rig_text(&rig, "@D/home"), 1) == -1)
		errx(1, "usage: test_newly [PAIRS]");
	rig_link(&rig, "@D/home/docs", "link");
	rig_link(&rig, "@D/out/back", "ws/through");
	rig_link(&rig, "@D/ws", "out/back");
	rig_must_load(&rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&rig, PROTO_RULES_LISTS, LISTS);
	rig_server(&rig, 0, "filesystem", false, "");
	rig_server(&rig, 1, "git", false, "");
	rig_server(&rig, 2, "fetch", false, "");
	rig_server(&rig, 3, "other", false, "");
	test_whole();
	test_pairs(pairs);
	rig_free(&rig);
	return tap_done();
}
