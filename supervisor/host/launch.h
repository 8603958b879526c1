/* SPDX-License-Identifier: ISC */
/*
 * Programs that run code which their arguments, variables or working directory
 * name: interpreters, and programs that start another one. Which argument of an
 * unknown program is code cannot be told; for these it can.
 */
#ifndef HOST_LAUNCH_H
#define HOST_LAUNCH_H

#include <stdbool.h>

enum launch_kind {
	LAUNCH_NONE,   /* its arguments are data */
	LAUNCH_SCRIPT, /* the first operand that is a file is its program */
	LAUNCH_OTHER,  /* the first plain word is another program, or a package
			*/
};

/* Returns the kind of the program with this name or path. */
enum launch_kind launch_kind(const char *program);
/*
 * Returns true if the program finds code in its working directory when it is
 * started with these words.
 */
bool launch_from_directory(const char *program, char *const *words);
/*
 * Returns true for a variable, "NAME" or "NAME=VALUE", by which programs find
 * code or settings.
 */
bool launch_variable(const char *name);
/*
 * Returns true if such a variable, "NAME=VALUE", has a text that a shell or an
 * interpreter runs or expands.
 */
bool launch_text(char *const *env);

#endif
