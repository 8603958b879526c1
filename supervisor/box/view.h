/* SPDX-License-Identifier: ISC */
/*
 * A view: what an MCP server sees of the host, besides the system and its own
 * program.  The same rows go to bubblewrap and, as VIEW, to policyd.
 */
#ifndef VIEW_H
#define VIEW_H

#include "box/box.h"
#include "box/locate.h"
#include "config/paths.h"
#include "config/servers.h"

#define VIEW_MAX_ROWS 40U

struct view_row {
	char *path; /* in the view */
	char *host; /* the object's path on the host */
	int fd;     /* O_PATH */
	enum proto_view kind;
};

struct view {
	struct view_row rows[VIEW_MAX_ROWS];
	unsigned nrows;
	int trees[LOCATE_MAX_TREES]; /* O_PATH, of program.trees */
	unsigned ntrees;
};

struct view_how {
	const struct guards *guards;
	int workspace; /* O_PATH */
	const char *workspace_path;
};

/* Opens and checks all that the server may see. */
int view_open(struct view *, const struct view_how *, const struct server_def *,
    const struct program *, struct fault *);
void view_close(struct view *);
/*
 * icfs serves the directories that its command line names: those of the view
 * that rules put there are added to it.
 */
int view_roots(const struct view *, struct program *);
/* Its program alone, which stands where it is. */
int view_open_program(struct view *, const struct view_how *,
    const struct server_def *, const struct program *, struct fault *);
/* And what it may always read, as far as the workspace has no part in it. */
int view_open_read(struct view *, const struct view_how *,
    const struct server_def *, const struct program *, struct fault *);
/* Everything of it into a box. */
void view_bind(const struct view *, const struct server_def *,
    const struct program *, struct box *);
/* One more row; fd is duplicated. -1 with errno, E2BIG: no room. */
int view_put(struct view *, const char *path, const char *host, int fd,
    enum proto_view);
/* Is path dir, or below it? Clean paths. */
bool view_below(const char *path, const char *dir);
/* Has the sandbox something of its own at this place? */
bool view_taken(const char *path);
/* There and at all that is below? */
bool view_taken_tree(const char *path);
/* "//a/b/" -> "/a/b"; fresh memory; NULL: has . or .. segments (EINVAL). */
char *view_clean(const char *path);

#endif
