/* SPDX-License-Identifier: ISC */
/* `icctl policy compile`: the steps, in their order. */
#include "icctl/policy/compile/command.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"
#include "common/log.h"
#include "common/plural.h"
#include "files/policydir.h"
#include "icctl/policy/compile/compile.h"

#define MAIN_TEXT ((size_t)16 << 20)

/* Write one artefact to pending/. */
static int
draft(struct compile *c, const char *name,
    void (*make)(struct compile *, struct buf *), struct fault *fault)
{
	struct buf b;
	int rv;

	buf_init(&b, MAIN_TEXT);
	make(c, &b);
	rv = artefact_write(c, c->pending, name, &b, fault);
	buf_free(&b);
	return rv;
}

static int
draft_server(
    struct compile *c, const struct compile_server *s, struct fault *fault)
{
	char name[200];
	struct buf b;
	int rv;

	snprintf(name, sizeof(name), "servers/%.*s/%s",
	    (int)(s->name.len > 64 ? 64 : s->name.len),
	    (const char *)s->name.p, policydir_names[PROTO_RULES_POLICY]);
	buf_init(&b, MAIN_TEXT);
	artefact_server(c, s, &b);
	rv = artefact_write(c, c->pending, name, &b, fault);
	buf_free(&b);
	return rv;
}

/* Returns true for a name that can be one of a directory. */
static bool
is_plain_name(struct span s)
{
	if (s.len == 0 || s.len > 64 || s.p[0] == '.')
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] == '/' || s.p[i] >= 0x7f)
			return false;
	return true;
}

/* Take the rules of a server that is not compiled now, from an earlier run. */
static int
server_kept(struct compile *c, struct compile_server *s, struct fault *fault)
{
	struct value_pool *pool = NULL;
	struct policy_file f;
	const struct value *v;
	char path[PATH_MAX];

	s->skipped = true;
	s->why_skipped = SPAN("not compiled yet");
	snprintf(path, sizeof(path), "%.3800s/servers/%.*s/%s", c->dir,
	    (int)s->name.len, (const char *)s->name.p,
	    policydir_names[PROTO_RULES_POLICY]);
	if (access(path, F_OK) == -1)
		return 0;
	if (policy_file_read(&f, path, fault) == -1)
		return -1;
	if ((v = policy_tree(&f, &pool)) != NULL &&
	    (v = value_copy(c->pool, v)) != NULL) {
		s->rules = value_get(v, "rules");
		s->lists = value_get(v, "listDefinitions");
		(void)span_copy(
		    value_str(v, "inputHash"), s->hash, sizeof(s->hash));
	}
	value_pool_free(pool);
	free(f.path);
	free(f.text);
	if (s->rules == NULL ||
	    rules_check(c, s, s->rules, s->lists, fault) == -1)
		return fault_set(fault, "%s: cannot be used; compile all "
					"servers again", path);
	s->skipped = false;
	return 0;
}

/* Compile every server that is to be compiled. */
static int
compile_servers(struct compile *c, struct fault *fault)
{
	struct compile_server *s;
	char vis[100];

	if (c->o.server != NULL &&
	    compile_server(c, span_str(c->o.server)) == NULL)
		return fault_set(fault, "--server %s: it has no annotations. "
					"Run: icctl policy annotate --server "
					"%s", c->o.server, c->o.server);
	for (unsigned i = 0; i < c->nservers; i++)
		if (!is_plain_name(c->servers[i].name))
			return fault_set(fault, "%s: a server's name cannot "
						"be that of a directory",
			    c->annotations.path);
	if (c->o.server == NULL && server_prefilter(c, fault) == -1)
		return -1;
	for (unsigned i = 0; i < c->nservers; i++) {
		s = &c->servers[i];
		log_vis(s->name, vis, sizeof(vis));
		if (c->o.server != NULL && !span_is(s->name, c->o.server)) {
			if (server_kept(c, s, fault) == -1)
				return -1;
			continue;
		}
		if (s->skipped) {
			printf("%s: not mentioned\n", vis);
			continue;
		}
		if (server_compile(c, s, fault) == -1 ||
		    draft_server(c, s, fault) == -1)
			return -1;
		printf("%s: %u rule%s\n", vis, s->rules->count,
		    plural(s->rules->count));
	}
	return 0;
}

/* Returns the earlier lists, or NULL. */
static const struct policy_file *
old_lists(const struct policy_set *old)
{
	return old->files[PROTO_RULES_LISTS].path == NULL
		   ? NULL
		   : &old->files[PROTO_RULES_LISTS];
}

/* Write the annotations into the directory, if it has none. */
static int
draft_annotations(struct compile *c, struct fault *fault)
{
	char path[PATH_MAX];
	struct buf b;
	int rv;

	snprintf(path, sizeof(path), "%.4000s/%s", c->dir,
	    policydir_names[PROTO_RULES_ANNOTATIONS]);
	if (strcmp(c->annotations.path, path) == 0)
		return 0;
	buf_init(&b, MAIN_TEXT);
	buf_addspan(&b, span_of(c->annotations.text, c->annotations.len));
	rv = artefact_write(c, c->pending,
	    policydir_names[PROTO_RULES_ANNOTATIONS], &b, fault);
	buf_free(&b);
	return rv;
}

/* Make everything, up to the artefacts in pending/. */
static int
make(struct compile *c, const struct policy_set *old, struct fault *fault)
{
	if (compile_servers(c, fault) == -1 ||
	    lists_resolve(c, old_lists(old), fault) == -1 ||
	    draft(c, policydir_names[PROTO_RULES_LISTS], artefact_lists,
		fault) == -1 ||
	    draft_annotations(c, fault) == -1)
		return -1;
	for (unsigned i = 0; i < c->nservers; i++) {
		if (c->servers[i].skipped ||
		    (c->o.server != NULL &&
			!span_is(c->servers[i].name, c->o.server)))
			continue;
		if (scenarios_make(c, &c->servers[i], fault) == -1)
			return -1;
	}
	if (draft(c, "test-scenarios.json", artefact_scenarios, fault) == -1)
		return -1;
	return draft(
	    c, policydir_names[PROTO_RULES_POLICY], artefact_policy, fault);
}

/* Write again what verification may have changed. */
static int
redraft(struct compile *c, struct fault *fault)
{
	for (unsigned i = 0; i < c->nservers; i++)
		if (!c->servers[i].skipped &&
		    (c->o.server == NULL ||
			span_is(c->servers[i].name, c->o.server)) &&
		    draft_server(c, &c->servers[i], fault) == -1)
			return -1;
	return draft(
	    c, policydir_names[PROTO_RULES_POLICY], artefact_policy, fault);
}

/*
 * Check the new policy, show what it changes, and put it in force if nothing is
 * newly allowed or a person agrees. Returns an exit status.
 */
static int
conclude(struct compile *c, const struct policy_set *old, const char *again,
    struct fault *fault)
{
	struct policy_opts o = {0};
	struct policy_set new = {0};
	struct buf statement;
	int n = -1, status = ICCTL_FAILED;

	buf_init(&statement, MAIN_TEXT);
	if (compile_new_set(c, &o, &new, fault) == -1)
		goto out;
	if (icctl_policy_check(c->ctl, &o) != ICCTL_OK) {
		fault_set(fault, "icctl policy check finds errors; nothing was "
				 "put in force");
		goto out;
	}
	if ((n = grants_new(c, old, &new, &statement, fault)) == -1)
		goto out;
	fault->text[0] = '\0';
	if (old->files[PROTO_RULES_POLICY].path != NULL) {
		puts("\nAgainst the policy in force so far:");
		policy_diff_rules(old, &new);
		if (recorded_show(c, old, &new, fault) == -1)
			goto out;
	}
	if (n == 0)
		puts("Nothing is newly allowed.");
	else if (consent_get(c, "Newly allowed", &statement, &new, again) != 0)
		goto out;
	if (compile_unchanged(c, fault) == -1 ||
	    artefact_install(c, fault) == -1)
		goto out;
	status = ICCTL_OK;
out:
	policy_set_free(&new);
	buf_free(&statement);
	return status;
}

static int
run(struct compile *c, struct policy_set *old, struct fault *fault)
{
	char dir[ICCTL_PATH];
	struct buf again;
	int bad, status;

	if (recorded_check(c, fault) == -1 ||
	    compile_constitution(c, fault) == -1 ||
	    compile_annotations(c, fault) == -1 ||
	    compile_old_set(c, old, fault) == -1 || make(c, old, fault) == -1 ||
	    (bad = verify_run(c, fault)) == -1 || redraft(c, fault) == -1 ||
	    compile_unchanged(c, fault) == -1)
		return ICCTL_FAILED;
	box_end(c->box);
	c->box = NULL;
	printf("%u repl%s of the model, %u from the cache\n",
	    c->hits + c->misses, c->hits + c->misses == 1 ? "y" : "ies",
	    c->hits);
	if (place_status(c, bad ? "unverified" : "waits", fault) == -1)
		return ICCTL_FAILED;
	if (bad) {
		printf("Not in force: the drafts are in %s. Change the "
		       "constitution, or compile again with --no-cache\n",
		    icctl_path(c->pending, dir));
		return ICCTL_FAILED;
	}
	buf_init(&again, 65536);
	again_put(c, "compile", &again);
	status = conclude(c, old, (const char *)buf_span(&again).p, fault);
	buf_free(&again);
	if (status == ICCTL_OK) {
		printf("In force for %s: %s\n",
		    c->o.usual ? "this task"
			       : "sessions that start from now on",
		    icctl_path(c->dir, dir));
		absent_say(c);
	}
	return status;
}

int
compile_main(struct icctl *ctl, const struct compile_opts *given)
{
	static struct compile c;
	static struct compile_place place;
	struct compile_opts o = *given;
	struct policy_set old = {0};
	struct fault fault = {""};
	int status = ICCTL_FAILED;

	if (place_open(&place, ctl, &o) == -1)
		return ICCTL_FAILED;
	if (compile_open(&c, ctl, &o, &fault) == 0)
		status = run(&c, &old, &fault);
	if (status != ICCTL_OK && fault.text[0] != '\0')
		warnx("%s", fault.text);
	if (status == ICCTL_OK && o.into != NULL)
		printf("Next: icctl start --policy %s\n", o.into);
	else if (status == ICCTL_OK && o.persona != NULL)
		printf("Next: icctl start --persona %s\n", o.persona);
	else if (status == ICCTL_OK && o.dir == NULL)
		puts("Next, in a project of yours: icctl start");
	policy_set_free(&old);
	compile_close(&c);
	place_close(&place);
	return status;
}

int
compile_task(struct icctl *ctl, const char *task, char dir[4096])
{
	struct compile_opts o = {.task = task, .repairs = COMPILE_REPAIRS};
	struct compile_place place;

	if (place_open(&place, ctl, &o) == -1)
		return ICCTL_FAILED;
	(void)strlcpy(dir, place.dir, 4096);
	place_close(&place);
	o.dir = NULL;
	return compile_main(ctl, &o);
}
