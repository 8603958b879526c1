/* SPDX-License-Identifier: ISC */
/*
 * Writes lines for MCP servers: canonical JSON with sorted members, from values
 * that were decoded and judged. No text is forwarded as received.
 */
#include "compose.h"

#include "common/ipc/proto.h"
#include "common/json/json.h"

static uint32_t
offset(const struct buf *b)
{
	return (uint32_t)b->len;
}

static int
done(const struct buf *b)
{
	return b->failed ? -1 : 0;
}

int
compose_call(struct buf *b, uint64_t id, struct span tool,
    const struct value *args, bool progress, struct composed *c)
{
	uint32_t start = offset(b);

	buf_adds(b, "{\"id\":");
	buf_addu64(b, id);
	buf_adds(b, ",\"jsonrpc\":\"2.0\",\"method\":\"tools/call\","
		    "\"params\":{");
	/* policyd's own token; the agent's never leaves mcp-proxyd. */
	if (progress) {
		buf_adds(b, "\"_meta\":{\"progressToken\":");
		buf_addu64(b, id);
		buf_adds(b, "},");
	}
	buf_adds(b, "\"arguments\":");
	c->args_off = offset(b);
	(void)json_write(b, args);
	c->args_len = offset(b) - c->args_off;
	buf_adds(b, ",\"name\":");
	(void)json_write_string(b, tool);
	buf_adds(b, "}}\n");
	c->line_len = offset(b) - start;
	return done(b);
}

int
compose_args(struct buf *b, const struct value *args, struct composed *c)
{
	c->line_len = 0;
	c->args_off = offset(b);
	(void)json_write(b, args);
	c->args_len = offset(b) - c->args_off;
	return done(b);
}

int
compose_initialize(struct buf *b, bool elicits)
{
	buf_printf(b,
	    "{\"id\":\"i\",\"jsonrpc\":\"2.0\","
	    "\"method\":\"initialize\",\"params\":{\"capabilities\":{%s},",
	    elicits ? "\"elicitation\":{\"form\":{},\"url\":{}}" : "");
	buf_adds(b, "\"clientInfo\":{\"name\":\"ironcurtain\","
		    "\"version\":\"" IC_VERSION "\"},"
		    "\"protocolVersion\":\"" COMPOSE_PROTOCOL "\"}}\n");
	return done(b);
}

int
compose_initialized(struct buf *b)
{
	buf_adds(b, "{\"jsonrpc\":\"2.0\","
		    "\"method\":\"notifications/initialized\"}\n");
	return done(b);
}

int
compose_revision(struct buf *b, const char *version)
{
	buf_printf(b, "MCP-Protocol-Version: %s\n", version);
	return done(b);
}

int
compose_tools_list(struct buf *b, uint32_t seq, struct span cursor)
{
	return compose_list(b, 't', "tools/list", seq, cursor);
}

int
compose_list(struct buf *b, char letter, const char *method, uint32_t seq,
    struct span cursor)
{
	buf_printf(b,
	    "{\"id\":\"%c%u\",\"jsonrpc\":\"2.0\","
	    "\"method\":\"%s\"",
	    letter, seq, method);
	if (cursor.len != 0) {
		buf_adds(b, ",\"params\":{\"cursor\":");
		(void)json_write_string(b, cursor);
		buf_addc(b, '}');
	}
	buf_adds(b, "}\n");
	return done(b);
}

int
compose_log_level(struct buf *b, unsigned level)
{
	buf_printf(b,
	    "{\"id\":\"l\",\"jsonrpc\":\"2.0\",\"method\":"
	    "\"logging/setLevel\",\"params\":{\"level\":\"%s\"}}\n",
	    proto_level_name(level));
	return done(b);
}

static void
add_rid(struct buf *b, bool string, struct span rid)
{
	buf_adds(b, "\"id\":");
	if (string)
		(void)json_write_string(b, rid);
	else
		buf_addspan(b, rid);
	buf_adds(b, ",\"jsonrpc\":\"2.0\"");
}

int
compose_pong(struct buf *b, bool string, struct span rid)
{
	buf_addc(b, '{');
	add_rid(b, string, rid);
	buf_adds(b, ",\"result\":{}}\n");
	return done(b);
}

int
compose_roots(struct buf *b, bool string, struct span rid, bool workspace)
{
	buf_addc(b, '{');
	add_rid(b, string, rid);
	buf_printf(b, ",\"result\":{\"roots\":[%s]}}\n",
	    workspace ? "{\"name\":\"workspace\",\"uri\":"
			"\"file:///workspace\"}"
		      : "");
	return done(b);
}

int
compose_unknown(struct buf *b, bool string, struct span rid)
{
	buf_adds(b, "{\"error\":{\"code\":-32601,"
		    "\"message\":\"Method not found\"},");
	add_rid(b, string, rid);
	buf_adds(b, "}\n");
	return done(b);
}

int
compose_elicited(struct buf *b, bool string, struct span rid,
    const char *action, struct span content)
{
	buf_addc(b, '{');
	add_rid(b, string, rid);
	buf_printf(b, ",\"result\":{\"action\":\"%s\"", action);
	if (content.p != NULL) {
		buf_adds(b, ",\"content\":");
		buf_addspan(b, content);
	}
	buf_adds(b, "}}\n");
	return done(b);
}

int
compose_error(struct buf *b, bool string, struct span rid, int code,
    struct span why)
{
	buf_printf(b, "{\"error\":{\"code\":%d,\"message\":", code);
	(void)json_write_string(b, why);
	buf_adds(b, "},");
	add_rid(b, string, rid);
	buf_adds(b, "}\n");
	return done(b);
}

int
compose_cancelled(struct buf *b, uint64_t id)
{
	buf_adds(b, "{\"jsonrpc\":\"2.0\","
		    "\"method\":\"notifications/cancelled\","
		    "\"params\":{\"requestId\":");
	buf_addu64(b, id);
	buf_adds(b, "}}\n");
	return done(b);
}

int
compose_remotes(struct buf *b, uint32_t seq, struct span path,
    const struct span *remotes, unsigned n)
{
	buf_printf(b,
	    "{\"id\":\"r%u\",\"jsonrpc\":\"2.0\","
	    "\"method\":\"tools/call\",\"params\":{\"arguments\":{"
	    "\"path\":",
	    seq);
	(void)json_write_string(b, path);
	buf_adds(b, ",\"remotes\":[");
	for (unsigned i = 0; i < n; i++) {
		if (i != 0)
			buf_addc(b, ',');
		(void)json_write_string(b, remotes[i]);
	}
	buf_adds(b, "]},\"name\":\"remotes\"}}\n");
	return done(b);
}
