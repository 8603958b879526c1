/* SPDX-License-Identifier: ISC */
/*
 * Builds the sets for conditions. Warns about an entry that no value can equal.
 * A missing list leaves its rule without values, so that a rule that allows
 * tends towards deny.
 */
#include "engine/lists.h"

#include <stdlib.h>

#include "common/log.h"

/* A set under construction. */
struct builder {
	struct value_pool *pool;
	struct match_set *set;
	uint32_t roles; /* the roles that the condition is about */
	size_t cap;     /* capacity of each array */
	struct load *l; /* for warnings; NULL: drop them */
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

/* For a set that asks or denies: the reduced path and everything below it. */
static int
add_full_wide(struct builder *b, struct span host, struct span path)
{
	struct match_set *s = b->set;
	struct span reduced = spell_path(b->pool, path), name = host;
	uint8_t *p;

	if (reduced.p == NULL)
		return -1;
	if (reduced.len == 0)
		return host.len == 0 ? 0
				     : push(s->exact, &s->nexact,
					   keep(b, host.p, host.len, false));
	for (unsigned i = 0; i < 2; i++) {
		if ((p = value_pool_alloc(
			 b->pool, name.len + 1 + reduced.len)) == NULL)
			return -1;
		if (name.len != 0)
			memcpy(p, name.p, name.len);
		p[name.len] = '/';
		memcpy(p + name.len + 1, reduced.p, reduced.len);
		if (push(s->below, &s->nbelow,
			span_of(p, name.len + 1 + reduced.len)) == -1)
			return -1;
		if (spell_alias(host).p == host.p)
			break;
		name = spell_alias(host);
	}
	return 0;
}

/* An address followed by at most two digits is a network, not a pattern. */
static bool
is_range(enum host_kind kind, struct span path)
{
	if (kind != HOST_ADDRESS || path.len < 2 || path.len > 4)
		return false;
	for (size_t i = 1; i < path.len; i++) {
		if (path.p[i] < '0' || path.p[i] > '9')
			return false;
	}
	return true;
}

/*
 * Returns the reason why no value of an allowing rule can have this path, or
 * NULL.
 */
static const char *
path_dead(struct span path)
{
	struct span rest = span_of(path.p + 1, path.len - 1), seg;
	const uint8_t *end;

	if (rest.len == 0)
		return "remove the slash at its end, or name a repository";
	if (rest.len > 4 && memcmp(rest.p + rest.len - 4, ".git", 4) == 0)
		return "repositories are compared without .git at their end";
	while (rest.p != NULL) {
		end = rest.len == 0 ? NULL : memchr(rest.p, '/', rest.len);
		seg = span_of(
		    rest.p, end == NULL ? rest.len : (size_t)(end - rest.p));
		if (seg.len == 0 || span_is(seg, ".") || span_is(seg, ".."))
			return "it has an empty part, or one of dots";
		if (end == NULL)
			break;
		rest = span_of(end + 1, rest.len - seg.len - 1);
	}
	return NULL;
}

static int
check_full(struct builder *b, struct span entry, enum host_kind kind,
    struct span path, bool wild)
{
	const char *why = NULL;

	if (is_range(kind, path))
		why = "ranges of addresses are not supported";
	else if (path.len != 0 && memchr(path.p, '*', path.len) != NULL)
		why = "a * means all repositories, and only as the last part: "
		      "host/owner/*";
	else if (b->roles != 0 && !(b->roles & ARG_BIT(ARG_GIT_REMOTE_URL)))
		why = "only a git-remote-url is compared with its path";
	else if (b->set->use == MATCH_ALLOWS && !wild)
		why = path_dead(path);
	else if (b->set->use == MATCH_ALLOWS && path.len != 0)
		why = path_dead(path);
	if (why == NULL)
		return 0;
	(void)unmatchable(b, entry, why);
	return -1;
}

/* Returns true for code hosts on which every repository has an owner. */
static bool
needs_owner(struct span host)
{
	return span_is(host, "github.com") || span_is(host, "gitlab.com") ||
	       span_is(host, "bitbucket.org") || span_is(host, "codeberg.org");
}

/* Add host/owner/repo: the host normalised, the rest as written. */
static int
add_full(struct builder *b, struct span entry, size_t slash)
{
	char host[DOMAIN_MAX_HOST + 1];
	struct match_set *s = b->set;
	enum host_kind kind = HOST_NONE;
	struct span path = span_of(entry.p + slash, entry.len - slash);
	bool wild = path.len >= 2 && path.p[path.len - 1] == '*' &&
		    path.p[path.len - 2] == '/';
	const char *why;
	uint8_t *copy;
	size_t len = 0;

	if (slash != 0 && host_normalise(span_of(entry.p, slash), host, &len,
			      &kind, &why) == -1)
		return unmatchable(b, entry, why);
	if (wild)
		path.len -= 2;
	if (check_full(b, entry, kind, path, wild) == -1)
		return 0;
	if (s->use != MATCH_ALLOWS)
		return add_full_wide(b, keep(b, host, len, false), path);
	if (!wild && memchr(path.p + 1, '/', path.len - 1) == NULL &&
	    needs_owner(span_of(host, len)))
		(void)unmatchable(b, entry,
		    "it names no repository; write host/owner/* for all "
		    "repositories of an owner");
	if ((copy = value_pool_alloc(b->pool, len + path.len + 1)) == NULL)
		return -1;
	memcpy(copy, host, len);
	if (path.len != 0)
		memcpy(copy + len, path.p, path.len);
	return wild ? push(s->below, &s->nbelow, span_of(copy, len + path.len))
		    : push(s->full, &s->nfull, span_of(copy, len + path.len));
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
	name = spell_alias(span_of(host, len));
	if (s->use != MATCH_ALLOWS && name.p != (const uint8_t *)host &&
	    push(s->exact, &s->nexact, keep(b, name.p, name.len, false)) == -1)
		return -1;
	return push(s->exact, &s->nexact, keep(b, host, len, false));
}

/* Warn about an entry that looks like a pattern, or that no value can equal. */
static void
check_value(struct builder *b, struct span entry)
{
	const uint8_t *star =
	    entry.len == 0 ? NULL : memchr(entry.p, '*', entry.len);
	const uint8_t *at =
	    entry.len == 0 ? NULL : memchr(entry.p, '@', entry.len);
	bool address =
	    at != NULL && at != entry.p && at + 1 != entry.p + entry.len;

	if (b->set->type == MATCH_EMAILS && (star != NULL || !address)) {
		(void)unmatchable(b, entry,
		    "write the whole address, as in user@example.org");
		return;
	}
	if (b->roles == 0 || b->roles & ~ARGS_LOWER)
		return;
	if (star != NULL) {
		(void)unmatchable(
		    b, entry, "write the whole identifier, without *");
		return;
	}
	for (size_t i = 0; b->set->use == MATCH_ALLOWS && i < entry.len; i++) {
		if (entry.p[i] < 'A' || entry.p[i] > 'Z')
			continue;
		(void)unmatchable(b, entry,
		    "values of these roles are compared in lower case");
		return;
	}
}

static int
add_value(struct builder *b, struct span entry)
{
	struct match_set *s = b->set;
	struct spellings all;
	int r;

	check_value(b, entry);
	if (s->use == MATCH_ALLOWS)
		return push(s->exact, &s->nexact,
		    keep(b, entry.p, entry.len, s->type == MATCH_EMAILS));
	r = s->type == MATCH_EMAILS ? spell_emails(b->pool, entry, &all)
				    : spell_identifiers(b->pool, entry, &all);
	if (r == -1)
		return -1;
	return all.n == 0 ? 0 : push(s->exact, &s->nexact, all.list[0].text);
}

static int
add_entry(struct builder *b, struct span entry)
{
	return b->set->type == MATCH_DOMAINS ? add_domain(b, entry)
					     : add_value(b, entry);
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
builder_init(struct builder *b, struct value_pool *pool, enum match_type type,
    enum match_use use, size_t n)
{
	struct match_set *s;

	b->pool = pool;
	b->cap = 2 * n + 1; /* a host may have a second name */
	if ((s = b->set = value_pool_alloc(pool, sizeof(*s))) == NULL)
		return -1;
	*s = (struct match_set){.type = type, .use = use};
	if ((s->exact = value_pool_alloc(pool, b->cap * sizeof(*s->exact))) ==
	    NULL)
		return -1;
	if (type != MATCH_DOMAINS)
		return 0;
	s->suffix = value_pool_alloc(pool, b->cap * sizeof(*s->suffix));
	s->full = value_pool_alloc(pool, b->cap * sizeof(*s->full));
	s->below = value_pool_alloc(pool, b->cap * sizeof(*s->below));
	return s->suffix == NULL || s->full == NULL || s->below == NULL ? -1
									: 0;
}

static void
sort(struct span *array, size_t n)
{
	if (n > 1)
		qsort(array, n, sizeof(*array), match_set_compare);
}

static struct match_set *
builder_done(struct builder *b)
{
	sort(b->set->exact, b->set->nexact);
	sort(b->set->suffix, b->set->nsuffix);
	sort(b->set->full, b->set->nfull);
	sort(b->set->below, b->set->nbelow);
	return b->set;
}

struct match_set *
match_set_new(struct value_pool *pool, enum match_type type, enum match_use use,
    uint32_t roles, const struct value *allowed, const struct lists *ls,
    struct load *l, const struct where *at)
{
	struct builder b = {.l = l, .at = at, .roles = roles};
	const struct value *v, *list;
	char vis[120];

	if (builder_init(&b, pool, type, use, count_entries(allowed, ls)) == -1)
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
	if (builder_init(&b, pool, MATCH_DOMAINS, MATCH_ALLOWS, n) == -1)
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
