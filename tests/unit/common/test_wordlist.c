/* SPDX-License-Identifier: ISC */
/* Lists of words: a word that finds no room spoils the list. */
#include "common/wordlist.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

int
main(void)
{
	/* The guard behind the list is what an overflow would write to. */
	struct {
		const char *list[4];
		const char *guard;
	} m = {.guard = "guard"};
	struct wordlist w = WORDLIST_IN(m.list), none = {.max = 0};
	char *const *end;

	end = wordlist_end(&w);
	ok(end != NULL && end[0] == NULL, "an empty list ends at once");
	wordlist_add(&w, "a");
	wordlist_all(&w, (const char *const[]){"b", "c", NULL});
	wordlist_all(&w, NULL);
	end = wordlist_end(&w);
	ok(end != NULL && end[3] == NULL, "a full list ends in its last place");
	is_int(w.n, 3, "it counts its words");
	if (end != NULL)
		is_str(end[2], "c", "in the order of appending");
	wordlist_add(&w, "d");
	errno = 0;
	ok(wordlist_end(&w) == NULL && errno == E2BIG,
	    "one word too many leaves no list");
	is_str(m.guard, "guard", "and is written nowhere");
	ok(m.list[3] == NULL, "and the list keeps its end");
	w = (struct wordlist)WORDLIST_IN(m.list);
	wordlist_add(&w, NULL);
	wordlist_add(&w, "a");
	ok(wordlist_end(&w) == NULL, "a word that is NULL leaves no list");
	w = (struct wordlist)WORDLIST_IN(m.list);
	wordlist_all(&w, (const char *const[]){"a", "b", "c", "d", NULL});
	ok(wordlist_end(&w) == NULL, "nor does a list that is too long");
	ok(wordlist_end(&none) == NULL, "nor a list without room");
	return tap_done();
}
