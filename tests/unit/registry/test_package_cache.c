/* SPDX-License-Identifier: ISC */
/*
 * The cache of registries' metadata: entries last an hour, packages and
 * versions are limited, and the oldest go first.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mitmd/registry/package_cache.h"
#include "tap.h"

static void
put(const char *name, const char *id, enum registry_reason reason, unsigned n,
    uint64_t now)
{
	struct registry_entry *e = calloc(n, sizeof(*e));

	if (e == NULL)
		abort();
	registry_id(span_str(id), e[n - 1].id);
	e[n - 1].reason = (uint8_t)reason;
	e[n - 1].days = 1;
	package_cache_put(name, e, n, now);
}

static int
reason(const char *name, const char *id, uint64_t now)
{
	struct registry_verdict v;

	return package_cache_get(name, id, now, &v) == 1 ? (int)v.reason : -1;
}

int
main(void)
{
	struct registry_verdict v;
	char name[32];

	is_int(reason("a", "1", 5), -1, "nothing is known at first");
	put("a", "1", REGISTRY_YOUNG, 3, 5);
	is_int(package_cache_get("a", "1", 6, &v), 1, "a package is known");
	ok(v.reason == REGISTRY_YOUNG && v.days == 1, "... and its version");
	is_int(reason("a", "2", 6), REGISTRY_UNLISTED, "another one is not");
	is_int(reason("b", "1", 6), -1, "another package is not known");
	put("a", "2", REGISTRY_GOOD, 1, 7);
	is_int(reason("a", "1", 8), REGISTRY_UNLISTED, "newer metadata counts");
	is_int(reason("a", "2", 7 + PACKAGE_CACHE_MS - 1), REGISTRY_GOOD,
	    "for an hour");
	is_int(reason("a", "2", 7 + PACKAGE_CACHE_MS), -1, "not longer");
	for (unsigned i = 0; i <= PACKAGE_CACHE_MAX; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		put(name, "1", REGISTRY_GOOD, 1, 9);
	}
	is_int(reason("p0", "1", 9), -1, "the oldest of too many is forgotten");
	is_int(reason("p1", "1", 9), REGISTRY_GOOD, "the others are not");
	put("large", "1", REGISTRY_GOOD, PACKAGE_CACHE_ENTRIES - 1, 9);
	is_int(reason(name, "1", 9), REGISTRY_GOOD, "one beside a large one");
	is_int(reason("p1", "1", 9), -1, "... takes the place of the others");
	put("larger", "1", REGISTRY_GOOD, PACKAGE_CACHE_ENTRIES + 1, 9);
	is_int(
	    reason("larger", "1", 9), -1, "one that is too large is not kept");
	package_cache_clear();
	is_int(reason("large", "1", 9), -1, "all is forgotten");
	return tap_done();
}
