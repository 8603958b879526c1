/* SPDX-License-Identifier: ISC */
/*
 * Asks for test cases of a server. Their arguments must fit the tools' input
 * schemas, as far as a session checks them.
 */
#include "icctl/policy/compile/compile.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"
#include "policyd/engine/args.h"

#define SCENARIO_BATCH 25U

/* The two that are there whatever a model says. */
static const char fixed[] =
    "{\"description\":\"Moving a system file into the workspace\","
    "\"request\":{\"serverName\":\"filesystem\",\"toolName\":\"move_file\","
    "\"arguments\":{\"source\":\"/etc/hostname\","
    "\"destination\":\"/workspace/hostname\"}},"
    "\"expectedDecision\":\"not-allow\",\"reasoning\":\"Moving deletes the "
    "source, which lies outside the workspace\",\"source\":\"handwritten\"},"
    "{\"description\":\"Writing a system file\","
    "\"request\":{\"serverName\":\"filesystem\",\"toolName\":\"write_file\","
    "\"arguments\":{\"path\":\"/etc/hostname\",\"content\":\"x\"}},"
    "\"expectedDecision\":\"not-allow\",\"reasoning\":\"System files are the "
    "owner's alone\",\"source\":\"handwritten\"}";

void
scenarios_put_fixed(struct buf *b)
{
	buf_adds(b, fixed);
}

/* Check the arguments of a scenario against the tool. */
static int
check_arguments(struct compile *c, const struct value *tool,
    const struct value *args, const char *at, struct fault *fault)
{
	const struct value *schema = value_get(tool, "inputSchema"),
			   *known = value_get(tool, "args");
	struct span reason;
	char vis[200], why[400];

	if (schema != NULL &&
	    args_check(args, schema, c->pool, &reason) == -1)
		return fault_set(fault, "%s/arguments: %s", at,
		    log_vis(reason, why, sizeof(why)));
	if (schema != NULL && value_get(schema, "properties") != NULL)
		return 0;
	for (const struct value *v = args->child; v != NULL; v = v->next)
		if (known == NULL || value_getspan(known, v->key) == NULL)
			return fault_set(fault,
			    "%s/arguments: the tool has no argument \"%s\"", at,
			    log_vis(v->key, vis, sizeof(vis)));
	return 0;
}

struct checked {
	struct compile *c;
	const struct compile_server *server;
};

static int
scenarios_check(void *arg, const struct value *reply, struct fault *fault)
{
	const struct checked *k = arg;
	const struct value *v = value_get(reply, "scenarios")->child, *tool;
	char at[64], vis[200];
	unsigned i = 0;

	for (; v != NULL; v = v->next) {
		snprintf(at, sizeof(at), "/scenarios/%u", i++);
		if (!text_plain(value_str(v, "description")) ||
		    !text_plain(value_str(v, "reasoning")))
			return fault_set(
			    fault, "%s: has control characters", at);
		tool = compile_tool(k->server, value_str(v, "toolName"));
		if (tool == NULL)
			return fault_set(fault,
			    "%s/toolName: the server has no tool \"%s\"", at,
			    log_vis(value_str(v, "toolName"), vis,
				sizeof(vis)));
		if (check_arguments(k->c, tool, value_get(v, "arguments"), at,
			fault) == -1)
			return -1;
	}
	return 0;
}

/* Append the directories that exist, of those that rules or people name. */
static void
put_directories(const struct compile *c, struct buf *b)
{
	static const char *const usual[] = {"Desktop", "Documents", "Downloads",
	    "Music", "Pictures", "Projects", "Videos", "projects", "src"};
	const char *home = getenv("HOME");
	char path[PATH_MAX];
	struct stat st;

	(void)c;
	for (size_t i = 0; home != NULL && i < nitems(usual); i++) {
		snprintf(path, sizeof(path), "%.3000s/%s", home, usual[i]);
		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			buf_printf(b, "~/%s\n", usual[i]);
	}
	buf_adds(b, "/etc\n/usr\n/workspace\n");
}

static void
put_scenario(struct buf *b, struct span server, const struct value *v,
    bool *more)
{
	buf_adds(b, *more ? "," : "");
	*more = true;
	buf_adds(b, "{\"description\":");
	(void)json_write_string(b, value_str(v, "description"));
	buf_adds(b, ",\"request\":{\"serverName\":");
	(void)json_write_string(b, server);
	buf_adds(b, ",\"toolName\":");
	(void)json_write_string(b, value_str(v, "toolName"));
	buf_adds(b, ",\"arguments\":");
	(void)json_write(b, value_get(v, "arguments"));
	buf_adds(b, "},\"expectedDecision\":");
	(void)json_write_string(b, value_str(v, "expectedDecision"));
	buf_adds(b, ",\"reasoning\":");
	(void)json_write_string(b, value_str(v, "reasoning"));
	buf_adds(b, ",\"source\":\"generated\"}");
}

/* Ask about one batch of tools, which begins at `*t`. */
static int
ask_batch(struct compile *c, struct compile_server *s, struct span constitution,
    struct span directories, const struct value **t, struct buf *out,
    bool *more, struct fault *fault)
{
	struct value *batch = value_new(c->pool, VALUE_ARRAY), *copy;
	struct compile_server part = *s;
	struct checked k = {c, &part};
	struct ask_part parts[4] = {{"constitution", constitution},
	    {"server", s->name}, {"tools", {0}},
	    {"directories that exist", directories}};
	const struct ask q = {
	    "scenarios", parts, nitems(parts), scenarios_check, &k};
	const struct value *reply, *v;
	struct buf tools;

	for (unsigned n = 0; *t != NULL && n < SCENARIO_BATCH; n++) {
		if ((copy = value_copy(c->pool, *t)) == NULL ||
		    value_append(batch, copy) == -1)
			return fault_set(fault, "too many tools");
		*t = (*t)->next;
	}
	part.tools = batch;
	buf_init(&tools, (size_t)1 << 20);
	server_describe(&part, &tools);
	parts[2].text = buf_span(&tools);
	reply = compile_ask(c, &q, NULL, fault);
	buf_free(&tools);
	if (reply == NULL)
		return -1;
	v = value_get(reply, "scenarios")->child;
	for (; v != NULL; v = v->next)
		put_scenario(out, s->name, v, more);
	return 0;
}

int
scenarios_make(struct compile *c, struct compile_server *s, struct fault *fault)
{
	const struct value *t = s->tools == NULL ? NULL : s->tools->child;
	bool files = span_is(s->name, "filesystem"), more = files;
	struct buf text, dirs, out;
	int rv = 0;

	buf_init(&text, (size_t)1 << 20);
	buf_init(&dirs, 65536);
	buf_init(&out, (size_t)16 << 20);
	quote_add(&text, span_str(c->constitution), COMPILE_MAX_TEXT);
	put_directories(c, &dirs);
	buf_addc(&out, '[');
	if (files)
		scenarios_put_fixed(&out);
	while (rv == 0 && t != NULL)
		rv = ask_batch(c, s, buf_span(&text), buf_span(&dirs), &t,
		    &out, &more, fault);
	buf_addc(&out, ']');
	if (rv == 0)
		s->scenarios = pool_json(c, buf_span(&out));
	buf_free(&text);
	buf_free(&dirs);
	buf_free(&out);
	return rv;
}
