/* SPDX-License-Identifier: ISC */
/* `icctl gc`: shared by its parts. */
#ifndef GC_H
#define GC_H

#include "base/tree.h"
#include "icctl/gc/look.h"
#include "icctl/icctl.h"

struct gc_row {
	char name[256];
	enum gc_state state;
	int64_t ended;
	unsigned rank; /* among those that have ended: 0 is the newest */
};

struct gc {
	struct icctl *ctl;
	struct gc_rule rule;
	bool dry;
	int64_t now;
	int sessions; /* IRONCURTAIN_HOME/sessions */
	uint64_t dev;
	struct gc_row *rows;
	size_t n;
	/* The report. */
	uint64_t bytes;
	unsigned removed, crashed, links, left; /* left: by the rule */
	unsigned living, failed, containers;
	bool contained; /* some session ran in a container */
	json_object *json; /* with --json */
};

/* links.c: Remove links in run/ that lead to no living session. */
void gc_links(struct gc *);

/* undo.c: Remove stores of checkpoints that nobody needs. */
void gc_undo(struct gc *);

/* containers.c: Remove containers that sessions left behind. */
void gc_containers(struct gc *);

/* report.c */
/* Name one session: `what` was done with it, and why. */
void gc_say(struct gc *, const char *what, const char *name, uint64_t bytes,
    const char *why);
/* Show how far it is, if that takes long; `row` is being removed. */
void gc_progress(struct gc *, size_t row, uint64_t more);
void gc_progress_end(void);
void gc_summary(struct gc *);
/* Write a size: "12.3 MiB". Returns `dst`. */
const char *gc_size(uint64_t bytes, char dst[32]);

#endif
