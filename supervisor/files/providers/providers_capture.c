/* SPDX-License-Identifier: ISC */
/*
 * If a login may begin in the sandbox, the hosts and routes that it needs are
 * added to those of the provider file, and mitmd and keyd read the result.
 * Otherwise there are no such hosts and routes.
 */
#include "files/providers/providers.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"

/* Returns "capture" of the entry of "logins" that is in use, or NULL. */
static struct json_object *
capture_section(struct json_object *root, const char *login)
{
	struct json_object *list, *o, *name, *capture = NULL;

	if (!json_object_object_get_ex(root, "logins", &list))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (json_object_object_get_ex(o, "name", &name) &&
		    strcmp(json_object_get_string(name), login) == 0)
			(void)json_object_object_get_ex(o, "capture", &capture);
	}
	return capture;
}

static bool
capture_has(const struct provider *p, const char *host)
{
	for (unsigned i = 0; i < p->nhosts; i++)
		if (strcmp(p->hosts[i], host) == 0)
			return true;
	return false;
}

/* Add the login's hosts: "host" becomes "hosts". */
static int
capture_hosts(struct provider *p, const struct jsonfile *j,
    struct json_object *root, struct json_object *capture)
{
	struct json_object *all = json_object_new_array(), *host;
	char **more = NULL;
	int rv = -1;

	if (jsonfile_strings(j, capture, "capture", "hosts",
		PROTO_MAX_HOSTS - 1, &more) == -1)
		goto out;
	for (size_t i = 0; more != NULL && more[i] != NULL; i++) {
		if (capture_has(p, more[i]))
			continue;
		if (p->nhosts == PROTO_MAX_HOSTS) {
			jsonfile_bad(j, "capture", "hosts",
			    "at most %u hosts in all", PROTO_MAX_HOSTS);
			goto out;
		}
		if ((p->hosts[p->nhosts] = strdup(more[i])) == NULL) {
			fault_errno(j->fault, "%s", j->file);
			goto out;
		}
		p->nhosts++;
	}
	for (unsigned i = 0; i < p->nhosts; i++) {
		host = json_object_new_string(p->hosts[i]);
		json_object_array_add(all, host);
	}
	json_object_object_del(root, "host");
	json_object_object_add(root, "hosts", json_object_get(all));
	rv = 0;
out:
	jsonfile_strings_free(more);
	json_object_put(all);
	return rv;
}

int
provider_capture(struct provider *p, const char *path, struct json_object *root,
    struct fault *fault)
{
	const struct jsonfile j = {path, fault};
	struct json_object *capture, *routes, *all;

	if (!p->captures)
		return 0;
	capture = capture_section(root, p->logins[p->login].name);
	if (capture == NULL ||
	    !json_object_object_get_ex(capture, "routes", &routes) ||
	    !json_object_is_type(routes, json_type_array) ||
	    !json_object_object_get_ex(root, "routes", &all) ||
	    !json_object_is_type(all, json_type_array))
		return fault_set(fault,
		    "credentials.%s.capture: the login of %s cannot be made in "
		    "a session, because %s does not describe how",
		    p->name, p->logins[p->login].name, path);
	if (capture_hosts(p, &j, root, capture) == -1)
		return -1;
	for (size_t i = 0; i < json_object_array_length(routes); i++)
		json_object_array_add(
		    all, json_object_get(json_object_array_get_idx(routes, i)));
	return 1;
}
