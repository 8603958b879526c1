/* SPDX-License-Identifier: ISC */
/*
 * A word after `icctl start` that names no agent. One word is hardly a task: it
 * is an agent that is not known here, or a program that is to be run.
 */
#ifndef ICCTL_START_WORD_H
#define ICCTL_START_WORD_H

#include <stdbool.h>

#include "icctl/icctl.h"

/*
 * Ask about a task of one word on a terminal, if `ask`. Returns true if it is
 * one, or false after it named the ways to write what may be meant.
 */
bool start_word(const char *word, bool ask, const char *known);
/*
 * Look at the first word after "--", which may be the only one. Returns true if
 * it may be a program, or false after it has said what to write.
 */
bool start_program(const char *word, bool only);
/*
 * Print what to write for an option by which other programs go on with their
 * last session. Returns false if `option` is none.
 */
bool start_go_on(const struct icctl *ctl, const char *option);

#endif
