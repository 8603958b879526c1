/* SPDX-License-Identifier: ISC */
/*
 * Parses how a provider or destination of config.json is reached: "upstream",
 * "ca" and "reuse".
 */
#include "files/parse.h"

#include <string.h>

static int
config_upstream_add(struct config_provider *p, const struct jsonfile *j,
    const char *where, const char *host, const char *url)
{
	const char *why = NULL;
	unsigned n = p->nupstreams;

	if (n == PROTO_MAX_HOSTS)
		return jsonfile_bad(j, where, "upstream",
		    "must name at most %u hosts", PROTO_MAX_HOSTS);
	if (config_url(url, &p->upstreams[n].at, &why) == -1)
		/* A user name, password or query may be secret. */
		return jsonfile_bad(j, where, "upstream", "\"%s\": %s",
		    strpbrk(url, "@?") != NULL ? "..." : url, why);
	p->nupstreams++;
	if (host != NULL && (p->upstreams[n].host = strdup(host)) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	return 0;
}

/* Parse "https://..." for the first host, or {"host": "https://...", ...}. */
static int
config_upstreams(struct config_provider *p, const struct jsonfile *j,
    struct json_object *o, const char *where)
{
	struct json_object *up;
	const char *url;

	if (!json_object_object_get_ex(o, "upstream", &up))
		return 0;
	if (!json_object_is_type(up, json_type_object))
		return jsonfile_text_of(j, up, where, "upstream", &url) == -1
			   ? -1
			   : config_upstream_add(p, j, where, NULL, url);
	json_object_object_foreach(up, host, val)
	{
		if (jsonfile_text_of(j, val, where, "upstream", &url) == -1 ||
		    config_upstream_add(p, j, where, host, url) == -1)
			return -1;
	}
	return 0;
}

int
config_reach(struct config_provider *p, const struct jsonfile *j,
    struct json_object *o, const char *where, const char *user_home)
{
	const char *ca = NULL, *reuse = NULL;

	if (config_upstreams(p, j, o, where) == -1 ||
	    jsonfile_str(j, o, where, "ca", &ca) == -1 ||
	    jsonfile_str(j, o, where, "reuse", &reuse) == -1)
		return -1;
	if (reuse != NULL && strcmp(reuse, "never") != 0 &&
	    strcmp(reuse, "auto") != 0)
		return jsonfile_bad(j, where, "reuse",
		    "must be \"auto\" or \"never\", is \"%s\"", reuse);
	p->reuse = reuse == NULL || strcmp(reuse, "never") != 0;
	if (ca == NULL)
		return 0;
	if ((p->ca = config_path(j->file, user_home, ca)) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	return 0;
}
