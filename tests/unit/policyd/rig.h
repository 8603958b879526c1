/* SPDX-License-Identifier: ISC */
/*
 * An engine with a directory tree of its own: DIR/ws is the workspace, DIR/home
 * the user's home, DIR/out another directory, DIR/prot protected. In texts, @D
 * means DIR.
 */
#ifndef POLICY_RIG_H
#define POLICY_RIG_H

#include "common/json/json.h"
#include "policyd/engine/eval.h"

/* The limit of open files that the engine is told. */
#define RIG_FILES 1024U

struct rig {
	char dir[256];
	struct engine own;
	struct engine *engine;	/* the rig's own, or a ring's */
	struct value_pool *pool;
	struct load load;
	char *text;		/* the text expanded last */
};

/*
 * Create the tree and set up the engine (NULL: the rig's own). Exits on
 * failure.
 */
void rig_init(struct rig *, struct engine *);
void rig_free(struct rig *);
/* Expand @D. The result is valid until the next call. */
const char *rig_text(struct rig *, const char *);
/*
 * Add a server whose view has DIR/ws at /workspace and DIR/home/docs at its own
 * path.
 */
void rig_server(struct rig *, unsigned index, const char *name, bool trusted,
    const char *domains);
void rig_row(struct rig *, unsigned index, const char *path, const char *host);
/* Load a file. Returns 0, or -1 with rig->load.error. */
int rig_load(struct rig *, enum proto_rules, const char *text);
/* Load a file. Exits on failure. */
void rig_must_load(struct rig *, enum proto_rules, const char *text);
/* Parse JSON text into the pool, which is reset first. */
struct value *rig_tree(struct rig *, const char *json);
void rig_eval(struct rig *, const char *server, const char *tool,
    const char *args, struct decision *);
/* Create files in the tree. */
void rig_file(struct rig *, const char *path);
void rig_dir(struct rig *, const char *path);
void rig_link(struct rig *, const char *target, const char *path);

extern const char rig_annotations[];
extern const char *const rig_status[];

#endif
