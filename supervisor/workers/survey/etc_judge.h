/* SPDX-License-Identifier: ISC */
/* Which files of /etc a sandbox may have. */
#ifndef SURVEY_ETC_JUDGE_H
#define SURVEY_ETC_JUDGE_H

#include <sys/stat.h>

#include <stdbool.h>

#include "common/span.h"

#define ETC_MAX_FILE ((off_t)1 << 20)
#define ETC_MAX_LARGE ((off_t)16 << 20)

/* Returns true for the names that IronCurtain makes up, or leaves out. */
bool etc_made_up_name(const char *path);
/*
 * Returns true if a path below /etc is left out because of its name, whatever
 * is there: a file, a directory with everything below it, or a link.
 */
bool etc_left_out(const char *path);
/* Returns true if it may be shown, but for its text, as its mode has it. */
bool etc_shown(const char *path, const struct stat *);
/* Returns true if the text of a regular file is left out. */
bool etc_hidden_text(const char *path, const char *name, struct span);

#endif
