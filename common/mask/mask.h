/* SPDX-License-Identifier: ISC */
/*
 * Finds secrets in a text, so that the log has a short form in their place:
 * keys of public forms, passwords in addresses, headers, options and
 * assignments, private keys, card and social security numbers, and the values
 * that the session itself has. It is a help, not a boundary: secrets of an
 * unknown form stay. The text may come from the agent or from a server, so that
 * the work is linear in its length whatever it contains.
 */
#ifndef MASK_H
#define MASK_H

#include "common/span.h"

#define MASK_HIDDEN "***"	/* stands in the place of a value */

/*
 * Values that the session has, as a process that must not have them knows them:
 * by length, a fingerprint of 16 bits that is cheap to compute at each place of
 * a text, and a keyed digest. A value longer than MASK_KNOWN_HEAD is known by
 * its first bytes.
 */
#define MASK_KNOWN_MAX	256U	/* values in a session */
#define MASK_KNOWN_LEAST 6U	/* shorter ones would mask ordinary words */
#define MASK_KNOWN_HEAD	64U	/* bytes */
#define MASK_KEY	32U	/* bytes of the key */
#define MASK_DIGEST	32U	/* bytes of a digest */

struct mask_known_row {
	uint32_t len;
	uint16_t print;
	uint8_t digest[MASK_DIGEST];
};

struct mask_known;

/* Describe a value of MASK_KNOWN_LEAST bytes or more. */
void mask_known_row(
    const uint8_t key[MASK_KEY], struct span value, struct mask_known_row *);
/* Returns a new set, or NULL with errno ENOMEM. */
struct mask_known *mask_known_new(const uint8_t key[MASK_KEY]);
void mask_known_free(struct mask_known *);
/*
 * Add a value; one that is there already is no error. Returns 0, or -1 with
 * errno EINVAL for a length that is too small, ENOBUFS beyond MASK_KNOWN_MAX,
 * or ENOMEM.
 */
int mask_known_add(struct mask_known *, const struct mask_known_row *);
/* Returns true if the set was made with this key. */
bool mask_known_keyed(const struct mask_known *, const uint8_t key[MASK_KEY]);

/*
 * Copy `s` to `dst`, unless that is NULL, with the secrets in it masked. Returns
 * the new length, and sets *changed if anything was masked. `known` may be NULL.
 * `steps` is NULL, or grows by the bytes that were looked at.
 */
size_t mask_text(struct span s, const struct mask_known *known, uint8_t *dst,
    bool *changed, uint64_t *steps);

/*
 * names.c: Returns true if a member, a variable or a header of this name holds a
 * secret.
 */
bool mask_name(struct span name);
/*
 * Returns true if a member of this name may hold a key, and this value looks
 * like one: "STRIPE_KEY".
 */
bool mask_keyed(struct span name, struct span value);
/*
 * Returns true if the text only says where a secret comes from, or that there is
 * none: "${TOKEN}", "<password>", "null".
 */
bool mask_refers(struct span value);

#endif
