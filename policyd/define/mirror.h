/* SPDX-License-Identifier: ISC */
/*
 * Parameters of a tool that a remote server of revision 2026-07-28 wants in
 * headers, too (x-mcp-header), as routers and firewalls before it read them.
 */
#ifndef MIRROR_H
#define MIRROR_H

#include "common/buf.h"
#include "define/define.h"

/*
 * Check these marks in an inputSchema as its server has it. Returns 0, or -1
 * with the reason in `why`: the tool must not be used.
 */
int mirror_check(const struct value *schema, char why[DEFINE_WHY]);
/*
 * Append " NAME VALUE" for each marked parameter that is there and is not null,
 * with the value as JSON.
 */
void mirror_put(
    struct buf *, const struct value *schema, const struct value *args);

#endif
