/* SPDX-License-Identifier: ISC */
/*
 * Reads a destination's settings. The text was composed by icsupervisor from
 * config.json, and is checked as if it were hostile.
 */
#include "common/forge/grant.h"

#include <errno.h>
#include <stdio.h>

static int
grant_fail(struct forge_fail *fail, const char *where, const char *what)
{
	snprintf(fail->why, sizeof(fail->why), "%s: %s", where, what);
	errno = EINVAL;
	return -1;
}

static int
grant_copy(struct value_pool *pool, struct span s, struct span *out)
{
	uint8_t *mem;

	if ((mem = value_pool_alloc(pool, s.len + 1)) == NULL)
		return -1;
	if (s.len != 0)
		memcpy(mem, s.p, s.len);
	*out = span_of(mem, s.len);
	return 0;
}

int
forge_word_find(enum forge_class class, struct span s, enum forge_word *out)
{
	static const char *const words[] = {[FORGE_DENY] = "deny",
	    [FORGE_ASK] = "ask",
	    [FORGE_ALLOW] = "allow"};

	for (size_t i = 0; i < nitems(words); i++) {
		if (!span_is(s, words[i]) ||
		    (i == FORGE_ALLOW && class != FORGE_READ))
			continue;
		*out = (enum forge_word)i;
		return 0;
	}
	errno = EINVAL;
	return -1;
}

static int
grant_words(
    const struct value *file, struct forge_grant *g, struct forge_fail *fail)
{
	const struct value *v;
	const char *name;

	g->word[FORGE_NEVER] = FORGE_DENY;
	g->word[FORGE_READ] = FORGE_ALLOW;
	g->word[FORGE_WRITE] = g->word[FORGE_RUN] = FORGE_ASK;
	g->word[FORGE_MERGE] = g->word[FORGE_RELEASE] = FORGE_DENY;
	for (unsigned i = FORGE_READ; i < FORGE_CLASSES; i++) {
		name = forge_class_name((enum forge_class)i);
		if ((v = value_get(file, name)) == NULL)
			continue;
		if (v->type != VALUE_STRING ||
		    forge_word_find(
			(enum forge_class)i, v->text, &g->word[i]) == -1)
			return grant_fail(fail, name,
			    i == FORGE_READ
				? "must be \"allow\", \"ask\" or \"deny\""
				: "must be \"ask\" or \"deny\": nothing is "
				  "changed unasked");
	}
	return 0;
}

static int
grant_repositories(struct value_pool *pool, const struct value *list,
    struct forge_grant *g, struct forge_fail *fail)
{
	const struct value *v;
	struct span *names;
	size_t n = 0;

	if (list == NULL || list->type != VALUE_ARRAY || list->count == 0 ||
	    list->count > FORGE_MAX_REPOSITORIES)
		return grant_fail(
		    fail, "repositories", "must be an array of 1 to 64 names");
	if ((names = value_pool_alloc(pool, list->count * sizeof(*names))) ==
	    NULL)
		return grant_fail(fail, "repositories", "no memory");
	for (v = list->child; v != NULL; v = v->next) {
		if (v->type != VALUE_STRING ||
		    !forge_repository_valid(g->kind, v->text))
			return grant_fail(fail, "repositories",
			    "must be names like \"owner/repository\"");
		if (grant_copy(pool, v->text, &names[n++]) == -1)
			return grant_fail(fail, "repositories", "no memory");
	}
	g->repositories = names;
	g->nrepositories = n;
	return 0;
}

int
forge_settings_read(struct value_pool *pool, const struct value *file,
    struct forge_settings *s, struct forge_fail *fail)
{
	const struct value *hosts = value_get(file, "hosts");
	struct span kind = value_str(file, "forge"),
		    name = value_str(file, "name");

	memset(s, 0, sizeof(*s));
	if (kind.p == NULL || forge_kind_find(kind, &s->grant.kind) == -1)
		return grant_fail(fail, "forge",
		    "must be \"github\", \"gitlab\" or \"gitea\"");
	if (hosts == NULL || hosts->type != VALUE_ARRAY || hosts->count != 1 ||
	    hosts->child->type != VALUE_STRING || name.p == NULL)
		return grant_fail(fail, "hosts", "must name one host");
	if (grant_copy(pool, hosts->child->text, &s->host) == -1 ||
	    grant_copy(pool, name, &s->name) == -1)
		return grant_fail(fail, "file", "no memory");
	s->grant.enterprise = s->grant.kind == FORGE_GITHUB &&
			      !span_is(s->host, "api.github.com");
	if (grant_repositories(
		pool, value_get(file, "repositories"), &s->grant, fail) == -1)
		return -1;
	if (value_get(file, "classic") != NULL) {
		if (value_get(file, "classic")->type != VALUE_TRUE &&
		    value_get(file, "classic")->type != VALUE_FALSE)
			return grant_fail(
			    fail, "classic", "must be true or false");
		s->grant.classic =
		    value_get(file, "classic")->type == VALUE_TRUE;
	}
	return grant_words(file, &s->grant, fail);
}
