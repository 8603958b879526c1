/* SPDX-License-Identifier: ISC */
/*
 * The output of mcp-proxyd to an agent and to its peers: handshake, tool list,
 * parameters, calls, pending calls.
 */
#include "unit/mcp-proxyd/ring.h"

#include <sys/socket.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct proxy *const p = &proxy_env;

static void
test_handshake(void)
{
	int fd = connect_agent(), other;

	is_str(ask(fd, "{" V ",\"id\":\"p\",\"method\":\"server/recover\"}\n"),
	    "{\"error\":{\"code\":-32601,\"message\":\"Method not found: "
	    "\\\"server/recover\\\"\"},\"id\":\"p\"," V "}\n",
	    "an unknown request before initialize");
	is_str(ask(fd, "{" V ",\"id\":1,\"method\":\"ping\"}\n"),
	    "{\"id\":1," V ",\"result\":{}}\n", "ping before initialize");
	is_str(ask(fd, "{" V ",\"id\":2,\"method\":\"tools/list\"}\n"
		       "{" V ",\"id\":3,\"method\":\"tools/call\"}\n"),
	    "{\"error\":{\"code\":-32600,\"message\":\"Invalid Request: "
	    "tools/list before initialize\"},\"id\":2," V "}\n"
	    "{\"error\":{\"code\":-32600,\"message\":\"Invalid Request: "
	    "tools/call before initialize\"},\"id\":3," V "}\n",
	    "tools before initialize");
	is_str(ask(fd, "{" V ",\"id\":4,\"method\":\"initialize\"}\n"),
	    "{\"error\":{\"code\":-32602,\"message\":\"Invalid params: "
	    "protocolVersion must be a string\"},\"id\":4," V "}\n",
	    "initialize without a version");
	is_str(ask(fd, INIT), HELLO, "initialize");
	is_str(ask(fd, INIT),
	    "{\"error\":{\"code\":-32600,\"message\":\"Invalid Request: "
	    "initialize was answered already\"},\"id\":0," V "}\n",
	    "initialize again");
	other = connect_agent();
	is_str(
	    ask(other, "{" V ",\"id\":0,\"method\":\"initialize\",\"params\":"
		       "{\"protocolVersion\":\"2099-01-01\"}}\n") +
		80,
	    "\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":"
	    "\"ironcurtain\",\"version\":\"" IC_VERSION "\"}}}\n",
	    "another connection greets for itself; unknown version: latest");
	is_str(ask(fd, "{" V ",\"id\":5,\"method\":\"resources/list\"}\n"),
	    "{\"error\":{\"code\":-32601,\"message\":\"Method not found: "
	    "\\\"resources/list\\\"\"},\"id\":5," V "}\n",
	    "MCP beyond tools");
	is_str(ask(fd, "{" V ",\"method\":\"notifications/initialized\"}\n"
		       "{" V ",\"method\":\"notifications/whatever\"}\n"
		       "{" V ",\"id\":9,\"result\":{}}\n\n\r\n"),
	    "", "notifications, answers and blank lines get no answer");
	is_str(ask(fd, "{" V ",\"id\":\"q\",\"method\":\"tools/call\","
		       "\"params\":{\"a\":\"\\ud83d\"}}\n"),
	    "{\"error\":{\"code\":-32700,\"message\":\"Parse error: not "
	    "well-formed Unicode at byte 63\"},\"id\":\"q\"," V "}\n",
	    "a line that cannot be read is answered on its id");
	is_str(ask(fd, "nonsense\n{" V ",\"id\":6,\"method\":\"ping\"}\n"),
	    "{\"error\":{\"code\":-32700,\"message\":\"Parse error: not JSON "
	    "at byte 1\"}," V "}\n"
	    "{\"id\":6," V ",\"result\":{}}\n",
	    "a bad line costs itself alone");
	close(fd);
	close(other);
	turns();
	is_int(p->nagents, 0, "closed connections are gone");
}

static void
test_list(void)
{
	int fd = connect_agent(), late;

	put(fd, INIT);
	get(fd);
	is_str(ask(fd, "{" V ",\"id\":1,\"method\":\"tools/list\"}\n"), "",
	    "tools/list waits for the servers");
	send_tools("[{\"name\":\"fs__a\"}]", false);
	is_str(get(fd), "", "also while only some have listed");
	send_tools("[{\"name\":\"fs__a\"},{\"name\":\"fs__b\"}]", true);
	is_str(get(fd),
	    "{\"id\":1," V ",\"result\":{\"tools\":[{\"name\":\"fs__a\"},"
	    "{\"name\":\"fs__b\"}]}}\n",
	    "and is answered when all have");
	send_tools("[{\"name\":\"fs__a\"},{\"name\":\"fs__b\"}]", true);
	is_str(get(fd), "", "the same list again is no change");
	late = connect_agent();
	send_tools("[]", true);
	is_str(get(fd),
	    "{" V ",\"method\":\"notifications/tools/list_changed\"}\n",
	    "a change is told");
	is_str(get(late), "", "but not to who never asked");
	is_str(ask(fd, "{" V ",\"id\":2,\"method\":\"tools/list\",\"params\":"
		       "{\"cursor\":\"x\"}}\n"),
	    "{\"error\":{\"code\":-32602,\"message\":\"Invalid params: unknown "
	    "cursor, the list has one page\"},\"id\":2," V "}\n",
	    "a cursor");
	is_str(ask(fd, "{" V ",\"id\":\"l\",\"method\":\"tools/list\","
		       "\"params\":{}}\n"),
	    "{\"id\":\"l\"," V ",\"result\":{\"tools\":[]}}\n",
	    "an empty list");
	p->tools_complete = false;
	put(fd, "{" V ",\"id\":3,\"method\":\"tools/list\"}\n");
	p->w.loop.now = p->list_until + 1;
	calls_tick(p);
	is_str(get(fd), "{\"id\":3," V ",\"result\":{\"tools\":[]}}\n",
	    "after 30 s it is answered with what there is");
	p->tools_complete = true;
	close(fd);
	close(late);
	turns();
}

static void
test_params(void)
{
	static const struct {
		const char *params, *want;
	} rows[] = {
	    {"", BADP("1", "name is missing")},
	    {"\"name\":1", BADP("1", "name must be a string")},
	    {"\"name\":\"\"", BADP("1", "name is empty")},
	    {"\"name\":\"a\\u0000b\"", BADP("1", "name holds a NUL")},
	    {"\"name\":\"fs__a\",\"arguments\":[]",
		BADP("1", "arguments must be an object")},
	    {"\"name\":\"fs__a\",\"arguments\":null",
		BADP("1", "arguments must be an object")},
	    {"\"name\":\"fs__a\",\"_meta\":1",
		BADP("1", "_meta must be an object")},
	    {"\"name\":\"fs__a\",\"_meta\":{\"progressToken\":1.5}",
		BADP("1",
		    "_meta.progressToken must be a string of at most 254 bytes "
		    "or an integer")},
	    {"\"name\":\"fs__a\",\"Name\":\"fs__b\"",
		BADP("1", "unknown member \\\"Name\\\" of tools/call")},
	};
	char line[1024];
	int fd = connect_agent();

	put(fd, INIT);
	get(fd);
	for (size_t i = 0; i < nitems(rows); i++) {
		snprintf(line, sizeof(line), CALL("1", "%s"), rows[i].params);
		is_str(
		    ask(fd, line), rows[i].want, "params {%s}", rows[i].params);
	}
	is_str(ask(fd, "{" V ",\"id\":1,\"method\":\"tools/call\"}\n"),
	    BADP("1", "tools/call without params"), "no params");
	is_str(peers_saw(), "", "none of these is a call");
	close(fd);
	turns();
}

static void
test_call(void)
{
	int fd = connect_agent();
	uint64_t first;

	put(fd, INIT);
	get(fd);
	put(fd, CALL("7", "\"name\":\"fs__read\",\"arguments\":{\"b\":[1.50,"
			  "\"\\u00e9\"],\"a\":null},\"_meta\":{\"x\":1}"));
	is_str(peers_saw(),
	    "CALL 0 read 0 {\"a\":null,\"b\":[1.50,\"\xc3\xa9\"]}\n",
	    "a call crosses as a tree, without _meta");
	send_result(back[1], last_call, false, "{\"content\":[]}");
	is_str(get(fd), "", "another server's result is dropped");
	send_result(back[0], last_call + 1, false, "{\"content\":[]}");
	is_str(get(fd), "", "a result of no call is dropped");
	send_result(back[0], last_call, false,
	    "{\"structuredContent\":{\"z\":1,\"a\":\"\\u0001\"},\"_meta\":{},"
	    "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}");
	is_str(get(fd),
	    "{\"id\":7," V ",\"result\":{\"content\":[{\"text\":\"hi\","
	    "\"type\":\"text\"}],\"structuredContent\":{\"a\":\"\\u0001\","
	    "\"z\":1}}}\n",
	    "the result comes back under the agent's id, without _meta");
	send_result(back[0], last_call, false, "{\"content\":[]}");
	is_str(get(fd), "", "a second result is dropped");

	put(fd, CALL("9", "\"name\":\"fs__read\""));
	(void)peers_saw();
	send_result(back[0], last_call, false,
	    "{\"structuredContent\":[1,\"a\"],\"isError\":false}");
	is_str(get(fd),
	    "{\"id\":9," V ",\"result\":{\"content\":[{\"text\":"
	    "\"[1,\\\"a\\\"]\",\"type\":\"text\"}],\"isError\":false}}\n",
	    "structured content that is no object is text");

	put(fd, CALL("\"s\"", "\"name\":\"fs__deep__read\""));
	is_str(peers_saw(), "CALL 1 read 0 {}\n",
	    "the longest server name counts; no arguments are none");
	send_result(back[1], last_call, true,
	    "{\"code\":-32001,\"message\":\"no\",\"data\":{\"url\":1}}");
	is_str(get(fd),
	    "{\"error\":{\"code\":-32001,\"message\":\"no\"},\"id\":\"s\"," V
	    "}\n",
	    "a server's error keeps code and message");
	put(fd, CALL("8", "\"name\":\"nosuch__read\""));
	is_str(peers_saw(), "CALL 65535 nosuch__read 0 {}\n",
	    "an unknown server is policyd's to refuse");
	send_answer(last_call, "Unknown tool: nosuch__read");
	is_str(get(fd),
	    "{\"id\":8," V ",\"result\":{\"content\":[{\"text\":\"Unknown "
	    "tool: nosuch__read\",\"type\":\"text\"}],\"isError\":true}}\n",
	    "a refusal is a result");
	put(fd, CALL("9", "\"name\":\"fs__\"") CALL("10", "\"name\":\"fs\""));
	is_str(peers_saw(), "CALL 65535 fs__ 0 {}\nCALL 65535 fs 0 {}\n",
	    "a server's name alone is no tool");
	first = last_call;
	is_str(ask(fd, CALL("10", "\"name\":\"fs__a\"")),
	    "{\"error\":{\"code\":-32600,\"message\":\"Invalid Request: id 10 "
	    "is already used by another request\"}," V "}\n",
	    "an id that is in use");
	is_int(last_call, first, "is no call");
	send_answer(first, "\xff\n");
	is_str(get(fd),
	    "{\"id\":10," V ",\"result\":{\"content\":[{\"text\":\"\\\\xff"
	    "\\\\x0a\",\"type\":\"text\"}],\"isError\":true}}\n",
	    "a text that is no UTF-8 is escaped");
	peers_saw();
	close(fd);
	is_str(peers_saw(), "CANCEL older\n",
	    "a closed connection cancels its calls");
}

static void
test_held(void)
{
	const struct msg_CALL_HELD *m;
	struct msg_CALL_HELD_AS as = {.name = SPAN("k3f9")};
	struct msg_PROGRESS pr = {.progress = SPAN("1"),
	    .total = SPAN("2.5"),
	    .message = SPAN("half")};
	int fd = connect_agent();

	put(fd, INIT);
	get(fd);
	put(fd, CALL("1", "\"name\":\"fs__w\",\"_meta\":{\"progressToken\":"
			  "\"t\\\"\"}"));
	is_str(peers_saw(), "CALL 0 w 1 {}\n", "a call with a token");
	m = &(const struct msg_CALL_HELD){.id = last_call, .ms = 60000};
	(void)chan_send(policy, MSG_CALL_HELD, m, -1);
#define NOTE(n, s, what)                                                       \
	"{" V ",\"method\":\"notifications/progress\",\"params\":{"            \
	"\"message\":\"waiting for approval: " what ", " s " s of 60 s\","     \
	"\"progress\":0.00000" n ",\"progressToken\":\"t\\\"\"}}\n"
	is_str(get(fd), NOTE("1", "0", "a pending call (icctl pending)"),
	    "an agent that waits is told at once");
	p->w.loop.now += PROXY_NOTE_MS;
	calls_tick(p);
	is_str(get(fd), NOTE("2", "2", "a pending call (icctl pending)"),
	    "and every 2 s");
	as.id = last_call;
	chan_phase(sup, PHASE_RUN);
	chan_phase(p->w.sup, PHASE_RUN);
	(void)chan_send(sup, MSG_CALL_HELD_AS, &as, -1);
	is_str(get(fd),
	    NOTE("3", "0", "pending call k3f9 (icctl approve k3f9)"),
	    "the id by which it is answered is told when it is known");
	pr.id = last_call;
	(void)chan_send(back[0], MSG_PROGRESS, &pr, -1);
	is_str(get(fd),
	    "{" V ",\"method\":\"notifications/progress\",\"params\":{"
	    "\"message\":\"half\",\"progress\":1,\"progressToken\":\"t\\\"\","
	    "\"total\":2.5}}\n",
	    "the server's progress goes through");
	p->w.loop.now += PROXY_CALL_MS + 59000;
	calls_tick(p);
	is_int(p->ncalls, 1, "not before the deadline that the hold made");
	p->w.loop.now += 2000;
	calls_tick(p);
	turns();
	is_str(get(fd),
	    "{\"id\":1," V ",\"result\":{\"content\":[{\"text\":\"Error: fs__w "
	    "was not answered within 300 s and was cancelled; it may or may "
	    "not have taken effect. Check before you retry.\",\"type\":"
	    "\"text\"}],\"isError\":true}}\n",
	    "the deadline, which the hold had extended");
	is_str(peers_saw(), "CANCEL last\n", "policyd is told");
	send_answer(last_call, "late");
	is_str(get(fd), "", "and a late answer is dropped");

	put(fd, CALL("2", "\"name\":\"fs__w\""));
	m = &(const struct msg_CALL_HELD){.id = last_call, .ms = 60000};
	(void)chan_send(policy, MSG_CALL_HELD, m, -1);
	is_str(get(fd), "", "without a token nothing is told");
	put(fd, "{" V ",\"method\":\"notifications/cancelled\",\"params\":"
		"{\"requestId\":\"2\"}}\n");
	is_str(peers_saw(), "CALL 0 w 0 {}\n", "\"2\" is not 2");
	put(fd, "{" V ",\"method\":\"notifications/cancelled\",\"params\":"
		"{\"requestId\":2}}\n");
	is_str(peers_saw(), "CANCEL last\n", "the agent cancels");
	is_str(get(fd), "", "and gets no answer");
	put(fd, "{" V ",\"method\":\"notifications/cancelled\",\"params\":"
		"{\"requestId\":2}}\n");
	is_str(peers_saw(), "", "what is over cannot be cancelled");
	close(fd);
	turns();
}

#define HINT                                                                   \
	"The server fs runs in a sandbox, which has /workspace and no "        \
	"network. A retry of the same call fails in the same way."

/* An error that came of a server's sandbox is marked, and explained. */
static void
test_blocked(void)
{
	int fd = connect_agent();

	put(fd, INIT);
	get(fd);
	put(fd, CALL("1", "\"name\":\"fs__read\""));
	send_blocked(back[0], last_call, false,
	    "{\"content\":[{\"type\":\"image\",\"data\":\"\"},{\"type\":"
	    "\"text\",\"text\":\"EACCES: x\"}],\"isError\":true}");
	is_str(get(fd),
	    "{\"id\":1," V ",\"result\":{\"content\":[{\"data\":\"\","
	    "\"type\":\"image\"},{\"text\":\"[SANDBOX BLOCKED] EACCES: x\","
	    "\"type\":\"text\"},{\"text\":\"" HINT "\",\"type\":\"text\"}],"
	    "\"isError\":true}}\n",
	    "the first text is marked, and a hint follows");
	put(fd, CALL("2", "\"name\":\"fs__read\""));
	send_blocked(back[0], last_call, true,
	    "{\"code\":-32001,\"message\":\"EPERM\"}");
	is_str(get(fd),
	    "{\"error\":{\"code\":-32001,\"message\":\"[SANDBOX BLOCKED] "
	    "EPERM. " HINT "\"},\"id\":2," V "}\n",
	    "and so is an error of the protocol");
	put(fd, CALL("3", "\"name\":\"fs__read\""));
	send_blocked(back[0], last_call, false,
	    "{\"content\":[{\"type\":\"text\",\"text\":1}],\"isError\":true}");
	is_str(get(fd),
	    "{\"id\":3," V ",\"result\":{\"content\":[{\"text\":1,\"type\":"
	    "\"text\"}],\"isError\":true}}\n",
	    "content without text stays as it is");
	close(fd);
	turns();
	(void)peers_saw();
}

int
main(void)
{
	set_up();
	test_handshake();
	test_list();
	test_params();
	test_call();
	test_held();
	test_blocked();
	is_str(closed_why, "", "no channel was broken");
	tear_down();
	return tap_done();
}
