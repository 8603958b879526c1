/* SPDX-License-Identifier: ISC */
/*
 * The state that decisions are made from: the three policy files, the servers
 * and their views, protected paths, settings. It knows nothing of channels, so
 * that tests and `icctl policy eval` run the same code as policyd.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "common/ipc/proto.h"
#include "common/mask/mask.h"
#include "common/narrow.h"
#include "engine/annot.h"
#include "engine/path.h"
#include "engine/rules.h"

#define ENGINE_MAX_PROTECT 256U
#define VIRTUAL_NAME "proxy"	/* reserved: no configured server has this
				   name */

struct server {
	bool used;
	char *name;
	struct span cwd;	/* in the view; owned by the server */
	bool trusted;
	bool is_git;
	bool internal;		/* icgit: only policyd calls it */
	bool own;		/* shipped with IronCurtain: its tools are
				   not pinned */
	bool virtual;		/* has no process: virtual.h */
	unsigned reach;		/* bits of enum proto_reach */
	uint8_t command[32];	/* SHA-256 of the command */
	struct view view;
	struct match_set *domains;	/* the domains that it may reach;
					   NULL: any */
};

/* Returns true if all that the server is sent leaves the machine. */
static inline bool
engine_afar(const struct server *s)
{
	return s != NULL && (s->reach & PROTO_REACH_AFAR) != 0;
}

/*
 * Returns true if the rule does not count here: only one that names a remote
 * server allows what that is sent.
 */
static inline bool
engine_idle(const struct rule *r, const struct server *s)
{
	return r->then == PROTO_ALLOW && r->servers == NULL && engine_afar(s);
}

/* The sets and the place that a rule matches, derived from its text. */
struct rule_sets {
	uint32_t place;
	const struct match_set *domains;
	const struct match_set **lists;
};

struct engine {
	struct server servers[PROTO_MAX_SERVERS];
	struct span workspace;	/* host directory of the sandbox; p == NULL:
				   none */
	char *home;
	uint32_t hold_ms;
	bool ask, redact, strict;
	struct mask_known *secrets;	/* those of the session; NULL: none */
	enum proto_unknown unknown;	/* the rule for tools without an
					   annotation */
	struct rules *rules;
	struct annots *annots;
	struct lists *lists;
	/* Derived from the files; replaced together with them. */
	struct value_pool *derived;
	struct rule_sets *sets;		/* one for each rule */
	struct places places;
	size_t nplaces_protect;		/* the first of them, which are
					   protected paths */
	bool stale;			/* configuration changed after
					   deriving */
	struct value_pool *own;		/* freed with the engine */
	char *protect[ENGINE_MAX_PROTECT];
	size_t nprotect;
	char *narrow[2 * NARROW_ALL];	/* taken from the policy by the
					   settings: common/narrow.h */
	size_t nnarrow;
	int root;			/* O_PATH of / */
	struct path_object root_object;
	struct path_anchor *anchor;	/* the workspace, by the name that
					   places use */
	struct known *known;		/* directories of recent paths; NULL:
					   none is kept */
	const struct eval_trace *trace;	/* NULL: no one traces evaluation */
};

/* Returns 0, or -1 with errno. */
int engine_init(struct engine *);
void engine_free(struct engine *);

/*
 * Set the configuration. Each returns 0, or -1 with errno EEXIST, ENOBUFS,
 * ENOMEM or EINVAL.
 */
int engine_settings(struct engine *, uint32_t hold_ms, bool ask, bool redact,
    struct span home);
int engine_protect(struct engine *, struct span path);
/* narrow.c: Take what `text` says from the policy. */
int engine_narrow(struct engine *, struct span text);
int engine_server(struct engine *, unsigned index, struct span name,
    bool trusted, struct span cwd, struct span command,
    struct span domains);
/*
 * Keep the directories that paths lead to. Takes ownership of `mounts`, an
 * epoll descriptor as known_new() wants it; `files` is for that, too. Returns
 * 0, or -1: every path is walked then.
 */
int engine_known(struct engine *, int mounts, unsigned files);
/* Add the server that policyd implements itself (virtual.h). */
int engine_server_virtual(struct engine *, unsigned index, struct span name);
/* Add a row to a server's view. Takes ownership of `fd`, also on failure. */
int engine_view(struct engine *, unsigned index, struct span path,
    struct span host, enum proto_view, int fd);

/* The three files as read; NULL for a file that is absent. */
struct engine_files {
	struct rules *rules;
	struct annots *annots;
	struct lists *lists;
};

void engine_files_free(struct engine_files *);
/*
 * Read a file into `f`, replacing the one of its kind. The files in force are
 * not changed. Returns 0, or -1 with the reason in l->error and *f unchanged.
 */
int engine_read(struct engine_files *f, enum proto_rules kind,
    struct span text, struct load *l);
/*
 * Take ownership of the files and put them in force, replacing all others.
 * Returns 0, or -1 with nothing changed; the caller then still owns the files.
 */
int engine_put(struct engine *, const struct engine_files *f, struct load *l);

/*
 * Read one policy file and put it in force. Returns 0, or -1 with the reason in
 * l->error; the previous file then stays in force.
 */
int engine_rules(struct engine *, enum proto_rules kind, struct span text,
    struct load *l);
/* Derive again if configuration changed after the files were read. */
int engine_refresh(struct engine *, struct load *l);

struct server *engine_server_find(struct engine *, struct span name);
/* Set up path lookup for a server, or on the host only if it is NULL. */
void engine_path_env(const struct engine *, const struct server *,
    struct value_pool *, struct path_env *);
/* Returns the workspace's directory on the host; p == NULL: none. */
struct span engine_sandbox(const struct engine *);

#endif
