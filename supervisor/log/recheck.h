/* SPDX-License-Identifier: ISC */
/*
 * Checks in the background what the start of a resumed session did not: the
 * records before the checkpoint, from where an earlier run had to stop. ic-logcheck, a confined program, reads them,
 * one file of the log at a time; icsupervisor judges its reports. A broken
 * record is an alarm, and with `audit.strict` the end of the session.
 */
#ifndef AUDITRECHECK_H
#define AUDITRECHECK_H

#include "log/scan.h"

/* The report that ic-logcheck writes to its standard output. */
struct recheck_report {
	uint32_t check; /* enum auditlog_check */
	uint32_t more; /* it goes on: this is how far it came */
	uint64_t line; /* the first bad one, or the last, from where it began */
	uint64_t seq;  /* the next record's number, if all are good */
	uint64_t format; /* the log's first record has it */
	uint64_t offset; /* in the file, behind the last record */
	uint8_t hash[AUDITLOG_HASH];
};

/*
 * Start ic-logcheck if there is something left to check, and report a log that
 * is shorter than its checkpoint says.
 */
void recheck_begin(void);
/* The session ends: stop ic-logcheck, and write a new checkpoint. */
void recheck_end(const struct checkpoint *end);

#endif
