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

/* One was made, used, or has ended. */
void grants_show(const struct msg_GRANT_SHOW *);
struct json_object *grants_json(void);
void grants_clear(void);
/* `icctl revoke` */
void control_op_revoke(struct client *, struct json_object *req);

#endif
