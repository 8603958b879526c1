/* SPDX-License-Identifier: ISC */
/*
 * Lines of an MCP server and the messages that mcp-backd makes of each, and the
 * lines that end it.
 */
#ifndef MCP_BACKD_ROWS_H
#define MCP_BACKD_ROWS_H

#define V "\"jsonrpc\":\"2.0\""

/* clang-format off */
static const struct {
	const char *line, *want;
} rows[] = {
	/* Questions: which calls were answered before travels with them. */
	{"{" V ",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":"
	    "{\"message\":\"m\"}}\n", "ASKED 0 of 0 1 q, 22 bytes\n"},
	{"{" V ",\"id\":77,\"result\":{}}\n", "RESULT 77 0 {}\nDONE 77 0\n"},
	{"{" V ",\"id\":3,\"method\":\"elicitation/create\"}\n",
	    "ASKED 0 of 0 0 3, 5 bytes, after 77\n"},
	{"{" V ",\"id\":6,\"error\":{\"code\":-32042,\"message\":\"m\",\"data\":"
	    "{\"elicitations\":[{},5,{},{},{}]}}}\n",
	    "ASKED 1 of 6 1 , 5 bytes, after 77\n"
	    "ASKED 1 of 6 1 , 5 bytes, after 77\n"
	    "RESULT 6 1 {\"code\":-32042,\"data\":{\"elicitations\":[{},5,{},{},"
	    "{}]},\"message\":\"m\"}\nDONE 6 1\n"},
	{"{" V ",\"id\":6,\"error\":{\"code\":-32041,\"message\":\"m\",\"data\":"
	    "{\"elicitations\":[{}]}}}\n",
	    "RESULT 6 1 {\"code\":-32041,\"message\":\"m\"}\nDONE 6 1\n"},
	{"{" V ",\"method\":\"notifications/resources/updated\",\"params\":"
	    "{\"uri\":\"note://one\"}}\n", "UPDATED note://one\n"},
	{"{" V ",\"method\":\"notifications/resources/updated\",\"params\":"
	    "{\"uri\":5}}\n", ""},
	{"{" V ",\"method\":\"notifications/resources/updated\"}\n", ""},
	{"{" V ",\"id\":5,\"result\":{\"b\":1,\"a\":[]}}\n",
	    "RESULT 5 0 {\"a\":[],\"b\":1}\nDONE 5 0\n"},
	{"{" V ",\"id\":5,\"result\":{\"isError\":true}}\r\n",
	    "RESULT 5 0 {\"isError\":true}\nDONE 5 1\n"},
	{"{" V ",\"id\":5,\"result\":{\"content\":[{\"text\":\"EACCES: x\","
	    "\"type\":\"text\"}],\"isError\":true}}\n",
	    "RESULT 5 0 blocked {\"content\":[{\"text\":\"EACCES: x\","
	    "\"type\":\"text\"}],\"isError\":true}\nDONE 5 1 blocked\n"},
	{"{" V ",\"id\":5,\"result\":{\"content\":[{\"text\":\"a\","
	    "\"type\":\"text\"},{\"text\":\"b Read-Only file system\","
	    "\"type\":\"text\"}],\"isError\":true}}\n",
	    "RESULT 5 0 blocked {\"content\":[{\"text\":\"a\",\"type\":"
	    "\"text\"},{\"text\":\"b Read-Only file system\",\"type\":"
	    "\"text\"}],\"isError\":true}\nDONE 5 1 blocked\n"},
	{"{" V ",\"id\":5,\"result\":{\"content\":[{\"text\":\"EACCES\","
	    "\"type\":\"text\"}]}}\n",
	    "RESULT 5 0 {\"content\":[{\"text\":\"EACCES\",\"type\":\"text\"}]}"
	    "\nDONE 5 0\n"},
	{"{" V ",\"id\":5,\"result\":{\"content\":[{\"text\":\"SUPERMEN "
	    "EPERMS\",\"type\":\"text\"}],\"isError\":true}}\n",
	    "RESULT 5 0 {\"content\":[{\"text\":\"SUPERMEN EPERMS\",\"type\":"
	    "\"text\"}],\"isError\":true}\nDONE 5 1\n"},
	{"{" V ",\"id\":5,\"error\":{\"code\":-3,\"message\":"
	    "\"Operation not permitted\"}}\n",
	    "RESULT 5 1 blocked {\"code\":-3,\"message\":\"Operation not "
	    "permitted\"}\nDONE 5 1 blocked\n"},
	{"{" V ",\"id\":5,\"error\":{\"code\":-3,\"message\":\"m\","
	    "\"data\":1}}\n",
	    "RESULT 5 1 {\"code\":-3,\"message\":\"m\"}\nDONE 5 1\n"},
	{"{" V ",\"id\":\"i\",\"error\":{\"code\":-32022,\"message\":"
	    "\"Unsupported protocol version\",\"data\":{\"supported\":["
	    "\"2026-07-28\",7],\"requested\":\"2025-11-25\"}}}\n",
	    "INIT 0 0  Unsupported protocol version. It speaks revision "
	    "2026-07-28 of MCP, and IronCurtain 2026-07-28 and earlier ones\n"},
	{"{" V ",\"id\":5,\"result\":[]}\n",
	    "RESULT 5 1 {\"code\":-32603,\"message\":\"the MCP server's answer "
	    "was refused: its result is no object\"}\nDONE 5 1\n"},
	{"{" V ",\"id\":5,\"result\":{\"a\":1,\"a\":2}}\n",
	    "RESULT 5 1 {\"code\":-32603,\"message\":\"the MCP server's answer "
	    "was refused: Parse error: duplicate member name at byte 40\"}\n"
	    "DONE 5 1\n"},
	{"{" V ",\"id\":5,\"result\":{\"a\":\"\\ud83d\"}}\n",
	    "RESULT 5 0 {\"a\":\"\xef\xbf\xbd\"}\nDONE 5 0\n"},
	{"{" V ",\"id\":5,\"result\":{\"a\":\"\xed\xa0\xbd\"}}\n",
	    "RESULT 5 1 {\"code\":-32603,\"message\":\"the MCP server's answer "
	    "was refused: Parse error: not well-formed Unicode at byte 39\"}\n"
	    "DONE 5 1\n"},
	{"{\"id\":5,\"result\":{}}\n",
	    "RESULT 5 1 {\"code\":-32603,\"message\":\"the MCP server's answer "
	    "was refused: Invalid Request: member jsonrpc is missing\"}\n"
	    "DONE 5 1\n"},
	{"{" V ",\"id\":0,\"result\":{}}\n", ""},
	{"{" V ",\"id\":-1,\"result\":{}}\n", ""},
	{"{" V ",\"id\":null,\"error\":{\"code\":1,\"message\":\"\"}}\n", ""},
	{"{" V ",\"id\":\"x\",\"result\":{}}\n", ""},
	{"{" V ",\"id\":\"i\",\"result\":{\"protocolVersion\":\"2025-06-18\","
	    "\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":"
	    "\"n\\u0007\"}}}\n", "INIT 1 1 2025-06-18 n\\x07\n"},
	{"{" V ",\"id\":\"i\",\"result\":{\"protocolVersion\":\"v\"}}\n",
	    "INIT 1 0 v \n"},
	{"{" V ",\"id\":\"i\",\"result\":{}}\n",
	    "INIT 0 0  its answer names no protocolVersion\n"},
	{"{" V ",\"id\":\"i\",\"error\":{\"code\":1,\"message\":\"why\"}}\n",
	    "INIT 0 0  why\n"},
	{"{" V ",\"id\":\"t3\",\"result\":{\"tools\":[{\"name\":\"a\"}],"
	    "\"nextCursor\":\"c\"}}\n", "PAGE 3 1 c [{\"name\":\"a\"}]\n"},
	{"{" V ",\"id\":\"t3\",\"result\":{\"tools\":[],\"nextCursor\":null}}\n",
	    "PAGE 3 1  []\n"},
	{"{" V ",\"id\":\"t4\",\"result\":{\"tools\":{}}}\n", "PAGE 4 0  []\n"},
	{"{" V ",\"id\":\"t4\",\"result\":{\"tools\":[1],\"nextCursor\":1}}\n",
	    "PAGE 4 0  []\n"},
	{"{" V ",\"id\":\"t4\",\"error\":{\"code\":1,\"message\":\"\"}}\n",
	    "PAGE 4 0  []\n"},
	{"{" V ",\"id\":\"t\",\"result\":{}}\n", ""},
	{"{" V ",\"id\":\"t4294967296\",\"result\":{}}\n", ""},
	{"{" V ",\"id\":\"r7\",\"result\":{\"structuredContent\":{\"urls\":"
	    "[\"https://a/b\",\"c\"]}}}\n", "REMOTES 7 1 https://a/b|c| \n"},
	{"{" V ",\"id\":\"r7\",\"result\":{\"structuredContent\":{\"urls\":"
	    "[]}}}\n", "REMOTES 7 0  no URLs are named\n"},
	{"{" V ",\"id\":\"r7\",\"result\":{\"structuredContent\":{\"urls\":"
	    "[\"a\",\"\"]}}}\n", "REMOTES 7 0  a URL is no text\n"},
	{"{" V ",\"id\":\"r7\",\"result\":{\"structuredContent\":{\"urls\":"
	    "[\"a\\nb\"]}}}\n",
	    "REMOTES 7 0  a URL holds a control character\n"},
	{"{" V ",\"id\":\"r7\",\"result\":{\"structuredContent\":{\"urls\":"
	    "{\"a\":\"b\"}}}}\n", "REMOTES 7 0  no URLs are named\n"},
	{"{" V ",\"id\":\"r7\",\"result\":{\"content\":[{\"text\":\"why\\u0007\","
	    "\"type\":\"text\"}],\"isError\":true}}\n",
	    "REMOTES 7 0  why\\x07\n"},
	{"{" V ",\"id\":\"r7\",\"error\":{\"code\":1,\"message\":\"\"}}\n",
	    "REMOTES 7 0  an error instead of an answer\n"},
	{"{" V ",\"id\":\"r-7\",\"result\":{}}\n", ""},
	{"{" V ",\"id\":7,\"method\":\"roots/list\"}\n",
	    "ASKS 0 7 roots/list\n"},
	{"{" V ",\"id\":\"7\",\"method\":\"ping\",\"params\":{}}\n",
	    "ASKS 1 7 ping\n"},
	{"{" V ",\"id\":\"\\u0000\",\"method\":\"ping\"}\n", ""},
	{"{" V ",\"method\":\"notifications/tools/list_changed\"}\n",
	    "CHANGED\n"},
	{"{" V ",\"method\":\"notifications/message\",\"params\":{}}\n", ""},
	{"{" V ",\"method\":\"notifications/progress\",\"params\":{"
	    "\"progressToken\":9,\"progress\":1.50,\"total\":3,\"message\":"
	    "\"m\"}}\n", "PROGRESS 9 1.50/3 m\n"},
	{"{" V ",\"method\":\"notifications/progress\",\"params\":{"
	    "\"progressToken\":\"9\",\"progress\":1}}\n", ""},
	{"{" V ",\"method\":\"notifications/progress\",\"params\":{"
	    "\"progressToken\":9,\"progress\":\"1\"}}\n", ""},
	{"{" V ",\"method\":\"notifications/progress\"}\n", ""},
	/* A late answer to the probe does not make it another server. */
	{"{" V ",\"id\":\"d\",\"result\":{\"supportedVersions\":["
	    "\"2026-07-28\"],\"capabilities\":{\"tools\":{\"listChanged\":"
	    "true}}}}\n", "DISCOVERED 0 1 1\n"},
	{"{" V ",\"id\":3,\"method\":\"elicitation/create\"}\n",
	    "ASKED 0 of 0 0 3, 5 bytes, after 77\n"},
	{"Server listening\n[info] ready\n{\"level\":\"info\"}\n\n", ""},
};

static const struct {
	const char *text, *want;
} ends[] = {
	{"{" V ",\"id\":5,\"result\":{]\n",
	    "wrote a line that is no JSON (Parse error: not JSON at byte 34): "
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{]"},
	{"{\"a\":\n",
	    "wrote a line that is no JSON (Parse error: ends too early at byte "
	    "5): {\"a\":"},
	{"b\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\nb\n\033\n",
	    "wrote more than 20 lines that are no JSON-RPC messages to its "
	    "stdout, the last one (Parse error: not JSON at byte 0): \\x1b"},
};
/* clang-format on */

#endif
