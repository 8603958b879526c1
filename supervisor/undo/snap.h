/* SPDX-License-Identifier: ISC */
/*
 * ic-snap saves a workspace, compares two saved states, and puts one back. It
 * has one shape for each run, which decides what it may touch:
 *
 *	save	reads the workspace, writes the store
 *	plan	reads the store, and has no workspace
 *	restore	writes the workspace, reads the store
 *	forget	writes the store, and has no workspace
 *
 * Its arguments are the shape and words KEY=VALUE. It gets the workspace as the
 * descriptor SNAP_TREE and the store as SNAP_STORE, and reports on its standard
 * output. All programs that start it include this file.
 */
#ifndef UNDO_SNAP_H
#define UNDO_SNAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SNAP_TREE = 3,
	SNAP_STORE
};

/* The store: objects by their SHA-256, a record for each checkpoint. */
#define SNAP_OBJECTS "objects"
#define SNAP_TURNS "turns"
#define SNAP_CACHE "cache"
#define SNAP_LOCK "lock"
/* No file of this name is saved: a restore that was killed may leave one. */
#define SNAP_MAKING ".ic-undo.tmp"

#define SNAP_MAX_WORDS 1024U
#define SNAP_MAX_REFS 16U
#define SNAP_WHY 200U

/* `save` and `forget` report this once, at their end. */
struct snap_report {
	uint32_t number;    /* the checkpoint's; 0: none was made */
	uint32_t files;     /* entries that are in it */
	uint32_t left;      /* entries that are left out */
	uint32_t loose;     /* files that changed while they were read */
	uint32_t late;      /* 1: the turn began before it was complete */
	uint32_t same;      /* 1: it is the last one, and was not made again */
	uint64_t added;     /* bytes that it added to the store */
	uint64_t store;     /* bytes of the store */
	uint8_t sum[32];    /* its manifest */
	char why[SNAP_WHY]; /* the reason for which it was not made, or "" */
};

/*
 * `plan` and `restore` report rows: a letter, a mark ('!' if the file may run
 * later, otherwise ' '), a path and a NUL; a row of SNAP_FAILED or
 * SNAP_LEFT is followed by its reason and a NUL. The last row is SNAP_END,
 * whose path is the plan's digest, or SNAP_REFUSED, whose path is the reason.
 * If `text` is asked for, a row of `plan` is followed by SNAP_WAS and SNAP_IS:
 * what the path was in the checkpoint `to`, and is in `now`. Their mark is a
 * snap_text, and their path the text, which has no NUL.
 */
enum snap_row {
	SNAP_BACK = 'b',   /* gets its earlier content, kind or mode */
	SNAP_COME = 'c',   /* comes back */
	SNAP_GO = 'g',     /* goes away */
	SNAP_KEPT = 'k',   /* changed after the last turn: stays */
	SNAP_LEFT = 'l',   /* stays, as one of the checkpoints lacks it */
	SNAP_FAILED = 'f', /* was not done */
	SNAP_WAS = 'w',
	SNAP_IS = 'i',
	SNAP_END = '.',
	SNAP_REFUSED = '?'
};

enum snap_text {
	SNAP_TEXT = ' ',   /* a file's content, or a link's target */
	SNAP_NONE = 'n',   /* nothing is there, or a directory */
	SNAP_BINARY = 'b', /* it has a NUL */
	SNAP_LONG = 'l',   /* it is longer than SNAP_MAX_TEXT */
	SNAP_BAD = 'x'     /* it is not what its name says, or is gone */
};

#define SNAP_MAX_TEXT (256U << 10) /* bytes of one text */
#define SNAP_MAX_TEXTS (48U << 20) /* bytes of all; others are SNAP_LONG */
#define SNAP_MAX_ROWS (64U << 20) /* bytes of all rows */

#endif
