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

#define META "\"io.modelcontextprotocol/"
#define CLIENT "{\"name\":\"ironcurtain\",\"version\":\"" IC_VERSION "\"}"

/* Append the capabilities that we declare to servers, in every revision. */
static void
put_capabilities(struct buf *b, bool elicits)
{
	buf_printf(b, "{%s}",
	    elicits ? "\"elicitation\":{\"form\":{},\"url\":{}}" : "");
}

void
compose_meta(struct buf *b, const struct compose_form *f, uint64_t token,
    const char *after)
{
	if (!f->modern && token == 0)
		return;
	buf_adds(b, "\"_meta\":{");
	if (f->modern) {
		buf_adds(b, META "clientCapabilities\":");
		put_capabilities(b, f->elicits);
		buf_adds(b, "," META "clientInfo\":" CLIENT ",");
		if (f->level != 0)
			buf_printf(b, META "logLevel\":\"%s\",",
			    proto_level_name(f->level - 1U));
		buf_adds(b, META "protocolVersion\":\"" COMPOSE_MODERN "\"");
	}
	if (token != 0) {
		/* policyd's own token; the agent's never leaves mcp-proxyd. */
		buf_adds(b,
		    f->modern ? ",\"progressToken\":" : "\"progressToken\":");
		buf_addu64(b, token);
	}
	buf_printf(b, "}%s", after);
}

int
compose_call(struct buf *b, const struct compose_form *f, uint64_t id,
    struct span tool, const struct value *args, bool progress,
    struct composed *c)
{
	uint32_t start = offset(b);

	buf_adds(b, "{\"id\":");
	buf_addu64(b, id);
	buf_adds(b, ",\"jsonrpc\":\"2.0\",\"method\":\"tools/call\","
		    "\"params\":{");
	/* The keyd of a remote server reads the name off the front. */
	if (f->modern) {
		buf_adds(b, "\"name\":");
		(void)json_write_string(b, tool);
		buf_addc(b, ',');
	}
	compose_meta(b, f, progress ? id : 0, ",");
	buf_adds(b, "\"arguments\":");
	c->args_off = offset(b);
	(void)json_write(b, args);
	c->args_len = offset(b) - c->args_off;
	if (!f->modern) {
		buf_adds(b, ",\"name\":");
		(void)json_write_string(b, tool);
	}
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
	buf_adds(b, "{\"id\":\"i\",\"jsonrpc\":\"2.0\","
		    "\"method\":\"initialize\",\"params\":{"
		    "\"capabilities\":");
	put_capabilities(b, elicits);
	buf_adds(b, ",\"clientInfo\":" CLIENT ","
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
compose_events(struct buf *b, struct span id, struct span last)
{
	buf_adds(b, "MCP-Events: ");
	buf_addspan(b, id.len != 0 ? id : SPAN("-"));
	buf_addc(b, ' ');
	buf_addspan(b, last);
	buf_addc(b, '\n');
	return done(b);
}

int
compose_discover(struct buf *b, bool elicits)
{
	const struct compose_form f = {.modern = true, .elicits = elicits};

	buf_adds(b, "{\"id\":\"d\",\"jsonrpc\":\"2.0\","
		    "\"method\":\"server/discover\",\"params\":{");
	compose_meta(b, &f, 0, "}}\n");
	return done(b);
}

int
compose_listen(struct buf *b, const struct compose_form *f, uint32_t seq,
    uint8_t what, const char *const *uris, unsigned n)
{
	const char *before = "";

	buf_printf(b,
	    "{\"id\":\"n%u\",\"jsonrpc\":\"2.0\",\"method\":"
	    "\"subscriptions/listen\",\"params\":{",
	    seq);
	compose_meta(b, f, 0, ",");
	buf_adds(b, "\"notifications\":{");
	if ((what & PROTO_LISTEN_PROMPTS) != 0) {
		buf_adds(b, "\"promptsListChanged\":true");
		before = ",";
	}
	if ((what & PROTO_LISTEN_RESOURCES) != 0) {
		buf_printf(b, "%s\"resourcesListChanged\":true", before);
		before = ",";
	}
	if (n != 0) {
		buf_printf(b, "%s\"resourceSubscriptions\":[", before);
		for (unsigned i = 0; i < n; i++) {
			buf_adds(b, i != 0 ? "," : "");
			(void)json_write_string(b, span_str(uris[i]));
		}
		buf_addc(b, ']');
		before = ",";
	}
	if ((what & PROTO_LISTEN_TOOLS) != 0)
		buf_printf(b, "%s\"toolsListChanged\":true", before);
	buf_adds(b, "}}}\n");
	return done(b);
}

int
compose_subscribe(struct buf *b, struct span uri)
{
	buf_adds(b, "{\"id\":\"u\",\"jsonrpc\":\"2.0\",\"method\":"
		    "\"resources/subscribe\",\"params\":{\"uri\":");
	(void)json_write_string(b, uri);
	buf_adds(b, "}}\n");
	return done(b);
}

int
compose_tools_list(struct buf *b, const struct compose_form *f, uint32_t seq,
    struct span cursor)
{
	return compose_list(b, f, 't', "tools/list", seq, cursor);
}

int
compose_list(struct buf *b, const struct compose_form *f, char letter,
    const char *method, uint32_t seq, struct span cursor)
{
	buf_printf(b,
	    "{\"id\":\"%c%u\",\"jsonrpc\":\"2.0\","
	    "\"method\":\"%s\"",
	    letter, seq, method);
	if (f->modern || cursor.len != 0) {
		buf_adds(b, ",\"params\":{");
		compose_meta(b, f, 0, cursor.len != 0 ? "," : "");
		if (cursor.len != 0) {
			buf_adds(b, "\"cursor\":");
			(void)json_write_string(b, cursor);
		}
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
compose_error(
    struct buf *b, bool string, struct span rid, int code, struct span why)
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
