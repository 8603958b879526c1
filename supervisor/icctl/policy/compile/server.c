/* SPDX-License-Identifier: ISC */
/* Asks for the rules of each server that a constitution is about. */
#include "icctl/policy/compile/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"

#define SERVER_TEXT ((size_t)1 << 20)

static void
put_arg(struct buf *b, const struct value *arg)
{
	buf_adds(b, "    ");
	quote_add(b, arg->key, 200);
	buf_adds(b, ": ");
	(void)json_write(b, arg);
	buf_addc(b, '\n');
}

void
server_describe(const struct compile_server *s, struct buf *b)
{
	const struct value *t = s->tools == NULL ? NULL : s->tools->child, *a;

	for (; t != NULL; t = t->next) {
		buf_adds(b, "- ");
		quote_add(b, value_str(t, "toolName"), 200);
		buf_adds(b, ": ");
		quote_add(b, value_str(t, "comment"), COMPILE_MAX_QUOTE);
		buf_addc(b, '\n');
		a = value_get(t, "args");
		for (a = a == NULL ? NULL : a->child; a != NULL; a = a->next)
			put_arg(b, a);
	}
}

/* Append the constitution, which is not cut. */
static struct span
constitution(struct compile *c, struct buf *b)
{
	quote_add(b, span_str(c->constitution), COMPILE_MAX_TEXT);
	return buf_span(b);
}

static int
prefilter_check(void *arg, const struct value *reply, struct fault *fault)
{
	struct compile *c = arg;
	const struct value *v = value_get(reply, "servers")->child, *w;
	char vis[200];
	unsigned i = 0, n = 0;

	for (; v != NULL; v = v->next, i++) {
		if (compile_server(c, value_str(v, "name")) == NULL)
			return fault_set(fault,
			    "/servers/%u/name: there is no server \"%s\"", i,
			    log_vis(value_str(v, "name"), vis, sizeof(vis)));
		if (!text_plain(value_str(v, "reason")))
			return fault_set(fault,
			    "/servers/%u/reason: has control characters", i);
		for (w = value_get(reply, "servers")->child; w != v;
		     w = w->next)
			if (span_eq(value_str(w, "name"), value_str(v, "name")))
				return fault_set(fault,
				    "/servers/%u/name: is there twice", i);
		n++;
	}
	if (n != c->nservers)
		return fault_set(fault,
		    "/servers: names %u of %u servers", n, c->nservers);
	return 0;
}

int
server_prefilter(struct compile *c, struct fault *fault)
{
	struct ask_part parts[2] = {{"constitution", {0}}, {"servers", {0}}};
	const struct ask q = {
	    "prefilter", parts, nitems(parts), prefilter_check, c};
	const struct value *reply, *v, *t;
	struct compile_server *s;
	struct buf text, list;

	buf_init(&text, SERVER_TEXT);
	buf_init(&list, SERVER_TEXT);
	for (unsigned i = 0; i < c->nservers; i++) {
		s = &c->servers[i];
		quote_add(&list, s->name, 64);
		buf_adds(&list, ":\n");
		t = s->tools == NULL ? NULL : s->tools->child;
		for (; t != NULL; t = t->next) {
			buf_adds(&list, "  - ");
			quote_add(&list, value_str(t, "toolName"), 200);
			buf_adds(&list, ": ");
			quote_add(&list, value_str(t, "comment"), 400);
			buf_addc(&list, '\n');
		}
	}
	parts[0].text = constitution(c, &text);
	parts[1].text = buf_span(&list);
	reply = compile_ask(c, &q, NULL, fault);
	buf_free(&text);
	buf_free(&list);
	if (reply == NULL)
		return -1;
	for (v = value_get(reply, "servers")->child; v != NULL; v = v->next) {
		s = compile_server(c, value_str(v, "name"));
		s->skipped = !value_bool(v, "relevant", true);
		s->why_skipped = value_str(v, "reason");
	}
	return 0;
}

struct reply_of {
	const struct compile *c;
	const struct compile_server *server;
};

static int
rules_reply(void *arg, const struct value *reply, struct fault *fault)
{
	const struct reply_of *r = arg;

	return rules_check(r->c, r->server, value_get(reply, "rules"),
	    value_get(reply, "listDefinitions"), fault);
}

int
server_compile(struct compile *c, struct compile_server *s, struct fault *fault)
{
	struct ask_part parts[3] = {
	    {"constitution", {0}}, {"server", s->name}, {"tools", {0}}};
	struct reply_of of = {c, s};
	const struct ask q = {
	    c->o.task != NULL ? "task-rules" : "rules", parts, nitems(parts),
	    rules_reply, &of};
	const struct value *reply;
	struct buf text, tools;
	int rv = -1;

	buf_init(&text, SERVER_TEXT);
	buf_init(&tools, SERVER_TEXT);
	server_describe(s, &tools);
	parts[0].text = constitution(c, &text);
	parts[2].text = buf_span(&tools);
	if ((reply = compile_ask(c, &q, s->hash, fault)) != NULL) {
		s->rules = value_get(reply, "rules");
		s->lists = value_get(reply, "listDefinitions");
		rv = 0;
	}
	buf_free(&text);
	buf_free(&tools);
	return rv;
}
