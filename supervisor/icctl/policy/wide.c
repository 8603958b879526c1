/* SPDX-License-Identifier: ISC */
/*
 * Finds rules that allow more than their description says. A description is
 * prose: only unambiguous words count, and a finding is a warning.
 */
#include "icctl/policy/lint.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"

#define WRITES                                                                 \
	(ARG_BIT(ARG_WRITE_PATH) | ARG_BIT(ARG_DELETE_PATH) |                  \
	    ARG_BIT(ARG_WRITE_HISTORY) | ARG_BIT(ARG_DELETE_HISTORY))

/* Copy in lower case; a long text is cut. */
static void
lower(struct span s, char *dst, size_t cap)
{
	size_t n = s.len < cap - 1 ? s.len : cap - 1;

	for (size_t i = 0; i < n; i++)
		dst[i] = (char)tolower(s.p[i]);
	dst[n] = '\0';
}

static bool
says(const char *text, const char *const *words)
{
	const char *s;

	for (; *words != NULL; words++) {
		/* Match only the beginning of a word. */
		for (s = text; (s = strstr(s, *words)) != NULL; s++)
			if (s == text || !isalpha((unsigned char)s[-1]))
				return true;
	}
	return false;
}

/*
 * Returns the first directory in the text, "/x..." or "~/x...", or a NULL span.
 */
static struct span
named_path(struct span s)
{
	size_t n;

	for (size_t i = 0; i < s.len; i++) {
		bool starts = i == 0 || strchr(" (\"'`", s.p[i - 1]) != NULL;

		if (!starts ||
		    !(s.p[i] == '/' ||
			(s.p[i] == '~' && i + 1 < s.len && s.p[i + 1] == '/')))
			continue;
		for (n = i; n < s.len && strchr(" ,;)\"'`", s.p[n]) == NULL;
		     n++)
			continue;
		while (n > i + 1 && strchr("./:", s.p[n - 1]) != NULL)
			n--;
		if (n > i + 1)
			return span_of(s.p + i, n - i);
	}
	return span_of(NULL, 0);
}

static bool
strictly_below(struct span path, struct span dir)
{
	while (dir.len > 1 && dir.p[dir.len - 1] == '/')
		dir.len--;
	if (span_is(dir, "/"))
		return path.len > 1 && path.p[0] == '/';
	return path.len > dir.len && span_starts(path, dir) &&
	       path.p[dir.len] == '/';
}

static void
wide(struct lint *l, size_t i, const char *sub, const char *what)
{
	char place[64], name[220];

	snprintf(place, sizeof(place), "rules[%zu]%s", i, sub);
	finding(l->f, false, PROTO_RULES_POLICY, "wider", place,
	    "rule \"%s\" allows more than its description says: %s",
	    log_vis(l->rules->rules[i].name, name, sizeof(name)), what);
}

/*
 * Check the paths: the one that the description names, or any if it does not
 * say "any".
 */
static void
wide_paths(struct lint *l, size_t i, struct span description, bool all)
{
	const struct rule *r = &l->rules->rules[i];
	struct span named = named_path(description);
	uint32_t roles = policy_rule_roles(r) & ARGS_PATH;
	char text[700], path[300], within[300];
	size_t tools;

	if ((policy_tool_roles(l->annots, r, &tools) & roles) == 0)
		return;
	log_vis(named, path, sizeof(path));
	if (!r->has_paths && named.p != NULL) {
		snprintf(text, sizeof(text),
		    "it mentions %s, but no if.paths limits it to that",
		    path);
		wide(l, i, ".if", text);
	} else if (!r->has_paths && r->nlists == 0 && !r->has_domains && !all) {
		wide(l, i, ".if",
		    "it covers every path on this machine; add if.paths, or "
		    "mention any path in the description");
	} else if (r->has_paths && named.p != NULL &&
		   strictly_below(named, r->within)) {
		snprintf(text, sizeof(text),
		    "it mentions %s, but covers all of %s",
		    path, log_vis(r->within, within, sizeof(within)));
		wide(l, i, ".if.paths.within", text);
	}
}

static const struct value *
rule_tree(const struct rules *rs, size_t i)
{
	const struct value *v = value_get(rs->doc.root, "rules");

	for (v = v == NULL ? NULL : v->child; v != NULL && i > 0; i--)
		v = v->next;
	return v;
}

void
policy_lint_wide(struct lint *l, size_t i)
{
	static const char *const any[] = {
	    "any", "every", "all ", "whole", NULL};
	static const char *const reads[] = {
	    "read", "list", "view", "show", "look", "search", "inspect", NULL};
	static const char *const writes[] = {"writ", "chang", "creat", "delet",
	    "remov", "mov", "push", "modif", "edit", "clon", "commit", "add",
	    "full", "manag", "updat", "replac", "renam", "merg", "work", NULL};
	const struct rule *r = &l->rules->rules[i];
	struct span d = value_str(rule_tree(l->rules, i), "description");
	char text[1000];
	size_t tools;
	uint32_t has;

	if (r->then != PROTO_ALLOW)
		return;
	if (r->servers == NULL && r->tools == NULL && !r->has_roles &&
	    !r->has_paths && !r->has_domains && r->nlists == 0) {
		wide(l, i, ".if", "it has no condition and allows every call");
		return;
	}
	if (d.p == NULL)
		return;
	lower(d, text, sizeof(text));
	wide_paths(l, i, d, says(text, any));
	has = policy_tool_roles(l->annots, r, &tools) & policy_rule_roles(r);
	if (says(text, reads) && !says(text, writes) && (has & WRITES))
		wide(l, i, ".if",
		    "it mentions reading, but also covers roles that write or "
		    "delete");
	if (r->has_domains && !says(text, any) &&
	    rule_names(r->domains, SPAN("*")))
		wide(l, i, ".if.domains.allowed",
		    "\"*\" covers every host; mention any host in the "
		    "description, or name the hosts");
}
