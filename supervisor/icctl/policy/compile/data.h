/* SPDX-License-Identifier: ISC */
/* Lists that only the user's own data can fill: through MCP servers. */
#ifndef COMPILE_DATA_H
#define COMPILE_DATA_H

#include "icctl/policy/compile/compile.h"

/* Returns true if the server that the definition names can be asked. */
bool data_has_server(const struct compile *, const struct value *def);
/*
 * Ask for the values in a session with the read-only policy, by at most five
 * calls. Returns the values as the model gave them, or NULL with the fault set.
 */
const struct value *data_ask(struct compile *, const struct value *def,
    char hash[SHA256_HEX], struct fault *);

#endif
