/* SPDX-License-Identifier: ISC */
/*
 * The spellings under which a value of the agent may be understood.  A rule
 * that denies or asks must hold whatever the spelling, so its patterns and
 * the values it is asked about are both reduced here: letters in lower case,
 * percent escapes undone, empty and dot segments removed, ".git" cut off.  A
 * reduction may make two different things equal, which errs towards
 * withholding; a rule that allows therefore never uses these forms.
 */
#ifndef SPELLING_H
#define SPELLING_H

#include "engine/domain.h"

/* A host, or a host followed by a path; or an address or identifier. */
struct spelling {
	struct span text;
	enum host_kind kind; /* of a host; HOST_NONE for everything else */
};

/* All spellings of one value. They live in the pool. */
struct spellings {
	struct spelling *list;
	size_t n;
};

/* Each returns 0, or -1 when the pool is full; the caller then withholds. */

/* A URL or remote: its host, and host and path in one where it has a path. */
int spell_domain(
    struct value_pool *, const struct domain *, struct spellings *);
/* Text that names hosts: a domain, an address of mail, a URL. */
int spell_hosts(struct value_pool *, struct span, struct spellings *);
/* Every address in a text such as "Name <a@x.org>, b@x.org". */
int spell_emails(struct value_pool *, struct span, struct spellings *);
/* The identifier; of "src:dst" each side; without refs/heads/. */
int spell_identifiers(struct value_pool *, struct span, struct spellings *);

/*
 * The other name by which a host serves the same repositories, such as
 * github.com for ssh.github.com; else the host itself.
 */
struct span spell_alias(struct span host);
/* A path reduced, without slashes at its ends. p == NULL: out of memory. */
struct span spell_path(struct value_pool *, struct span);

#endif
