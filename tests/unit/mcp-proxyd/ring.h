/* SPDX-License-Identifier: ISC */
/*
 * mcp-proxyd between an agent and its peers: the real modules on real channels
 * and a real socket, with policyd, auditd and two mcp-backds played by the
 * test.  Everything happens in one loop, so the test never waits.
 */
#ifndef MCP_RING_H
#define MCP_RING_H

#include "mcp-proxyd/proxy.h"
#include "tap.h"

#define V "\"jsonrpc\":\"2.0\""
#define INIT                                                                   \
	"{" V ",\"id\":0,\"method\":\"initialize\",\"params\":"                \
	"{\"protocolVersion\":\"2025-06-18\"}}\n"
#define HELLO                                                                  \
	"{\"id\":0," V ",\"result\":{\"capabilities\":{\"tools\":"             \
	"{\"listChanged\":true}},\"protocolVersion\":\"2025-06-18\","          \
	"\"serverInfo\":{\"name\":\"ironcurtain\",\"version\":\"" IC_VERSION   \
	"\"}}}\n"

#define CALL(id, rest)                                                         \
	"{" V ",\"id\":" id ",\"method\":\"tools/call\",\"params\":{" rest     \
	"}}\n"
#define BADP(id, text)                                                         \
	"{\"error\":{\"code\":-32602,\"message\":\"Invalid params: " text      \
	"\"},\"id\":" id "," V "}\n"

/* The test's ends of the channels. */
extern struct chan *sup, *policy, *audit, *back[2];
extern uint64_t last_call; /* id of the last CALL */
/*
 * If set, auditd does not end a cancelled call at once, as it otherwise does.
 */
extern bool cancels_last;
extern char closed_why[256]; /* why a channel ended */

/* Set up the servers "fs" and "fs__deep". */
void set_up(void);
void tear_down(void);
/* Run the loop until nothing more happens. */
void turns(void);
int connect_agent(void);
void put(int fd, const char *text);
/*
 * Returns the output so far, followed by "<end>" if the connection is closed.
 */
const char *get(int fd);
const char *ask(int fd, const char *text);
/*
 * Returns the messages that peers received since the last call, one per line.
 */
const char *peers_saw(void);
void send_result(struct chan *from, uint64_t id, bool error, const char *json);
/* The same, for an error that came of the server's sandbox. */
void send_blocked(struct chan *from, uint64_t id, bool error, const char *json);
void send_answer(uint64_t id, const char *text);
/* The same, for a refusal that the log only counts. */
void send_counted(uint64_t id, const char *text);
void send_tools(const char *text, bool complete);

#endif
