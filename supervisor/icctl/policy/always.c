/* SPDX-License-Identifier: ISC */
/*
 * `icctl always ID`: turns a call that waits into a rule, in the narrow form of
 * `icctl policy learn`, shows it, and on a yes adds it to the policy of the
 * session and has the session read it. The call that waits is then decided by
 * the new rules. No rule is added that would also allow a call of this session
 * that was denied. With --json the rule is shown only, with a digest by which a
 * program that has asked the person adds exactly this rule (--rule).
 */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "common/json/json.h"
#include "common/sha256.h"
#include "files/policydir.h"
#include "icctl/hold/hold_view.h"
#include "icctl/policy/learn.h"
#include "icctl/words.h"

static struct {
	struct icctl *ctl;
	const char *rule; /* the digest of what was shown, or NULL: ask */
	char policy[PATH_MAX]; /* its file, which the rule is added to */
	char copy[PATH_MAX];   /* the directory of a copy to be made, or "" */
	char target[PATH_MAX + 64]; /* the file that has the rule then */
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
 * Note where the rule goes. The policy that comes with icctl is replaced by
 * updates, and belongs to everyone: the user gets a copy of the same name.
 * Returns 0, or -1 after it said why not.
 */
static int
always_target(void)
{
	char shipped[PATH_MAX];
	const char *policy = always_env.policy, *rest, *end;
	const char *home = always_env.ctl->home;
	int n;

	snprintf(always_env.target, sizeof(always_env.target), "%s", policy);
	if (policy_own_path(
		"share/ironcurtain/policies", shipped, sizeof(shipped)) == -1 ||
	    strncmp(policy, shipped, strlen(shipped)) != 0 ||
	    policy[strlen(shipped)] != '/')
		return 0;
	rest = policy + strlen(shipped) + 1;
	end = strchr(rest, '/');
	n = end == NULL ? snprintf(always_env.copy, sizeof(always_env.copy),
			      "%s/policy", home)
			: snprintf(always_env.copy, sizeof(always_env.copy),
			      "%s/policies/%.*s", home, (int)(end - rest), rest);
	if (n < 0 || (size_t)n >= sizeof(always_env.copy)) {
		warnx("%s: the path is too long", home);
		return -1;
	}
	snprintf(always_env.target, sizeof(always_env.target), "%s/%s",
	    always_env.copy, policydir_names[PROTO_RULES_POLICY]);
	return 0;
}

/*
 * Make the directory of the copy, and those above it below the home. Returns 0,
 * or -1 with errno set.
 */
static int
always_mkdir(void)
{
	char above[PATH_MAX];

	snprintf(above, sizeof(above), "%.4000s/policies", always_env.ctl->home);
	if (strncmp(always_env.copy, above, strlen(above)) == 0 &&
	    mkdir(above, 0700) == -1 && errno != EEXIST)
		return -1;
	return mkdir(always_env.copy, 0700);
}

/* Copy the policy if need be. Returns 0, or -1 after it said why not. */
static int
always_own(void)
{
	char path[PATH_MAX + 64];
	const struct policy_file *f;

	if (always_env.copy[0] == '\0')
		return 0;
	if (always_mkdir() == -1) {
		warnx("the session has a policy that comes with icctl, and "
		      "%s: %s. Move it away, or name a policy of yours: icctl "
		      "start --policy NAME",
		    always_env.copy, strerror(errno));
		return -1;
	}
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		f = &always_env.set.files[k];
		if (f->path == NULL || k == PROTO_RULES_POLICY)
			continue;
		snprintf(path, sizeof(path), "%s/%s", always_env.copy,
		    policydir_names[k]);
		if (jsonfile_replace(path, span_of(f->text, f->len)) == -1) {
			warn("%s", path);
			return -1;
		}
	}
	(void)strlcpy(always_env.policy, always_env.target,
	    sizeof(always_env.policy));
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
	    json_object_object_get_ex(hold, "host", &v) ||
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
	if (json_object_object_get_ex(hold, "resources", &v))
		k->links = json_read(
		    l->pool, span_str(json_object_to_json_string(v)), NULL);
	if (k->request.args == NULL || k->links == NULL ||
	    policy_named(&k->request, k->links, l->pool, &k->named) == -1) {
		warnx("%s: its arguments are not known in full",
		    icctl_text(hold, "id"));
		return -1;
	}
	l->ncalls++;
	return 0;
}

/*
 * Compose the text of what would be added, visibly. Returns 0, or -1 after it
 * said why there is nothing to add.
 */
static int
always_rules(struct buf *out)
{
	const struct learn *l = &always_env.learn;
	const struct learn_call *k = &l->calls[l->ncalls - 1];
	struct buf rule;
	unsigned n = 0;

	buf_init(&rule, (size_t)16 << 20);
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
	if (n != 0)
		policy_visible(out, buf_span(&rule));
	else
		warnx("no rule is added: %s",
		    k->why_not != NULL ? k->why_not
				       : "none could be made of this call");
	buf_free(&rule);
	return n != 0 ? 0 : -1;
}

/* Compute what a yes is bound to: the call, and the policy as it would be. */
static void
always_digest(json_object *hold, const struct buf *text, char hex[SHA256_HEX])
{
	const struct span runs[] = {span_str(icctl_text(hold, "digest")),
	    SPAN("\n"), span_str(always_env.policy), SPAN("\n"),
	    buf_span(text)};
	uint8_t digest[SHA256_SIZE];

	sha256_spans(runs, nitems(runs), digest);
	(void)sha256_hex(digest, hex);
}

/* For programs, such as the web page: what a yes would do. */
static int
always_put(json_object *hold, const struct buf *rules, const char *digest)
{
	json_object *o = json_object_new_object();

	put_bool(o, "ok", true);
	put_str(o, "call", icctl_text(hold, "id"));
	put_str(o, "digest", icctl_text(hold, "digest"));
	put_str(o, "policy", always_env.target);
	json_object_object_add(o, "text",
	    json_object_new_string_len((const char *)buf_span(rules).p,
		(int)buf_span(rules).len));
	put_str(o, "rule", digest);
	icctl_put_json(o);
	json_object_put(o);
	return ICCTL_OK;
}

/* Show what would be added, and ask. Returns true on a yes. */
static bool
always_ask(json_object *hold, struct buf *rules)
{
	char path[ICCTL_PATH];

	(void)hold_view(stdout, hold, HOLD_VIEW_LIST, icctl_visible());
	printf("\nThis would be allowed from now on, unasked, in every session "
	       "with\n%s%s:\n\n",
	    icctl_path(always_env.target, path),
	    always_env.copy[0] != '\0'
		? ",\nyour copy of the policy that comes with icctl"
		: "");
	(void)fflush(stdout);
	(void)policy_flush(rules);
	if (icctl_confirm("\nAdd it, and allow this call?"))
		return true;
	puts("Nothing was changed; the call waits.");
	return false;
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
	if (always_env.ctl->json)
		icctl_put_json(reply);
	else
		printf("In force now, and kept in %s.\n",
		    icctl_path(always_env.policy, path));
	json_object_put(reply);
	return ICCTL_OK;
}

/*
 * Add the rules, which are computed, once the person has said yes: now, or
 * before, to exactly these. Returns the exit status.
 */
static int
always_decide(json_object *hold, const struct buf *text)
{
	char digest[SHA256_HEX];
	struct buf rules;
	int status = ICCTL_FAILED;

	buf_init(&rules, (size_t)64 << 20);
	always_digest(hold, text, digest);
	if (always_rules(&rules) == -1)
		;
	else if (always_env.rule == NULL && always_env.ctl->json)
		status = always_put(hold, &rules, digest);
	else if (always_env.rule == NULL ? always_ask(hold, &rules)
					 : strcmp(always_env.rule, digest) == 0)
		status = always_add(text);
	else if (always_env.rule != NULL)
		warnx("the rule is another one now, or the policy is: look at "
		      "it again");
	buf_free(&rules);
	return status;
}

static int
always_hold(json_object *hold)
{
	struct learn *l = &always_env.learn;
	struct policy_set *set = &always_env.set;
	struct buf text;
	int status = ICCTL_FAILED;

	buf_init(&text, (size_t)8 << 20);
	if (always_target() == 0 &&
	    learn_annots(l, &set->files[PROTO_RULES_ANNOTATIONS]) == 0 &&
	    policy_calls(always_env.log, learn_call, l) == 0 &&
	    always_call(hold) == 0) {
		learn_rules(l, &set->files[PROTO_RULES_POLICY]);
		if (learn_refine(l, always_env.ctl, &always_env.opts, set,
			&text) == 0)
			status = always_decide(hold, &text);
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

	if (argc != 2)
		return words_usage();
	always_env.rule = words_option("--rule");
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
	/* The session would refuse it only after the rule is written. */
	if (json_object_object_get_ex(hold, "toSign", NULL)) {
		warnx("not while \"approvers\" in config.json demands signed "
		      "answers: a rule would allow the call without one");
		json_object_put(hold);
		return ICCTL_FAILED;
	}
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
