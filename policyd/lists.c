/* SPDX-License-Identifier: ISC */
/*
 * Reads dynamic-lists.json and builds the sets that conditions are matched
 * with.  An entry that no value can equal is said and left out; a list that is
 * not there leaves its rule without values, so that it falls towards deny.
 */
#include "lists.h"

#include <errno.h>
#include <stdlib.h>

#include "log.h"

int
match_type_find(struct span s, enum match_type *out)
{
	if (span_is(s, "domains"))
		*out = MATCH_DOMAINS;
	else if (span_is(s, "emails"))
		*out = MATCH_EMAILS;
	else if (span_is(s, "identifiers"))
		*out = MATCH_IDENTIFIERS;
	else
		return -1;
	return 0;
}

static int
check_list(struct load *l, struct where *at, const struct value *v)
{
	static const char *const known[] = {"values", "manualAdditions",
	    "manualRemovals", "resolvedAt", "inputHash", NULL};
	const struct value *array;

	if (v->type != VALUE_OBJECT)
		return load_fail(l, at, "must be an object");
	load_unknown(l, at, v, known);
	if (load_strings(l, at, v, "values", true, &array) == -1 ||
	    load_strings(l, at, v, "manualAdditions", false, &array) == -1 ||
	    load_strings(l, at, v, "manualRemovals", false, &array) == -1)
		return -1;
	return 0;
}

int
lists_load(struct lists *out, struct span text, struct load *l)
{
	static const char *const known[] = {"generatedAt", "lists", NULL};
	struct where at = {.len = 0};
	struct lists ls = {0};
	const struct value *v;
	char vis[80];

	if (load_doc(l, text, &ls.doc) == -1)
		return -1;
	load_unknown(l, &at, ls.doc.root, known);
	if (load_object(l, &at, ls.doc.root, "lists", true, &ls.lists) == -1)
		goto bad;
	for (v = ls.lists->child; v != NULL; v = v->next) {
		where_up(&at, 0);
		where_down(&at, "lists.%s", log_vis(v->key, vis, sizeof(vis)));
		if (check_list(l, &at, v) == -1)
			goto bad;
	}
	*out = ls;
	return 0;
bad:
	lists_free(&ls);
	return -1;
}

void
lists_free(struct lists *ls)
{
	load_doc_free(&ls->doc);
	*ls = (struct lists){0};
}

/* A set under construction. */
struct builder {
	struct value_pool *pool;
	struct match_set *set;
	size_t cap;     /* of each of its arrays */
	struct load *l; /* NULL: nobody to tell */
	const struct where *at;
};

static struct span
keep(struct builder *b, const void *p, size_t len, bool lower)
{
	uint8_t *copy;

	if ((copy = value_pool_alloc(b->pool, len == 0 ? 1 : len)) == NULL)
		return span_of(NULL, 0);
	if (len != 0)
		memcpy(copy, p, len);
	for (size_t i = 0; lower && i < len; i++) {
		if (copy[i] >= 'A' && copy[i] <= 'Z')
			copy[i] = (uint8_t)(copy[i] + ('a' - 'A'));
	}
	return span_of(copy, len);
}

static int
push(struct span *array, size_t *n, struct span s)
{
	if (s.p == NULL)
		return -1;
	array[(*n)++] = s;
	return 0;
}

static int
unmatchable(struct builder *b, struct span entry, const char *why)
{
	char vis[120];

	if (b->l != NULL)
		load_warn(b->l, b->at, "\"%s\" can match nothing: %s",
		    log_vis(entry, vis, sizeof(vis)), why);
	return 0;
}

/* host/owner/repo: the host in its one spelling, the rest as written. */
static int
add_full(struct builder *b, struct span entry, size_t slash)
{
	char host[DOMAIN_MAX_HOST + 1];
	struct match_set *s = b->set;
	enum host_kind kind;
	const char *why;
	uint8_t *copy;
	size_t len = 0;

	if (slash != 0 && host_normalise(span_of(entry.p, slash), host, &len,
			      &kind, &why) == -1)
		return unmatchable(b, entry, why);
	if ((copy = value_pool_alloc(b->pool, len + entry.len - slash)) == NULL)
		return -1;
	memcpy(copy, host, len);
	memcpy(copy + len, entry.p + slash, entry.len - slash);
	return push(s->full, &s->nfull, span_of(copy, len + entry.len - slash));
}

static int
add_domain(struct builder *b, struct span entry)
{
	char host[DOMAIN_MAX_HOST + 1];
	struct match_set *s = b->set;
	struct span name = entry;
	enum host_kind kind;
	const uint8_t *slash;
	const char *why;
	size_t len;
	bool wild;

	if (span_is(entry, "*")) {
		s->any = true;
		return 0;
	}
	if (entry.len != 0 && (slash = memchr(entry.p, '/', entry.len)) != NULL)
		return add_full(b, entry, (size_t)(slash - entry.p));
	wild = span_starts(entry, SPAN("*."));
	if (wild)
		name = span_of(entry.p + 2, entry.len - 2);
	if (host_normalise(name, host, &len, &kind, &why) == -1)
		return unmatchable(b, entry, why);
	if (wild && kind != HOST_NAME)
		return unmatchable(b, entry, "addresses have no sub-domains");
	if (wild)
		return push(s->suffix, &s->nsuffix, keep(b, host, len, false));
	return push(s->exact, &s->nexact, keep(b, host, len, false));
}

static int
add_entry(struct builder *b, struct span entry)
{
	struct match_set *s = b->set;

	switch (s->type) {
	case MATCH_DOMAINS:
		return add_domain(b, entry);
	case MATCH_EMAILS:
	case MATCH_IDENTIFIERS:
		return push(s->exact, &s->nexact,
		    keep(b, entry.p, entry.len, s->type == MATCH_EMAILS));
	}
	return -1;
}

static bool
removed(const struct value *removals, struct span entry)
{
	const struct value *v;

	if (removals == NULL)
		return false;
	for (v = removals->child; v != NULL; v = v->next) {
		if (span_eq(v->text, entry))
			return true;
	}
	return false;
}

static int
add_list(struct builder *b, const struct value *list)
{
	const struct value *arrays[] = {
	    value_get(list, "values"), value_get(list, "manualAdditions")};
	const struct value *removals = value_get(list, "manualRemovals");
	const struct value *v;

	for (size_t i = 0; i < 2; i++) {
		if (arrays[i] == NULL)
			continue;
		for (v = arrays[i]->child; v != NULL; v = v->next) {
			if (!removed(removals, v->text) &&
			    add_entry(b, v->text) == -1)
				return -1;
		}
	}
	return 0;
}

static const struct value *
find_list(const struct lists *ls, struct span entry)
{
	if (ls == NULL || ls->lists == NULL)
		return NULL;
	return value_getspan(ls->lists, span_of(entry.p + 1, entry.len - 1));
}

static size_t
count_entries(const struct value *allowed, const struct lists *ls)
{
	const struct value *v, *list, *add;
	size_t n = 0;

	for (v = allowed->child; v != NULL; v = v->next) {
		n++;
		if (v->text.len == 0 || v->text.p[0] != '@' ||
		    (list = find_list(ls, v->text)) == NULL)
			continue;
		n += value_get(list, "values")->count;
		if ((add = value_get(list, "manualAdditions")) != NULL)
			n += add->count;
	}
	return n;
}

static int
builder_init(
    struct builder *b, struct value_pool *pool, enum match_type type, size_t n)
{
	struct match_set *s;

	b->pool = pool;
	b->cap = n + 1;
	if ((s = b->set = value_pool_alloc(pool, sizeof(*s))) == NULL)
		return -1;
	*s = (struct match_set){.type = type};
	if ((s->exact = value_pool_alloc(pool, b->cap * sizeof(*s->exact))) ==
	    NULL)
		return -1;
	if (type != MATCH_DOMAINS)
		return 0;
	s->suffix = value_pool_alloc(pool, b->cap * sizeof(*s->suffix));
	s->full = value_pool_alloc(pool, b->cap * sizeof(*s->full));
	return s->suffix == NULL || s->full == NULL ? -1 : 0;
}

static int
compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return span_cmp(*x, *y);
}

static void
sort(struct span *array, size_t n)
{
	if (n > 1)
		qsort(array, n, sizeof(*array), compare);
}

static struct match_set *
builder_done(struct builder *b)
{
	sort(b->set->exact, b->set->nexact);
	sort(b->set->suffix, b->set->nsuffix);
	sort(b->set->full, b->set->nfull);
	return b->set;
}

struct match_set *
match_set_new(struct value_pool *pool, enum match_type type,
    const struct value *allowed, const struct lists *ls, struct load *l,
    const struct where *at)
{
	struct builder b = {.l = l, .at = at};
	const struct value *v, *list;
	char vis[120];

	if (builder_init(&b, pool, type, count_entries(allowed, ls)) == -1)
		return NULL;
	for (v = allowed->child; v != NULL; v = v->next) {
		if (v->text.len == 0 || v->text.p[0] != '@') {
			if (add_entry(&b, v->text) == -1)
				return NULL;
			continue;
		}
		if ((list = find_list(ls, v->text)) == NULL) {
			if (l != NULL)
				load_warn(l, at,
				    "list %s is not in "
				    "dynamic-lists.json: it is empty",
				    log_vis(v->text, vis, sizeof(vis)));
		} else if (add_list(&b, list) == -1) {
			return NULL;
		}
	}
	return builder_done(&b);
}

struct match_set *
match_set_text(struct value_pool *pool, struct span text)
{
	struct builder b = {.l = NULL};
	size_t start = 0, n = 1;

	for (size_t i = 0; i < text.len; i++)
		n += text.p[i] == '\n';
	if (builder_init(&b, pool, MATCH_DOMAINS, n) == -1)
		return NULL;
	for (size_t i = 0; i <= text.len; i++) {
		if (i < text.len && text.p[i] != '\n')
			continue;
		if (i > start &&
		    add_entry(&b, span_of(text.p + start, i - start)) == -1)
			return NULL;
		start = i + 1;
	}
	return builder_done(&b);
}

static bool
holds(const struct span *array, size_t n, struct span s)
{
	size_t lo = 0, hi = n, mid;
	int c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if ((c = span_cmp(array[mid], s)) == 0)
			return true;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/* A name that looks like another in a browser: only where it is written out. */
static bool
punycode_in(struct span host)
{
	for (size_t i = 0; i + 4 <= host.len; i++) {
		if ((i == 0 || host.p[i - 1] == '.') &&
		    memcmp(host.p + i, "xn--", 4) == 0)
			return true;
	}
	return false;
}

static bool
match_suffix(const struct match_set *s, struct span host)
{
	struct span tail = host;

	for (size_t i = 0; i < host.len; i++) {
		if (i != 0 && host.p[i - 1] != '.')
			continue;
		tail = span_of(host.p + i, host.len - i);
		if (holds(s->suffix, s->nsuffix, tail))
			return !punycode_in(span_of(host.p, i));
	}
	return false;
}

bool
match_set_domain(const struct match_set *s, const struct domain *d)
{
	if (!d->known)
		return false;
	if (s->nfull != 0 && d->full.len != d->host.len &&
	    holds(s->full, s->nfull, d->full))
		return true;
	if (d->kind == HOST_NONE)
		return false;
	if (holds(s->exact, s->nexact, d->host))
		return true;
	if (d->kind != HOST_NAME)
		return false;
	if (s->any && !punycode_in(d->host))
		return true;
	return match_suffix(s, d->host);
}

bool
match_set_value(const struct match_set *s, struct span v)
{
	uint8_t lower[320];

	switch (s->type) {
	case MATCH_IDENTIFIERS:
		return holds(s->exact, s->nexact, v);
	case MATCH_EMAILS:
		if (v.len > sizeof(lower))
			return false;
		for (size_t i = 0; i < v.len; i++)
			lower[i] = v.p[i] >= 'A' && v.p[i] <= 'Z'
				       ? (uint8_t)(v.p[i] + ('a' - 'A'))
				       : v.p[i];
		return holds(s->exact, s->nexact, span_of(lower, v.len));
	case MATCH_DOMAINS:
		break;
	}
	return false;
}
