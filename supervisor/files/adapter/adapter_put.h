/* SPDX-License-Identifier: ISC */
/* How ic-reader reads an agent's file. */
#ifndef ADAPTER_PUT_H
#define ADAPTER_PUT_H

#include "base/fault.h"
#include "common/buf.h"

/*
 * Read the text of the file of agent `name`, and append what adapter_take()
 * takes. `path` is for messages. Returns 0, or -1 with the fault set.
 */
int adapter_put(struct buf *, const char *path, const char *name,
    struct span text, struct fault *);

#endif
