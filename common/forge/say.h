/* SPDX-License-Identifier: ISC */
/*
 * Looks up what the references of a call stand for, and says in words what the
 * call does. keyd sends the lookups, whose text is fixed but for one id; what
 * it found is hostile as far as a forge may be, and is checked and escaped.
 */
#ifndef FORGE_SAY_H
#define FORGE_SAY_H

#include "common/forge/tree.h"

#define FORGE_MAX_LOOKUP	(4U << 10)	/* an answer of GraphQL */
#define FORGE_MAX_LOOKUP_REST	(256U << 10)	/* REST has whole texts */
#define FORGE_MAX_SENTENCE	4096U
#define FORGE_MAX_TEXT		(256U << 10)	/* escaped */

/*
 * The thing that a reference stands for. Its spans point into the pool or into
 * the answer.
 */
struct forge_found {
	uint32_t is;		/* one FORGE_IS_* */
	struct span repository;	/* "owner/name"; p == NULL: in none */
	uint64_t number;	/* 0: has none */
	struct span title;	/* or name, or login; UTF-8 */
	struct span state;	/* "OPEN", or p == NULL */
	struct span base, head;	/* branches; p == NULL for none */
};

/* Returns the most bytes that the answer to a lookup may have. */
size_t forge_lookup_max(const struct forge_grant *, const struct forge_ref *);
/*
 * Compose the request that looks a reference up. Returns 0, or -1 with errno
 * ENOBUFS, or EINVAL for a reference that this forge cannot have.
 */
int forge_lookup_compose(const struct forge_grant *, const struct forge_ref *,
    struct forge_request *);
/*
 * Read its answer, and refuse what is not permitted: another type, a repository
 * that is not on the list or not the one that the reference names. Returns 0
 * with `*found`, or -1 with `fail` filled in.
 */
int forge_lookup_read(const struct forge_grant *, struct value_pool *,
    const struct forge_ref *, struct span answer, struct forge_found *found,
    struct forge_fail *fail);

/* A found thing on the wire: a value tree, which is decoded strictly. */
const struct value *forge_found_tree(
    struct value_pool *, const struct forge_found *);
/* Returns 0, or -1 with errno EBADMSG. It checks as forge_lookup_read() does. */
int forge_found_read(const struct forge_grant *, const struct forge_ref *,
    const struct value *, struct forge_found *found);

/* How a held call is shown; each is UTF-8 and escaped for a terminal. */
struct forge_said {
	struct buf sentence;	/* one line: Comments on me/shop #12 ... */
	/*
	 * Lines about what acts by itself: mentions, words that close issues,
	 * comments that a page hides, bots.
	 */
	struct buf notes;
	struct buf text;	/* every other text of the call, whole */
};

void forge_said_init(struct forge_said *);
void forge_said_free(struct forge_said *);
/*
 * Say what the call does. found[i] belongs to call->refs[i]; with `found` NULL
 * the references are named by their ids, as the record before a lookup does.
 * Returns 0, or -1 with errno ENOBUFS.
 */
int forge_say(const struct forge_call *, const struct forge_found *found,
    struct forge_said *);

#endif
