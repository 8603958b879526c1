/* SPDX-License-Identifier: ISC */
/*
 * Finds rules whose paths protect or grant nothing: a directory that does not
 * exist, a pattern instead of a directory, and the workspace, which a
 * structural rule decides before any rule is asked.
 */
#include "icctl/policy/lint.h"

#include <sys/stat.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/paths.h"
#include "common/log.h"

int
policy_host_path(struct span within, char dst[PATH_MAX])
{
	const char *home = getenv("HOME");
	int n;

	if (within.p[0] == '~')
		n = snprintf(dst, PATH_MAX, "%s%.*s", home == NULL ? "" : home,
		    (int)within.len - 1, (const char *)within.p + 1);
	else
		n = snprintf(dst, PATH_MAX, "%.*s", (int)within.len,
		    (const char *)within.p);
	return n <= 0 || n >= PATH_MAX ? -1 : 0;
}

static bool
has_pattern(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '*' || s.p[i] == '?')
			return true;
	}
	return false;
}

static bool
in_workspace(struct span within)
{
	return span_is(within, "/workspace") ||
	       span_starts(within, SPAN("/workspace/"));
}

/* Returns true if no other servers are named; `*git` tells whether git is. */
static bool
has_workspace(const struct value *servers, bool *git)
{
	const struct value *v;

	*git = false;
	for (v = servers == NULL ? NULL : servers->child; v != NULL;
	     v = v->next) {
		if (span_is(v->text, "git"))
			*git = true;
		else if (!span_is(v->text, "filesystem"))
			return false;
	}
	return servers != NULL && servers->child != NULL;
}

static void
check_place(
    struct lint *l, const struct rule *r, const char *place, const char *name)
{
	char path[PATH_MAX], within[700];
	struct stat st;

	/* The workspace is another directory in each session. */
	if (in_workspace(r->within) ||
	    policy_host_path(r->within, path) == -1 || stat(path, &st) == 0)
		return;
	log_vis(r->within, within, sizeof(within));
	if (errno == ENOENT && has_pattern(r->within))
		finding(l->f, true, PROTO_RULES_POLICY, "never-matches", place,
		    "rule \"%s\" can never match: %s is not a directory. "
		    "\"within\" takes no patterns and means everything below a "
		    "directory: remove the last part",
		    name, within);
	else if (errno == ENOENT || errno == ENOTDIR)
		finding(l->f, false, PROTO_RULES_POLICY, "missing-directory",
		    place, "rule \"%s\": %s does not exist", name, within);
}

void
policy_lint_void(struct lint *l, size_t i)
{
	const struct rule *r = &l->rules->rules[i];
	char place[64], name[220];
	bool git;

	if (!r->has_paths)
		return;
	snprintf(place, sizeof(place), "rules[%zu].if.paths.within", i);
	log_vis(r->name, name, sizeof(name));
	check_place(l, r, place, name);
	if (!in_workspace(r->within) || !has_workspace(r->servers, &git))
		return;
	finding(l->f, r->then != PROTO_ALLOW && !git, PROTO_RULES_POLICY,
	    "void", place,
	    "rule \"%s\" (%s) %s decides: structural-sandbox-allow comes "
	    "before it, because the agent owns the workspace of filesystem and "
	    "git. To be asked, use a server of another name: see EXAMPLES in "
	    "ironcurtain-policy(5)",
	    name, policy_status(r->then), git ? "hardly ever" : "never");
}

void
policy_lint_home(struct lint *l, const char *home)
{
	struct fault fault;

	if (paths_check_home(home, &fault) == -1 && access(home, F_OK) == 0)
		finding(l->f, true, PROTO_RULES_POLICY, "refused", "",
		    "a session would not start: %s", fault.text);
}
