/* SPDX-License-Identifier: ISC */
/*
 * The session with one MCP server, a state machine: starting, listing, ready,
 * gone; or died, until it runs again. Holds the server's tool definitions.
 * Everything the server said comes from its mcp-backd and is as untrusted as
 * the server.
 */
#ifndef SESSION_H
#define SESSION_H

#include "common/buf.h"
#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "common/loop.h"
#include "compose.h"
#include "parts/parts.h"

#define SESSION_MAX_TOOLS 2000U
#define SESSION_MAX_PAGES 100U
#define SESSION_MAX_POOL ((size_t)24 << 20)
#define SESSION_LIST_MS                                                        \
	30000U                  /* publish the list then, complete or          \
				   not */
#define SESSION_RELIST_MS 1000U /* minimum time between two listings */
#define SESSION_RESTARTS 2U     /* restarts of a server that dies */
#define SESSION_AWAY_MS                                                        \
	2000U                      /* a remote server that cannot be           \
				      reached is asked again after this        \
				      time, twice that, ... */
#define SESSION_AWAY_MAX_MS 60000U /* ... and this at most */
#define SESSION_QUIET_MS                                                       \
	600000U          /* a remote server that kept its                      \
			    session for so long may begin                      \
			    another one as if it were the first */
#define SESSION_SUBS 64U /* subscriptions that may be ended */
#define SESSION_PROBE_MS                                                       \
	2000U                       /* time for server/discover, after         \
				       which `initialize` is sent, too */
#define SESSION_PROBE_AFAR_MS 5000U /* the same for a remote server */
#define SESSION_LISTEN_MS                                                      \
	5000U                          /* before an ended subscription is      \
					  begun again; twice as long each      \
					  time, unless it had lasted */
#define SESSION_LISTEN_LONG_MS 600000U /* the longest wait */
#define SESSION_LASTED_MS 60000U
#define SESSION_ANSWERS                                                        \
	100U                     /* answers to its requests, in a              \
				    burst ... */
#define SESSION_ANSWERS_RATE 20U /* ... and per second */

struct policyd_env;

/*
 * The limits on definitions: of one tool, of one server, and of the whole list
 * that the agent gets, in bytes of JSON.
 */
struct session_limits {
	size_t tool, server, all;
};

struct session_tool {
	struct span name;            /* as its server has it */
	struct span full;            /* as the agent has it; tool_name.h */
	struct span shown;           /* the tool's part of `full` */
	const struct value *schema;  /* an object */
	struct span json;            /* as shown to the agent */
	struct span pinned;          /* as its server wrote it; pins.h */
	struct span line;            /* as told to the agent; see told.c */
	uint8_t digest[32];          /* covers `pinned` and the server's
					command */
	uint8_t defined[32];         /* covers `pinned` */
	bool as_pinned;              /* only the command is another one */
	enum proto_tool state, told; /* pins.h */
	bool crowded;                /* without room in the whole list */
	bool hidden;                 /* the person does not want it listed */
	bool words;                  /* no tool: its server's instructions */
};

/* A definition that does not reach the agent as its server wrote it. */
struct tool_note {
	struct span tool; /* printable */
	struct span full; /* its name for the agent if that is another */
	struct span why;  /* printable, or empty */
	bool left;        /* the tool is left out */
};

#define TOOL_NOTES 100U /* kept for one server; more are counted */

struct session_tools {
	struct value_pool *pool;
	struct session_tool *list; /* sorted by name when complete */
	size_t n;
	size_t seen;  /* definitions, with those left out */
	size_t bytes; /* sum of the tools' `json` */
	bool renamed; /* some tool is not named as shown */
	bool mirrors; /* parameters may be wanted in headers, too */
	struct tool_note notes[TOOL_NOTES];
	unsigned nnotes, more;
};

/* A subscription to a resource that was allowed; parts_subs.c. */
struct session_sub {
	uint8_t digest[32]; /* the call's */
	uint64_t call;
	char *uri;   /* the server's own; NULL: free */
	bool joined; /* its own request is not open any more */
};

/* The revision of a server, as far as it is known; era.c. */
enum session_era {
	ERA_UNKNOWN,
	ERA_OLD,    /* it begins with `initialize` */
	ERA_MODERN, /* COMPOSE_MODERN */
};

struct session {
	struct policyd_env *env;
	uint16_t index;
	bool used;
	enum proto_state state;
	char text[513];                 /* the reason if it is gone, else its
					   name */
	struct session_tools tools;     /* in force */
	struct session_tools next;      /* being listed */
	uint8_t noted[32];              /* digest of the last TOOLS_NOTED */
	unsigned nnoted;                /* how many there were */
	unsigned crowded;               /* tools without room in the list */
	char *only[PROTO_MAX_PATTERNS]; /* patterns of tools that are listed */
	unsigned nonly;                 /* 0: all are */
	bool listing, again;
	uint32_t seq; /* the page that is awaited */
	unsigned pages;
	struct loop_timer relist;
	struct session_parts parts_of;
	unsigned told_resources, told_prompts; /* as last said */
	struct session_sub subs[SESSION_SUBS]; /* those that it was sent last */
	unsigned nsubs;
	bool listed; /* was ready once */
	unsigned restarts;
	unsigned away;      /* attempts to reach it */
	uint64_t restarted; /* loop_now() of the last */
	uint8_t parts;      /* PROTO_PART_*, as it declares them */
	char version[33];   /* its revision of MCP, or "" */
	enum session_era era;
	bool modern;                 /* it is spoken to in that revision */
	bool probing;                /* server/discover waits for an answer */
	bool probed;                 /* this process was sent it */
	bool greeted;                /* ... and `initialize` */
	bool unanswered;             /* server/discover has no answer yet */
	char refused[257];           /* why it refused `initialize`, or "" */
	uint8_t listen;              /* PROTO_LISTEN_*: what it tells of */
	uint32_t listen_seq;         /* the open subscription, or the last */
	uint64_t listened;           /* loop ms when it began ... */
	uint32_t listen_wait;        /* ... and ms before the next, or 0 */
	struct loop_timer era_timer; /* ends the probe; or listens again */
	uint32_t ttl, next_ttl;      /* its list of tools may be kept so long,
					in ms */
	char words[PROTO_MAX_WORDS + 1]; /* its instructions, or "" */
	unsigned tokens;
	uint64_t token_time;
	uint64_t dropped; /* requests beyond the rate */
};

/* Returns true for a remote server that could not be reached so far. */
static inline bool
session_is_away(const struct session *s)
{
	return s->away != 0 && !s->listed;
}

void session_start(struct policyd_env *, uint16_t index);
/*
 * Set the tools of a server that is not listed. Returns 0, or -1 if they cannot
 * be read.
 */
int session_builtin(
    struct policyd_env *, uint16_t index, const struct value *array);
void session_fail(struct policyd_env *, uint16_t index, struct span text);
/*
 * The server died. If it was ready once and is not shipped with IronCurtain, it
 * is started again, at most SESSION_RESTARTS times. Its calls are over, and new
 * ones are refused until it has listed its tools again.
 */
void session_died(struct policyd_env *, uint16_t index, struct span text);
/* The server was started again. */
void session_again(struct policyd_env *, uint16_t index);
void session_init_result(
    struct policyd_env *, uint16_t index, const struct msg_INIT_RESULT *);
void session_discovered(
    struct policyd_env *, uint16_t index, const struct msg_DISCOVERED *);
/*
 * The server has ended a subscription to its lists; or, if seq is 0, the one to
 * a resource that `call` began.
 */
void session_listen_end(
    struct policyd_env *, uint16_t index, uint32_t seq, uint64_t call);
void session_tools_page(
    struct policyd_env *, uint16_t index, const struct msg_TOOLS_PAGE *);
void session_list_changed(
    struct policyd_env *, uint16_t index, enum proto_changed);
/* Ask all servers to log from this level on; see PROTO_LEVEL_LAST. */
void session_log_level(struct policyd_env *, uint8_t level);
/* session_request.c: answer a request of the server, or refuse it. */
void policyd_session_request(
    struct policyd_env *, uint16_t index, const struct msg_SERVER_REQUEST *);
/* Count an answer to the server's requests. Returns false if it had too many.
 */
bool session_may_answer(struct policyd_env *, uint16_t index);
/* Returns true if the server may ask a person. */
bool session_elicits(const struct policyd_env *, uint16_t index);
/* Returns the form of requests to the server. */
struct compose_form session_form(const struct session *);
/* Returns true if the server has /workspace in its view. */
bool session_sees_workspace(const struct policyd_env *, uint16_t index);
/* Returns true if the server has no process to send to. */
bool session_is_dead(const struct policyd_env *, uint16_t index);
void session_free(struct session *);
/* Resources or prompts were counted: report it if the server is ready. */
void session_counted(struct session *);
/* Send mcp-proxyd the list of tools that the agent may see. */
void session_publish(struct policyd_env *);
/* The user trusts a tool: see pins_trust(). */
void session_trust(struct policyd_env *, const struct msg_TRUST_GO *);

/* era.c: the revision that a server speaks. */
/* Find what earlier sessions know about it. */
void era_recall(struct session *);
/* Begin with the server: ask for its revision unless it is known. */
void era_begin(struct session *);
enum era_next {
	ERA_WAIT, /* nothing yet */
	ERA_GO,   /* the server is ready to be asked for its lists */
	ERA_FAIL, /* it is of no use, for the reason in the message */
};
/* Take the answer to that. */
enum era_next era_discovered(struct session *, const struct msg_DISCOVERED *);
/*
 * The server refused `initialize`. Returns true if the answer to
 * server/discover decides: it is sent now if it was not before, and one to a
 * remote server may still be on its way.
 */
bool era_refused(struct session *, const char *why);
/*
 * The server has ended. Returns true if that may be because it was asked for
 * its revision, and it can be started again.
 */
bool era_died(struct session *);
/* The session is over, or a process of it. */
void era_end(struct session *);
/*
 * A subscription is over; its arguments are those of session_listen_end().
 * Returns true if it was an open one: it is begun again later, and some change
 * may be missed until then.
 */
bool era_listen_ended(struct session *, uint32_t seq, uint64_t call);
/* Add the server's revision to its definitions, so that it is pinned. */
#define TOOLS_REVISION "(revision)"
void era_pin(struct session *);

/* session_send.c: send the line in env->line to the server. */
void session_send(struct policyd_env *, uint16_t index, const char *what);
/* Send the line, which cancels this call. */
void session_send_cancel(struct policyd_env *, uint16_t index, uint64_t call);
/*
 * Returns the parameters that a remote server wants in headers, as the line
 * before the request of that id has them, at most SESSION_PARAMS bytes; NULL:
 * none, or with `bad` set: this one cannot be in a header. The caller frees it.
 */
#define SESSION_PARAMS ((size_t)8192)
char *session_params(const struct session *, struct span tool,
    const struct value *args, struct span *bad);
void session_send_params(
    struct policyd_env *, uint16_t index, uint64_t id, const char *params);
/*
 * session_request.c: ask the remote server for a stream of events: its own, or the rest of the one
 * that has the answer to a call.
 */
void session_events(
    struct policyd_env *, uint16_t index, const struct msg_EVENTS_END *);
/* Returns true for a protocol version that policyd speaks. */
bool session_version_known(struct span version);
/* Returns true if the request's id may be sent back. */
bool session_rid_good(bool string, struct span rid);

/* tools.c: add a page of tools. Returns 0, or -1 if it cannot be read. */
int tools_add_page(struct session_tools *, const struct session_limits *,
    struct span server, const struct value *array);
/*
 * Add the server's instructions, which are pinned as a tool's definition is,
 * under a name that no tool has.
 */
#define TOOLS_WORDS "(instructions)"
void tools_add_words(struct session_tools *, struct span server,
    const char *name, struct span words);
void tools_sort(struct session_tools *);
/* Returns NULL if no tool has that name; its server's own. */
const struct session_tool *tools_find(
    const struct session_tools *, struct span name);
/*
 * Returns the tool's own name for the one that the agent has, or the same name
 * if there is no such tool.
 */
struct span tools_own_name(const struct session_tools *, struct span shown);
void tools_free(struct session_tools *);

/* tools_list.c: what the agent is offered. */
/* Returns true if the tool may be used and there is room for it. */
bool tools_offered(const struct session_tool *);
/*
 * List only those of the server's tools that match this or another pattern.
 * Returns 0, or -1 if there are too many.
 */
int tools_only(struct session *, struct span pattern);
/* Find the tools that are not listed for that reason. */
void tools_hide(struct session *);
/*
 * Find the tools for which the whole list has no room: no server gets less than
 * its share because of another one. Returns true if that changed.
 */
bool tools_make_room(struct policyd_env *);

/* tool_notes.c */
/* Note it; a tool that is left out takes the place of one that is not. */
void tool_note_add(struct session_tools *, struct span tool, struct span full,
    bool left, const char *why);
/* Tell icsupervisor of the server's notes if they have changed. */
void tool_notes_send(struct session *);

/*
 * told.c: The tools as the agent is told of them, in a text of limited size.
 * The text is in one line, because an agent may pass on the first line alone.
 */
struct told_text {
	struct buf text, words;
	unsigned more, more_words; /* without room */
};
/* Append the line of the tool `def`, with the name that the agent has. */
void told_tool(struct buf *, struct span full, const struct value *def);
void told_begin(struct told_text *);
void told_add(struct told_text *, const struct session_tool *);
/* Add the instructions of a server, quoted and marked as its own words. */
void told_words(struct told_text *, struct span server, struct span words);
/* Send the text to mcp-proxyd and icsupervisor, and free it. */
void told_send(struct told_text *, struct policyd_env *, bool complete);

#endif
