/* SPDX-License-Identifier: ISC */
/*
 * Dynamic lists, and sets of values to match against: hosts, e-mail addresses,
 * identifiers. Sets are sorted once, when rules come into force, and searched
 * in logarithmic time.
 */
#ifndef LISTS_H
#define LISTS_H

#include "engine/load.h"
#include "engine/spelling.h"

enum match_type { MATCH_DOMAINS, MATCH_EMAILS, MATCH_IDENTIFIERS };
#define MATCH_TYPES 3U

/* Look up MATCH_* by its name in files. Returns 0, or -1. */
int match_type_find(struct span, enum match_type *);

/*
 * The effect of the rule that a set belongs to.  A rule that allows matches
 * strictly, one that asks or denies in every spelling.
 */
enum match_use { MATCH_ALLOWS, MATCH_ASKS, MATCH_DENIES };

enum match {
	MATCH_NO,
	MATCH_YES,
	MATCH_UNKNOWN,	/* the URL behind a git remote is not known */
	MATCH_CAPS,	/* only keeps later rules from allowing */
};

/* The values of one condition. Owned by the pool that it was built in. */
struct match_set {
	enum match_type type;
	enum match_use use;
	bool any;		/* "*": every name */
	struct span *exact;	/* hosts, or values */
	size_t nexact;
	struct span *suffix;	/* "x" for "*.x" */
	size_t nsuffix;
	struct span *full;	/* with a slash: host/owner/repo */
	size_t nfull;
	struct span *below;	/* "host/owner": everything below it */
	size_t nbelow;
};

/* The contents of dynamic-lists.json. */
struct lists {
	struct load_doc doc;
	const struct value *lists;	/* object that maps names to lists */
};

int lists_load(struct lists *, struct span text, struct load *);
void lists_free(struct lists *);

/*
 * Build a set from an array of values and "@name" references, for a condition
 * about these roles. `lists` may be NULL. Warns about a missing list, which
 * counts as empty, and about entries that no value can equal. Returns NULL if
 * memory ran out.
 */
struct match_set *match_set_new(struct value_pool *, enum match_type,
    enum match_use, uint32_t roles, const struct value *allowed,
    const struct lists *, struct load *, const struct where *);
/*
 * Build a set that allows from newline-separated text (a server's egress list).
 */
struct match_set *match_set_text(struct value_pool *, struct span text);

/* The order of a set's arrays, for qsort() and bsearch(). */
int match_set_compare(const void *, const void *);
/* Match against a set that allows. */
bool match_set_domain(const struct match_set *, const struct domain *);
/* Match an e-mail address or identifier against a set that allows. */
bool match_set_value(const struct match_set *, struct span);
/* Match against a set that asks or denies. Returns NO, YES or CAPS. */
enum match match_set_spellings(
    const struct match_set *, const struct spellings *);

#endif
