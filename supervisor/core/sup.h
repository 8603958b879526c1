/* SPDX-License-Identifier: ISC */
/*
 * Internals of icsupervisor: one session, its processes, its pending calls, and
 * how it ends.
 */
#ifndef SUP_H
#define SUP_H

#include "base/paths.h"
#include "base/session.h"
#include "base/spawn.h"
#include "box/breakout.h"
#include "box/locate.h"
#include "box/view.h"
#include "common/confine/confine.h"
#include "common/ipc/chan.h"
#include "credential/credential.h"
#include "credential/proxy.h"
#include "credential/renew.h"
#include "files/adapter/adapter.h"
#include "files/config.h"
#include "files/options.h"
#include "files/providers/providers.h"
#include "files/servers.h"
#include "host/host.h"
#include "log/anchor.h"
#include "relay/terminal.h"
#include "topology.h"

#define SUP_MAX_CHILDREN (10U + 2 * PROTO_MAX_SERVERS + PROTO_MAX_PROVIDERS)
#define SUP_MAX_ALARMS 16U
#define SUP_SAID 3U
#define SUP_HELLO_MS 10000U
#define SUP_SERVERS_MS 30000U
#define SUP_CREDENTIAL_MS 60000U

/* A worker. */
struct child {
	enum role role;
	unsigned index;
	char name[96]; /* "auditd", "mcp-backd filesystem" */
	struct spawned sp;
	struct loop_io exit_io;
	struct loop_io log_io;
	int log;
	char line[1024]; /* an incomplete line of its log */
	size_t nline;
	bool cut;                   /* the rest of this line is dropped */
	char last[256];             /* its last log line */
	char before[SUP_SAID][256]; /* until READY: the lines before it */
	struct chan *chan;
	bool hello, dead;
	uint64_t stopped; /* loop_now() when it was first seen stopped; 0:
			     it runs */
	bool stopped_told;
	bool leaving, killed; /* told to end: its exit is expected */
	bool recorded;        /* the log has its workerEnd */
	/*
	 * Handle the exit of a worker that the session does not depend on. If
	 * this returns false, or is NULL, the session ends.
	 */
	bool (*exited)(struct child *);
	struct confine_state confine;
	int code, status; /* from waitid(2), once `dead` */
};

/* An MCP server. */
struct server {
	const struct server_def *def;
	struct program program;
	struct view view;
	struct spawned sp;
	struct loop_io exit_io;
	struct host_program host; /* if it runs without its sandbox */
	int theirs[3];            /* its stdio, until it runs */
	int door; /* its egress listener, until egressd has it */
	enum proto_state state;
	uint32_t tools, resources, prompts;
	uint8_t parts;    /* PROTO_PART_* */
	char version[33]; /* its revision of MCP, or "" */
	char text[512];   /* the reason why it is gone, or its own name */
	char ended[64];   /* "exited with status 1", or "" */
	bool usable;
	bool approved; /* the user approved its changed entry */
	bool again;    /* it died, and is started when it has ended */
	unsigned restarts;
};

/* An object that an instance may use (PROTO_OBJECT_*), opened and compared. */
struct object {
	enum proto_object kind;
	bool writable;
	char *path;  /* on the host, and in its view */
	char *mount; /* for a name, its directory; otherwise like `path` */
	int fd;      /* O_PATH, of `mount` */
	bool inside; /* a name in the workspace */
};

/* A server's instance for one call, and its mcp-backd. */
struct instance {
	uint64_t call; /* 0: free */
	unsigned of;   /* the server that it is an instance of */
	unsigned index;
	struct object objects[PROTO_MAX_OBJECTS];
	unsigned nobjects;
	struct child *back;
	int ours[3]; /* its stdio, until other processes have it */
	struct spawned sp;
	struct loop_io exit_io;
	struct loop_timer kill_timer;
	bool failed;  /* auditd was told; the order to end it will follow */
	bool up;      /* it runs, and auditd was told */
	bool dropped; /* the order to end it has come */
	bool free;    /* nobody has a channel to its mcp-backd */
};

/* Reasons of a provider's failures that are written to standard error. */
#define TROUBLE_REASONS 8U

/* The last failure of a provider; see hub/trouble.c. */
struct trouble {
	char text[300];
	uint64_t count; /* failures with that text; 0: never */
	uint64_t at;    /* on the loop's clock */
	int64_t until;  /* when it takes requests again, in seconds; or 0 */
	char said[TROUBLE_REASONS][300];
	unsigned nsaid; /* reasons reported so far */
};

struct key {
	struct credential cred;
	struct renewal renewal; /* renewal of a login */
	struct loop_io exit_io; /* exit of a credential command */
	struct host_command command;
	struct msg_KEY_TELL tell; /* all zero: not reported yet */
	bool known;
	bool locked; /* in an earlier run of the session */
	enum proto_key state;
	uint32_t length;
	char text[256];
	struct trouble trouble;
};

struct rules_file {
	char *path; /* NULL: no file of that kind */
	char *text;
	size_t len;
	uint8_t hash[32];
};

struct sup {
	struct loop loop;
	struct options opt;
	struct paths paths;
	struct config config;
	struct require require; /* by the command line and config.json */
	struct servers defs;
	struct guards guards;
	struct session session;
	struct anchor anchor;
	struct adapter adapter;
	struct providers providers;
	struct proxy proxy;
	unsigned approver; /* its provider's index + 1; 0: there is none */
	bool services;     /* the agent has those of config.json */
	struct rules_file rules[PROTO_RULES_LAST + 1];
	int workspace; /* O_PATH */
	char *workspace_path;
	bool read_only;     /* nothing in a sandbox can write the workspace */
	const char *inside; /* its path in the sandbox (box/inside.h) */
	struct host host;
	uint64_t began; /* clock_wall_us() */

	struct child children[SUP_MAX_CHILDREN];
	unsigned nchildren, nhello;
	struct server servers[PROTO_MAX_SERVERS];
	unsigned nservers;
	struct instance instances[PROTO_MAX_INSTANCES];
	struct key keys[PROTO_MAX_PROVIDERS];
	int listen_mcp, listen_mitm;
	int mounts; /* mountinfo, as long as policyd waits for its changes */
	struct terminal terminal;
	char *ca_pem;
	size_t ca_len;
	unsigned rules_sent, rules_good; /* files */
	bool rules_refused;
	char rules_text[2048];
	uint32_t rules_count;
	struct rules_file next[PROTO_RULES_LAST + 1]; /* being loaded */
	bool reloading;

	struct spawned agent;
	struct loop_io agent_io;
	struct loop_timer agent_timer;
	struct loop_io signal_io;
	struct loop_timer reserve_timer, closed_timer;

	char constitution[65]; /* the persona's, its SHA-256, or "" */
	/* The agent's own conversation, for session.json. */
	struct {
		char name[65]; /* or "" */
		bool talked;   /* it has begun */
	} conversation;

	bool logging; /* auditd has the log */
	bool logged;  /* auditd has written this run's first record */
	bool started, ready, agent_started, agent_ended;
	bool tools_told; /* policyd has told of the tools of every server */
	char audit_failed[256];
	struct msg_COUNTS counts;
	struct {
		char who[32], kind[32], text[512];
	} alarms[SUP_MAX_ALARMS];
	unsigned nalarms;

	/* The session's end: the first request wins. */
	bool ending;
	int end_status;
	const struct child *end_child; /* the worker that caused it, or NULL */
	char end_why[1024];
	/* A death that a person should look at before a resume; or "". */
	char end_evidence[256];
};

extern struct sup sup;

/*
 * Returns the command that logs in at the provider, after "icctl ", without
 * the name that it takes.
 */
static inline const char *
sup_login(unsigned provider)
{
	return sup.providers.list[provider].server != 0 ? "mcp login" : "login";
}

/* Returns that name: of a remote server, the one in mcp-servers.json. */
static inline const char *
sup_login_name(unsigned provider)
{
	const struct provider *p = &sup.providers.list[provider];

	return p->server != 0 ? sup.servers[p->server - 1].def->name : p->name;
}

/* child.c */
struct topology_size sup_size(void);

/* Start all workers. Returns 0, or -1 with the fault set. */
int children_spawn(struct fault *);
/*
 * Start another worker of that role in a running session. Returns NULL with the
 * fault set.
 */
struct child *child_start(
    enum role, unsigned index, const char *of, struct fault *);
/* Returns true if a signal has ended the worker that we did not send. */
bool child_crashed(const struct child *);
/* Report a worker that has crashed while the session ends. */
void child_late(struct child *);
/* Returns true if the worker was told to end, and did so properly. */
bool child_left(const struct child *);
/* Free the slot of a worker that has ended. */
void child_forget(struct child *);
/* Wait for every worker's HELLO. */
int children_hello(struct fault *);
struct child *child_find(enum role, unsigned index);
/* Send a message to a worker. A lost one is noticed by its exit. Takes `fd`. */
void child_send(
    enum role, unsigned index, enum msg_type, const void *msg, int fd);
/*
 * known.c: Tell a worker the secrets that it masks in the log, if the log is to
 * have none.
 */
void known_send(enum role, unsigned index);
/* Read the rest of its log. */
void child_drain(struct child *);
/* child_log.c */
void child_log_read(struct loop_io *, uint32_t events);
/* Write "; it last said: ..." or "", to append to a message. Returns `dst`. */
const char *child_said(const struct child *, char *dst, size_t cap);
/* Write the worker's earlier lines to the terminal, if the start failed. */
void child_log_tell(const struct child *);

/* handlers.c: the handlers for messages of workers. */
extern const struct chan_ops sup_chan_ops;

/* setup_peers.c */
int setup_peers(struct fault *);
/* Make the channels of a worker that was started later. */
int setup_peers_of(enum role, unsigned index, struct fault *);
/* setup_provider.c */
void setup_providers(void);
/* Announce an added provider whose keyd has said HELLO. */
int setup_provider(unsigned i, struct fault *);
/* Send the server that renews a login, which is a target of its own. */
void setup_token(unsigned i);
/* setup.c */
void setup_config(void);
void setup_start(void);
/* setup_roots.c */
void setup_roots(void);
void setup_roots_of(unsigned provider);
/* setup_wait.c: Wait for rules, CA and credentials. */
int setup_wait(struct fault *);

/* policy/rules.c: Find and read the files of the session's policy. */
int policy_rules_load(struct fault *);
/* Refuse policy files that the agent can write. */
int rules_refuse(const struct rules_file set[], struct fault *);
/*
 * Read a policy's files into set[]. A file files[kind] that is not NULL
 * replaces the session's own; files[PROTO_RULES_POLICY] may also be the name or
 * directory of a policy.
 */
int rules_find(
    struct rules_file set[], const char *const files[], struct fault *);
/*
 * Returns true if the policy keeps the workspace as it is. policyd judges the
 * file, also one that cannot be read here.
 */
bool rules_read_only(const struct rules_file set[]);
/* Send the texts, and free most of them. Returns the number of files. */
unsigned rules_send(struct rules_file set[]);
void policy_rules_free(struct rules_file set[]);

/*
 * policy/drift.c: Check that the rules were made from the present constitution.
 * Returns 0 (perhaps after a warning), or -1 with the fault set.
 */
int drift_check(const struct rules_file set[], const char *dir, struct fault *);

/* check.c: Print what a start found, for --check. */
void check_print(void);
/* Print an object as one line. Takes it. */
void check_line(struct json_object *);
/*
 * Find containers that were left behind, for --sweep, and print their ids.
 * Returns 0, or -1 with the fault set.
 */
int check_sweep(struct fault *);
/* Build, remove and list images, for --images. */
int check_images(struct fault *);

/* policy/reload.c */
/* Handle policyd's verdict on new rules. */
void reload_done(struct span warnings);
void reload_refused(const char *why);

/* policy/pins.c: the definitions of tools when they were first used. */
/*
 * Returns the tools in quarantine, or drifted, of that server and name (NULL:
 * any); if `whole`, with their definitions, old and new.
 */
struct json_object *pins_json(const char *server, const char *tool, bool whole);
/*
 * Trust a tool on the user's order. Returns NULL if policyd was told, or the
 * reason why not.
 */
const char *policy_pins_trust(
    const char *server, const char *tool, const uint8_t digest[32]);
void pins_send(void);
/* Hash the entry of a server; all zero for those of IronCurtain's own. */
void pins_command(const struct server *, uint8_t digest[32]);
/*
 * Count the tools in quarantine only because their server's entry was changed;
 * if `tool` is not NULL, only that one.
 */
unsigned pins_same(unsigned server, const char *tool);
/*
 * Remember the server's entry as approved and trust those tools. Returns NULL,
 * or why it holds in this session only.
 */
const char *pins_approve(unsigned server);
/* Returns -1 if policyd cannot send such a message. */
int pins_seen(const struct msg_TOOL_SEEN_SHOW *);

/* policy/noted.c: definitions that do not reach the agent as they are. */
/* Returns -1 if policyd cannot send such a message. */
int noted_take(const struct msg_TOOLS_NOTED_SHOW *);
/* Returns a list of them, of all servers. */
struct json_object *noted_json(void);

/* policy/pins_store.c: the file. */
int pins_load(struct fault *);
/*
 * Write pending changes now. Returns 0, or -1 if they are remembered for this
 * session only, which was reported.
 */
int pins_flush(void);

/* policy/entries.c: entries of servers that the user has changed. */
/* Approve those that the user approved before the start. */
void entries_start(void);
/* List those with tools in quarantine, of that server and tool (NULL: any). */
struct json_object *entries_json(const char *server, const char *tool);
/*
 * Approve an entry on the user's order. Returns NULL, or the reason why that
 * failed.
 */
const char *entries_trust(const char *server, const uint8_t digest[32]);

/* box/server.c */
int servers_prepare(struct fault *);
/* Warn of paths that rules allow and no view contains. */
void servers_unseen(void);
/* Make the servers' pipes and hand our ends to the workers. */
int servers_connect(struct fault *);
void servers_start(void);
bool servers_settled(void);
void servers_kill(void);
/* policyd says that the server died and may run again. */
void server_again(struct server *);
/*
 * Make one of a server's pipes; our end is non-blocking. Returns 0, or -1 with
 * errno set.
 */
int server_pipe(int *ours, int *theirs, bool we_write);

/* box/server_box.c */
/* Make the socket that the server's egressd will serve, if it has network. */
int server_door_open(unsigned server, struct fault *);
/* Start a server's program in a sandbox with this view; argv[0] is ignored. */
int server_spawn_box(const struct server *, const struct server_def *,
    const struct view *, char *const *argv, const int stdio[3],
    struct spawned *, struct fault *);

/* box/instance.c */
/* Carry out orders of auditd. They return -1 if the order is impossible. */
int instance_want(const struct msg_INSTANCE_WANT *);
int instance_kill(uint64_t call);
int instance_free_index(unsigned server);
/* Go on with an mcp-backd that was started later and has said HELLO. */
void instance_hello(const struct child *);
bool instance_has_pid(pid_t);
void instances_init(void);
void instances_kill(void);
void instances_reap(int ms);

/* box/instance_view.c */
/*
 * Open an object and compare it. Returns 0, or -1; `*changed` says whether it
 * is another object by now.
 */
int object_open(struct object *, const struct msg_INSTANCE_WANT *,
    bool *changed, struct fault *);
void object_close(struct object *);
/* Set the instance's view and arguments; the caller frees `argv`. */
int instance_view(
    const struct instance *, struct view *, char ***argv, struct fault *);

/* ready.c */
/* Report once which layers of confinement the system refuses. */
void ready_missing(void);
int ready_session_json(const char *state);
void ready_print(void);
void ready_notify(const char *text);
/* Tell systemd why this did not start, or why it ends. */
void ready_notify_why(const char *text);

/* watchdog.c: Begin to tell systemd that the loop turns, if it asks for that.
 */
void watchdog_start(void);

/*
 * summary.c: Print lines for the person who typed `icctl start`; otherwise
 * nothing.
 */
void summary_start(void);
void summary_end(void);

/* events.c: icsupervisor's own audit records. */
struct value;
/* Record an event with this detail, an object. */
void event_send(const char *event, const struct value *detail);
struct value_pool;
/* Add a member to a detail; the text is copied, and made printable. */
void event_put_text(
    struct value_pool *, struct value *, const char *key, const char *text);
void event_put_number(
    struct value_pool *, struct value *, const char *key, int64_t);
void event_start(void);
/* `what` is "warning", "used up" or "set". */
void event_turn(uint32_t turn, struct span message);
void event_budget(const char *what, const char *key, const char *text);
/* A host was added to the session, or removed. */
void event_destination(bool added, unsigned provider, const char *host);
/* A credential was renewed, replaced or refused. */
void event_credential(unsigned provider, const char *what, const char *why);
/* New rules were requested; new rules were refused, and why. */
void event_reload(const struct rules_file set[], int64_t pid);
void event_reload_refused(const char *why);
/* Record workerEnd for a worker whose end does not end the session. */
void event_worker(struct child *);
/* A worker has been stopped by a signal. */
void event_stopped(const struct child *);
/* The break-out test has passed. */
void event_breakout(const struct breakout *);
/* The log of earlier runs is broken. */
void event_log_broken(const char *why);
/*
 * Record workerEnd of the worker that caused the end and of those that have
 * crashed since, and then stop, through auditd.
 */
void event_end(void);
/* Append the same records directly, because auditd cannot. */
void event_closing(void);

/* ending.c */
/*
 * Request the end of the session with this status and reason. `child` is the
 * worker that caused it, or NULL.
 */
void end_request(int status, const struct child *, const char *, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * The session was told to stop, as if by the signal `sig`. Its status is 0
 * without an agent, otherwise 128 + `sig`.
 */
void end_stop(int sig, const char *who, ...)
    __attribute__((format(printf, 2, 3)));
/* end.c: End everything. Returns the exit status. */
int end_run(void);

/*
 * start.c: Start everything up to READY. Returns 0, or -1 with the fault set
 * and the exit status in `*status`.
 */
int start_session(int *status, struct fault *);

/* box/orient.h, box/runtime.h and control/ have headers of their own. */

/* note.c: Write to session.log; sup_warn() also to the terminal. */
void sup_note(const char *, ...) __attribute__((format(printf, 1, 2)));
/*
 * handlers.c: Raise an alarm on standard error, in `icctl status` and in every
 * `icctl watch`.
 */
void sup_alarm(const char *who, const char *kind, const char *text);
/* The same of text that a worker sent. */
void sup_alarm_of(struct span who, struct span kind, struct span text);

/* stopped.c: Check whether a worker was stopped or continued. */
void stopped_look(void);

void sup_warn(const char *, ...) __attribute__((format(printf, 1, 2)));

#endif
