/* SPDX-License-Identifier: ISC */
/*
 * Random policies and random calls: a call is allowed only by a rule that
 * allows or by a structural reason that holds, never if it touches a protected
 * path, and the same question gets the same answer. The seed is printed; the
 * first argument sets the number of calls, the second the seed.
 */
#include "tap.h"
#include "unit/policyd/rig.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static struct rig rig;
static uint64_t seed;

static unsigned
pick(unsigned n)
{
	/* xorshift64*: reproducible, and good enough here. */
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)((seed * 0x2545f4914f6cdd1dULL) >> 33) % n;
}

#define PICK(list) ((list)[pick(sizeof(list) / sizeof((list)[0]))])

static const char *const roles[] = {"read-path", "write-path", "delete-path",
    "write-history", "fetch-url", "git-remote-url", "github-owner", "none"};
static const char *const servers[] = {"filesystem", "git", "fetch", "gated",
    "other", "github", "memory", "nobody"};
static const char *const tools[] = {"read", "write", "delete", "many", "edit",
    "move", "push", "clone", "status", "get", "save", "issue", "mixed", "two",
    "list_allowed_directories", "search", "nothing", "unknown"};
static const char *const places[] = {"/", "@D", "@D/ws", "@D/out", "~/docs",
    "@D/home/docs/deep", "@D/prot", "/workspace", "@D/none"};
static const char *const hosts[] = {"*", "*.com", "ok.com", "github.com/o/r",
    "127.0.0.1", "@list", "@missing"};
static const char *const words[] = {"ok.com", "@list", "our", "repo", "x",
    "https://ok.com/x"};
static const char *const types[] = {"identifiers", "emails", "domains"};
static const char *const paths[] = {"/workspace/a", "a", "/workspace/../etc",
    "@D/ws/sub/c", "@D/out/o", "@D/home/docs/d", "@D/prot/p", "~/private",
    "/workspace/link", "", "~x", "/proc/self/root", "@D/home/docs/deep/e",
    "/workspace/to-prot", "@D/none/x", "/"};
static const char *const urls[] = {"our", "REPO", "https://ok.com/x", "https://evil.com",
    "http://127.1/", "file:///etc/passwd", "origin", "git@github.com:o/r",
    "ext::sh", "", "https://a.ok.com."};
static const char *const names[] = {"path", "paths", "source", "destination",
    "url", "to", "remote", "localPath", "owner", "repo", "p", "u", "a", "z",
    "x", "dryRun", "files"};

static void
add_array(struct buf *b, const char *name, const char *const *from, unsigned n)
{
	unsigned count = 1 + pick(3);

	buf_printf(b, "\"%s\":[", name);
	for (unsigned i = 0; i < count; i++)
		buf_printf(b, "%s\"%s\"", i == 0 ? "" : ",",
		    from[pick(n)]);
	buf_addc(b, ']');
}

static void
add_rule(struct buf *b, unsigned i)
{
	static const char *const then[] = {"allow", "allow", "escalate",
	    "deny"};
	const char *comma = "";

	buf_printf(b, "%s{\"name\":\"r%u\",\"then\":\"%s\",\"reason\":"
			    "\"because\",\"if\":{", i == 0 ? "" : ",", i,
	    PICK(then));
	if (pick(3) == 0) {
		add_array(b, "roles", roles, 8);
		comma = ",";
	}
	if (pick(2) == 0) {
		buf_adds(b, comma);
		add_array(b, "server", servers, 8);
		comma = ",";
	}
	if (pick(3) == 0) {
		buf_adds(b, comma);
		add_array(b, "tool", tools, 18);
		comma = ",";
	}
	if (pick(3) == 0) {
		buf_printf(b, "%s\"paths\":{", comma);
		add_array(b, "roles", roles, 4);
		buf_printf(b, ",\"within\":\"%s\"}", PICK(places));
		comma = ",";
	}
	if (pick(4) == 0) {
		buf_printf(b, "%s\"domains\":{", comma);
		add_array(b, "roles", roles + 4, 2);
		buf_addc(b, ',');
		add_array(b, "allowed", hosts, 7);
		buf_addc(b, '}');
		comma = ",";
	}
	if (pick(6) == 0) {
		buf_printf(b, "%s\"lists\":[{", comma);
		add_array(b, "roles", roles + 4, 4);
		buf_addc(b, ',');
		add_array(b, "allowed", words, 6);
		buf_printf(b, ",\"matchType\":\"%s\"}]", PICK(types));
	}
	buf_adds(b, "}}");
}

static void
load_random(void)
{
	unsigned n = pick(12);
	struct buf b;
	char *text;

	buf_init(&b, 1 << 20);
	buf_adds(&b, "{\"rules\":[");
	for (unsigned i = 0; i < n; i++)
		add_rule(&b, i);
	buf_adds(&b, "]}");
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	rig_must_load(&rig, PROTO_RULES_POLICY, text);
	free(text);
	buf_free(&b);
}

static void
add_value(struct buf *b, unsigned depth)
{
	unsigned kind = pick(8);

	if (depth == 3 && (kind == 2 || kind == 3))
		kind = 4;
	switch (kind) {
	case 0:
		buf_adds(b, "true");
		break;
	case 1:
		buf_adds(b, "null");
		break;
	case 2:
		buf_addc(b, '[');
		add_value(b, depth + 1);
		buf_addc(b, ',');
		add_value(b, depth + 1);
		buf_addc(b, ']');
		break;
	case 3:
		buf_adds(b, "{\"k\":");
		add_value(b, depth + 1);
		buf_addc(b, '}');
		break;
	case 4:
		buf_printf(b, "\"%s\"", PICK(urls));
		break;
	default:
		buf_printf(b, "\"%s\"", PICK(paths));
		break;
	}
}

static char *
random_args(void)
{
	bool used[nitems(names)] = {false};
	unsigned n = pick(4), k;
	const char *comma = "";
	struct buf b;
	char *text;

	buf_init(&b, 1 << 16);
	buf_addc(&b, '{');
	for (unsigned i = 0; i < n; i++) {
		k = pick(nitems(names));
		if (used[k])
			continue;
		used[k] = true;
		buf_printf(&b, "%s\"%s\":", comma, names[k]);
		add_value(&b, 0);
		comma = ",";
	}
	buf_addc(&b, '}');
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	buf_free(&b);
	return text;
}

/* Every string below `v` that is a path leads into `dir`, by the C library. */
static bool
paths_in(const struct value *v, const char *dir, bool all, unsigned *count)
{
	size_t n = strlen(dir);
	const struct value *c;
	bool one = all, in;
	char *real, name[1024];

	if (v->type == VALUE_STRING) {
		if (span_starts(v->text, SPAN("/workspace")))
			snprintf(name, sizeof(name), "%s/ws%.*s", rig.dir,
			    (int)v->text.len - 10,
			    (const char *)v->text.p + 10);
		else
			(void)span_copy(v->text, name, sizeof(name));
		real = realpath(name, NULL);
		in = real != NULL ? strncmp(real, dir, n) == 0 &&
			(real[n] == '/' || real[n] == '\0')
				  : strncmp(name, dir, n) == 0;
		free(real);
		++*count;
		return in;
	}
	for (c = v->child; c != NULL; c = c->next) {
		if (all)
			one = paths_in(c, dir, true, count) && one;
		else
			one = paths_in(c, dir, false, count) || one;
	}
	return one;
}

/* Check the arguments with a path role; the tree is as it would be sent. */
static bool
roles_in(const char *server, const char *tool, const struct value *tree,
    const char *dir, bool all, unsigned *count)
{
	const struct annot_tool *t = annots_find(rig.engine->annots,
	    span_str(server), span_str(tool));
	const struct value *v;
	bool one = all;

	*count = 0;
	for (unsigned i = 0; t != NULL && i < t->nargs; i++) {
		v = value_getspan(tree, t->args[i].name);
		if (v == NULL || !(t->args[i].roles.mask & ARGS_PATH))
			continue;
		if (all)
			one = paths_in(v, dir, true, count) && one;
		else
			one = paths_in(v, dir, false, count) || one;
	}
	return one;
}

/*
 * Returns true if the deciding rule is about the call, as far as the rule alone
 * tells.
 */
static bool
rule_about(const struct rule *r, const char *server, const char *tool,
    const struct value *tree)
{
	char dir[600], within[300];
	unsigned n;

	if (!rule_names(r->servers, span_str(server)) ||
	    !rule_names(r->tools, span_str(tool)))
		return false;
	if (!r->has_paths)
		return true;
	(void)span_copy(r->within, within, sizeof(within));
	if (strcmp(within, "/") == 0)
		within[0] = '\0';
	if (within[0] == '~')
		snprintf(dir, sizeof(dir), "%s/home%s", rig.dir, within + 1);
	else if (strcmp(within, "/workspace") == 0)
		snprintf(dir, sizeof(dir), "%s/ws", rig.dir);
	else
		snprintf(dir, sizeof(dir), "%s", within);
	return roles_in(server, tool, tree, dir, false, &n);
}

static const char *
check_allow(const struct decision *d, const char *server, const char *tool,
    const struct value *tree)
{
	char dir[300];
	unsigned n;

	if (span_is(d->rule, "trusted-server"))
		return strcmp(server, "memory") == 0 ? NULL : "not trusted";
	snprintf(dir, sizeof(dir), "%s/prot", rig.dir);
	if (roles_in(server, tool, tree, dir, false, &n))
		return "protected";
	if (d->by != NULL)
		return d->by->then != PROTO_ALLOW ||
			!span_eq(d->by->name, d->rule)
		    ? "by a rule that does not allow"
		    : rule_about(d->by, server, tool, tree) ? NULL
		    : "by a rule about something else";
	if (span_is(d->rule, "structural-introspection-allow"))
		return strcmp(tool, "list_allowed_directories") == 0 &&
			strcmp(server, "filesystem") == 0 && tree->count == 0
		    ? NULL
		    : "no introspection";
	snprintf(dir, sizeof(dir), "%s/ws", rig.dir);
	if (span_is(d->rule, "structural-sandbox-allow"))
		return roles_in(server, tool, tree, dir, true, &n) && n != 0 &&
			(strcmp(server, "filesystem") == 0 ||
			    strcmp(server, "git") == 0)
		    ? NULL
		    : "not in the sandbox";
	return "without a reason";
}

static const char *
check_one(const char *server, const char *tool, const char *args,
    unsigned *counts)
{
	struct decision d, again;
	struct value *tree = rig_tree(&rig, args);
	char rule[300];
	const char *wrong = NULL;

	eval_call(rig.engine, span_str(server), span_str(tool), tree, rig.pool,
	    &d);
	counts[d.status]++;
	if (d.rule.len == 0 || d.reason.len == 0)
		return "no rule or reason";
	if (d.status == PROTO_ALLOW)
		wrong = check_allow(&d, server, tool, tree);
	else if (d.by != NULL && d.by->then != d.status)
		wrong = "not what its rule says";
	if (wrong != NULL)
		return wrong;
	snprintf(rule, sizeof(rule), "%.*s", (int)d.rule.len,
	    (const char *)d.rule.p);
	rig_eval(&rig, server, tool, args, &again);
	if (again.status != d.status || !span_is(again.rule, rule) ||
	    again.escalated != d.escalated)
		return "another answer to the same question";
	return NULL;
}

int
main(int argc, char **argv)
{
	unsigned long calls = 1000000;
	unsigned counts[3] = {0}, bad = 0;
	const char *server, *tool, *wrong;
	char *args;

	seed = 0x1234567890abcdefULL;
	if (argc > 1 && argv[1][0] >= '1' && argv[1][0] <= '9')
		calls = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	printf("# seed 0x%llx\n", (unsigned long long)seed);
	rig_init(&rig, NULL);
	rig_link(&rig, "sub", "ws/link");
	rig_link(&rig, "@D/prot", "ws/to-prot");
	rig_server(&rig, 0, "filesystem", false, "");
	rig_row(&rig, 0, "@D", "@D");
	rig_server(&rig, 1, "git", false, "");
	rig_server(&rig, 2, "gated", false, "ok.com");
	rig_server(&rig, 3, "memory", true, "");
	rig_must_load(&rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&rig, PROTO_RULES_LISTS,
	    "{\"lists\":{\"list\":{\"values\":[\"ok.com\"]}}}");
	for (unsigned long i = 0; i < calls; i++) {
		if (i % 20 == 0)
			load_random();
		server = PICK(servers);
		tool = PICK(tools);
		args = random_args();
		wrong = check_one(server, tool, args, counts);
		if (wrong != NULL && bad++ < 10)
			printf("# %s: %s/%s %s\n", wrong, server, tool, args);
		free(args);
	}
	is_int(bad, 0, "%lu calls: no allow without a reason that holds",
	    calls);
	ok(counts[PROTO_ALLOW] > calls / 50 &&
		counts[PROTO_ESCALATE] > calls / 100 &&
		counts[PROTO_DENY] > calls / 50,
	    "all kinds of decisions: %u allow, %u escalate, %u deny",
	    counts[PROTO_ALLOW], counts[PROTO_ESCALATE], counts[PROTO_DENY]);
	rig_free(&rig);
	return tap_done();
}
