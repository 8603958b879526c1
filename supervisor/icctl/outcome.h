/* SPDX-License-Identifier: ISC */
/*
 * The outcome of a command for programs: with --json, every command prints one
 * JSON text on standard output, also if it fails, and also if it has words for
 * people only.
 */
#ifndef ICCTL_OUTCOME_H
#define ICCTL_OUTCOME_H

#include "icctl/icctl.h"

/* Returns true if the command line asks for JSON, well-formed or not. */
bool outcome_asked(int argc, char **argv);
/*
 * Begin, before anything is printed. Standard error is passed on and remembered
 * for an error's text. If the process ends with an error and has printed no
 * JSON, the object {"ok":false,"code":...,"error":...} is printed. `ctl` is
 * used until then.
 */
void outcome_begin(const struct icctl *ctl);
/*
 * Also collect what is printed on standard output until the end: JSON is
 * printed as it is, and anything else as {"ok":...,"text":...}. This is for
 * commands that do not print while they wait.
 */
void outcome_collect(void);
/* On a terminal, divide the lines that the command prints between words. */
void outcome_wrap(void);

#endif
