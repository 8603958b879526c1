/* SPDX-License-Identifier: ISC */
/* The parts of known.c that known_learn.c uses. */
#ifndef KNOWN_PRIV_H
#define KNOWN_PRIV_H

#include "engine/known.h"

#define KNOWN_SETS	64U
#define KNOWN_WAYS	4U
#define KNOWN_SEEN	4096U
#define KNOWN_WATCHES	1024U
#define KNOWN_MAX_DIR	1024U	/* bytes of a directory's name */
#define KNOWN_MAX_DEPTH	32U	/* components below the row or root */

/* A directory. `name` is NULL if this place is free. */
struct known_dir {
	char *name;			/* in the view, or on the host */
	size_t len;
	uint64_t hash;
	const struct view *view;
	const struct view_row *row;	/* NULL: on the host */
	int fd;				/* O_PATH */
	struct path_object object;
};

struct known {
	struct known_dir dirs[KNOWN_SETS][KNOWN_WAYS];
	unsigned next[KNOWN_SETS];	/* the place to reuse */
	uint32_t seen[KNOWN_SEEN];	/* hashes of names that one walk led
					   to, and of refused ones */
	int events;			/* epoll: mounts, and `watch` */
	int watch;			/* inotify */
	int watches[KNOWN_WATCHES];
	size_t nwatches;
	size_t n;
	int end;			/* descriptors from here on are not
					   kept */
};

/* Forget one directory. */
void known_forget(struct known *, struct known_dir *);
/* Returns true if something changed, and forgets everything then. */
bool known_changed(struct known *);
/* Returns true if this environment may use and extend what is known. */
bool known_usable(const struct path_env *);
/* Make a relative path absolute in `text`, and end it with a NUL. */
bool known_absolute(const struct path_env *, struct span in,
    char text[PATH_MAX], struct span *out);
/*
 * Split a path into its directory and its last component. Returns false if the
 * path is not absolute, or has empty components, ".", "..", or no directory.
 */
bool known_split(struct span text, struct span *dir, const char **name);
uint64_t known_hash(const struct view *, struct span dir);
struct known_dir *known_find(struct known *, const struct view *,
    struct span dir, uint64_t hash);
/* Returns true if a place has this inode, under whatever name. */
bool known_is_place(const struct places *, const struct path_object *);

#endif
