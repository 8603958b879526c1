/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy annotate`: takes the tools of a server, in a session of its
 * own, and asks a model what their arguments mean.
 */
#include "icctl/policy/compile/command.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/json/json.h"
#include "common/log.h"
#include "common/plural.h"
#include "files/policydir.h"
#include "icctl/mcp/probe.h"
#include "icctl/mcp/store.h"
#include "icctl/policy/compile/annotated.h"

#define ANNOTATE_BATCH 25U
#define ANNOTATE_MAX 2000U
#define ANNOTATE_SCHEMA 16384U

/* One server, while its tools are annotated. */
struct work {
	struct compile *c;
	const char *server;
	struct json_object *list; /* its tools */
	struct annotated *tools;
	size_t n;
	char hash[SHA256_HEX];
};

/* Start the server and take its tools. Returns 0, or -1 with the fault set. */
static int
take_tools(struct work *w, struct json_object *entry, struct fault *fault)
{
	size_t skip = strlen(w->server) + 2, n;
	struct json_object *tool, *v;

	w->list = mcp_probe(w->server, entry, false, NULL, fault);
	if (w->list == NULL)
		return -1;
	n = json_object_array_length(w->list);
	if (n == 0)
		return fault_set(fault, "%s lists no tools", w->server);
	if (n > ANNOTATE_MAX)
		return fault_set(fault, "%s lists %zu tools; at most %u can be "
					"annotated",
		    w->server, n, ANNOTATE_MAX);
	if ((w->tools = calloc(n, sizeof(*w->tools))) == NULL)
		return fault_errno(fault, "%s", w->server);
	for (size_t i = 0; i < n; i++) {
		tool = json_object_array_get_idx(w->list, i);
		if (!json_object_object_get_ex(tool, "name", &v) ||
		    strlen(json_object_get_string(v)) <= skip)
			continue;
		w->tools[w->n].name = json_object_get_string(v) + skip;
		w->tools[w->n].tool = tool;
		if (json_object_object_get_ex(tool, "inputSchema", &v))
			w->tools[w->n].schema = pool_json(w->c,
			    span_str(json_object_to_json_string_ext(
				v, JSON_C_TO_STRING_PLAIN)));
		w->n++;
	}
	return 0;
}

/* Compose the text about some tools, as data. */
static void
put_tools(const struct annotated *t, size_t n, struct buf *b)
{
	struct json_object *v;
	struct buf schema;

	for (size_t i = 0; i < n; i++, t++) {
		buf_adds(b, "- toolName: ");
		quote_add(b, span_str(t->name), 200);
		buf_adds(b, "\n  description: ");
		if (json_object_object_get_ex(t->tool, "description", &v))
			quote_add(b, span_str(json_object_get_string(v)),
			    COMPILE_MAX_QUOTE);
		buf_adds(b, "\n  inputSchema: ");
		buf_init(&schema, (size_t)4 << 20);
		if (t->schema != NULL)
			(void)json_write(&schema, t->schema);
		quote_add(b, buf_span(&schema), ANNOTATE_SCHEMA);
		buf_addc(b, '\n');
		buf_free(&schema);
	}
}

struct batch {
	const char *server;
	struct annotated *tools;
	size_t n;
};

static int
batch_check(void *arg, const struct value *reply, struct fault *fault)
{
	const struct batch *b = arg;

	return annotate_check(b->server, b->tools, b->n, reply, fault);
}

static int
ask_batch(struct work *w, size_t from, struct fault *fault)
{
	struct batch batch = {w->server, w->tools + from, w->n - from};
	struct ask_part parts[3] = {{"server", span_str(w->server)},
	    {"roles of this server", {0}}, {"tools", {0}}};
	const struct ask q = {
	    "annotate", parts, nitems(parts), batch_check, &batch};
	struct buf roles, tools;
	int rv;

	if (batch.n > ANNOTATE_BATCH)
		batch.n = ANNOTATE_BATCH;
	buf_init(&roles, 65536);
	buf_init(&tools, (size_t)1 << 20);
	annotate_roles(w->server, &roles);
	put_tools(batch.tools, batch.n, &tools);
	parts[1].text = buf_span(&roles);
	parts[2].text = buf_span(&tools);
	rv = compile_ask(w->c, &q, NULL, fault) == NULL ? -1 : 0;
	buf_free(&roles);
	buf_free(&tools);
	return rv;
}

/* Compute the inputHash: server, tools and prompt. */
static void
hash_tools(struct work *w, struct fault *fault)
{
	struct policy_file prompt = {0};
	uint8_t sum[SHA256_SIZE];
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/prompts/annotate.txt",
	    w->c->datadir);
	(void)policy_file_read(&prompt, path, fault);
	sha256_spans((const struct span[]){span_str(w->server),
			 span_str(json_object_to_json_string_ext(
			     w->list, JSON_C_TO_STRING_PLAIN)),
			 span_of(prompt.text, prompt.len)},
	    3, sum);
	sha256_hex(sum, w->hash);
	free(prompt.path);
	free(prompt.text);
}

static struct json_object *
tool_json(const struct work *w, const struct annotated *t)
{
	struct json_object *o = json_object_new_object(), *v;
	struct buf b;

	buf_init(&b, (size_t)4 << 20);
	put_str(o, "toolName", t->name);
	put_str(o, "serverName", w->server);
	(void)json_write_string(&b, value_str(t->reply, "comment"));
	buf_addc(&b, '\0');
	json_object_object_add(o, "comment",
	    json_tokener_parse((const char *)buf_span(&b).p));
	buf_reset(&b, (size_t)4 << 20);
	(void)json_write(&b, value_get(t->reply, "args"));
	buf_addc(&b, '\0');
	json_object_object_add(
	    o, "args", json_tokener_parse((const char *)buf_span(&b).p));
	if (json_object_object_get_ex(t->tool, "inputSchema", &v))
		json_object_object_add(o, "inputSchema", json_object_get(v));
	buf_free(&b);
	return o;
}

/* Returns the earlier entry of a tool that a person wrote, or NULL. */
static struct json_object *
manual_tool(struct json_object *old, const char *name)
{
	struct json_object *t, *v;

	for (size_t i = 0; i < json_object_array_length(old); i++) {
		t = json_object_array_get_idx(old, i);
		if (json_object_object_get_ex(t, "toolName", &v) &&
		    strcmp(json_object_get_string(v), name) == 0 &&
		    get_true(t, "manual"))
			return t;
	}
	return NULL;
}

/* Put the server's new tools in place of the old ones. */
static void
merge(const struct work *w, struct json_object *root)
{
	struct json_object *servers, *server, *old, *list, *kept;

	if (!json_object_object_get_ex(root, "servers", &servers)) {
		servers = json_object_new_object();
		json_object_object_add(root, "servers", servers);
	}
	old = NULL;
	if (json_object_object_get_ex(servers, w->server, &server))
		json_object_object_get_ex(server, "tools", &old);
	list = json_object_new_array();
	for (size_t i = 0; i < w->n; i++) {
		kept = old == NULL ||
			       !json_object_is_type(old, json_type_array)
			   ? NULL
			   : manual_tool(old, w->tools[i].name);
		if (kept != NULL)
			policy_print("kept, because it is manual: ",
			    span_str(w->tools[i].name), "\n");
		json_object_array_add(list, kept != NULL
						? json_object_get(kept)
						: tool_json(w, &w->tools[i]));
	}
	server = json_object_new_object();
	put_str(server, "inputHash", w->hash);
	json_object_object_add(server, "tools", list);
	json_object_object_add(servers, w->server, server);
	put_str(root, "generatedAt", w->c->now);
}

/* Annotate one server. Returns the number of lowered arguments, or -1. */
static int
annotate_server(struct compile *c, struct json_object *entry, const char *name,
    struct json_object *root, struct buf *lowered, struct fault *fault)
{
	struct work w = {.c = c, .server = name};
	struct compile_server *old = compile_server(c, span_str(name));
	struct json_object *again = NULL;
	int n = -1;

	if (take_tools(&w, entry, fault) == -1)
		goto out;
	hash_tools(&w, fault);
	for (size_t i = 0; i < w.n; i += ANNOTATE_BATCH)
		if (ask_batch(&w, i, fault) == -1)
			goto out;
	/* A server that changes its tools meanwhile is told by itself. */
	again = mcp_probe(name, entry, false, NULL, fault);
	if (again == NULL)
		goto out;
	if (!json_object_equal(again, w.list)) {
		fault_set(fault, "%s changed its tools meanwhile; nothing was "
				 "written. Try again", name);
		goto out;
	}
	n = 0;
	for (size_t i = 0; i < w.n; i++)
		if (old == NULL ||
		    !annotate_is_manual(old->tools, w.tools[i].name))
			n += (int)annotate_lowered(name, &w.tools[i],
			    old == NULL ? NULL : old->tools, lowered);
	merge(&w, root);
	printf("%s: %zu tool%s annotated\n", name, w.n, plural(w.n));
out:
	json_object_put(again);
	json_object_put(w.list);
	free(w.tools);
	return n;
}

/* Annotate the server that was named, or all. Returns as annotate_server(). */
static int
annotate_all(struct compile *c, struct json_object *root, struct buf *lowered,
    struct fault *fault)
{
	struct json_object *file, *servers, *entry;
	int n = 0, one;

	if ((file = store_read(c->ctl->home, "mcp-servers.json", fault)) == NULL)
		return -1;
	if (!json_object_object_get_ex(file, "mcpServers", &servers))
		servers = file;
	if (c->o.server != NULL) {
		if (!json_object_object_get_ex(
			servers, c->o.server, &entry) ||
		    !json_object_is_type(entry, json_type_object)) {
			fault_set(fault,
			    "%s is not in %s/mcp-servers.json. Those that "
			    "come with IronCurtain are annotated already",
			    c->o.server, c->ctl->home);
			n = -1;
		} else {
			n = annotate_server(
			    c, entry, c->o.server, root, lowered, fault);
		}
		json_object_put(file);
		return n;
	}
	json_object_object_foreach(servers, name, val)
	{
		if (!json_object_is_type(val, json_type_object))
			continue;
		one = annotate_server(c, val, name, root, lowered, fault);
		if (one == -1) {
			n = -1;
			break;
		}
		n += one;
	}
	json_object_put(file);
	return n;
}

/* Write the new annotations, and the rest of the policy beside them. */
static int
draft_set(struct compile *c, const struct policy_set *old,
    struct json_object *root, struct fault *fault)
{
	const char *text =
	    json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
	struct buf b;
	int rv;

	buf_init(&b, (size_t)16 << 20);
	buf_adds(&b, text);
	rv = artefact_write(c, c->pending,
	    policydir_names[PROTO_RULES_ANNOTATIONS], &b, fault);
	buf_free(&b);
	return rv == -1 ? -1
			: artefact_rest(c, old, PROTO_RULES_ANNOTATIONS, fault);
}

/* Show what is lowered or newly allowed, and install. Returns a status. */
static int
conclude(struct compile *c, const struct policy_set *old,
    struct json_object *root, struct buf *lowered, int n, struct fault *fault)
{
	struct policy_set new = {0};
	struct policy_opts o = {0};
	char again[200];
	int allowed, status = ICCTL_FAILED;

	if (draft_set(c, old, root, fault) == -1 ||
	    compile_new_set(c, &o, &new, fault) == -1)
		return ICCTL_FAILED;
	allowed = grants_new(c, old, &new, lowered, fault);
	snprintf(again, sizeof(again), "annotate %s%.64s",
	    c->o.server != NULL ? "--server " : "--all",
	    c->o.server != NULL ? c->o.server : "");
	if (allowed == -1 || icctl_policy_check(c->ctl, &o) != ICCTL_OK)
		goto out;
	if (n > 0 || allowed > 0) {
		if (n > 0)
			puts("These demand less than they should; read the "
			     "tools' descriptions before you agree.");
		if (consent_get(c, n > 0 ? "Less demanding, and newly allowed"
					 : "Newly allowed",
			lowered, NULL, again) != 0)
			goto out;
	}
	status = artefact_install(c, fault) == 0 ? ICCTL_OK : ICCTL_FAILED;
out:
	policy_set_free(&new);
	return status;
}

int
annotate_main(struct icctl *ctl, const struct compile_opts *o)
{
	static struct compile c;
	struct json_object *root = NULL;
	struct policy_set old = {0};
	struct fault fault = {""};
	struct buf lowered;
	int n, status = ICCTL_FAILED;

	if ((o->server == NULL) == !o->all) {
		warnx("annotate needs --server SERVER, or --all");
		return ICCTL_USAGE;
	}
	buf_init(&lowered, (size_t)16 << 20);
	if (compile_open(&c, ctl, o, &fault) == 0 &&
	    compile_annotations(&c, &fault) == 0 &&
	    compile_old_set(&c, &old, &fault) == 0) {
		root = json_tokener_parse(c.annotations.text);
		n = root == NULL
			? fault_set(&fault, "%s: is malformed",
			      c.annotations.path)
			: annotate_all(&c, root, &lowered, &fault);
		if (n != -1)
			status = conclude(
			    &c, &old, root, &lowered, n, &fault);
	}
	if (status == ICCTL_OK)
		printf("Written to %s/%s\n", c.dir,
		    policydir_names[PROTO_RULES_ANNOTATIONS]);
	else if (fault.text[0] != '\0')
		warnx("%s", fault.text);
	json_object_put(root);
	policy_set_free(&old);
	buf_free(&lowered);
	compile_close(&c);
	return status;
}
