/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy reload`: tells the session where the files are; the session
 * reads them itself, as it did at its start.
 */
#include "icctl/policy/policy.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/plural.h"

/*
 * Make the path absolute, because the session has another working directory.
 * The name of a policy stays a name.
 */
static int
absolute(const char *what, bool may_name, char *dst, size_t cap)
{
	char cwd[PATH_MAX] = "";
	struct stat st;
	int n;

	if (what[0] != '/' &&
	    (!may_name || strchr(what, '/') != NULL || stat(what, &st) == 0)) {
		if (getcwd(cwd, sizeof(cwd)) == NULL) {
			warn("%s", what);
			return -1;
		}
		strlcat(cwd, "/", sizeof(cwd));
	}
	n = snprintf(dst, cap, "%s%s", cwd, what);
	if (n < 0 || (size_t)n >= cap) {
		warnx("%s: too long", what);
		return -1;
	}
	return 0;
}

static void
show(json_object *reply)
{
	json_object *list = NULL;

	printf("In force now: %lld rule%s of ",
	    (long long)icctl_number(reply, "rules"),
	    plural((uint64_t)icctl_number(reply, "rules")));
	icctl_put_str(icctl_text(reply, "policy"));
	putchar('\n');
	json_object_object_get_ex(reply, "warnings", &list);
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		fputs("warning: ", stdout);
		icctl_put(span_str(json_object_get_string(
			      json_object_array_get_idx(list, i))),
		    2048, false);
		putchar('\n');
	}
}

int
icctl_policy_reload(struct icctl *ctl, struct policy_opts *o)
{
	static const char *const keys[PROTO_RULES_LAST + 1] = {
	    [PROTO_RULES_POLICY] = "policy",
	    [PROTO_RULES_ANNOTATIONS] = "annotations",
	    [PROTO_RULES_LISTS] = "lists",
	};
	json_object *req, *reply;
	char path[2 * PATH_MAX];
	int status;

	if (o->sandbox != NULL || o->into != NULL || o->nprotect != 0 ||
	    o->ntrust != 0 || o->ndomains != 0 || o->naudit != 0) {
		warnx("icctl policy reload takes --policy, --annotations and "
		      "--lists only: the rest stays as it was when the session "
		      "started");
		return ICCTL_USAGE;
	}
	req = icctl_request("reload", NULL);
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		if (o->files[k] == NULL)
			continue;
		if (absolute(o->files[k], k == PROTO_RULES_POLICY, path,
			sizeof(path)) == -1) {
			json_object_put(req);
			return ICCTL_USAGE;
		}
		put_str(req, keys[k], path);
	}
	if ((reply = icctl_command(ctl, req, &status)) == NULL)
		return status;
	if (ctl->json)
		icctl_put_json(reply);
	else
		show(reply);
	json_object_put(reply);
	return ICCTL_OK;
}
