/* SPDX-License-Identifier: ISC */
/*
 * All that decisions rest on: the three files, the servers and their views,
 * protected paths, settings.  Pure: it knows nothing of channels, so that
 * tests and `icctl policy eval` run the very same code.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "common/ipc/proto.h"
#include "engine/annot.h"
#include "engine/path.h"
#include "engine/rules.h"

#define ENGINE_MAX_PROTECT 256U
#define VIRTUAL_NAME "proxy"	/* no server of a configuration is called so */

struct server {
	bool used;
	char *name;
	struct span cwd;	/* in the view; owned */
	bool trusted;
	bool is_git;
	bool internal;		/* icgit: answers us alone */
	bool own;		/* our own program: its tools are not pinned */
	bool virtual;		/* no program at all: virtual.h */
	unsigned reach;		/* enum proto_reach bits */
	uint8_t command[32];	/* SHA-256 of what is run */
	struct view view;
	struct match_set *domains;	/* NULL: no gate */
};

/* What a rule became, beside it: the sets and the place that it matches. */
struct rule_sets {
	uint32_t place;
	const struct match_set *domains;
	const struct match_set **lists;
};

struct engine {
	struct server servers[PROTO_MAX_SERVERS];
	struct span workspace;	/* on the host; of a view. p == NULL: none */
	char *home;
	uint32_t hold_ms;
	bool ask, redact, strict;
	enum proto_unknown unknown;	/* tools without an annotation */
	struct rules *rules;
	struct annots *annots;
	struct lists *lists;
	/* Derived from the files, for as long as they are in force. */
	struct value_pool *derived;
	struct rule_sets *sets;		/* one a rule */
	struct places places;
	size_t nplaces_protect;		/* the first so many protect */
	bool stale;			/* configuration came afterwards */
	struct value_pool *own;		/* lives with the engine */
	char *protect[ENGINE_MAX_PROTECT];
	size_t nprotect;
	int root;			/* O_PATH of / */
	struct path_object root_object;
	struct path_anchor *anchor;	/* the workspace, as places have it */
	const struct eval_trace *trace;	/* NULL: nobody asks why */
};

/* -1 with errno. */
int engine_init(struct engine *);
void engine_free(struct engine *);

/* Configuration. -1 with errno: EEXIST, ENOBUFS, ENOMEM, EINVAL. */
int engine_settings(struct engine *, uint32_t hold_ms, bool ask, bool redact,
    struct span home);
int engine_protect(struct engine *, struct span path);
int engine_server(struct engine *, unsigned index, struct span name,
    bool trusted, struct span cwd, struct span command,
    struct span domains);
/* The one whose tools are ours (virtual.h). */
int engine_server_virtual(struct engine *, unsigned index, struct span name);
/* Takes fd, also on failure. */
int engine_view(struct engine *, unsigned index, struct span path,
    struct span host, enum proto_view, int fd);

/* What was read of the three files; a kind that is absent is NULL. */
struct engine_files {
	struct rules *rules;
	struct annots *annots;
	struct lists *lists;
};

void engine_files_free(struct engine_files *);
/*
 * Reads a file beside those in force, in the place of one of its kind. -1:
 * l->error says why, and *f is as it was.
 */
int engine_read(struct engine_files *f, enum proto_rules kind,
    struct span text, struct load *l);
/*
 * Takes the files and puts them, and no others, in force; -1: all is as it
 * was, and the files are the caller's still.
 */
int engine_put(struct engine *, const struct engine_files *f, struct load *l);

/*
 * A policy file. It is in force when 0 is returned; -1: l->error says why, and
 * what was in force stays.
 */
int engine_rules(struct engine *, enum proto_rules kind, struct span text,
    struct load *l);
/* Derives again when configuration came after the files. */
int engine_refresh(struct engine *, struct load *l);

struct server *engine_server_find(struct engine *, struct span name);
/* How to look paths up for a server (NULL: on the host only). */
void engine_path_env(const struct engine *, const struct server *,
    struct value_pool *, struct path_env *);
/* The sandbox: the workspace's directory on the host; p == NULL: none. */
struct span engine_sandbox(const struct engine *);

#endif
