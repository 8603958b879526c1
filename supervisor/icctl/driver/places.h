/* SPDX-License-Identifier: ISC */
/* Places that agents of the user's sessions can write. */
#ifndef DRIVER_PLACES_H
#define DRIVER_PLACES_H

#include <stdbool.h>

/* Returns true if `path` is `dir` or below it. */
bool plain_within(const char *path, const char *dir);
/*
 * Returns the session whose agent can write `path`, which has no links, as a
 * text, or NULL if none can.
 */
const char *places_writer(const char *home, const char *path);
/*
 * Find a program as a shell does, in the directories of PATH that are absolute,
 * or by an absolute path, and write its path without links. Returns false if
 * there is none.
 */
bool places_program(const char *name, char path[4096]);
#define PLACES_WHY 640U
/*
 * Open a file for reading that a person or a program names. No link of its path
 * is followed, since an agent may have put it there; the file is plain, belongs
 * to the user, may be written by nobody else, and is not below `work`, which
 * may be NULL, or another place that an agent of a session in `home` can write.
 * Returns the descriptor, or -1 with the reason in `why`, which names the file.
 */
int places_file(
    const char *home, const char *work, const char *path, char why[PLACES_WHY]);
/*
 * Open a file for reading without following any link of its path, which an
 * agent may have put there. Returns the descriptor, or -1 with errno set and
 * the reason in `*why`.
 */
int places_open(const char *path, const char **why);

#endif
