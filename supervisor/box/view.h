/* SPDX-License-Identifier: ISC */
/*
 * A view: the part of the host that an MCP server sees, besides the system and
 * its own program. The same rows are sent to bubblewrap and, as VIEW messages,
 * to policyd.
 */
#ifndef VIEW_H
#define VIEW_H

#include "base/paths.h"
#include "box/box.h"
#include "box/locate.h"
#include "files/servers.h"

#define VIEW_MAX_ROWS 40U

struct view_row {
	char *path; /* in the view */
	char *host; /* the object's path on the host */
	int fd;     /* O_PATH */
	enum proto_view kind;
	bool ruled; /* a rule puts it there: the agent may know its path */
};

struct view {
	struct view_row rows[VIEW_MAX_ROWS];
	unsigned nrows;
	int trees[LOCATE_MAX_TREES]; /* O_PATH; one for each of program.trees */
	unsigned ntrees;
};

struct view_how {
	const struct guards *guards;
	int workspace; /* O_PATH */
	const char *workspace_path;
	bool directories; /* leave out files that rules allow */
	bool read_only;   /* the workspace is */
	bool bare;        /* the program may be in the workspace: the server has
			     nothing else (server_led.h) */
};

/* Open and check everything that the server may see. */
int view_open(struct view *, const struct view_how *, const struct server_def *,
    const struct program *, struct fault *);
void view_close(struct view *);
/*
 * icfs serves the directories on its command line: add those that rules put in
 * the view.
 */
int view_roots(const struct view *, struct program *);
/* Open only the server's program, at its own path. */
int view_open_program(struct view *, const struct view_how *,
    const struct server_def *, const struct program *, struct fault *);
/*
 * Also open what the server may always read, except for parts of the workspace.
 */
int view_open_read(struct view *, const struct view_how *,
    const struct server_def *, const struct program *, struct fault *);
/*
 * If the workspace is read-only, let no row of the finished view make it or a
 * part of it writable. Returns 0, or -1 with errno.
 */
int view_withhold(struct view *, const struct view_how *);
/*
 * Cover the object of the host, which lies in row `i` and is open as `fd`, by a
 * row of its own. Returns 0, or -1 with errno.
 */
int view_cover(
    struct view *, unsigned i, const char *host, int fd, enum proto_view);
/* Bind the whole view in a sandbox. */
void view_bind(const struct view *, const struct server_def *,
    const struct program *, struct box *);
/*
 * Add a row; `fd` is duplicated. Returns 0, or -1 with errno (E2BIG: too many
 * rows).
 */
int view_put(struct view *, const char *path, const char *host, int fd,
    enum proto_view);
/* Mark the row of this path, if there is one, as made by a rule. */
void view_ruled(struct view *, const char *path);
/*
 * Describe the view for the agent: what a rule has put there by name, the rest
 * by number. The text has at most PROTO_MAX_SEEN bytes.
 */
void view_tell(
    const struct view *, const struct server_def *, char *dst, size_t cap);
/* Returns true if the sandbox has something of its own at this path. */
bool view_taken(const char *path);
/* Returns true if it has something at this path or anywhere below. */
bool view_taken_tree(const char *path);
/*
 * Convert "//a/b/" to "/a/b" in allocated memory. Returns NULL with EINVAL if
 * there are . or .. segments.
 */
char *view_clean(const char *path);

#endif
