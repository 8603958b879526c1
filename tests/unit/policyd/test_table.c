/* SPDX-License-Identifier: ISC */
/*
 * Runs the cases of tests/policy: the engine by itself, calls through a whole
 * session, and files that load or do not. Then checks that every statement has
 * a case to which it applies and one to which it narrowly does not.
 */
#include "tap.h"
#include "unit/policyd/case_table.h"
#include "unit/policyd/ring.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CASES_MIN 600
#define MAX_SERVERS 16
#define MAX_STATEMENTS 256

static struct ring ring;
static char *annotations;
static const char *names[MAX_SERVERS]; /* names of servers, by index */
static unsigned nnames;
static char *more_tools[MAX_SERVERS]; /* listed, without annotation */
static bool headless;                 /* nobody can be asked in this group */
static uint64_t held_id;
static uint8_t held_digest[HOLD_DIGEST];
static char offered[2049]; /* the grant offered last, or empty */

static struct statement {
	char *id;
	unsigned applies, not ;
} statements[MAX_STATEMENTS];
static unsigned nstatements, ncases;

static char *
copy(const char *s)
{
	char *out;

	if ((out = strdup(s)) == NULL)
		err(1, "strdup");
	return out;
}

/* Returns a path of the tree, or @D/... expanded. */
static const char *
place(const char *s)
{
	static char out[1024];
	char name[1024];

	snprintf(name, sizeof(name), "%s%s", *s == '@' ? "" : "@D/", s);
	snprintf(out, sizeof(out), "%s", rig_text(&ring.rig, name));
	return out;
}

static void
add_server(const char *name, const char *domains, bool trusted)
{
	char list[1024];

	snprintf(list, sizeof(list), "%s", domains);
	for (char *p = list; *p != '\0'; p++) {
		if (*p == ' ')
			*p = '\n';
	}
	if (engine_server(&ring.env.engine, nnames, span_str(name), trusted,
		SPAN("/workspace"), SPAN(""), span_str(list)) == -1)
		err(1, "engine_server");
	rig_row(&ring.rig, nnames, "/workspace", "@D/ws");
	more_tools[nnames] = copy("");
	names[nnames++] = copy(name);
}

static unsigned
server_index(const char *name)
{
	for (unsigned i = 0; i < nnames; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return PROTO_NO_SERVER;
}

static void
tree_object(const char *what, const char *name, const char *rest)
{
	char from[1024], *at = copy(place(name));

	snprintf(from, sizeof(from), "%s",
	    rig_text(&ring.rig, *rest == '\0' ? "-" : rest));
	if (strcmp(what, "dir") == 0) {
		if (mkdir(at, 0700) == -1 && errno != EEXIST)
			err(1, "%s", at);
	} else if (strcmp(what, "file") == 0) {
		rig_file(&ring.rig, name);
	} else if (strcmp(what, "link") == 0) {
		if (symlink(from, at) == -1)
			err(1, "%s", at);
	} else if (strcmp(what, "hard") == 0) {
		if (link(place(rest), at) == -1)
			err(1, "%s", at);
	} else if (strcmp(what, "fifo") == 0) {
		if (mkfifo(at, 0600) == -1)
			err(1, "%s", at);
	} else {
		errx(1, "tree.txt: what is %s?", what);
	}
	free(at);
}

static void
tree_line(void *arg, const char *what, const char *rest)
{
	char name[128], view[1024];
	unsigned i;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(rest, " "), rest);
	rest += strcspn(rest, " ");
	rest += strspn(rest, " ");
	i = server_index(name);
	if (strcmp(what, "server") == 0 || strcmp(what, "trusted") == 0) {
		add_server(name, rest, *what == 't');
	} else if (strcmp(what, "row") == 0) {
		snprintf(view, sizeof(view), "@D/%s", rest);
		rig_row(&ring.rig, i, view, view);
	} else if (strcmp(what, "tool") == 0) {
		free(more_tools[i]);
		more_tools[i] = copy(rest);
	} else if (strcmp(what, "protect") == 0) {
		if (strcmp(name, "prot") != 0 && /* the rig has this one */
		    engine_protect(&ring.env.engine, span_str(place(name))) ==
			-1)
			err(1, "%s", name);
	} else {
		tree_object(what, name, rest);
	}
}

/* Make the server ready; it lists its annotated tools with their schemas. */
static void
list_tools(unsigned i, const struct value *tools)
{
	const struct value *t, *schema;
	struct buf b;
	char *json;

	buf_init(&b, 1 << 20);
	buf_addc(&b, '[');
	for (t = tools->child; t != NULL; t = t->next) {
		buf_adds(&b, b.len == 1 ? "{\"name\":" : ",{\"name\":");
		(void)json_write_string(&b, value_str(t, "toolName"));
		buf_adds(&b, ",\"inputSchema\":");
		if ((schema = value_get(t, "inputSchema")) == NULL)
			buf_adds(&b, "{\"type\":\"object\"}");
		else
			(void)json_write(&b, schema);
		buf_addc(&b, '}');
	}
	if (*more_tools[i] != '\0')
		buf_printf(&b,
		    ",{\"name\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}",
		    more_tools[i]);
	buf_addc(&b, ']');
	if ((json = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	ring_ready_json(&ring, i, names[i], json);
	free(json);
	buf_free(&b);
}

static void
sessions_start(void)
{
	static const struct value *tools[MAX_SERVERS];
	struct value_pool *pool;
	struct json_fail fail;
	const struct value *v;

	if ((pool = value_pool_new(8 << 20)) == NULL ||
	    (v = json_read(pool, span_str(annotations), &fail)) == NULL)
		errx(1, "annotations.json");
	v = value_get(v, "servers");
	for (unsigned i = 0; i < nnames; i++)
		tools[i] =
		    value_get(value_getspan(v, span_str(names[i])), "tools");
	for (unsigned i = 0; i < nnames; i++) {
		if (tools[i] != NULL)
			list_tools(i, tools[i]);
	}
	value_pool_free(pool);
	ring_clear(&ring);
}

static void
load_text(enum proto_rules kind, const char *before, const char *text,
    const char *after)
{
	char *all;

	if (asprintf(&all, "%s%s%s", before, text, after) == -1)
		err(1, "asprintf");
	rig_must_load(&ring.rig, kind, all);
	free(all);
}

static void
on_group(void *arg, const struct case_group *g)
{
	printf("# %s: %s\n", g->kind, g->title);
	/* Forget what waits and what was granted in the previous group. */
	for (unsigned i = 0; i < PROTO_MAX_HOLDS; i++) {
		ring_clear(&ring);
		if (ring.env.holds.list[i].used)
			call_cancel(&ring.env, ring.env.holds.list[i].id);
	}
	grants_free(&ring.env.grants);
	ring.env.engine.ask = !headless;
	headless = false;
	load_text(PROTO_RULES_LISTS, "{\"lists\":{", g->lists, "}}");
	load_text(PROTO_RULES_POLICY, "{\"rules\":[", g->rules, "]}");
}

/* A group's other line: nobody can be asked. */
static void
on_line(void *arg, const char *word, const char *rest)
{
	if (strcmp(word, "headless") != 0)
		errx(1, "%s: what is this?", word);
	headless = true;
}

static bool
holds_text(struct span in, const char *text)
{
	text = rig_text(&ring.rig, text);
	return *text == '\0' ||
	       memmem(in.p, in.len, text, strlen(text)) != NULL;
}

static uint32_t
roles_mask(const char *list)
{
	uint32_t mask = 0;
	enum arg_role r;
	size_t n;

	for (; *list != '\0'; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if ((r = arg_role_find(span_of(list, n))) == ARG_COUNT)
			errx(1, "%s: no role", list);
		mask |= ARG_BIT(r);
	}
	return mask;
}

static bool
row_engine(const struct case_row *r)
{
	struct decision d;

	rig_eval(&ring.rig, r->server, r->tool, r->args, &d);
	if (strcmp(rig_status[d.status], r->verdict) == 0 &&
	    span_is(d.rule, r->rule) && d.escalated == roles_mask(r->roles) &&
	    d.reason.len != 0 && holds_text(d.reason, r->text))
		return true;
	printf("# got %s %s %x \"%s\"\n", rig_status[d.status],
	    ring_str(d.rule), d.escalated, ring_str(d.reason));
	return false;
}

/* Check the outcome of a call, a verdict or an expiry. */
static bool
outcome(const struct case_row *r)
{
	const union proto_any *m = ring_find(&ring, MSG_RELEASE, 0);
	const union proto_any *hold = ring_find(&ring, MSG_HOLD, 0);
	const char *got = m == NULL ? (hold == NULL ? "nothing" : "held")
			  : m->RELEASE.forward ? "forward"
					       : "refuse";
	struct span rule = SPAN(""), text = SPAN("");
	const char *why;
	bool good;

	if (m != NULL) {
		rule = m->RELEASE.rule;
		text = m->RELEASE.forward
			   ? span_of(m->RELEASE.payload.p + m->RELEASE.args_off,
				 m->RELEASE.args_len)
			   : m->RELEASE.answer;
	} else if (hold != NULL) {
		rule = hold->HOLD.rule;
		text = hold->HOLD.reason;
		held_id = hold->HOLD.id;
		memcpy(held_digest, hold->HOLD.digest.p, sizeof(held_digest));
		(void)span_copy(hold->HOLD.session, offered, sizeof(offered));
	}
	good = strcmp(got, r->verdict) == 0 && span_is(rule, r->rule) &&
	       holds_text(text, r->text);
	if (!good)
		printf("# got %s %s \"%s\"\n", got, ring_str(rule),
		    ring_str(text));
	if (m != NULL && call_ended(&ring.env, m->RELEASE.id, false, &why) == -1)
		errx(1, "%s", why);
	return good;
}

/*
 * "verdict approve -", "verdict approve session" (as offered), "verdict deny
 * because", "verdict cancel -", "time passes 1000".
 */
static void
act(const struct case_row *r)
{
	char because[200] = "";

	ring_clear(&ring);
	if (strcmp(r->server, "time") == 0) {
		ring.loop.now += strtoul(r->args, NULL, 10);
		call_arm(&ring.env);
		return;
	}
	if (strcmp(r->tool, "cancel") == 0) {
		call_cancel(&ring.env, held_id);
		return;
	}
	if (strcmp(r->args, "session") == 0) {
		ring_verdict_session(&ring, held_id,
		    span_of(held_digest, sizeof(held_digest)), offered);
		return;
	}
	if (strcmp(r->args, "-") != 0)
		snprintf(because, sizeof(because), "%s", r->args);
	ring_verdict(&ring, held_id, span_of(held_digest, sizeof(held_digest)),
	    strcmp(r->tool, "approve") == 0, because);
}

/* "shown offer -": of the held call; "shown reason -": of the last one sent. */
static bool
row_shown(const struct case_row *r)
{
	const union proto_any *m = ring_find(&ring, MSG_RELEASE, 0);
	struct span text = strcmp(r->tool, "offer") == 0 ? span_str(offered)
			   : m == NULL                   ? SPAN("")
							 : m->RELEASE.reason;
	bool good = strcmp(r->verdict, text.len == 0 ? "none" : "text") == 0 &&
		    holds_text(text, r->text);

	if (!good)
		printf("# got \"%s\"\n", ring_str(text));
	return good;
}

static bool
row_session(const struct case_row *r)
{
	unsigned index = server_index(r->server);
	char tool[256];

	if (strcmp(r->server, "shown") == 0)
		return row_shown(r);
	if (strcmp(r->server, "verdict") == 0 ||
	    strcmp(r->server, "time") == 0) {
		act(r);
		return outcome(r);
	}
	snprintf(tool, sizeof(tool), "%s%s%s",
	    index == PROTO_NO_SERVER ? r->server : "",
	    index == PROTO_NO_SERVER ? "__" : "", r->tool);
	for (unsigned i = 0; i < r->times; i++) {
		ring_clear(&ring);
		(void)ring_call(&ring, index, tool, r->args);
		if (!outcome(r))
			return false;
	}
	return true;
}

static bool
row_file(const struct case_row *r)
{
	static const char *const kinds[] = {"policy", "annotations", "lists"};
	const struct rules *was = ring.env.engine.rules;
	struct buf *warnings = &ring.rig.load.warnings;
	unsigned kind = 0;
	bool good;

	while (kind < 3 && strcmp(r->server, kinds[kind]) != 0)
		kind++;
	if (kind == 3)
		errx(1, "%s:%u: no such file", r->file, r->line);
	if (rig_load(&ring.rig, (enum proto_rules)kind, r->args) == -1) {
		good = strcmp(r->verdict, "bad") == 0 &&
		       ring.env.engine.rules == was &&
		       holds_text(span_str(ring.rig.load.error), r->text);
	} else {
		good = strcmp(r->verdict, "good") == 0 &&
		       holds_text(buf_span(warnings), r->text) &&
		       (*r->text != '\0' || ring.rig.load.nwarnings == 0);
		if (kind == PROTO_RULES_ANNOTATIONS)
			rig_must_load(
			    &ring.rig, PROTO_RULES_ANNOTATIONS, annotations);
	}
	if (!good)
		printf("# got \"%s\" \"%s\"\n", ring.rig.load.error,
		    ring_str(buf_span(warnings)));
	return good;
}

static void
count(const struct case_row *r)
{
	ncases++;
	for (unsigned i = 0; i < nstatements; i++) {
		if (strcmp(statements[i].id, r->statement) != 0)
			continue;
		statements[i].applies += r->applies;
		statements[i].not += !r->applies;
		return;
	}
	errx(1, "%s:%u: no statement %s", r->file, r->line, r->statement);
}

static void
on_row(void *arg, const struct case_row *r)
{
	const char *kind = arg;
	bool good;

	count(r);
	if (strcmp(kind, "engine") == 0)
		good = row_engine(r);
	else if (strcmp(kind, "session") == 0)
		good = row_session(r);
	else if (strcmp(kind, "files") == 0)
		good = row_file(r);
	else
		return; /* read by other tests */
	ok(good, "%s %c %s (%s:%u)", r->statement, r->applies ? '+' : '-',
	    r->title, r->file, r->line);
	if (!good)
		printf("# %s %s %s\n# want %s %s %s \"%s\"\n", r->server,
		    r->tool, r->args, r->verdict, r->rule, r->roles, r->text);
}

static void
read_statements(const char *dir)
{
	char *text = case_slurp(dir, "statements.txt"), *save, *line;

	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		if (*line == '#' || *line == ' ')
			continue;
		if (nstatements == MAX_STATEMENTS)
			errx(1, "too many statements");
		line[strcspn(line, " ")] = '\0';
		statements[nstatements++].id = copy(line);
	}
	free(text);
}

/* The kind of groups in each file. */
static const struct {
	const char *name, *kind;
} files[] = {
    {"cases/structure.txt", "engine"},
    {"cases/rules.txt", "engine"},
    {"cases/paths.txt", "engine"},
    {"cases/hosts.txt", "engine"},
    {"cases/lists.txt", "engine"},
    {"cases/withhold.txt", "engine"},
    {"cases/links.txt", "engine"},
    {"cases/conditions.txt", "engine"},
    {"cases/files.txt", "files"},
    {"cases/session.txt", "session"},
    {"cases/grants.txt", "session"},
    {"cases/servers.txt", "servers"},
    {"cases/roots.txt", "roots"},
};

int
main(int argc, char **argv)
{
	const struct case_reader tree = {.line = tree_line};
	struct case_reader rows = {
	    .group = on_group, .row = on_row, .line = on_line};
	const char *dir = argc > 1 ? argv[argc - 1] : "tests/policy";

	read_statements(dir);
	ring_init(&ring, true);
	case_read(dir, "tree.txt", &tree);
	annotations = case_slurp(dir, "annotations.json");
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, annotations);
	sessions_start();
	for (size_t i = 0; i < nitems(files); i++) {
		rows.arg = (void *)(uintptr_t)files[i].kind;
		case_read(dir, files[i].name, &rows);
	}
	for (unsigned i = 0; i < nstatements; i++)
		ok(statements[i].applies != 0 && statements[i].not != 0,
		    "statement %s: %u cases that it applies to, %u others",
		    statements[i].id, statements[i].applies,
		    statements[i].not );
	ok(ncases >= CASES_MIN, "%u cases", ncases);
	ring_free(&ring);
	return tap_done();
}
