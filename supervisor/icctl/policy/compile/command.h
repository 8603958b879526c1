/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy annotate`, `compile`, `customize`, `refresh-lists` and `cache`.
 */
#ifndef COMPILE_COMMAND_H
#define COMPILE_COMMAND_H

#include <stdio.h>

#include "icctl/icctl.h"

/*
 * Run the command argv[0] if it is one of these. Returns false if it is not;
 * otherwise `*status` is the exit status.
 */
bool compile_command(struct icctl *, int argc, char **argv, int *status);
/* Print a line of help for each. */
void compile_usage(FILE *);
/* The commands; `struct compile_opts` is in compile.h. */
struct compile_opts;
/*
 * Compile a strict policy for one task, in a directory of its own, which is
 * written to `dir`. Returns an exit status.
 */
int compile_task(struct icctl *, const char *task, char dir[4096]);
int compile_main(struct icctl *, const struct compile_opts *);
int annotate_main(struct icctl *, const struct compile_opts *);
int customize_main(struct icctl *, const struct compile_opts *);
int refresh_main(struct icctl *, const struct compile_opts *);
int cache_main(struct icctl *, const struct compile_opts *);

#endif
