/* SPDX-License-Identifier: ISC */
/*
 * ic-snap's parts. The workspace is hostile: names, kinds and contents may
 * change between any two calls. The store is ours, and what is read of it is
 * checked by its digest.
 */
#ifndef SNAP_PRIV_H
#define SNAP_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "undo/record.h"
#include "undo/snap.h"

#define SNAP_SUM 32U
#define SNAP_MAX_NAMES 64U /* in leaveOut, and in include */
#define SNAP_MAX_PATHS 256U
#define SNAP_PATH 4096U

struct stat;

struct snap_limits {
	uint64_t file, turn, store; /* bytes */
	uint32_t files;             /* entries of one checkpoint */
	uint32_t keep, days;        /* checkpoints that stay, and how long */
	uint32_t free;              /* percent of the disk that stay free */
};

struct snap_how {
	struct undo_record record; /* session, kind, name, turn, to */
	uint64_t deadline;         /* clock_mono_us(); 0: none */
	bool once; /* not if the session's last one has the same manifest */
	struct snap_limits limits;
	const char *leave[SNAP_MAX_NAMES], *include[SNAP_MAX_NAMES];
	unsigned nleave, ninclude;
	/* plan, restore */
	uint32_t now, to, refs[SNAP_MAX_REFS];
	unsigned nrefs;
	bool all, text;
	const char *paths[SNAP_MAX_PATHS];
	unsigned npaths;
	const char *digest;
};

/* manifest.c: what a checkpoint has of each path. */
enum entry_kind {
	ENTRY_DIR = 'd',
	ENTRY_FILE = 'f',
	ENTRY_LINK = 'l',
	ENTRY_OTHER = 'o', /* a socket, FIFO or device: only its name */
	ENTRY_LEFT = 'x'   /* left out; `text` is the reason */
};

/* In place of a mode: it could not be kept, and is not left out by its name. */
#define ENTRY_LACKS 1U

struct entry {
	enum entry_kind kind;
	uint32_t mode; /* without setuid; of ENTRY_LEFT 0 or ENTRY_LACKS */
	uint64_t size;
	struct span path;
	struct span text; /* a file's digest in hex, a link's target */
};

struct manifest {
	struct buf text;
	struct entry *list; /* in the order of manifest_cmp() */
	size_t n;
};

/*
 * Compare paths in the order of a walk whose directories are sorted by name: a
 * directory comes right before what is in it.
 */
int manifest_cmp(struct span, struct span);
/* Returns true if `path` is below `dir`. */
bool manifest_below(struct span path, struct span dir);
void manifest_add(struct buf *, const struct entry *);
/* Read `m->text`. Returns 0, or -1 with errno EBADMSG or ENOMEM. */
int manifest_read(struct manifest *);
/* Returns the entry of that path, or NULL. */
const struct entry *manifest_find(const struct manifest *, struct span path);
/* Returns true if both are there and alike, or neither is. */
bool entry_same(const struct entry *, const struct entry *);
void manifest_free(struct manifest *);

/* store.c: objects, named by the SHA-256 of their content. */
struct store {
	int fd, objects, turns;
	uint64_t bytes; /* all objects have */
	bool emptied;   /* no object of an earlier checkpoint is left */
	bool quick;     /* a turn waits: see undo_record_sync() */
};

/* Open the store, and its lock. Returns 0, or -1 with errno set. */
int store_open(struct store *, bool write);
/* Returns the bytes that the limits count: holes of a large file are free. */
uint64_t store_weight(const struct stat *);
/* Returns true if the store can share the blocks of this file. */
bool store_shares(const struct store *, int fd);
/*
 * Keep the content of an open file of at most `max` bytes; UINT64_MAX: only if
 * its blocks can be shared. `likely`: it is probably there already. Returns 0
 * with its digest and size; 1 if it is larger; -1 with errno set. `*added`
 * grows by what the store grew.
 */
int store_put(struct store *, int fd, uint64_t max, bool likely,
    uint8_t sum[SNAP_SUM], uint64_t *size, uint64_t *added);
int store_put_text(
    struct store *, struct span, uint8_t sum[SNAP_SUM], uint64_t *added);
/*
 * Write the object to a new file. Returns 0, or -1 with errno set: EBADMSG if
 * its content is not what its name says.
 */
int store_take(const struct store *, const char hex[65], int to);
/* Hash an open file. Returns 0, or -1 with errno set. */
int store_hash(int fd, uint8_t sum[SNAP_SUM], uint64_t *size);
/*
 * Read an object of at most `max` bytes. Returns 0, 1 if it is longer, or -1
 * with errno set.
 */
int store_text(
    const struct store *, const char hex[65], size_t max, struct buf *);
/* Read the manifest of a checkpoint. Returns 0, or -1 with errno set. */
int store_manifest(const struct store *, const char hex[65], struct manifest *);
/* sweep.c: Remove checkpoints over the limits, and objects of none. */
int store_sweep(struct store *, const struct snap_limits *);
/* Remove a path from all checkpoints. */
int store_forget(struct store *, const struct snap_how *, char *why);

/* cache.c: digests of files that have not changed since the last walk. */
struct cache_key {
	uint64_t dev, ino, size;
	int64_t mtime, ctime; /* ns */
};

struct cache {
	struct buf old, made;
	size_t at;      /* in `old`: the first row that was not looked at */
	size_t same;    /* all rows before it are as they were; 0: in `made` */
	int64_t walked; /* the start of the last walk, ns since 1970 */
	uint64_t bytes; /* the store had */
	bool differs;   /* a file is not as it was */
};

void cache_load(struct cache *, struct store *, size_t max);
/*
 * Find the digest of a file; paths come in the order of manifest_cmp().
 * Returns 1 with it, 0 if the file must be read, and 2 if it must be read but
 * has probably not changed.
 */
int cache_find(struct cache *, struct span path, const struct cache_key *,
    uint8_t sum[SNAP_SUM]);
void cache_add(struct cache *, struct span path, const struct cache_key *,
    const uint8_t sum[SNAP_SUM]);
/* Forget all digests: the store has lost what they name. */
void cache_reset(struct cache *);
int cache_save(struct cache *, const struct store *, int64_t walked);
void cache_free(struct cache *);

/* save.c: Make a checkpoint. */
void snap_save(struct store *, struct snap_how *, struct snap_report *);
/* Free what it has used. This wipes megabytes: nobody is to wait for it. */
void snap_save_free(void);
/* walk.c: Open a name in a directory, whatever it is, but through no link. */
int snap_openat(int dir, const char *name, int flags);

/* plan.c */
struct plan_row {
	enum snap_row what;
	bool later; /* it may run later */
	const struct entry *from, *to;
};

struct plan {
	struct manifest now, to, refs[SNAP_MAX_REFS];
	struct plan_row *rows;
	size_t n;
	char digest[65];
	char why[SNAP_WHY];
};

/* Compose it. Returns 0, or -1 with the reason in `why`. */
int plan_make(struct plan *, const struct store *, const struct snap_how *);
void plan_free(struct plan *);
/* Write why a row of SNAP_LEFT was left out. Returns `dst`. */
const char *plan_reason(const struct plan_row *, char *dst, size_t cap);
/* runs.c: Returns true if programs run or obey this file later. */
bool snap_runs_later(struct span path, const struct entry *);
/* restore.c: Do what the plan says, and report what was not done. */
void snap_restore(const struct store *, const struct plan *, int tree);
/* rows.c: Add a row to the report. */
extern struct buf snap_rows;
void snap_row(enum snap_row, bool later, struct span path, const char *why);
/* Add what the entry is, which may be NULL, as SNAP_WAS or SNAP_IS. */
void snap_row_text(enum snap_row, const struct store *, const struct entry *);

#endif
