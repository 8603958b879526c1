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
 * with the value as JSON. Returns 0, or -1 with the first parameter that cannot
 * be in a header: its text has more than MIRROR_TEXT bytes or U+0000, or the
 * buffer is full.
 */
#define MIRROR_TEXT 2045U /* bytes; keyd/post_line.c takes no more */
int mirror_put(struct buf *, const struct value *schema,
    const struct value *args, struct span *bad);

#endif
