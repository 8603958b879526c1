/* SPDX-License-Identifier: ISC */
/*
 * `icctl always ID`: turns a call that waits into a rule, in the narrow form of
 * `icctl policy learn`, shows it, and on a yes adds it to the policy of the
 * session and has the session read it. The call that waits is then decided by
 * the new rules. No rule is added that would also allow a call of this session
 * that was denied.
 */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"
#include "config/jsonfile.h"
#include "config/policydir.h"
#include "icctl/hold/hold_view.h"
#include "icctl/policy/learn.h"
#include "json_put.h"

static struct {
	struct icctl *ctl;
	char policy[PATH_MAX];	/* its file, which the rule is added to */
	char log[PATH_MAX];
	char dir[PATH_MAX];
	char workspace[PATH_MAX];
	char beside[PROTO_RULES_LAST + 1][PATH_MAX]; /* the other files */
	struct policy_opts opts;
	struct policy_set set;
	struct learn learn;
} always_env;

/* Returns 0, or an exit status after it said why not. */
static int
always_session(void)
{
	json_object *reply;
	int status;

	reply = icctl_command(
	    always_env.ctl, icctl_request("status", NULL), &status);
	if (reply == NULL)
		return status;
	snprintf(always_env.policy, sizeof(always_env.policy), "%s",
	    icctl_text(reply, "policy"));
	snprintf(always_env.workspace, sizeof(always_env.workspace), "%s",
	    icctl_text(reply, "workspace"));
	snprintf(always_env.log, sizeof(always_env.log), "%.4000s",
	    icctl_text(reply, "dir"));
	json_object_put(reply);
	return ICCTL_OK;
}

/* Find the files that belong to the policy. */
static void
always_files(void)
{
	char dir[PATH_MAX], *slash;

	always_env.opts.files[PROTO_RULES_POLICY] = always_env.policy;
	always_env.opts.sandbox = always_env.workspace;
	snprintf(dir, sizeof(dir), "%s", always_env.policy);
	if ((slash = strrchr(dir, '/')) == NULL)
		return;
	*slash = '\0';
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		if (k == PROTO_RULES_POLICY)
			continue;
		snprintf(always_env.beside[k], PATH_MAX, "%.4000s/%s", dir,
		    policydir_names[k]);
		if (access(always_env.beside[k], F_OK) == 0)
			always_env.opts.files[k] = always_env.beside[k];
	}
}

/*
 * The policy that comes with icctl is replaced by updates: the user gets a copy
 * of it. Returns 0, or -1 after it said why not.
 */
static int
always_own(void)
{
	char shipped[PATH_MAX], dir[PATH_MAX], path[PATH_MAX + 64];
	const struct policy_file *f;

	if (policy_own_path(
		"share/ironcurtain/policies", shipped, sizeof(shipped)) == -1 ||
	    strncmp(always_env.policy, shipped, strlen(shipped)) != 0)
		return 0;
	snprintf(dir, sizeof(dir), "%.4000s/policy", always_env.ctl->home);
	if (mkdir(dir, 0700) == -1) {
		warnx("the session has the policy that comes with icctl, and "
		      "%s: %s. Move it away, or name a policy of yours: icctl "
		      "start --policy NAME",
		    dir, strerror(errno));
		return -1;
	}
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		f = &always_env.set.files[k];
		if (f->path == NULL || k == PROTO_RULES_POLICY)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, policydir_names[k]);
		if (jsonfile_replace(path, span_of(f->text, f->len)) == -1) {
			warn("%s", path);
			return -1;
		}
	}
	snprintf(always_env.policy, sizeof(always_env.policy), "%.4000s/%s",
	    dir, policydir_names[PROTO_RULES_POLICY]);
	return 0;
}

/* Take the call that waits. Returns 0, or -1 after it said why not. */
static int
always_call(json_object *hold)
{
	struct learn *l = &always_env.learn;
	struct learn_call *k = &l->calls[l->ncalls];
	json_object *v = NULL;

	for (size_t i = 0; i < l->ncalls; i++)
		if (l->calls[i].approved && l->calls[i].why_not == NULL)
			l->calls[i].why_not = "";
	if (json_object_object_get_ex(hold, "request", &v) ||
	    json_object_object_get_ex(hold, "limit", &v) ||
	    l->ncalls == LEARN_MAX_CALLS) {
		warnx("%s: there are rules for tool calls only",
		    icctl_text(hold, "id"));
		return -1;
	}
	k->approved = true;
	k->file = "";
	k->request.server = span_str(icctl_text(hold, "server"));
	k->request.tool = span_str(icctl_text(hold, "tool"));
	k->request.args =
	    json_read(l->pool, span_str(icctl_text(hold, "arguments")), NULL);
	if (k->request.args == NULL) {
		warnx("%s: its arguments are not known in full",
		    icctl_text(hold, "id"));
		return -1;
	}
	l->ncalls++;
	return 0;
}

/* Show what would be added. Returns 0, or -1 if there is nothing. */
static int
always_show(json_object *hold)
{
	const struct learn *l = &always_env.learn;
	const struct learn_call *k = &l->calls[l->ncalls - 1];
	struct buf rule, out;
	char path[ICCTL_PATH];
	unsigned n = 0;

	(void)hold_view(stdout, hold, HOLD_VIEW_LIST, icctl_visible());
	buf_init(&rule, (size_t)16 << 20);
	buf_init(&out, (size_t)64 << 20);
	for (size_t i = 0; i < l->nrules && k->why_not == NULL; i++) {
		if (l->rules[i].dropped)
			continue;
		if (l->rules[i].cond.len == 0)
			buf_printf(&rule,
			    "Every call of %.*s__%.*s, WITH ANY ARGUMENTS:\n",
			    (int)l->rules[i].server.len,
			    (const char *)l->rules[i].server.p,
			    (int)l->rules[i].tool.len,
			    (const char *)l->rules[i].tool.p);
		learn_put_rule(&rule, &l->rules[i]);
		buf_addc(&rule, '\n');
		n++;
	}
	if (n != 0) {
		printf("\nThis would be allowed from now on, unasked, in every "
		       "session with\n%s:\n\n",
		    icctl_path(always_env.policy, path));
		policy_visible(&out, buf_span(&rule));
		(void)fflush(stdout);
		(void)policy_flush(&out);
	} else {
		warnx("no rule is added: %s",
		    k->why_not != NULL
			? k->why_not
			: "none could be made of this call");
	}
	buf_free(&rule);
	buf_free(&out);
	return n != 0 ? 0 : -1;
}

/* Write the policy and have the session read it. Returns the exit status. */
static int
always_add(const struct buf *text)
{
	json_object *req, *reply;
	char path[ICCTL_PATH];
	int status;

	if (always_own() == -1 || learn_write(always_env.policy, text) == -1)
		return ICCTL_FAILED;
	req = icctl_request("reload", NULL);
	put_str(req, "policy", always_env.policy);
	reply = icctl_command(always_env.ctl, req, &status);
	if (reply == NULL) {
		warnx("the rule is in %s, and the session goes on with its old "
		      "rules",
		    icctl_path(always_env.policy, path));
		return status;
	}
	printf("In force now, and kept in %s.\n",
	    icctl_path(always_env.policy, path));
	json_object_put(reply);
	return ICCTL_OK;
}

static int
always_hold(json_object *hold)
{
	struct learn *l = &always_env.learn;
	struct policy_set *set = &always_env.set;
	struct buf text;
	int status = ICCTL_FAILED;

	buf_init(&text, (size_t)8 << 20);
	if (learn_annots(l, &set->files[PROTO_RULES_ANNOTATIONS]) == 0 &&
	    policy_calls(always_env.log, learn_call, l) == 0 &&
	    always_call(hold) == 0) {
		learn_rules(l, &set->files[PROTO_RULES_POLICY]);
		if (learn_refine(
			l, always_env.ctl, &always_env.opts, set, &text) == 0 &&
		    always_show(hold) == 0) {
			if (icctl_confirm("\nAdd it, and allow this call?"))
				status = always_add(&text);
			else
				puts("Nothing was changed; the call waits.");
		}
	}
	buf_free(&text);
	annots_free(&l->annots);
	return status;
}

int
icctl_always(struct icctl *ctl, int argc, char **argv)
{
	struct fault fault;
	json_object *hold;
	int status;

	if (argc != 2 || argv[1][0] == '-') {
		warnx("usage: icctl always ID");
		return ICCTL_USAGE;
	}
	always_env.ctl = ctl;
	ctl->waits = argv[1];
	if ((status = icctl_find(ctl)) != 0)
		return status;
	/* From here on this session is meant. */
	snprintf(always_env.dir, sizeof(always_env.dir), "%s", ctl->dir);
	ctl->session = always_env.dir;
	if ((status = always_session()) != 0)
		return status;
	if ((hold = icctl_hold_fetch(ctl, argv[1], true)) == NULL)
		return ICCTL_FAILED;
	always_files();
	if (policy_set_load(ctl, &always_env.opts, &always_env.set, &fault) ==
	    -1) {
		warnx("%s", fault.text);
		json_object_put(hold);
		return ICCTL_FAILED;
	}
	learn_init(&always_env.learn);
	status = always_hold(hold);
	learn_end(&always_env.learn);
	policy_set_free(&always_env.set);
	json_object_put(hold);
	return status;
}
