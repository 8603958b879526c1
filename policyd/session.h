/* SPDX-License-Identifier: ISC */
/*
 * The session with one MCP server, as a state machine: starting, listing,
 * ready, gone; and died, until it runs again.  Holds its tool definitions.  What the server said comes from
 * its mcp-backd and is as untrusted as the server.
 */
#ifndef SESSION_H
#define SESSION_H

#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "common/loop.h"

#define SESSION_MAX_TOOLS	2000U
#define SESSION_MAX_PAGES	100U
#define SESSION_MAX_POOL	((size_t)24 << 20)
#define SESSION_LIST_MS		30000U	/* until the list is published anyway */
#define SESSION_RELIST_MS	1000U	/* between two listings */
#define SESSION_RESTARTS	2U	/* of a server that dies */
#define SESSION_ANSWERS		100U	/* to its requests, at once ... */
#define SESSION_ANSWERS_RATE	20U	/* ... and a second */

struct policyd_env;

struct session_tool {
	struct span name;
	const struct value *schema;	/* an object, or NULL */
	struct span json;		/* as the agent sees it */
	uint8_t digest[32];		/* of it and the server's command */
	enum proto_tool state, told;	/* pins.h */
};

struct session_tools {
	struct value_pool *pool;
	struct session_tool *list;	/* sorted by name when complete */
	size_t n;
};

struct session {
	struct policyd_env *env;
	uint16_t index;
	bool used;
	enum proto_state state;
	char text[513];			/* why it is gone, or its name */
	struct session_tools tools;	/* in force */
	struct session_tools next;	/* while it is listing */
	bool listing, again;
	uint32_t seq;			/* of the page we wait for */
	unsigned pages;
	struct loop_timer relist;
	bool listed;			/* it was ready once */
	unsigned restarts;
	unsigned tokens;
	uint64_t token_time;
	uint64_t dropped;		/* requests beyond the rate */
};

void session_start(struct policyd_env *, uint16_t index);
/* One that needs no listing: these are its tools. -1: they cannot be taken. */
int session_builtin(struct policyd_env *, uint16_t index,
    const struct value *array);
void session_fail(struct policyd_env *, uint16_t index, struct span text);
/*
 * It died.  One that was ready once and is not our own is started again, at
 * most SESSION_RESTARTS times; its calls are over, and new ones are refused
 * until it has listed its tools again.
 */
void session_died(struct policyd_env *, uint16_t index, struct span text);
/* It runs again. */
void session_again(struct policyd_env *, uint16_t index);
void session_init_result(struct policyd_env *, uint16_t index,
    const struct msg_INIT_RESULT *);
void session_tools_page(struct policyd_env *, uint16_t index,
    const struct msg_TOOLS_PAGE *);
void session_list_changed(struct policyd_env *, uint16_t index);
void session_request(struct policyd_env *, uint16_t index,
    const struct msg_SERVER_REQUEST *);
/* Does it have no process that could be told anything? */
bool session_is_dead(const struct policyd_env *, uint16_t index);
void session_free(struct session *);
/* The list that the agent may see, to mcp-proxyd. */
void session_publish(struct policyd_env *);
/* The user trusts a tool: see pins_trust. */
void session_trust(struct policyd_env *, const struct msg_TRUST_GO *);

/* session_send.c: a line of the session, in env->line, to the server. */
void session_send(struct policyd_env *, uint16_t index, const char *what);
/* The same, cancelling this call. */
void session_send_cancel(struct policyd_env *, uint16_t index, uint64_t call);
/* Returns true if we speak that protocol version. */
bool session_version_known(struct span version);
/* Returns true if it is an id that may be written back. */
bool session_rid_good(const struct msg_SERVER_REQUEST *);

/* tools.c: a page into next. -1: it cannot be read. */
int tools_add_page(struct session_tools *, struct span server,
    const struct value *array);
void tools_sort(struct session_tools *);
/* NULL: there is none of that name. */
const struct session_tool *tools_find(const struct session_tools *,
    struct span name);
void tools_free(struct session_tools *);

#endif
