/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp test`: starts one server of a person's as a session would, and
 * prints what it is, which of its tools the agent gets, and its answer to one
 * call. Everything that the server says is printed escaped.
 */
#include "icctl/mcp/mcp.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "common/plural.h"
#include "files/policydir.h"
#include "icctl/icctl.h"
#include "icctl/mcp/own.h"
#include "icctl/mcp/probe.h"
#include "icctl/mcp/store.h"
#include "icctl/mcp/suspect.h"
#include "icctl/words.h"

#define TRY_ANSWER 4096U /* bytes of an answer that people see */

struct
try {
	struct own own;
	const char *name;
	struct mcp_probed got;
	struct json_object
	    *annotated;           /* tools that the policy knows, or NULL */
	struct json_object *rows; /* {"name", "state", "why", "mentions"} */
};

static int
usage(void)
{
	puts(
	    "usage: icctl mcp test NAME [--show TOOL | --call TOOL "
	    "[ARGUMENTS]]\n\nStarts "
	    "this server of yours as a session would, with its variables, "
	    "secrets,\nfiles and hosts and an empty workspace, and prints its "
	    "revision of MCP, what it\noffers, and which of its tools the "
	    "agent would get.\n\n  --show TOOL  print the whole definition of "
	    "TOOL, "
	    "as the agent gets it\n  --call TOOL  also call TOOL once, and "
	    "print "
	    "the answer; ARGUMENTS is a JSON\n               object. No policy "
	    "is asked: the order is yours");
	return ICCTL_OK;
}

void
mcp_put_noted(struct json_object *noted)
{
	struct json_object *o;
	const char *state;
	size_t n = noted != NULL ? json_object_array_length(noted) : 0;

	for (size_t i = 0; i < n; i++) {
		o = json_object_array_get_idx(noted, i);
		state = icctl_text(o, "state");
		if (*state == '\0') {
			printf("  and %lld more\n",
			    (long long)icctl_number(o, "more"));
			continue;
		}
		fputs("  ", stdout);
		icctl_put_str(icctl_text(o, "tool"));
		printf(" is %s", state);
		if (*icctl_text(o, "as") != '\0') {
			fputs(" for the agent: ", stdout);
			icctl_put_str(icctl_text(o, "as"));
		}
		if (*icctl_text(o, "why") != '\0') {
			fputs(": ", stdout);
			icctl_put_str(icctl_text(o, "why"));
		}
		putchar('\n');
	}
}

/* Read what the person's policy says about the server's tools. */
static struct json_object *
try_annotated(struct try *t)
{
	struct json_object *root, *tools = NULL;
	char shipped[4300], *dir;
	struct fault ignored;

	snprintf(
	    shipped, sizeof(shipped), "%.4000s/policies", t->own.paths.datadir);
	dir = policydir_find(t->own.paths.home, shipped, NULL, &ignored);
	if (dir == NULL)
		return NULL;
	root =
	    store_read(dir, policydir_names[PROTO_RULES_ANNOTATIONS], &ignored);
	free(dir);
	tools = get_typed(get_member(get_member(root, "servers"), t->name),
	    "tools", json_type_array);
	json_object_get(tools);
	json_object_put(root);
	return tools;
}

static bool
try_known(const struct try *t, const char *tool)
{
	size_t n =
	    t->annotated != NULL ? json_object_array_length(t->annotated) : 0;

	for (size_t i = 0; i < n; i++)
		if (strcmp(
			icctl_text(json_object_array_get_idx(t->annotated, i),
			    "toolName"),
			tool) == 0)
			return true;
	return false;
}

static void
try_row(struct try *t, const char *tool, const char *state, const char *why)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "name", tool);
	put_str(o, "state", state);
	if (*why != '\0')
		put_str(o, "why", why);
	json_object_array_add(t->rows, o);
}

/* Returns the definition of this tool, or NULL. */
static struct json_object *
try_tool(const struct try *t, const char *tool)
{
	struct json_object *o;

	for (size_t i = 0; i < json_object_array_length(t->got.tools); i++) {
		o = json_object_array_get_idx(t->got.tools, i);
		if (strcmp(suspect_name(o, t->name), tool) == 0)
			return o;
	}
	return NULL;
}

/* Note for each tool what is suspicious in its definition. */
static void
try_suspects(struct try *t)
{
	struct json_object *o, *tool, *found;

	for (size_t i = 0; i < json_object_array_length(t->rows); i++) {
		o = json_object_array_get_idx(t->rows, i);
		tool = try_tool(t, icctl_text(o, "name"));
		if (tool != NULL &&
		    (found = suspect_find(tool, t->name)) != NULL)
			json_object_object_add(o, "mentions", found);
	}
}

/* Add a row for each tool that the agent gets. */
static void
try_usable(struct try *t)
{
	struct json_object *policy =
	    get_typed(t->own.config, "policy", json_type_object);
	const char *unknown = get_str(policy, "unknownTools", "hold");
	bool trusted = false;
	struct json_object *list = get_member(policy, "trustedServers");
	const char *name;

	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list);
	     i++)
		trusted |= strcmp(json_object_get_string(
				      json_object_array_get_idx(list, i)),
			       t->name) == 0;
	for (size_t i = 0; i < json_object_array_length(t->got.tools); i++) {
		name = suspect_name(
		    json_object_array_get_idx(t->got.tools, i), t->name);
		if (*name == '\0')
			continue;
		if (trusted)
			try_row(t, name, "usable",
			    "its server is in policy.trustedServers");
		else if (try_known(t, name))
			try_row(t, name, "usable",
			    "the policy decides about its calls");
		else if (strcmp(unknown, "hold") == 0)
			try_row(t, name, "held",
			    "no policy knows it, so that each call waits for "
			    "you");
		else
			try_row(t, name, "denied",
			    "no policy knows it, and policy.unknownTools says "
			    "so");
	}
}

/* Add a row for each tool that it does not get. */
static void
try_left(struct try *t)
{
	struct json_object *const lists[] = {t->got.noted, t->got.quarantined};
	struct json_object *o;
	const char *state;

	for (size_t k = 0; k < nitems(lists); k++) {
		if (!json_object_is_type(lists[k], json_type_array))
			continue;
		for (size_t i = 0; i < json_object_array_length(lists[k]);
		     i++) {
			o = json_object_array_get_idx(lists[k], i);
			state = k == 1 ? "quarantined" : icctl_text(o, "state");
			if (k == 1 || strcmp(state, "left out") == 0)
				try_row(t, icctl_text(o, "tool"), state,
				    k == 1 ? "it is not as you approved it; "
					     "to look at it, start a session "
					     "and use icctl trust"
					   : icctl_text(o, "why"));
		}
	}
}

static void
put_pair(const char *key, const char *text)
{
	if (*text == '\0')
		return;
	printf("%-12s", key);
	icctl_put_str(text);
	putchar('\n');
}

/* Print each text of the answer's content, or all of it as JSON. */
static void
put_answer(struct json_object *answer)
{
	struct json_object *list =
	    get_typed(answer, "content", json_type_array);
	const char *s = icctl_text(answer, "message");
	size_t n = list != NULL ? json_object_array_length(list) : 0;

	printf("%s\n", list == NULL ? "its answer is an error:"
		       : get_true(answer, "isError")
			   ? "its answer, which it marks as an error:"
			   : "its answer:");
	for (size_t i = 0; i < n || (list == NULL && i == 0); i++) {
		if (list != NULL)
			s = get_str(json_object_array_get_idx(list, i), "text",
			    "(no text)");
		fputs("  ", stdout);
		icctl_put(span_str(s), TRY_ANSWER, false);
		putchar('\n');
	}
}

static void
try_print(const struct try *t)
{
	size_t n = json_object_array_length(t->rows);
	struct json_object *o, *found;

	printf("%s: started, and listed its tools, in %d.%d s\n", t->name,
	    t->got.ms / 1000, t->got.ms % 1000 / 100);
	put_pair("revision", icctl_text(t->got.server, "revision"));
	put_pair("offers", icctl_text(t->got.server, "offers"));
	printf("%-12s%zu\n", "tools", n);
	for (size_t i = 0; i < n; i++) {
		o = json_object_array_get_idx(t->rows, i);
		fputs("  ", stdout);
		icctl_put_str(icctl_text(o, "name"));
		printf(": %s", icctl_text(o, "state"));
		if (*icctl_text(o, "why") != '\0') {
			fputs(", ", stdout);
			icctl_put_str(icctl_text(o, "why"));
		}
		putchar('\n');
		if ((found = get_member(o, "mentions")) != NULL) {
			fputs("    ", stdout);
			suspect_put(found, icctl_text(o, "name"), t->name);
		}
	}
	if (t->got.answer != NULL)
		put_answer(t->got.answer);
}

/* Print the whole definition of the tool that --show names. */
static int
try_show(const struct try *t, const char *tool, struct fault *fault)
{
	struct json_object *o = try_tool(t, tool);

	if (o == NULL)
		return fault_set(fault,
		    "the agent gets no tool \"%.200s\" of %s. Its tools: icctl "
		    "mcp test %s",
		    tool, t->name, t->name);
	return suspect_show(o)
		   ? 0
		   : fault_set(fault, "It was not shown to the end");
}

static void
try_json(const struct try *t, const char *why)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "name", t->name);
	put_bool(o, "ok", why == NULL);
	if (why != NULL)
		put_str(o, "why", why);
	put_int(o, "ms", t->got.ms);
	put_str(o, "revision", icctl_text(t->got.server, "revision"));
	put_str(o, "offers", icctl_text(t->got.server, "offers"));
	json_object_object_add(o, "tools", json_object_get(t->rows));
	if (words_given("--show"))
		json_object_object_add(o, "definition",
		    json_object_get(try_tool(t, words_option("--show"))));
	if (t->got.answer != NULL)
		json_object_object_add(
		    o, "answer", json_object_get(t->got.answer));
	icctl_put_json(o);
	json_object_put(o);
}

static int
try_server(struct icctl *ctl, struct try *t, struct json_object *args,
    struct fault *fault)
{
	const struct mcp_probe_how how = {
	    .own = &t->own, .call = words_option("--call"), .args = args};
	struct json_object *entry;
	int rv;

	entry = own_builtin(&t->own, t->name)
		    ? NULL
		    : own_find(&t->own, t->name, fault);
	if (entry == NULL && !own_builtin(&t->own, t->name))
		return -1;
	t->annotated = try_annotated(t);
	rv = mcp_probe_as(t->name, entry, &how, &t->got, fault);
	if (t->got.tools != NULL) {
		try_usable(t);
		try_left(t);
		try_suspects(t);
	}
	if (ctl->json)
		try_json(t, rv == 0 ? NULL : fault->text);
	else if (rv == 0 && words_given("--show"))
		rv = try_show(t, words_option("--show"), fault);
	else if (rv == 0 || json_object_array_length(t->rows) != 0)
		try_print(t);
	return rv;
}

int
mcp_test(struct icctl *ctl, int argc, char **argv)
{
	struct try t = {.name = argc > 1 ? argv[1] : ""};
	struct json_object *args = NULL;
	struct fault fault;
	int rv = -1;

	if (words_help())
		return usage();
	if (argc < 2 || argc > (words_given("--call") ? 3 : 2) ||
	    (words_given("--call") && words_given("--show")))
		return words_usage();
	if (argc == 3 && (args = jsonfile_parse("ARGUMENTS", span_str(argv[2]),
			      &fault)) == NULL) {
		warnx("%s", fault.text);
		return ICCTL_USAGE;
	}
	t.rows = json_object_new_array();
	if (own_open(&t.own, &fault) == 0)
		rv = try_server(ctl, &t, args, &fault);
	if (rv == -1 && !ctl->json)
		warnx("%s", fault.text);
	mcp_probed_free(&t.got);
	json_object_put(t.annotated);
	json_object_put(t.rows);
	json_object_put(args);
	own_close(&t.own);
	return rv == 0 ? ICCTL_OK : ICCTL_FAILED;
}
