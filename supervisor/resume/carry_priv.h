/* SPDX-License-Identifier: ISC */
/* Private to carry*.c. */
#ifndef CARRY_PRIV_H
#define CARRY_PRIV_H

#include "common/span.h"
#include "resume/carry.h"

/* carry_line.c: Take a record of the log, which is intact, into account. */
void carry_line(struct carry *, struct span line);
/* The last state that names all approvals, in a search from a log's end. */
struct carry_base {
	bool orderly; /* set by the caller: that state lacks nothing */
	bool found;
	bool older; /* so was a state that is at least a second older */
	uint64_t mono; /* its time in microseconds */
};

/*
 * Take the next line, going backwards, into account. Returns true if this line
 * and those after it have all that is wanted: if the run of the state that was
 * found begins with it, or, after an orderly end, if it is the older state.
 * Otherwise those from the older state on do, too, but less exactly.
 */
bool carry_base_line(struct carry_base *, struct span line);

/* carry_grants.c */
void carry_grants_state(
    struct carry *, struct json_object *record, struct json_object *list);
/* A record "grant" or "revoke". */
void carry_grant_made(struct carry *, struct json_object *record);
void carry_grant_ended(struct carry *, uint64_t id);
/* Another run begins: the ids of calls are used again. */
void carry_grants_run(struct carry *);
void carry_grants_free(struct carry *);

/* carry_member.c: Read members of an object; those of another type count as absent. */
const char *carry_text(struct json_object *, const char *key);
uint64_t carry_number(struct json_object *, const char *key);
struct json_object *carry_member(
    struct json_object *, const char *key, enum json_type);

#endif
