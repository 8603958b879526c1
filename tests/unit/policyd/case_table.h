/* SPDX-License-Identifier: ISC */
/*
 * Reads tests/policy/cases/NAME.txt: groups, the rules and lists of each, and
 * rows.  A row is one case:
 *
 *	STATEMENT SIGN TITLE: SERVER TOOL JSON => VERDICT [RULE [ROLES]] ["TEXT"]
 *
 * SIGN is + where the statement applies, - where it narrowly does not.
 */
#ifndef CASE_TABLE_H
#define CASE_TABLE_H

#include <stdbool.h>

struct case_row {
	const char *file;
	unsigned line;
	char *statement, *title;
	bool applies;
	unsigned times;		/* how often the call is made */
	char *server, *tool, *args;
	char *verdict, *rule, *roles, *text;	/* "" when not given */
};

struct case_group {
	char *kind;		/* "engine", "session", "files" ... */
	char *title;
	char *rules;		/* the array's inside */
	char *lists;		/* the object's inside, or "" */
};

struct case_reader {
	void *arg;
	/* Once the group is known in full, before its first row. */
	void (*group)(void *, const struct case_group *);
	void (*row)(void *, const struct case_row *);
	/* A line that is neither: a word, and what follows it. */
	void (*line)(void *, const char *word, const char *rest);
};

/* Exits when the file is not as it should be. */
void case_read(const char *dir, const char *name, const struct case_reader *);
/* The whole file, NUL-terminated; to be freed. Exits on failure. */
char *case_slurp(const char *dir, const char *name);

#endif
