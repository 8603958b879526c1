/* SPDX-License-Identifier: ISC */
/*
 * Finds links that defeat a rule that denies or asks. By the names in its
 * directory the rule holds, wherever a link leads; by the name of the place to
 * which it leads another rule may allow the same file.
 */
#include "icctl/policy/lint.h"

#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "common/log.h"

#define LINKS_ENTRIES 20000U /* looked at below one directory */
#define LINKS_SAID 3U        /* named for one rule */

struct links {
	struct lint *l;
	size_t rule;
	char within[PATH_MAX]; /* the rule's directory, without links */
	const char *place;
	unsigned found;
};

/* Returns true if the two lists of names have one in common; NULL is all. */
static bool
names_meet(const struct value *a, const struct value *b)
{
	if (a == NULL || b == NULL)
		return true;
	for (const struct value *v = a->child; v != NULL; v = v->next)
		if (rule_names(b, v->text))
			return true;
	return false;
}

/*
 * Returns the rule that takes `end` by its own name in a role of the rule that
 * withholds, if that is certain and it allows; else NULL.
 */
static const struct rule *
links_allowed(const struct links *k, const char *end, size_t *index)
{
	const struct rules *rs = k->l->rules;
	const struct rule *r = &rs->rules[k->rule], *o;
	uint32_t roles = policy_rule_roles(r) & ARGS_PATH;
	char dir[PATH_MAX], real[PATH_MAX];

	for (size_t i = 0; i < rs->n; i++) {
		o = &rs->rules[i];
		if (!names_meet(o->servers, r->servers) ||
		    !names_meet(o->tools, r->tools) ||
		    (policy_rule_roles(o) & roles) == 0)
			continue;
		if (o->has_paths &&
		    (policy_host_path(o->within, dir) == -1 ||
			realpath(dir, real) == NULL || !paths_under(end, real)))
			continue;
		if (o->has_domains || o->nlists != 0)
			return NULL;
		*index = i;
		return o->then == PROTO_ALLOW ? o : NULL;
	}
	return NULL;
}

static void
links_say(struct links *k, const char *link, const char *end)
{
	const struct rule *r = &k->l->rules->rules[k->rule], *o;
	char name[220], other[220], from[700], to[700];
	size_t i = 0;

	if ((o = links_allowed(k, end, &i)) == NULL)
		return;
	if (k->found++ >= LINKS_SAID)
		return;
	log_vis(r->name, name, sizeof(name));
	log_vis(o->name, other, sizeof(other));
	log_vis(span_str(link), from, sizeof(from));
	log_vis(span_str(end), to, sizeof(to));
	if (i < k->rule)
		finding(k->l->f, false, PROTO_RULES_POLICY, "link", k->place,
		    "rule \"%s\" (%s) does not hold for %s: it is a link to "
		    "%s, which rules[%zu] \"%s\", before it, allows under "
		    "either name. Put rule \"%s\" first, and deny that place, "
		    "too",
		    name, policy_status(r->then), from, to, i, other, name);
	else
		finding(k->l->f, false, PROTO_RULES_POLICY, "link", k->place,
		    "rule \"%s\" (%s) holds for %s, but that is a link, and "
		    "rules[%zu] \"%s\" allows %s, where it leads. Add a rule "
		    "about that place, too",
		    name, policy_status(r->then), from, i, other, to);
}

static void
links_walk(struct links *k)
{
	char *const dirs[] = {k->within, NULL};
	FTS *fts = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	unsigned looked = 0;
	char end[PATH_MAX];
	FTSENT *e;

	while (fts != NULL && looked++ < LINKS_ENTRIES &&
	       (e = fts_read(fts)) != NULL)
		if (e->fts_info == FTS_SL &&
		    realpath(e->fts_path, end) != NULL &&
		    !paths_under(end, k->within))
			links_say(k, e->fts_path, end);
	if (fts != NULL)
		(void)fts_close(fts);
}

void
policy_lint_links(struct lint *l, size_t i)
{
	const struct rule *r = &l->rules->rules[i];
	char place[64], dir[PATH_MAX], name[220];
	struct links k = {.l = l, .rule = i, .place = place};

	if (r->then == PROTO_ALLOW || !r->has_paths ||
	    policy_host_path(r->within, dir) == -1 ||
	    realpath(dir, k.within) == NULL)
		return;
	snprintf(place, sizeof(place), "rules[%zu].if.paths.within", i);
	links_walk(&k);
	if (k.found > LINKS_SAID)
		finding(l->f, false, PROTO_RULES_POLICY, "link", place,
		    "rule \"%s\": the same is true of %u more links",
		    log_vis(r->name, name, sizeof(name)), k.found - LINKS_SAID);
}
