/* SPDX-License-Identifier: ISC */
/*
 * Resolves a path to the object that it names: component by component,
 * following links and `..`, without ever opening a file for its content. The
 * path is resolved first as the server will see it, in its view (each row maps
 * a path in the view to an object on the host). A path outside every row is
 * looked up on the host, where only a rule that escalates can apply to it.
 *
 * The result is a name without links, `.` or `..`. It can be stale at any time:
 * the server is confined by its view, not by this result.
 */
#ifndef PATH_H
#define PATH_H

#include <sys/types.h>

#include <limits.h>

#include "common/ipc/proto.h"
#include "common/json/value.h"

#define PATH_MAX_LINKS	40U
#define PATH_MAX_STEPS	4096U	/* components looked up, restarts included */
#define PATH_MAX_HITS	8U
#define PATH_MAX_PASSED	64U
#define VIEW_MAX_ROWS	256U

enum path_fs {
	PATH_FS_PLAIN,
	PATH_FS_FOLD,	/* may ignore case */
	PATH_FS_MAGIC,	/* proc and the like: denied */
};

/* Properties of a file system object. */
struct path_object {
	uint64_t dev, ino, nlink;
	mode_t mode;
	enum path_fs fs;
};

struct view_row {
	struct span path;	/* in the view; no slash at its end */
	struct span host;
	int fd;			/* O_PATH; owned by the view */
	enum proto_view kind;
	struct path_object object;
};

/* A server's view. Owns its rows and texts. */
struct view {
	struct view_row *rows;
	size_t n;
};

enum place_for {
	PLACE_LIMIT,	/* protected, or named by a rule that denies or asks */
	PLACE_GRANT,	/* named by a rule that allows */
};

/*
 * A host directory that a rule or protection names. It matches by text, and by
 * inode if the path has another name: a limit matches in every such case, a
 * grant only where the file system may ignore case or the names differ only by
 * case.
 */
struct place {
	struct span path;	/* canonical, no slash at its end; "" is / */
	uint64_t dev, ino;
	bool exists;
	enum place_for use;
};

/* A place that a path goes through under another name than the place's own. */
struct path_hit {
	uint32_t place;		/* one of the places with that inode */
	uint32_t len;		/* length of the path up to the place */
	bool fold;		/* the file system may ignore case */
};

struct places {
	struct place *list;
	size_t n;
	uint32_t *by_inode;	/* existing places, sorted by dev, ino */
	size_t ninodes;
};

/*
 * A place on the host that resolving a path stood at: where it ends, or one
 * that it passed.
 */
struct path_point {
	struct span host;
	const struct path_hit *hits;
	unsigned nhits;
	bool fold;		/* its file system may ignore case */
};

struct path {
	struct span view;	/* p == NULL: outside every row of the view */
	struct span host;
	const struct view_row *row;
	bool exists;
	unsigned missing;		/* number of trailing components that
					   do not exist */
	struct path_object object;	/* the deepest that exists */
	struct path_hit hits[PATH_MAX_HITS];
	unsigned nhits;
	/*
	 * The path as it was named, with the directory of its first link
	 * resolved; p == NULL if no link led to it.
	 */
	struct span named;
	/*
	 * The places that resolving it passed: each link itself, and after the
	 * first link each directory that `..` left again. None without links.
	 */
	const struct path_point *passed;
	unsigned npassed;
};

enum path_error {
	PATH_OK,
	PATH_EMPTY,
	PATH_NUL,
	PATH_TEXT,	/* not UTF-8, or links to a name that is not */
	PATH_LONG,
	PATH_USER,	/* ~user */
	PATH_HOME,	/* ~, but there is no home directory */
	PATH_URL,
	PATH_LOOP,
	PATH_STEPS,
	PATH_SPECIAL,
	PATH_MAGIC,
	PATH_FAILED,	/* a system call failed */
	PATH_MEMORY,
};

/*
 * A descriptor of the directory `workspace`, kept once a walk from the root
 * reached it by that name without going through a place. `fd` is -1 until then.
 */
struct path_anchor {
	int fd;			/* O_PATH; owned by this struct */
	struct path_object object;
};

struct known;

/* The environment of a lookup. */
struct path_env {
	const struct view *view;		/* NULL: on the host only */
	struct span cwd;			/* in the view, absolute */
	struct span home;			/* on the host, or empty */
	struct span workspace;			/* on the host, or empty */
	struct path_anchor *anchor;		/* anchor of `workspace`; may
						   be NULL */
	struct known *known;			/* directories to start from
						   (known.h); may be NULL */
	const struct places *places;		/* may be NULL */
	int root;				/* O_PATH of / */
	struct path_object root_object;
	bool any;				/* accept devices and the
						   like */
	unsigned *budget;			/* steps left; NULL: no limit */
	struct value_pool *pool;		/* results live here */
};

enum path_error path_resolve(const struct path_env *, struct span text,
    struct path *);
/*
 * Complete the result for a path without links: `text` is the name in the view
 * if `row` is not NULL, and on the host otherwise. Returns PATH_OK or
 * PATH_MEMORY.
 */
enum path_error path_found(const struct path_env *, const struct view_row *row,
    struct span text, struct path *);
/* Keep the directory `name` in `dir` as the anchor if it can be opened. */
void anchor_learn(struct path_anchor *, int dir, const char *name);
/*
 * Returns true if `name`, from `root`, still leads to the anchor's directory.
 * Drops the anchor otherwise.
 */
bool anchor_holds(struct path_anchor *, int root, const char *name);
void anchor_drop(struct path_anchor *);
/* Check whether the text can be a path, without looking it up. */
enum path_error path_check(struct span text);
/* Returns a constant text such as "holds a NUL byte". */
const char *path_strerror(enum path_error);

/* Returns the place where the path ends. */
struct path_point path_end(const struct path *);

/*
 * Concatenate a and b in the pool; "/" if both are empty. p == NULL if memory
 * ran out.
 */
struct span path_joined(struct value_pool *, struct span a, struct span b);
/*
 * Returns true if `path` is `dir` or below it. Both are canonical; everything
 * is below "" and "/".
 */
bool path_below(struct span path, struct span dir);

/*
 * Add a row. Takes ownership of `fd`, also on failure. Returns 0, or -1 with
 * errno (EEXIST: the view has a row at that path).
 */
int view_add(struct view *, struct span path, struct span host, enum proto_view,
    int fd);
void view_free(struct view *);
/* Returns the row with the longest path that holds a view path, or NULL. */
const struct view_row *view_find(const struct view *, struct span path);
/* Convert a host path to its path in the view; p == NULL if it has none. */
struct span view_of_host(const struct view *, struct span host,
    struct value_pool *, const struct view_row **row);

/* Sort the index of the places in `list`. Returns 0, or -1 with errno. */
int places_index(struct places *);
/*
 * Returns the position in by_inode of the first place with that inode, or where
 * it would be inserted.
 */
size_t places_find(const struct places *, uint64_t dev, uint64_t ino);

/*
 * Examine `name` below the directory `fd` ("" is fd itself) without following
 * links. Before the call, *o holds the parent, or zeros: the type of the file
 * system is queried only where the device changes. Returns 0, or -1 with errno.
 */
int path_object(int fd, const char *name, struct path_object *o);

#endif
