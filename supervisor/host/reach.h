/* SPDX-License-Identifier: ISC */
/*
 * Judges text that a program of the host is given, an argument or the value of
 * a variable, by whether a part of it is a path that leads into a place that an
 * agent can write. It is for programs that run without a mount namespace of
 * their own in which those places are empty.
 */
#ifndef HOST_REACH_H
#define HOST_REACH_H

#include "host/places.h"

/*
 * Returns the name of a place that `path` leads into, or NULL; a relative path
 * is taken from the root, where such programs start.
 */
const char *reach_path(const struct places *, const char *path);
/*
 * Returns the name of a place that any part of the text leads into, taken as a
 * path by itself: between quotes, after "=", in a list, with blanks, after a
 * reference such as ~ or $HOME. Each part is resolved and compared by device
 * and inode. If the text is too long for that, it returns a text that says so.
 */
const char *reach_text(
    const struct places *, const char *user_home, const char *text);

/*
 * Returns true if the last part of a program's path is the name, or the name
 * and a version.
 */
bool reach_named(const char *path, const char *name);
/*
 * Returns the option by which an interpreter among the words takes its program
 * as text ("-c"), or NULL; `*program` becomes the interpreter's name. `real` is
 * the path of the program that words[0] names.
 */
const char *reach_inline(
    char *const *words, const char *real, const char **program);

#endif
