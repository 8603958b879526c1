/* SPDX-License-Identifier: ISC */
/*
 * Judges the arguments and variables of a server by whether they lead it to
 * code that an agent can write. Of an interpreter, or a program that starts
 * another one, what comes before its program decides which code runs, so
 * nothing there may lead to a place of an agent's; of all other arguments and
 * variables, a directory there is data, and a file may be code.
 */
#ifndef HOST_LEAD_H
#define HOST_LEAD_H

#include "host/places.h"

struct lead {
	const struct places *code; /* no code may be there */
	const struct places *data; /* no other file may be there */
	const struct places *env;  /* no variable by which programs find code
				      may lead there */
	const char *user_home;
	int cwd; /* for relative arguments; -1: none is judged */
	const char *cwd_path;
	bool files;        /* files that need not be code count as well */
	const char *place; /* found, or NULL */
	char what[300];    /* "its argument X" leads there */
};

/* Note a place, if there is one. Returns true if there is. */
bool lead_found(
    struct lead *, const char *place, const char *what, const char *text);
/* Returns true if an argument leads to such a place. */
bool lead_arguments(struct lead *, const char *program, char *const *args);
/* Returns true if a variable, "NAME=VALUE", does. */
bool lead_variables(struct lead *, char *const *env);

#endif
