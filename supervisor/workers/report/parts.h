/* SPDX-License-Identifier: ISC */
/* The parts of ic-report. The text that they read is an agent's. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "log/report.h"

/* put.c */
/* Write a frame of two parts; the program and the test say how. */
extern void (*report_sink)(enum report_kind, struct span, struct span);
void report_put(enum report_kind, struct span, struct span);

/* fold.c */
/* How a file is added up. */
struct report_how {
	bool last;   /* it is the newest file */
	bool verify; /* no file before it is broken */
};
/*
 * Add up the records of a file from the mark on, which it advances, and put
 * rows. There may be several for a slot and a model.
 */
void report_fold(struct span all, const struct report_how *,
    struct value_pool *, struct report_end *);

/* record.c */
/*
 * Parse a line. Returns NULL after it put a REPORT_BAD: it is no record of
 * ours, or too long.
 */
const struct value *report_parse(struct span line, uint64_t number,
    struct value_pool *, struct report_end *);

struct report_filter {
	struct span text; /* in the line, as JSON writes it; or empty */
	const char *server, *tool, *host, *decision, *event; /* or NULL */
	int64_t since, until;                                /* 0: none */
	bool json, brief;
};
void report_records(struct span all, const struct report_filter *,
    struct value_pool *, struct report_end *);

#endif
