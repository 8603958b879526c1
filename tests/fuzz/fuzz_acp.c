/* SPDX-License-Identifier: ISC */
/*
 * Lines of an editor ('<' first) and of an agent ('>') through the relay. The
 * agent must only get well-formed messages of the methods that it may see, with
 * capabilities off; the editor only updates, permission requests and answers,
 * without private members and ways to log in.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "workers/acpd/acp.h"

static struct value_pool *pool;

static void
check_no_meta(const struct value *v)
{
	for (const struct value *e = v->child; e != NULL; e = e->next) {
		CHECK(v->type != VALUE_OBJECT || !span_is(e->key, "_meta"));
		check_no_meta(e);
	}
}

static void
check_capabilities(const struct value *params)
{
	const struct value *caps = value_get(params, "clientCapabilities");
	const struct value *fs = value_get(caps, "fs");

	CHECK(caps != NULL && fs != NULL);
	CHECK(!value_bool(caps, "terminal", true));
	CHECK(!value_bool(fs, "readTextFile", true));
	CHECK(!value_bool(fs, "writeTextFile", true));
}

static void
to_agent(struct acp *a, struct span line)
{
	struct jsonrpc m;
	const struct value *servers;

	CHECK(memchr(line.p, '\n', line.len) == NULL);
	jsonrpc_read(pool, line, &m);
	CHECK(m.kind != JSONRPC_BAD);
	if (m.kind == JSONRPC_REQUEST || m.kind == JSONRPC_NOTIFICATION) {
		CHECK(span_starts(m.method, SPAN("session/")) ||
		      span_is(m.method, "initialize") ||
		      span_is(m.method, "$/cancel_request"));
		check_no_meta(m.params);
		servers = value_get(m.params, "mcpServers");
		CHECK(servers == NULL || servers->child == NULL);
	}
	if (span_is(m.method, "initialize"))
		check_capabilities(m.params);
	value_pool_reset(pool);
}

static int
to_editor(struct acp *a, enum proto_acp kind, uint64_t n,
    const struct jsonrpc_id *id, struct value *tree)
{
	const struct value *logins = value_get(tree, "authMethods");
	struct buf b;

	CHECK(tree != NULL && tree->type == VALUE_OBJECT);
	CHECK((kind == PROTO_ACP_PERMISSION || kind == PROTO_ACP_CANCEL) ==
	      (n != 0));
	CHECK((kind == PROTO_ACP_RESULT) <= (id != NULL && id->len != 0));
	CHECK(kind != PROTO_ACP_UPDATE || value_get(tree, "update") != NULL);
	CHECK(logins == NULL || logins->child == NULL);
	check_no_meta(tree);
	/* The tree is one that a viewer can decode. */
	buf_init(&b, PROTO_MAX_TREE);
	if (value_encode(tree, &b) == 0)
		CHECK(value_decode(pool, buf_span(&b)) != NULL);
	value_pool_reset(pool);
	buf_free(&b);
	return 0;
}

static void
note(struct acp *a, const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
		CHECK(*p >= 0x20 && *p < 0x7f);
}

static void
refused(struct acp *a, struct span method)
{
	CHECK(span_starts(method, SPAN("fs/")) ||
	      span_starts(method, SPAN("terminal/")));
}

static void
prompted(struct acp *a)
{
	(void)a;
}

/* Some images cannot be shown. */
static int
show(struct acp *a, struct span image)
{
	static unsigned n;

	(void)image;
	return n++ % 3 == 0 ? -1 : 0;
}

static const struct acp_ops ops = {
    to_agent, to_editor, note, prompted, show, refused};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct acp_paths paths = {
	    .host = {"/home/u/my project", "/ws"}, .inside = "/workspace"};
	static struct acp *a;
	struct span rest = span_of(data, size), line;

	if (pool == NULL) {
		pool = value_pool_new(ACP_POOL);
		a = malloc(sizeof(*a));
	}
	CHECK(pool != NULL && a != NULL && acp_init(a, &ops, &paths) == 0);
	while (span_line(&rest, &line)) {
		if (line.len == 0)
			continue;
		if (line.p[0] == '<')
			acp_editor_line(a, span_of(line.p + 1, line.len - 1));
		while (acp_waits(a))
			acp_shown(a, line.len % 2 == 0 ? SPAN("1.png")
						       : SPAN("../x"));
		if (line.p[0] == '>')
			acp_agent_line(a, span_of(line.p + 1, line.len - 1));
	}
	acp_free(a);
	return 0;
}
