/* SPDX-License-Identifier: ISC */
/*
 * Reports: how a short-lived program of ours is told what to do, and how it
 * hands back what it found. A report is a letter, a text, and a NUL; the
 * letters are an enumeration that both programs include.
 */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include "common/buf.h"

#define REPORT_END '.' /* the last report, whose text is empty */

/* Add a report. A failure shows in buf_check(). */
void report_add(struct buf *, int letter, const char *text);
/*
 * Write a report to standard output. The process ends with status 1 if that
 * fails, or if the report is longer than `max` bytes.
 */
void report_say(int letter, const char *text, size_t max);
/*
 * Take the first report of `rest`; its text ends in a NUL and lies in `rest`.
 * Returns false if there is no whole one.
 */
bool report_next(struct span *rest, int *letter, const char **text);
/*
 * Read all reports of standard input into `to`, which must be larger than they
 * are. Returns 0, or -1 if they are too long or cannot be read.
 */
int report_read(void *to, size_t cap, struct span *all);

#endif
