/* SPDX-License-Identifier: ISC */
/*
 * icfs, our own MCP file server: declarations shared by its modules.
 *
 * Every object is opened beneath a root descriptor by a path without links
 * ("rel"), which the kernel checks at the moment of opening: a link that
 * appears in between makes the call fail, and cannot lead out of the root.
 */
#ifndef ICFS_H
#define ICFS_H

#include <sys/stat.h>

#include <limits.h>

#include "mcp/jsonrpc.h"

#define ICFS_MAX_ROOTS 16U
/*
 * The limit for a file read or written whole: its contents appear twice in a
 * result.
 */
#define ICFS_MAX_FILE ((size_t)2 << 20)
#define ICFS_MAX_TEXT ((size_t)8 << 20)
#define ICFS_MAX_LINE ((size_t)4 << 20)
#define ICFS_MAX_DEPTH 64U
#define ICFS_MAX_ENTRIES 200000U
#define ICFS_MAX_MS 10000U
#define ICFS_WHY 4700 /* an error message with a path in it */

struct icfs_root {
	int fd;              /* O_PATH */
	char name[PATH_MAX]; /* as given, absolute */
	char real[PATH_MAX]; /* as the kernel reports it */
	bool narrow;         /* only the names in `only` may be used */
};

/* A name in a narrow root; the object need not exist. */
struct icfs_only {
	size_t root;
	char name[NAME_MAX + 1];
};

struct icfs {
	struct icfs_root roots[ICFS_MAX_ROOTS];
	size_t nroots;
	struct icfs_only only[ICFS_MAX_ROOTS];
	size_t nonly;
	char cwd[PATH_MAX]; /* relative paths start here */
	bool read_only;
	struct value_pool *pool;
	struct buf text;    /* the current result */
	struct buf out;     /* lines for stdout */
	char why[ICFS_WHY]; /* the current failure */
	bool over;          /* stdin has ended */
};

/* A resolved path. */
struct icfs_path {
	const struct icfs_root *root;
	/* beneath the root, without links; "." is the root */
	char rel[PATH_MAX];
	bool exists;    /* otherwise all but the last component exist */
	struct stat st; /* if it exists */
};

/* icfs/path.c: functions return 0, or -1 with f->why set. */
/*
 * Turn "/a//b/./c/" into "/a/b/c", in place.  Returns -1 if the path contains
 * "..".
 */
int icfs_tidy(char *path);
/* Append every path that may be used, with separators between. */
void icfs_add_places(const struct icfs *, struct buf *, const char *separator);
enum icfs_how {
	ICFS_FOLLOW,   /* follow a link as last component */
	ICFS_NOFOLLOW, /* do not follow it */
	ICFS_MKDIRS,   /* create missing directories, including the last */
};
int icfs_resolve(struct icfs *, const char *op, struct span path, enum icfs_how,
    struct icfs_path *);

/* icfs/open.c */
/*
 * Set f->why from errno, like "ENOENT: no such file or directory, open '/a/b'".
 * Returns -1.
 */
int icfs_fail(struct icfs *, const char *op, struct span path);
/* Set f->why to another reason.  Returns -1. */
int icfs_why(struct icfs *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * openat2() beneath `dir`, through no link of any kind.  Returns -1 with errno
 * set on failure.
 */
int icfs_open(int dir, const char *rel, uint64_t flags, mode_t mode);
/*
 * Open the directory that contains the object; `*name` is its name there.
 * Returns a descriptor, or -1 with f->why set.
 */
int icfs_open_parent(struct icfs *, const char *op, struct span path,
    const struct icfs_path *, const char **name);
/* Write the whole path into `dst`. */
void icfs_full(const struct icfs_path *, char dst[PATH_MAX * 2]);

/* icfs/fs.c */
/*
 * Open a regular file for reading.  Returns a descriptor, or -1 with f->why
 * set.
 */
int icfs_open_file(struct icfs *, struct span path, struct stat *);
/*
 * Append the file to `b`.  Returns -1 with f->why set on errors, or if it is
 * longer than `max` bytes.
 */
int icfs_read_file(struct icfs *, struct span path, size_t max, struct buf *b);
/* Create the file or replace it, atomically if possible. */
int icfs_write_file(struct icfs *, struct span path, struct span bytes);

/*
 * icfs/move.c: move a regular file from one directory (O_PATH) to another that
 * is on another mount, never over something that exists.  Returns 0, or -1 with
 * errno: EXDEV if it is no regular file, ESTALE if somebody has changed or
 * exchanged it.  On failure the source is as it was, and there is no copy.
 */
int icfs_move_file(
    int from, const char *from_name, int to, const char *to_name);

/* icfs/text.c */
/* Append bytes as UTF-8; invalid sequences become U+FFFD. */
void icfs_add_text(struct buf *, struct span);

/* icfs/list.c */
struct icfs_entry {
	char *name;
	bool dir;
	off_t size;
};
struct icfs_entries {
	struct icfs_entry *v;
	size_t n, cap;
};
/*
 * Read the entries of a directory, sorted by name.  Takes over `fd`.  Returns
 * -1 with errno set on failure.
 */
int icfs_entries_read(struct icfs_entries *, int fd);
void icfs_entries_free(struct icfs_entries *);
/*
 * Open the directory that args.path names.  Returns a descriptor, or -1 with
 * f->why set.
 */
int icfs_open_dir(struct icfs *, const struct value *args, struct span *path,
    struct icfs_path *);

/*
 * icfs/args.c: arguments of the current call.  Return -1 with f->why set if the
 * type is wrong.
 */
int icfs_arg_string(
    struct icfs *, const struct value *args, const char *name, struct span *);
/* The output keeps its value if the argument is absent. */
int icfs_arg_number(
    struct icfs *, const struct value *args, const char *name, double *);
int icfs_arg_bool(
    struct icfs *, const struct value *args, const char *name, bool *);
/* Store an array of strings, or NULL if it is absent. */
int icfs_arg_strings(struct icfs *, const struct value *args, const char *name,
    const struct value **);

/*
 * icfs/glob.c: returns true if the whole text matches; * ? [] {a,b} and ** are
 * special.
 */
bool icfs_glob(struct span pattern, struct span text);

/*
 * icfs/diff.c: append a unified diff of two texts, with four lines of context.
 */
int icfs_diff(struct buf *, struct span name, struct span a, struct span b);

/*
 * icfs/edit.c: append `content` with the edits applied in turn; lines that no
 * edit changes keep their bytes.  Returns -1 with f->why set.
 */
int icfs_edit(struct icfs *, struct span content, const struct value *edits,
    struct buf *edited);

/*
 * Tools write their text into f->text; they return -1 with f->why set on
 * failure.
 */
typedef int icfs_tool_fn(struct icfs *, const struct value *args);
icfs_tool_fn icfs_read_text, icfs_read_media, icfs_read_multiple;
icfs_tool_fn icfs_write, icfs_edit_file, icfs_create_directory, icfs_move;
icfs_tool_fn icfs_list, icfs_list_sizes, icfs_tree, icfs_search;
icfs_tool_fn icfs_info, icfs_allowed;

struct icfs_tool {
	const char *name;
	icfs_tool_fn *fn;
	bool writes;
	bool content;       /* f->text is the JSON of content, not text */
	const char *listed; /* its entry in tools/list, as JSON */
};
extern const struct icfs_tool icfs_tools[];
extern const size_t icfs_ntools;

/* icfs/rpc.c: answer the client until it ends. */
void icfs_serve(struct icfs *) __attribute__((noreturn));

#endif
