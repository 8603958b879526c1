/* SPDX-License-Identifier: ISC */
/*
 * Files of the workspace that sandboxes have empty (--cover), because the agent
 * is not to read them. They are mounts upon the files themselves, and a mount
 * goes with its file: whoever replaces one outside uncovers the new one, so
 * that the session ends then.
 */
#ifndef BOX_COVER_H
#define BOX_COVER_H

#include "base/fault.h"

struct box;
struct view;

/* Look at the files, and watch them. Returns 0, or -1 with the fault set. */
int cover_find(struct fault *);
/* Cover them in the agent's sandbox, whose workspace is bound already. */
void cover_bind(struct box *);
/* Cover them in a server's sandbox, where a row shows the workspace. */
void cover_bind_view(struct box *, const struct view *);

#endif
