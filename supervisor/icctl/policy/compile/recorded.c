/* SPDX-License-Identifier: ISC */
/*
 * The calls that recorded sessions made, under the old and the new policy:
 * shown before a person is asked for a yes. The logs have arguments of agents.
 */
#include "icctl/policy/compile/compile.h"

#include <dirent.h>
#include <err.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/session_age.h"
#include "common/plural.h"
#include "files/policydir.h"
#include "icctl/newest.h"

#define RECORDED_SESSIONS 3U /* with calls */
#define RECORDED_LOOK 50U    /* newest sessions */
#define RECORDED_MAX 20000U

struct recorded_session {
	char name[NAME_MAX + 1];
	struct session_age age;
};

int
recorded_check(const struct compile *c, struct fault *fault)
{
	if (c->o.audit != NULL && access(c->o.audit, R_OK) == -1)
		return fault_errno(fault, "--audit %s", c->o.audit);
	return 0;
}

/*
 * Read when the session began. Returns false if it has no log, or is one in
 * which a policy was compiled.
 */
static bool
recorded_read(const char *root, const char *name, struct recorded_session *s)
{
	char path[PATH_MAX];
	json_object *o;
	bool own;

	snprintf(path, sizeof(path), "%.3700s/%.255s/audit.jsonl", root, name);
	if (name[0] == '.' || access(path, R_OK) == -1)
		return false;
	snprintf(path, sizeof(path), "%.3700s/%.255s/session.json", root, name);
	o = json_object_from_file(path);
	own = o != NULL && newest_is_own(icctl_text(o, "agent"));
	(void)strlcpy(s->name, name, sizeof(s->name));
	json_object_put(o);
	snprintf(path, sizeof(path), "%.3700s/%.255s", root, name);
	session_age_read(&s->age, path, name);
	return !own;
}

/* Compare so that the newest comes first. */
static int
recorded_compare(const void *a, const void *b)
{
	const struct recorded_session *x = a, *y = b;

	return session_age_cmp(&y->age, y->name, &x->age, x->name);
}

/* List the sessions, the newest first. Returns their number. */
static size_t
recorded_list(const char *root, struct recorded_session **list)
{
	struct recorded_session one, *more;
	size_t n = 0, room = 0;
	struct dirent *e;
	DIR *d;

	*list = NULL;
	if ((d = opendir(root)) == NULL)
		return 0;
	while (n < RECORDED_MAX && (e = readdir(d)) != NULL) {
		if (!recorded_read(root, e->d_name, &one))
			continue;
		if (n == room) {
			room += 64;
			more = reallocarray(*list, room, sizeof(**list));
			if (more == NULL)
				err(ICCTL_FAILED, "sessions");
			*list = more;
		}
		(*list)[n++] = one;
	}
	closedir(d);
	if (n != 0)
		qsort(*list, n, sizeof(**list), recorded_compare);
	return n;
}

/* Decide the calls of the newest sessions again. */
static int
recorded_newest(struct compile *c, const struct policy_set *old,
    const struct policy_set *new, struct policy_recorded *r, unsigned *sessions,
    struct fault *fault)
{
	struct recorded_session *list;
	char root[PATH_MAX], dir[PATH_MAX];
	unsigned before;
	size_t n;
	int rv = 0;

	snprintf(root, sizeof(root), "%.3700s/sessions", c->ctl->home);
	n = recorded_list(root, &list);
	for (size_t i = 0; rv == 0 && *sessions < RECORDED_SESSIONS && i < n &&
			   i < RECORDED_LOOK; i++) {
		snprintf(dir, sizeof(dir), "%.3700s/%.255s", root, list[i].name);
		before = r->calls;
		r->log = dir;
		r->name = list[i].name;
		rv = policy_diff_calls(c->ctl, old, new, r, fault);
		*sessions += r->calls != before;
	}
	free(list);
	return rv;
}

int
recorded_show(struct compile *c, const struct policy_set *old,
    const struct policy_set *new, struct fault *fault)
{
	struct policy_recorded r = {.name = c->o.audit};
	unsigned sessions = 0;
	int rv;

	if (c->o.audit != NULL) {
		r.log = c->o.audit;
		rv = policy_diff_calls(c->ctl, old, new, &r, fault);
	} else {
		rv = recorded_newest(c, old, new, &r, &sessions, fault);
	}
	if (rv == -1 || (r.calls == 0 && c->o.audit == NULL))
		return rv;
	printf("%u recorded call%s", r.calls, plural(r.calls));
	if (c->o.audit == NULL)
		printf(" of the newest %u session%s", sessions, plural(sessions));
	printf(": %u would be decided differently", r.differ);
	if (r.left != 0)
		printf(", %u not compared (not decided by the policy)", r.left);
	if (r.differ > r.shown)
		printf(", the first %u are shown", r.shown);
	if (r.anycut)
		printf("; only the first %u of a log are decided again",
		    POLICY_RECORDED_CALLS);
	putchar('\n');
	return 0;
}
