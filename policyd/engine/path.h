/* SPDX-License-Identifier: ISC */
/*
 * Which object does a path name?  Component by component, links followed by
 * us, `..` real; never opened for content.  First as the server will see it,
 * in its view (rows: a path in the view is an object on the host); what lies
 * in no row is looked up on the host, where only a rule that escalates can
 * give it a meaning.
 *
 * The answer is a name that no longer has links, `.` or `..` in it.  It can be
 * stale the next moment: what bounds the server is its view, not this answer.
 */
#ifndef PATH_H
#define PATH_H

#include <sys/types.h>

#include <limits.h>

#include "common/ipc/proto.h"
#include "common/json/value.h"

#define PATH_MAX_LINKS	40U
#define PATH_MAX_STEPS	4096U	/* components looked at, restarts included */
#define PATH_MAX_HITS	8U
#define VIEW_MAX_ROWS	256U

enum path_fs {
	PATH_FS_PLAIN,
	PATH_FS_FOLD,	/* may ignore case */
	PATH_FS_MAGIC,	/* proc and the like: denied */
};

/* What is known of an object. */
struct path_object {
	uint64_t dev, ino, nlink;
	mode_t mode;
	enum path_fs fs;
};

struct view_row {
	struct span path;	/* in the view; no slash at its end */
	struct span host;
	int fd;			/* O_PATH, ours */
	enum proto_view kind;
	struct path_object object;
};

/* A server's view. Rows and texts are owned by it. */
struct view {
	struct view_row *rows;
	size_t n;
};

enum place_for {
	PLACE_LIMIT,	/* protected, or of a rule that denies or asks */
	PLACE_GRANT,	/* of a rule that allows */
};

/*
 * A directory that rules or protection speak of, on the host.  By text, and
 * by inode where its name is another one: a limit always holds for it, a grant
 * where the file system may ignore case or the names differ by nothing else.
 */
struct place {
	struct span path;	/* canonical, no slash at its end; "" is / */
	uint64_t dev, ino;
	bool exists;
	enum place_for use;
};

/* A place that a path passes under another name than its own. */
struct path_hit {
	uint32_t place;		/* one of those with that inode */
	uint32_t len;		/* of the path, as far as it */
	bool fold;		/* the file system may ignore case */
};

struct places {
	struct place *list;
	size_t n;
	uint32_t *by_inode;	/* existing ones, sorted by dev, ino */
	size_t ninodes;
};

struct path {
	struct span view;	/* p == NULL: in no row of the view */
	struct span host;
	const struct view_row *row;
	bool exists;
	unsigned missing;		/* components at its end */
	struct path_object object;	/* of the deepest that exists */
	struct path_hit hits[PATH_MAX_HITS];
	unsigned nhits;
};

enum path_error {
	PATH_OK,
	PATH_EMPTY,
	PATH_NUL,
	PATH_TEXT,	/* not UTF-8, or leads to a name that is not */
	PATH_LONG,
	PATH_USER,	/* ~user */
	PATH_HOME,	/* ~ without a home directory */
	PATH_URL,
	PATH_LOOP,
	PATH_STEPS,
	PATH_SPECIAL,
	PATH_MAGIC,
	PATH_FAILED,	/* the kernel could not say */
	PATH_MEMORY,
};

/*
 * The directory that `workspace` names, once a walk from the root reached it
 * by that name and passed no place on the way. fd is -1 until then.
 */
struct path_anchor {
	int fd;			/* O_PATH, ours */
	struct path_object object;
};

/* Where names are looked up. */
struct path_env {
	const struct view *view;		/* NULL: on the host only */
	struct span cwd;			/* in the view, absolute */
	struct span home;			/* on the host, or empty */
	struct span workspace;			/* on the host, or empty */
	struct path_anchor *anchor;		/* of workspace; may be NULL */
	const struct places *places;		/* may be NULL */
	int root;				/* O_PATH of / */
	struct path_object root_object;
	bool any;				/* devices and the like, too */
	unsigned *budget;			/* steps left; NULL: no limit */
	struct value_pool *pool;		/* results live here */
};

enum path_error path_resolve(const struct path_env *, struct span text,
    struct path *);
/* Keep the directory `name` in `dir` as the anchor, if it can be opened. */
void anchor_learn(struct path_anchor *, int dir, const char *name);
/* Does `name`, from `root`, still lead to it? If not, drop the anchor. */
bool anchor_holds(struct path_anchor *, int root, const char *name);
void anchor_drop(struct path_anchor *);
/* The text alone: may it be a path? */
enum path_error path_check(struct span text);
/* "holds a NUL byte", ...: constant text. */
const char *path_strerror(enum path_error);

/* a and b, copied to the pool; "/" for nothing; p == NULL: no memory. */
struct span path_joined(struct value_pool *, struct span a, struct span b);
/* Is path equal to dir or below it? Canonical texts; "" or "/" holds all. */
bool path_below(struct span path, struct span dir);

/* Takes fd, also on failure. -1 with errno (EEXIST: that path twice). */
int view_add(struct view *, struct span path, struct span host, enum proto_view,
    int fd);
void view_free(struct view *);
/* The row a view path lies in: the longest. NULL: none. */
const struct view_row *view_find(const struct view *, struct span path);
/* The path in the view of a host path; p == NULL when there is none. */
struct span view_of_host(const struct view *, struct span host,
    struct value_pool *, const struct view_row **row);

/* Sorts the index; places are in list. -1 with errno. */
int places_index(struct places *);
/* Where in by_inode those with that inode begin, or would. */
size_t places_find(const struct places *, uint64_t dev, uint64_t ino);

/*
 * What name is, below the directory fd ("": fd itself), links not followed: 0,
 * or -1 with errno.  *o holds its parent, or zeros: the kind of file system is
 * asked for only where the device changes.
 */
int path_object(int fd, const char *name, struct path_object *o);

#endif
