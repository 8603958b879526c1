/* SPDX-License-Identifier: ISC */
/*
 * The record of a checkpoint: a small text file in the store. ic-snap writes
 * it, and icctl lists them. Holds no content of the workspace.
 */
#ifndef UNDO_RECORD_H
#define UNDO_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNDO_NAME 65U
#define UNDO_MAX_RECORDS 10000U

struct undo_record {
	uint32_t number;
	char session[65];
	char kind[8];         /* start, turn, after, named, undo, end */
	char name[UNDO_NAME]; /* a person gave it, or "" */
	uint32_t turn;        /* the turn that follows it, or that it follows */
	uint32_t to;   /* for `undo`: the checkpoint that was to come back */
	uint64_t time; /* seconds since 1970 */
	uint64_t dev, ino; /* the workspace */
	uint32_t files, left, loose, late;
	uint64_t added;
	char sum[65];  /* the manifest; "" if the checkpoint was not made */
	char why[200]; /* the reason then */
};

/* Write turns/NUMBER. Returns 0, or -1 with errno set. */
int undo_record_write(int turns, const struct undo_record *, bool quick);
/*
 * Let a file of the store survive a power loss. If `quick`, only begin to write
 * it: then the journal that gives it its name, some seconds later, has its
 * content, too, but nobody waits for the disk. Returns 0, or -1 with errno set.
 */
int undo_record_sync(int fd, bool quick);
/* Read it. Returns 0, or -1 with errno set (EBADMSG: it is damaged). */
int undo_record_read(int turns, uint32_t number, struct undo_record *);
/*
 * List the numbers of all records, in order. The caller frees `*list`. Returns
 * 0, or -1 with errno set.
 */
int undo_record_list(int turns, uint32_t **list, size_t *n);

#endif
