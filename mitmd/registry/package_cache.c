/* SPDX-License-Identifier: ISC */
/*
 * The table of package_cache.h: newest first, searched by name. Keeps only ids
 * and verdicts of what a registry said.
 */
#include "registry/package_cache.h"

#include <sys/queue.h>

#include <stdlib.h>

struct package_known {
	TAILQ_ENTRY(package_known) entry;
	char name[REGISTRY_MAX_NAME + 1];
	struct registry_entry *entries;
	unsigned n;
	uint64_t since;
};
TAILQ_HEAD(package_list, package_known);
static struct package_list cache = TAILQ_HEAD_INITIALIZER(cache);
static unsigned cache_n, cache_entries;

static void
cache_drop(struct package_known *k)
{
	TAILQ_REMOVE(&cache, k, entry);
	cache_n--;
	cache_entries -= k->n;
	free(k->entries);
	free(k);
}

static struct package_known *
cache_find(const char *package)
{
	struct package_known *k;

	TAILQ_FOREACH (k, &cache, entry) {
		if (strcmp(k->name, package) == 0)
			return k;
	}
	return NULL;
}

void
package_cache_put(
    const char *package, struct registry_entry *e, unsigned n, uint64_t now)
{
	struct registry_entry *fit;
	struct package_known *k;

	if ((k = cache_find(package)) != NULL)
		cache_drop(k);
	while (cache_n != 0 && (cache_n == PACKAGE_CACHE_MAX ||
				   n > PACKAGE_CACHE_ENTRIES - cache_entries))
		cache_drop(TAILQ_LAST(&cache, package_list));
	if (n > PACKAGE_CACHE_ENTRIES || (k = calloc(1, sizeof(*k))) == NULL ||
	    span_copy(span_str(package), k->name, sizeof(k->name)) == -1) {
		free(k);
		free(e);
		return;
	}
	if ((fit = realloc(e, (n + 1) * sizeof(*e))) == NULL)
		fit = e;
	k->entries = fit;
	k->n = n;
	k->since = now;
	TAILQ_INSERT_HEAD(&cache, k, entry);
	cache_n++;
	cache_entries += n;
}

int
package_cache_get(const char *package, const char *id, uint64_t now,
    struct registry_verdict *v)
{
	struct package_known *k = cache_find(package);
	uint8_t sum[REGISTRY_ID];

	if (k == NULL)
		return 0;
	if (now - k->since >= PACKAGE_CACHE_MS) {
		cache_drop(k);
		return 0;
	}
	*v = (struct registry_verdict){.reason = REGISTRY_UNLISTED};
	registry_id(span_str(id), sum);
	for (unsigned i = 0; i < k->n; i++) {
		if (memcmp(k->entries[i].id, sum, sizeof(sum)) != 0)
			continue;
		v->reason = (enum registry_reason)k->entries[i].reason;
		v->days = k->entries[i].days;
		break;
	}
	return 1;
}

void
package_cache_clear(void)
{
	while (!TAILQ_EMPTY(&cache))
		cache_drop(TAILQ_FIRST(&cache));
}
