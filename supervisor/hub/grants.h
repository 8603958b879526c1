/* SPDX-License-Identifier: ISC */
/*
 * The grants beyond one call that are in force: shown in
 * `icctl status`, told to watchers with each use, and revoked by its id.
 * policyd alone decides by it.
 */
#ifndef CONTROL_GRANTS_H
#define CONTROL_GRANTS_H

#include "common/ipc/proto.h"

struct client;
struct json_object;
struct value;
struct value_pool;

/* One was made, used, or has ended. */
void grants_show(const struct msg_GRANT_SHOW *);
struct json_object *grants_json(void);
/*
 * Before START: one of an earlier run, whose `text` was shown to a person, is
 * given to policyd, which judges it again. `bound` is as it was recorded.
 */
void grants_restore(
    uint64_t id, int64_t made, const char *text, const char *bound);
/* Returns those that a later run may restore, for the record "state". */
struct value *grants_state(struct value_pool *);
void grants_clear(void);
/* `icctl revoke` */
void control_op_revoke(struct client *, struct json_object *req);

#endif
