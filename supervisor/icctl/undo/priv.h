/* SPDX-License-Identifier: ISC */
/* `icctl undo`: shared by its parts. */
#ifndef ICCTL_UNDO_PRIV_H
#define ICCTL_UNDO_PRIV_H

#include "base/paths.h"
#include "files/config.h"
#include "icctl/icctl.h"
#include "undo/record.h"
#include "undo/run.h"

struct undo_row {
	enum snap_row what;
	bool later;
	const char *path, *why; /* `why` of a failed one */
	char mark;              /* enum snap_text, of a text in `path` */
};

struct undo {
	struct icctl *ctl;
	struct paths paths;
	struct config config;
	bool configured;
	int fd; /* connection to the session, or -1: none runs there */
	struct icctl_rest rest;
	char session[65];
	char workspace[4096];
	int store, tree;
	struct undo_record *list; /* all of the store, in order */
	size_t n;
	unsigned damaged; /* records that cannot be read, as was said */
	/* The plan: what is there now, and what comes back. */
	uint32_t now;
	const struct undo_record *to;
	uint32_t refs[SNAP_MAX_REFS];
	unsigned nrefs;
	bool text; /* with the texts of files */
	const char *paths_of[256];
	unsigned npaths;
	/* Rows of the plan, and of what could not be put back. */
	struct undo_rows {
		char *text; /* the report, which they point into */
		struct undo_row *list;
		size_t n;
	} rows, bad;
	char digest[65];
};

/*
 * Find session, workspace and store. Returns 0, or an exit status
 * after it said why.
 */
int undo_enter(struct undo *, struct icctl *);
void undo_leave(struct undo *);
/* Read the records again. Returns 0, or -1 after it said why. */
int undo_records(struct undo *);
/* Wait for its answers as long as a large workspace takes. */
void undo_patient(int fd);
/* Returns the path below the workspace, which the caller frees, or NULL. */
char *undo_path(const struct undo *, const char *word);

/* choose.c: Choose the checkpoint that comes back. Returns 0, or a status. */
int undo_choose(struct undo *, const char *turn, const char *to);

/*
 * Choose what a turn began with, as `to`, and what turn `upto` ended with, as
 * `now`. Returns 0, or a status.
 */
int undo_choose_turns(struct undo *, const char *turn, const char *upto);

/* box.c: Make a checkpoint of now. Returns 0, or an exit status. */
int undo_save(struct undo *);
/* Compose the plan, or carry it out. Returns 0, or an exit status. */
int undo_plan(struct undo *, bool restore);
int undo_forget(struct undo *);
/* Send a request on the connection; takes it. Returns NULL after the reason. */
json_object *undo_ask(struct undo *, json_object *request, int *status);

/* show.c */
void undo_list(const struct undo *, bool all);
/*
 * Show the whole plan; `pages`: a page at a time, on a terminal. Returns false
 * if the person did not want to see all of it, or it is too long.
 */
bool undo_show(const struct undo *, bool pages);
void undo_show_end(const struct undo *);
/* Count the rows that change a file. */
size_t undo_count(const struct undo *);
void undo_json_out(const struct undo *, bool done);

#endif
