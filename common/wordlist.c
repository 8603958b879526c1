/* SPDX-License-Identifier: ISC */
/*
 * Lists of words with a fixed room. They allocate nothing, so that a child may
 * compose its arguments between fork and exec.
 */
#include "common/wordlist.h"

#include <errno.h>
#include <stdint.h>

void
wordlist_add(struct wordlist *w, const char *word)
{
	/* A NULL would end the list in the middle. */
	if (word == NULL || w->max == 0 || w->n >= w->max - 1) {
		w->spoilt = true;
		return;
	}
	w->v[w->n++] = word;
}

void
wordlist_all(struct wordlist *w, const char *const *words)
{
	for (; words != NULL && *words != NULL; words++)
		wordlist_add(w, *words);
}

char *const *
wordlist_end(struct wordlist *w)
{
	if (w->spoilt || w->max == 0) {
		errno = E2BIG;
		return NULL;
	}
	w->v[w->n] = NULL;
	return (char *const *)(uintptr_t)w->v;
}
