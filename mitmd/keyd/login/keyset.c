/* SPDX-License-Identifier: ISC */
/*
 * Keysets: credentials in use, each with the patterns to scrub from answers, in
 * one allocation of secret memory. One is current; an older one lives as long
 * as the transactions that began with it, and is given up early if its memory
 * is needed.
 */
#include "keyd/keyd.h"

/* Round sizes, so that freed memory fits the next keyset. */
#define KEYSET_GRAIN 2048U

/* Collect the secret parts of all texts that are long enough to search for. */
static size_t
keyset_forms(const struct span all[SCRUB_KEYS], struct span keys[SCRUB_KEYS])
{
	const struct provider *p = keyd_env.provider;
	size_t n = 0;

	/*
	 * Placeholder keys begin like real ones: the common prefix is not
	 * secret.
	 */
	for (size_t i = 0; i < SCRUB_KEYS; i++)
		if (all[i].len >= SCRUB_MIN)
			keys[n++] = scrub_secret(
			    all[i], p == NULL ? NULL : &p->sentinel, p != NULL);
	return n;
}

static struct span
keyset_put(uint8_t **p, struct span s)
{
	struct span kept = span_of(*p, s.len);

	for (size_t i = 0; i < s.len; i++)
		(*p)[i] = s.p[i];
	*p += s.len;
	return kept;
}

static void
keyset_free(struct keyset *k)
{
	secret_free(k->mem);
	*k = (struct keyset){0};
}

void
keyset_drop(struct keyset *k)
{
	if (k != NULL && --k->refs == 0)
		keyset_free(k);
}

struct keyset *
keyset_hold(struct keyset *k)
{
	k->refs++;
	return k;
}

/*
 * Returns a free keyset with this much memory. If there is none, transactions
 * with outdated keysets are ended.
 */
static struct keyset *
keyset_place(size_t size)
{
	struct keyd_env *e = &keyd_env;
	struct keyset *k;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < KEYD_MAX_KEYSETS; i++) {
			k = &e->keysets[i];
			if (pass == 1 && k->mem != NULL && k != e->now)
				e->keyset_outdated(k);
			if (k->mem == NULL &&
			    (k->mem = secret_new(size)) != NULL)
				return k;
		}
	}
	return NULL;
}

struct keyset *
keyset_new(struct span access, struct span refresh, struct span more,
    const struct span *adds)
{
	struct span all[SCRUB_KEYS] = {access, refresh, more}, keys[SCRUB_KEYS];
	size_t size, cap, n;
	struct keyset *k;
	uint8_t *p, *mem;

	n = keyset_forms(all, keys);
	size = access.len + refresh.len + more.len;
	for (unsigned i = 0; adds != NULL && i < PROVIDER_MAX_ADDS; i++)
		size += adds[i].len;
	size += scrub_size(keys, n) + 1;
	size = (size + KEYSET_GRAIN - 1) / KEYSET_GRAIN * KEYSET_GRAIN;
	if ((k = keyset_place(size)) == NULL)
		return NULL;
	p = mem = secret_bytes(k->mem, &cap);
	k->access = keyset_put(&p, access);
	k->refresh = keyset_put(&p, refresh);
	all[0] = k->access;
	all[1] = k->refresh;
	all[2] = keyset_put(&p, more);
	for (unsigned i = 0; adds != NULL && i < PROVIDER_MAX_ADDS; i++)
		k->adds[i] = keyset_put(&p, adds[i]);
	n = keyset_forms(all, keys);
	p += (uintptr_t)p & 1;
	if (n != 0 &&
	    scrub_build(&k->scrub, keys, n, p, cap - (size_t)(p - mem)) == -1) {
		keyset_free(k);
		return NULL;
	}
	return k;
}

void
keyset_use(struct keyset *k)
{
	struct keyd_env *e = &keyd_env;
	struct keyset *old = e->now;

	e->now = keyset_hold(k);
	e->loaded_at = loop_now(&e->w.loop);
	keyset_drop(old);
}
