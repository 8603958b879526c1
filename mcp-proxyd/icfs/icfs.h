/* SPDX-License-Identifier: ISC */
/*
 * icfs, our own MCP file server: what its modules share.
 *
 * Every object is opened beneath a root descriptor by a path without links
 * ("rel"), checked by the kernel at the moment of opening: a link that
 * appears in between makes the call fail, never leave the root.
 */
#ifndef ICFS_H
#define ICFS_H

#include <sys/stat.h>

#include <limits.h>

#include "mcp/jsonrpc.h"

#define ICFS_MAX_ROOTS 16U
/* Of a file read or written whole: content appears twice in a result. */
#define ICFS_MAX_FILE ((size_t)2 << 20)
#define ICFS_MAX_TEXT ((size_t)8 << 20)
#define ICFS_MAX_LINE ((size_t)4 << 20)
#define ICFS_MAX_DEPTH 64U
#define ICFS_MAX_ENTRIES 200000U
#define ICFS_MAX_MS 10000U
#define ICFS_WHY 4700 /* an error with a path in it */

struct icfs_root {
	int fd;              /* O_PATH */
	char name[PATH_MAX]; /* as it was given, absolute */
	char real[PATH_MAX]; /* as the kernel names it */
	bool narrow;         /* only the names in it that were given */
};

/* A name in a narrow root, there or not. */
struct icfs_only {
	size_t root;
	char name[NAME_MAX + 1];
};

struct icfs {
	struct icfs_root roots[ICFS_MAX_ROOTS];
	size_t nroots;
	struct icfs_only only[ICFS_MAX_ROOTS];
	size_t nonly;
	char cwd[PATH_MAX]; /* relative paths begin here */
	bool read_only;
	struct value_pool *pool;
	struct buf text;    /* of the result being made */
	struct buf out;     /* lines for stdout */
	char why[ICFS_WHY]; /* of the failure being reported */
	bool over;          /* stdin has ended */
};

/* A path that was resolved. */
struct icfs_path {
	const struct icfs_root *root;
	char rel[PATH_MAX]; /* beneath it, without links; "." is the root */
	bool exists;        /* else all but the last component do */
	struct stat st;     /* when it exists */
};

/* icfs/path.c: 0, or -1 with f->why. */
/* "/a//b/./c/" to "/a/b/c", in place. -1: it holds a "..". */
int icfs_tidy(char *path);
/* Each place that may be used, as a path, separated. */
void icfs_add_places(const struct icfs *, struct buf *, const char *separator);
enum icfs_how {
	ICFS_FOLLOW,   /* a link as last component is followed */
	ICFS_NOFOLLOW, /* it is meant itself */
	ICFS_MKDIRS,   /* missing directories are made, the last one too */
};
int icfs_resolve(struct icfs *, const char *op, struct span path, enum icfs_how,
    struct icfs_path *);

/* icfs/open.c */
/* "ENOENT: no such file or directory, open '/a/b'" from errno. -1. */
int icfs_fail(struct icfs *, const char *op, struct span path);
/* Any other reason. -1. */
int icfs_why(struct icfs *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* openat2 beneath dir, through no link of any kind. -1 with errno. */
int icfs_open(int dir, const char *rel, uint64_t flags, mode_t mode);
/* The directory that holds it (to be closed), *name: its name there. */
int icfs_open_parent(struct icfs *, const char *op, struct span path,
    const struct icfs_path *, const char **name);
/* The whole path as text. */
void icfs_full(const struct icfs_path *, char dst[PATH_MAX * 2]);

/* icfs/fs.c */
/* A regular file, opened for reading. A descriptor, or -1 with f->why. */
int icfs_open_file(struct icfs *, struct span path, struct stat *);
/* Adds at most max bytes of it to b. -1 with f->why when there is more. */
int icfs_read_file(struct icfs *, struct span path, size_t max, struct buf *b);
/* Replaces or makes the file at once. */
int icfs_write_file(struct icfs *, struct span path, struct span bytes);

/* icfs/text.c */
/* Adds bytes as UTF-8; what is none becomes U+FFFD. */
void icfs_add_text(struct buf *, struct span);

/* icfs/read.c: adds it with every CR LF as LF. */
void icfs_add_lf(struct buf *, struct span);

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
/* What is in the directory, sorted by name. Takes fd. -1 with errno. */
int icfs_entries_read(struct icfs_entries *, int fd);
void icfs_entries_free(struct icfs_entries *);
/* The directory that args.path names. A descriptor, or -1 with f->why. */
int icfs_open_dir(struct icfs *, const struct value *args, struct span *path,
    struct icfs_path *);

/* icfs/args.c: arguments of the tool being called. -1 with f->why. */
int icfs_arg_string(
    struct icfs *, const struct value *args, const char *name, struct span *);
/* Absent: dflt. */
int icfs_arg_number(
    struct icfs *, const struct value *args, const char *name, double *);
int icfs_arg_bool(
    struct icfs *, const struct value *args, const char *name, bool *);
/* An array of strings, or NULL when it is absent. */
int icfs_arg_strings(struct icfs *, const struct value *args, const char *name,
    const struct value **);

/* icfs/glob.c: does the whole text match? * ? [] {a,b} and ** */
bool icfs_glob(struct span pattern, struct span text);

/* icfs/diff.c: unified diff of two texts, four lines of context. */
int icfs_diff(struct buf *, struct span name, struct span a, struct span b);

/* icfs/edit.c: content with the edits made, in turn. -1 with f->why. */
int icfs_edit(struct icfs *, struct span content, const struct value *edits,
    struct buf *edited);

/* Tools: put their text into f->text; -1 with f->why. */
typedef int icfs_tool_fn(struct icfs *, const struct value *args);
icfs_tool_fn icfs_read_text, icfs_read_media, icfs_read_multiple;
icfs_tool_fn icfs_write, icfs_edit_file, icfs_create_directory, icfs_move;
icfs_tool_fn icfs_list, icfs_list_sizes, icfs_tree, icfs_search;
icfs_tool_fn icfs_info, icfs_allowed;

struct icfs_tool {
	const char *name;
	icfs_tool_fn *fn;
	bool writes;
	bool content;       /* f->text is the JSON of content, not a text */
	const char *listed; /* its entry in tools/list, as JSON */
};
extern const struct icfs_tool icfs_tools[];
extern const size_t icfs_ntools;

/* icfs/rpc.c: one line of the client; answers go to f->out. */
void icfs_line(struct icfs *, struct span);
void icfs_serve(struct icfs *) __attribute__((noreturn));

#endif
