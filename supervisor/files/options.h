/* SPDX-License-Identifier: ISC */
/* The command line of icsupervisor. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "common/ipc/proto.h"
#include "files/publish_option.h"
#include "files/require.h"

/* Exit statuses of icsupervisor(8), apart from the agent's own. */
enum sup_exit {
	SUP_EXIT_OK = 0,      /* asked to stop; or the agent exited with 0 */
	SUP_EXIT_USAGE = 64,  /* command line */
	SUP_EXIT_FAILED = 70, /* a process of the session ended or misbehaved */
	SUP_EXIT_OS = 71,   /* the system refused: no Landlock, no disk, ... */
	SUP_EXIT_BUSY = 75, /* another icsupervisor uses that directory */
	SUP_EXIT_CONFIG = 78, /* configuration, policy, credential, workspace */
	SUP_EXIT_TIME = 124,  /* the session's or the turn's time is used up */
	SUP_EXIT_LIMIT = 137, /* killed over a limit of memory or disk */
};

enum options_runtime {
	RUNTIME_BWRAP,
	RUNTIME_DOCKER,
	RUNTIME_PODMAN,
	RUNTIME_NONE,
	RUNTIME_COUNT, /* as configured, or the first one */
};

/* Returns "bwrap", "docker", ... */
const char *options_runtime_name(enum options_runtime);
/* Returns RUNTIME_COUNT if there is no runtime of this name. */
enum options_runtime options_runtime_find(const char *name);

/* How the sockets of a session reach its sandbox. */
enum options_transport {
	TRANSPORT_UNIX,
	TRANSPORT_TCP,
	TRANSPORT_COUNT, /* as configured, or the first one */
};

/* Returns "unix" or "tcp". */
const char *options_transport_name(enum options_transport);

#define OPTIONS_KEPT 64U
#define OPTIONS_MAX_WITH 64U
#define OPTIONS_MAX_COVERS 32U

struct options {
	bool verbose;    /* print the log's last hash under a viewer, too */
	bool quiet;      /* print no lines about the session */
	bool transcript; /* keep the agent's lines as text */
	bool sockets;    /* accept sockets of the host in the workspace */
	struct require require;
	const char *session_dir;
	const char *unit; /* the session that a unit runs; NULL: no unit */
	const char *config;
	const char *agent;
	const char *model;
	const char *workspace;
	bool read_only;                /* the workspace was named as DIR:ro */
	char config_name[PATH_MAX];    /* an absolute one, for `config` */
	char workspace_name[PATH_MAX]; /* DIR of DIR:ro, for `workspace` */
	const char *clone;             /* DIR[#REF] or a URL; NULL: no clone */
	bool changes;                  /* with what is in no commit of DIR */
	const char *with[OPTIONS_MAX_WITH];
	size_t nwith;
	const char *cover[OPTIONS_MAX_COVERS]; /* below the workspace */
	size_t ncover;
	const char *libexecdir;
	const char *policy;
	const char *persona; /* a name, or NULL */
	const char *profile; /* a name or directory; NULL: as configured */
	const char *task;
	const char *viewer; /* binary of icctl start; NULL: our own */
	char **command;     /* after --; NULL: none */
	enum options_runtime runtime;
	enum options_transport transport; /* for a container */
	const char *image; /* for a container; NULL: as configured */
	bool ask;
	/* --open-hosts: -1 if it is not given; else whether it says "ask" */
	int open_hosts;
	bool person;       /* somebody is at the terminal of icctl start */
	bool same_path;    /* the agent sees the workspace at its own path */
	bool project_home; /* keep the agent's home for this workspace */
	bool acp;          /* an editor talks to the agent */
	bool conversation; /* a turn for each message */
	bool one_turn;     /* ... and one message only, which is the task */
	bool resume;       /* go on with an earlier run, as icctl resume asks */
	bool after_crash;  /* ... although its death is evidence */
	bool keep_grants;  /* ... with its recent approvals, unasked */
	/* ID:HASH of its approvals that the person confirmed. */
	const char *kept[OPTIONS_KEPT];
	size_t nkept;
	bool print_ready;
	bool
	    attack_only; /* the break-out test, as breakout.json, and the end */
	bool check;      /* start nothing; print what was found */
	/* Find containers that were left behind: "list" or "remove" them. */
	const char *sweep;
	/* Do what this file says about images, and list them. */
	const char *images;
	/*
	 * Offer this provider alone, for its trial; NULL: an ordinary session.
	 */
	const char *trial;
	/*
	 * A session of `icctl policy compile`: its budget is "policyBudget",
	 * and MCP servers are started only if `policy_servers`.
	 */
	bool policy_work, policy_servers;
	const char *unsandboxed[PROTO_MAX_SERVERS];
	size_t nunsandboxed;
	/* SERVER:HASH of entries that the user approved in icctl start. */
	bool counted; /* `icctl start` made it: maxConcurrentSessions holds */
	const char *approved[PROTO_MAX_SERVERS];
	size_t napproved;
	struct publish_option publish[PROTO_MAX_PORTS];
	unsigned npublish;
};

enum options_result {
	OPTIONS_RUN,
	OPTIONS_DONE, /* --help or --version was printed */
	OPTIONS_BAD,  /* the fault says why */
};

enum options_result options_parse(
    struct options *, int argc, char **argv, struct fault *);

#endif
