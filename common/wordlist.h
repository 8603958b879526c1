/* SPDX-License-Identifier: ISC */
/*
 * A list of words with a fixed room, such as the arguments or the environment
 * of a program. A word that finds no room is never left out in silence: the
 * list is spoilt then, and wordlist_end() returns NULL.
 */
#ifndef WORDLIST_H
#define WORDLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/span.h"

struct wordlist {
	const char **v; /* the words belong to the caller */
	size_t n, max;  /* `max` includes the NULL at the end */
	bool spoilt;
};

/* Initialises an empty list in an array, which must be one and no pointer. */
#define WORDLIST_IN(array)                                                     \
	{                                                                      \
		.v = (array), .max = nitems(array)                             \
	}

/* Append one word, which must not be NULL. */
void wordlist_add(struct wordlist *, const char *word);
/* Append all words of a list that ends with NULL, or is NULL. */
void wordlist_all(struct wordlist *, const char *const *words);
/*
 * End the list with NULL. Returns it, in the form that execve(2) takes, or NULL
 * with errno E2BIG if a word found no room.
 */
char *const *wordlist_end(struct wordlist *);

#endif
