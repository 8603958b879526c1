/* SPDX-License-Identifier: ISC */
/*
 * Reads tests/policy/cases/NAME.txt: groups, each with its rules and lists, and
 * rows. A row is one case:
 *
 * 	STATEMENT SIGN TITLE: SERVER TOOL JSON => VERDICT [RULE [ROLES]] ["TEXT"]
 *
 * SIGN is + if the statement applies, - if it narrowly does not.
 */
#ifndef CASE_TABLE_H
#define CASE_TABLE_H

#include <stdbool.h>

struct case_row {
	const char *file;
	unsigned line;
	char *statement, *title;
	bool applies;
	unsigned times;		/* number of times the call is made */
	char *server, *tool, *args;
	char *verdict, *rule, *roles, *text;	/* "" if omitted */
};

struct case_group {
	char *kind;		/* "engine", "session", "files" ... */
	char *title;
	char *rules;		/* contents of the array */
	char *lists;		/* contents of the object, or "" */
};

struct case_reader {
	void *arg;
	/* Called once the group is complete, before its first row. */
	void (*group)(void *, const struct case_group *);
	void (*row)(void *, const struct case_row *);
	/* Called for any other line: a word, and the rest. */
	void (*line)(void *, const char *word, const char *rest);
};

/* Exits if the file is malformed. */
void case_read(const char *dir, const char *name, const struct case_reader *);
/*
 * Returns the whole file, NUL-terminated, for the caller to free. Exits on
 * failure.
 */
char *case_slurp(const char *dir, const char *name);

#endif
