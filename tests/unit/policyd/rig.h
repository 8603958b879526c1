/* SPDX-License-Identifier: ISC */
/*
 * An engine to ask, with a directory tree of its own: DIR/ws is the workspace,
 * DIR/home the user's home, DIR/out something else, DIR/prot protected.  In
 * texts @D stands for DIR.
 */
#ifndef POLICY_RIG_H
#define POLICY_RIG_H

#include "common/json/json.h"
#include "policyd/engine/eval.h"

struct rig {
	char dir[256];
	struct engine own;
	struct engine *engine;	/* own, or that of a ring */
	struct value_pool *pool;
	struct load load;
	char *text;		/* the last expanded text */
};

/* Makes the tree and sets the engine up (NULL: its own); exits on failure. */
void rig_init(struct rig *, struct engine *);
void rig_free(struct rig *);
/* @D expanded; valid until the next call. */
const char *rig_text(struct rig *, const char *);
/* A server whose view is DIR/ws at /workspace and DIR/home/docs as itself. */
void rig_server(struct rig *, unsigned index, const char *name, bool trusted,
    const char *domains);
void rig_row(struct rig *, unsigned index, const char *path, const char *host);
/* Loads the file: 0, or -1 with rig->load.error. */
int rig_load(struct rig *, enum proto_rules, const char *text);
/* Loads or exits. */
void rig_must_load(struct rig *, enum proto_rules, const char *text);
/* The tree of JSON text, in the pool, which is reset first. */
struct value *rig_tree(struct rig *, const char *json);
void rig_eval(struct rig *, const char *server, const char *tool,
    const char *args, struct decision *);
/* Files of the tree, by path in it. */
void rig_file(struct rig *, const char *path);
void rig_dir(struct rig *, const char *path);
void rig_link(struct rig *, const char *target, const char *path);

extern const char rig_annotations[];
extern const char *const rig_status[];

#endif
