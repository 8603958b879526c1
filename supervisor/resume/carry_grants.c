/* SPDX-License-Identifier: ISC */
/* The approvals of more than one call that were in force when a run ended. */
#include "resume/carry_priv.h"

#include <string.h>
#include <time.h>

#include "common/ipc/proto.h"

/* More than CARRY_GRANTS. */
#define CARRY_KEY_BITS 8U

void
carry_grants_run(struct carry *c)
{
	for (unsigned i = 0; i < c->ngrants; i++)
		c->grants[i].call = 0;
}

static void
carry_grant_add(struct carry *c, uint64_t key, uint64_t call, int64_t made,
    struct json_object *text, struct json_object *bound)
{
	if (c->ngrants == CARRY_GRANTS || text == NULL || bound == NULL)
		return;
	c->grants[c->ngrants++] = (struct carry_grant){.key = key,
	    .call = call,
	    .made = made,
	    .text = json_object_get(text),
	    .bound = json_object_get(bound)};
}

void
carry_grant_ended(struct carry *c, uint64_t id)
{
	for (unsigned i = 0; i < c->ngrants; i++) {
		struct carry_grant *g = &c->grants[i];

		if (g->key != id && (g->call == 0 || g->call != id))
			continue;
		carry_grant_drop(c, i);
		return;
	}
}

/*
 * Returns a key for the grant that this record made, or, from 1, for the i-th
 * that it lists.
 */
static uint64_t
carry_key(struct json_object *record, size_t i)
{
	return PROTO_KEPT_ID | (carry_number(record, "seq") << CARRY_KEY_BITS) |
	       i;
}

/* Returns the seconds since 1970 of a record's time, or 0. */
static int64_t
carry_time(struct json_object *record)
{
	struct tm tm = {.tm_isdst = 0};

	if (strptime(carry_text(record, "time"), "%Y-%m-%dT%H:%M:%S", &tm) ==
	    NULL)
		return 0;
	return (int64_t)timegm(&tm);
}

void
carry_grant_made(struct carry *c, struct json_object *record)
{
	uint64_t id = carry_number(record, "id");
	const char *state = carry_text(record, "state");

	if (strcmp(state, "made") != 0) {
		/* One that is kept goes on under the id that it has. */
		if (strcmp(state, "kept") != 0)
			carry_grant_ended(c, id);
		return;
	}
	carry_grant_add(c, carry_key(record, 0), id, carry_time(record),
	    carry_member(record, "forSession", json_type_object),
	    carry_member(record, "bound", json_type_object));
}

void
carry_grants_state(
    struct carry *c, struct json_object *record, struct json_object *list)
{
	struct json_object *o;
	uint64_t key;

	if (list == NULL)
		return;
	carry_grants_free(c);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if ((key = carry_number(o, "id")) == 0)
			key = carry_key(record, i + 1);
		carry_grant_add(c, key, carry_number(o, "call"),
		    (int64_t)carry_number(o, "made"),
		    carry_member(o, "forSession", json_type_object),
		    carry_member(o, "bound", json_type_object));
	}
}
