/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor's inside: one session, its processes, what waits for a person,
 * and how it ends.
 */
#ifndef SUP_H
#define SUP_H

#include "auditlog/anchor.h"
#include "box/locate.h"
#include "box/view.h"
#include "common/confine/confine.h"
#include "common/ipc/chan.h"
#include "config/adapter.h"
#include "config/config.h"
#include "config/paths.h"
#include "config/servers.h"
#include "credential/credential.h"
#include "credential/renew.h"
#include "host/host.h"
#include "options.h"
#include "providers/providers.h"
#include "proxy.h"
#include "relay/terminal.h"
#include "session.h"
#include "spawn.h"
#include "topology.h"

#define SUP_MAX_CHILDREN (7U + 2 * PROTO_MAX_SERVERS + PROTO_MAX_PROVIDERS)
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
	char line[1024]; /* of its log, not complete yet */
	size_t nline;
	bool cut;       /* the rest of this line is dropped */
	char last[256]; /* its last log line */
	char before[SUP_SAID][256]; /* until READY: those before it */
	struct chan *chan;
	bool hello, dead;
	uint64_t stopped;     /* loop_now() when it was seen so; 0: it runs */
	bool stopped_told;
	bool leaving, killed; /* told to end: its exit is no news */
	/*
	 * Takes the end of a worker that the session can do without. If it
	 * returns false, or is NULL, the session ends.
	 */
	bool (*exited)(struct child *);
	struct confine_state confine;
	int code, status; /* how it ended */
};

/* An MCP server. */
struct server {
	const struct server_def *def;
	struct program program;
	struct view view;
	struct spawned sp;
	struct loop_io exit_io;
	struct host_program host; /* if it runs without its sandbox */
	int theirs[3]; /* its stdio, until it runs */
	int door;      /* its egress listener, until egressd has it */
	enum proto_state state;
	uint32_t tools;
	char text[512]; /* why it is gone, or what it calls itself */
	char ended[64]; /* "exited with status 1", or "" */
	bool usable;
};

/* What an instance is given (PROTO_OBJECT_*), opened and compared. */
struct object {
	enum proto_object kind;
	bool writable;
	char *path;  /* on the host, and in its view */
	char *mount; /* of a name: its directory; else path */
	int fd;      /* O_PATH, of mount */
};

/* A server's instance for one call, and its mcp-backd. */
struct instance {
	uint64_t call; /* 0: free */
	unsigned of;   /* the server that it stands for */
	unsigned index;
	struct object objects[PROTO_MAX_OBJECTS];
	unsigned nobjects;
	struct child *back;
	int ours[3]; /* its stdio, until others have it */
	struct spawned sp;
	struct loop_io exit_io;
	struct loop_timer kill_timer;
	bool failed;  /* auditd was told; the order to end it follows */
	bool up;      /* auditd was told */
	bool dropped; /* that order came */
	bool free;    /* nobody has a channel to its mcp-backd */
};

/* A provider's keyd, as far as we are told. */
#define TROUBLE_REASONS 8U

/* Why a provider failed last; control/trouble.c. */
struct trouble {
	char text[300];
	uint64_t count; /* with that text; 0: never */
	uint64_t at;    /* of the loop's clock */
	char said[TROUBLE_REASONS][300];
	unsigned nsaid; /* lines that were written, ever */
};

struct key {
	struct credential cred;
	struct renewal renewal; /* of a login */
	struct loop_io exit_io; /* of a credential command */
	struct host_program command;
	struct msg_KEY_TELL tell; /* all zero: not told yet */
	bool known;
	enum proto_key state;
	uint32_t length;
	char text[256];
	struct trouble trouble;
};

struct rules_file {
	char *path; /* NULL: none of that kind */
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
	struct rules_file rules[PROTO_RULES_LAST + 1];
	int workspace; /* O_PATH */
	char *workspace_path;
	struct host host;
	uint64_t began; /* clock_wall_us */

	struct child children[SUP_MAX_CHILDREN];
	unsigned nchildren, nhello;
	struct server servers[PROTO_MAX_SERVERS];
	unsigned nservers;
	struct instance instances[PROTO_MAX_INSTANCES];
	struct key keys[PROTO_MAX_PROVIDERS];
	int listen_mcp, listen_mitm;
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

	bool logging; /* auditd has the log */
	bool logged;  /* and has written this run's first record */
	bool started, ready, agent_started, agent_ended;
	char audit_failed[256];
	struct msg_COUNTS counts;
	struct {
		char who[32], kind[32], text[512];
	} alarms[SUP_MAX_ALARMS];
	unsigned nalarms;

	/* How it ends: the first that asks wins. */
	bool ending;
	int end_status;
	const struct child *end_child; /* whose end it was, or NULL */
	char end_why[1024];
};

extern struct sup sup;

/* How much of everything runs. */
struct topology_size sup_size(void);

/* child.c */
int children_spawn(struct fault *);
/* Another worker of that role, at run time. NULL: not started. */
struct child *child_start(
    enum role, unsigned index, const char *of, struct fault *);
/* It was told to end, and ended as it was told. */
bool child_left(const struct child *);
/* Frees the place of a worker that has ended. */
void child_forget(struct child *);
/* Waits until every HELLO came. */
int children_hello(struct fault *);
struct child *child_find(enum role, unsigned index);
/* To a worker; a lost one is noticed by its exit. Takes fd. */
void child_send(
    enum role, unsigned index, enum msg_type, const void *msg, int fd);
/* Reads what is left of its log. */
void child_drain(struct child *);
/* child_log.c */
void child_log_read(struct loop_io *, uint32_t events);
/* "; it last said: ..." or "", for a text about it. */
const char *child_said(const struct child *, char *dst, size_t cap);
/* To the terminal: what else it said before it ended at the start. */
void child_log_tell(const struct child *);

/* handlers.c: what workers tell us. */
extern const struct chan_ops sup_chan_ops;

/* setup_peers.c */
int setup_peers(struct fault *);
/* Those of one worker that was started later. */
int setup_peers_of(enum role, unsigned index, struct fault *);
/* setup_provider.c */
void setup_providers(void);
/* A provider that was added, whose keyd has said HELLO. */
int setup_provider(unsigned i, struct fault *);
/* setup.c */
void setup_config(void);
void setup_start(void);
/* setup_roots.c */
void setup_roots(void);
void setup_roots_of(unsigned provider);
/* The system's and the corporate proxy's, for the caller to free; or NULL. */
char *setup_roots_system(size_t *len);
/* setup_wait: rules, CA and credentials are there. */
int setup_wait(struct fault *);

/* rules.c: the files of a policy. */
int rules_load(struct fault *);
/*
 * Into set[]: files[kind], where it is not NULL, instead of the session's own;
 * files[PROTO_RULES_POLICY] may also be a policy's name or directory.
 */
int rules_find(
    struct rules_file set[], const char *const files[], struct fault *);
/* Sends and frees their texts; how many. */
unsigned rules_send(struct rules_file set[]);
void rules_free(struct rules_file set[]);

/* drift.c: is it the constitution that the rules were made from? */
int drift_check(
    const struct rules_file set[], const char *dir, struct fault *);

/* reload.c */
/* What policyd says of rules sent to the running session. */
void reload_done(struct span warnings);
void reload_refused(const char *why);

/* pins.c: what tools were when they were first used. */
int pins_load(struct fault *);
/*
 * The tools that are in quarantine, or drifted, of that server and name (NULL:
 * of any); whole: with their definitions, old and new.
 */
struct json_object *pins_json(
    const char *server, const char *tool, bool whole);
/* The user trusts it. NULL: told policyd; else why not. */
const char *pins_trust(
    const char *server, const char *tool, const uint8_t digest[32]);
void pins_send(void);
void pins_command(const struct server *, uint8_t digest[32]);
/* -1: such a message may not be. */
int pins_seen(const struct msg_TOOL_SEEN_SHOW *);
/* Writes what is not yet written; at the end of the session. */
void pins_flush(void);

/* server.c */
int servers_prepare(struct fault *);
/* Warns of what rules allow and no view holds. */
void servers_unseen(void);
/* The socket behind which its egressd will be, if it has network. */
int server_door_open(unsigned server, struct fault *);
/* Makes their pipes and hands our ends over. */
int servers_connect(struct fault *);
void servers_start(void);
bool servers_settled(void);
void servers_kill(void);
/* One of its three pipes; ours is non-blocking. -1 errno. */
int server_pipe(int *ours, int *theirs, bool we_write);
/* Starts a server's program in a box with this view; argv[0] is not used. */
int server_spawn_box(const struct server *, const struct server_def *,
    const struct view *, char *const *argv, const int stdio[3],
    struct spawned *, struct fault *);

/* instance.c */
/* Orders of auditd. -1: impossible. */
int instance_want(const struct msg_INSTANCE_WANT *);
int instance_kill(uint64_t call);
int instance_free_index(unsigned server);
/* An mcp-backd that was started at run time is confined. */
void instance_hello(const struct child *);
bool instance_has_pid(pid_t);
void instances_init(void);
void instances_kill(void);
void instances_reap(int ms);

/* instance_view.c */
/* Opens and compares. -1: *changed says whether it is another one now. */
int object_open(struct object *, const struct msg_INSTANCE_WANT *,
    bool *changed, struct fault *);
void object_close(struct object *);
/* What it sees and what it is started with; argv is fresh memory. */
int instance_view(const struct instance *, struct view *, char ***argv,
    struct fault *);

/* ready.c */
/* Says once which layers of confinement the system refuses. */
void ready_missing(void);
int ready_session_json(const char *state);
void ready_print(void);
void ready_notify(const char *text);

/* events.c: our own records. */
void event_start(void);
/* what: "warning", "used up", "set". */
void event_budget(const char *what, const char *key, const char *text);
/* A host was added in the session, or removed. */
void event_destination(bool added, unsigned provider, const char *host);
/* A credential was renewed, replaced, refused. */
void event_credential(unsigned provider, const char *what, const char *why);
/* Somebody asks for other rules; and what is wrong with them. */
void event_reload(const struct rules_file set[], int64_t pid);
void event_reload_refused(const char *why);
/* workerEnd of one whose end is not the session's. */
void event_worker(const struct child *);
/* Somebody has stopped it. */
void event_stopped(const struct child *);
/* workerEnd, if c is not NULL, and stop: through auditd. */
void event_end(const struct child *c);
/* The same, appended by ourselves: auditd cannot. */
void event_closing(const struct child *c);

/* ending.c */
/* Ends the session with this status, and says why in the log. */
void end_request(int status, const struct child *, const char *, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * The session was told to stop, as if by the signal `sig`. Its status is 0
 * without an agent, else 128 + `sig`.
 */
void end_stop(int sig, const char *who, ...)
    __attribute__((format(printf, 2, 3)));
/* end.c: ends everything. Returns the exit status. */
int end_run(void);

/* start.c: everything up to READY. -1: *status is what to exit with. */
int start_session(int *status, struct fault *);

/* approvals.c, control.c, orient.c, runtime.c have headers of their own. */

/* Into session.log, and to the terminal if it matters. */
void sup_note(const char *, ...) __attribute__((format(printf, 1, 2)));
/* An alarm: to standard error, `icctl status` and every `icctl watch`. */
void sup_alarm(const char *who, const char *kind, const char *text);

/* stopped.c: looks whether a worker was stopped, or goes on */
void stopped_look(void);

void sup_warn(const char *, ...) __attribute__((format(printf, 1, 2)));

#endif
