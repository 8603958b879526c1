/* SPDX-License-Identifier: ISC */
/*
 * icfs as an MCP server: its list of tools, its calls and their results.  A
 * failure in a tool is a result with isError.
 */
#include "icfs/icfs.h"

#include "mcp/mcp_stdio.h"

static void
list_tools(struct mcp *s)
{
	const struct icfs *f = s->arg;
	bool first = true;

	for (size_t i = 0; i < icfs_ntools; i++) {
		if (f->read_only && icfs_tools[i].writes)
			continue;
		if (!first)
			buf_addc(s->out, ',');
		buf_adds(s->out, icfs_tools[i].listed);
		first = false;
	}
}

static void
add_failure(struct icfs *f, const struct jsonrpc *m)
{
	struct buf text;

	buf_init(&text, 4 * sizeof(f->why));
	icfs_add_text(&text, span_str(f->why));
	(void)jsonrpc_add_text(&f->out, &m->id, buf_span(&text), true);
	buf_free(&text);
}

/* Append f->text as the result, twice, as the reference server does. */
static void
add_result(struct icfs *f, const struct jsonrpc *m, bool content)
{
	struct span text = buf_span(&f->text);
	size_t before = f->out.len;

	if (text.len == 0)
		text = SPAN("");
	(void)jsonrpc_add_head(&f->out, &m->id);
	if (content) {
		buf_adds(&f->out, "{\"content\":");
		buf_addspan(&f->out, text);
		buf_adds(&f->out, ",\"structuredContent\":{\"content\":");
		buf_addspan(&f->out, text);
	} else {
		buf_adds(&f->out, "{\"content\":[{\"text\":");
		(void)json_write_string(&f->out, text);
		buf_adds(&f->out,
		    ",\"type\":\"text\"}],\"structuredContent\":{\"content\":");
		(void)json_write_string(&f->out, text);
	}
	buf_adds(&f->out, "}}");
	(void)jsonrpc_add_tail(&f->out);
	if (!f->out.failed && !f->text.failed &&
	    f->out.len - before <= ICFS_MAX_LINE)
		return;
	/* The result is too large: remove it again. */
	f->out.failed = false;
	f->out.len = before;
	(void)icfs_why(f,
	    "Too much: the result exceeds %zu bytes as it is sent; ask for "
	    "less of it",
	    ICFS_MAX_LINE);
	add_failure(f, m);
}

static bool
call_tool(struct mcp *s, const struct jsonrpc *m, struct span name,
    const struct value *args)
{
	const struct icfs_tool *t = NULL;
	struct icfs *f = s->arg;

	for (size_t i = 0; i < icfs_ntools && t == NULL; i++) {
		if (span_is(name, icfs_tools[i].name))
			t = &icfs_tools[i];
	}
	if (t == NULL)
		return false;
	buf_reset(&f->text, ICFS_MAX_FILE / 8);
	f->why[0] = '\0';
	if (f->read_only && t->writes)
		(void)icfs_why(f,
		    "EROFS: this server was started with "
		    "--read-only, %s",
		    t->name);
	else if (t->fn(f, args) == 0) {
		add_result(f, m, t->content);
		return true;
	}
	add_failure(f, m);
	return true;
}

void
icfs_serve(struct icfs *f)
{
	struct mcp s = {.name = "icfs",
	    .pool = f->pool,
	    .out = &f->out,
	    .arg = f,
	    .list = list_tools,
	    .call = call_tool};

	mcp_serve(&s);
}
