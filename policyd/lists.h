/* SPDX-License-Identifier: ISC */
/*
 * Dynamic lists (original.md 1.10) and sets of values to match against: hosts
 * (1.7), e-mail addresses, identifiers.  Sets are sorted once, when rules come
 * into force, and searched in logarithmic time.
 */
#ifndef LISTS_H
#define LISTS_H

#include "domain.h"
#include "load.h"

enum match_type { MATCH_DOMAINS, MATCH_EMAILS, MATCH_IDENTIFIERS };

/* MATCH_* by its name in files: 0, or -1. */
int match_type_find(struct span, enum match_type *);

/* What a condition allows. Owned by the pool it was built in. */
struct match_set {
	enum match_type type;
	bool any;		/* "*": every name, no address */
	struct span *exact;	/* hosts, or values */
	size_t nexact;
	struct span *suffix;	/* "x" for "*.x" */
	size_t nsuffix;
	struct span *full;	/* with a slash: host/owner/repo */
	size_t nfull;
};

/* dynamic-lists.json. */
struct lists {
	struct load_doc doc;
	const struct value *lists;	/* object: name -> list */
};

int lists_load(struct lists *, struct span text, struct load *);
void lists_free(struct lists *);

/*
 * Builds a set from an array of values and "@name" references. lists may be
 * NULL. A list that is missing is empty and warned about: the rule falls
 * towards deny. NULL when out of memory.
 */
struct match_set *match_set_new(struct value_pool *, enum match_type,
    const struct value *allowed, const struct lists *, struct load *,
    const struct where *);
/* From newline-separated text: a server's egress list. */
struct match_set *match_set_text(struct value_pool *, struct span text);

bool match_set_domain(const struct match_set *, const struct domain *);
/* An e-mail address or identifier. */
bool match_set_value(const struct match_set *, struct span);

#endif
