/* SPDX-License-Identifier: ISC */
/*
 * The spellings under which an agent's value may be understood. A rule that
 * denies or asks must apply to every spelling, so its patterns and the values
 * it is compared with are both reduced here: lower case, percent escapes
 * decoded, empty and dot segments removed, ".git" cut off. Two different things
 * may reduce to the same text, which errs on the side of refusal; a rule that
 * allows therefore never uses these forms.
 */
#ifndef SPELLING_H
#define SPELLING_H

#include "engine/domain.h"

/* A host, or a host followed by a path; or an address or identifier. */
struct spelling {
	struct span text;
	enum host_kind kind; /* for hosts; otherwise HOST_NONE */
};

/* All spellings of one value. Texts live in the pool. */
struct spellings {
	struct spelling *list;
	size_t n;
};

/* Each returns 0, or -1 when the pool is full; the caller then withholds. */

/* A URL or remote: its host, and "host/path" if it has a path. */
int spell_domain(
    struct value_pool *, const struct domain *, struct spellings *);
/* Text that names hosts: a domain, an e-mail address, a URL. */
int spell_hosts(struct value_pool *, struct span, struct spellings *);
/* Every address in a text such as "Name <a@x.org>, b@x.org". */
int spell_emails(struct value_pool *, struct span, struct spellings *);
/* An identifier; each side of "src:dst"; without refs/heads/. */
int spell_identifiers(struct value_pool *, struct span, struct spellings *);

/*
 * Returns the other host that serves the same repositories, such as github.com
 * for ssh.github.com, or the host itself.
 */
struct span spell_alias(struct span host);
/* Reduce a path; no slash at either end. p == NULL if memory ran out. */
struct span spell_path(struct value_pool *, struct span);

#endif
