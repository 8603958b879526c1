/* SPDX-License-Identifier: ISC */
/* The arguments of tools, as a model annotates them, and objections to that. */
#ifndef COMPILE_ANNOTATED_H
#define COMPILE_ANNOTATED_H

#include "icctl/policy/compile/compile.h"

/* A tool as its server lists it. */
struct annotated {
	const char *name;	    /* without the server's */
	struct json_object *tool;   /* its definition */
	const struct value *schema; /* its inputSchema, or NULL */
	const struct value *reply;  /* {"toolName", "comment", "args"} */
};

/* Write the names of the roles that may be used for a server. */
void annotate_roles(const char *server, struct buf *);
/*
 * Check a reply about `n` tools: each is there once, every argument is covered,
 * and each role may be used. Sets `reply` of each tool. Returns 0, or -1 with
 * the fault set to the place and the reason.
 */
int annotate_check(const char *server, struct annotated *, size_t n,
    const struct value *reply, struct fault *);
/* Returns true if the tool's entry in `old`, the earlier tools, is manual. */
bool annotate_is_manual(const struct value *old, const char *name);
/*
 * Append a line for each argument whose roles demand less than its name
 * suggests, or than those in `old`, the server's earlier tools. Returns their
 * number.
 */
unsigned annotate_lowered(const char *server, const struct annotated *,
    const struct value *old, struct buf *);

#endif
