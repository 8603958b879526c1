/* SPDX-License-Identifier: ISC */
/* The end of a log as `audit.anchor` told it elsewhere. */
#ifndef ICCTL_AUDIT_ANCHOR_H
#define ICCTL_AUDIT_ANCHOR_H

#include "log/line.h"

struct icctl;

struct audit_anchor {
	bool found; /* a line is about this log */
	uint64_t seq;
	uint8_t hash[AUDITLOG_HASH];
};

/*
 * Read the last line that names this log from a file, or from standard input
 * if `where` is "-". Returns 0, or -1 after saying why.
 */
int audit_anchor_read(const char *where, const char *log,
    struct audit_anchor *);
/* The configured anchor: "journal", a file, or "". Returns -1 if too long. */
int audit_anchor_default(const struct icctl *, char *dst, size_t cap);

#endif
