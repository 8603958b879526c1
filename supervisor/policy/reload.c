/* SPDX-License-Identifier: ISC */
/*
 * Loads new rules into the running session: the files are found and read as at
 * the start, recorded, and sent to policyd, which puts all of them in force or
 * none. One reload runs at a time.
 */
#include "core/sup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/plural.h"
#include "hub/control.h"

void
control_op_reload(struct client *c, struct json_object *req)
{
	static const char *const keys[PROTO_RULES_LAST + 1] = {
	    [PROTO_RULES_POLICY] = "policy",
	    [PROTO_RULES_ANNOTATIONS] = "annotations",
	    [PROTO_RULES_LISTS] = "lists",
	};
	static const struct msg_RULES_SWAP swap;
	const char *files[PROTO_RULES_LAST + 1] = {NULL};
	struct json_object *v;
	struct fault fault;

	if (sup.reloading || !sup.started) {
		control_fail(c, "busy",
		    sup.reloading ? "another reload is in progress. Try again "
				    "when it has finished"
				  : "the session is still starting");
		return;
	}
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		if (json_object_object_get_ex(req, keys[k], &v))
			files[k] = json_object_get_string(v);
	policy_rules_free(sup.next);
	if (rules_find(sup.next, files, &fault) == -1) {
		sup_warn("reload refused, and the old rules stay in force: %s",
		    fault.text);
		event_reload_refused(fault.text);
		control_fail(c, "refused", fault.text);
		return;
	}
	sup_note("reload of %s by pid %d", sup.next[PROTO_RULES_POLICY].path,
	    (int)c->peer.pid);
	event_reload(sup.next, c->peer.pid);
	(void)rules_send(sup.next);
	child_send(ROLE_POLICY, 0, MSG_RULES_SWAP, &swap, -1);
	sup.reloading = true;
	c->rules = true;
	c->reply = control_ok();
}

/* Returns how the mounts, made at the start, differ from the policy, or NULL. */
static const char *
reload_workspace(void)
{
	const bool wanted = rules_read_only(sup.rules);

	if (wanted && !sup.read_only)
		return "this policy keeps the workspace read-only: tools can no "
		       "longer change it, but the agent's own programs still "
		       "can until this session ends, because it was started "
		       "with another policy";
	if (!wanted && sup.read_only && !sup.opt.read_only)
		return "the workspace stays read-only until this session ends, "
		       "because it was started with a policy that says so";
	return NULL;
}

void
reload_done(struct span warnings)
{
	struct json_object *o = control_ok(), *list = json_object_new_array();
	const char *mount;
	struct span line;

	sup.reloading = false;
	policy_rules_free(sup.rules);
	memcpy(sup.rules, sup.next, sizeof(sup.rules));
	memset(sup.next, 0, sizeof(sup.next));
	while (span_line(&warnings, &line))
		json_object_array_add(
		    list, json_object_new_string_len(
			      (const char *)line.p, (int)line.len));
	if ((mount = reload_workspace()) != NULL) {
		sup_warn("reload: %s", mount);
		json_object_array_add(list, json_object_new_string(mount));
	}
	put_int(o, "rules", sup.rules_count);
	put_str(o, "policy", sup.rules[PROTO_RULES_POLICY].path);
	json_object_object_add(o, "warnings", list);
	sup_note("reload: %u rule%s of %s in force", sup.rules_count,
	    plural(sup.rules_count), sup.rules[PROTO_RULES_POLICY].path);
	if (ready_session_json("running") == -1)
		sup_warn("session.json cannot be written");
	control_reloaded(NULL, o);
}

void
reload_refused(const char *why)
{
	sup.reloading = false;
	policy_rules_free(sup.next);
	sup_warn("reload refused, and the old rules stay in force: %s", why);
	event_reload_refused(why);
	control_reloaded(why, NULL);
}
