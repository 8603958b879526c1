/* SPDX-License-Identifier: ISC */
/*
 * Parses "proxy" of config.json: a corporate proxy, the hosts that bypass it,
 * where its credential is kept, and the certificates that the proxy or its
 * network uses. The file holds no credential.
 */
#include "files/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/no_proxy.h"
#include "files/proxy_url.h"

static int
config_proxy_url(
    struct config_proxy *p, const struct jsonfile *j, struct json_object *o)
{
	const char *url = NULL, *why = NULL;
	struct proxy_url u;

	if (jsonfile_str(j, o, "proxy", "url", &url) == -1)
		return -1;
	if (url == NULL)
		return 0;
	if (proxy_url(url, &u, &why) == -1)
		return jsonfile_bad(j, "proxy", "url", "%s", why);
	if (u.secret.len != 0)
		return jsonfile_bad(j, "proxy", "url",
		    "must not hold a user name or password. Put USER:PASSWORD "
		    "into a file of its own (chmod 600) and write "
		    "{\"proxy\":{\"url\":...,\"credential\":{\"file\":"
		    "\"~/keys/proxy\"}}}");
	memcpy(p->host, u.host, sizeof(p->host));
	p->port = u.port;
	return 0;
}

static int
config_proxy_direct(
    struct config_proxy *p, const struct jsonfile *j, struct json_object *o)
{
	static struct no_proxy rows;
	size_t len = 0, n;
	char **list = NULL;
	int rv = -1;

	memset(&rows, 0, sizeof(rows));
	if (jsonfile_strings(
		j, o, "proxy", "noProxy", NO_PROXY_MAX_ROWS, &list) == -1)
		return -1;
	if (list == NULL)
		return 0;
	if ((p->direct = calloc(1, NO_PROXY_MAX_TEXT + 1)) == NULL) {
		fault_errno(j->fault, "%s", j->file);
		goto out;
	}
	for (size_t i = 0; list[i] != NULL; i++) {
		n = strlen(list[i]);
		if (no_proxy_add(&rows, span_str(list[i])) == -1) {
			jsonfile_bad(j, "proxy", "noProxy",
			    "\"%s\" must be NAME, .NAME, *.NAME or ADDRESS, "
			    "each with or without :PORT, or NET/BITS, or \"*\"",
			    list[i]);
			goto out;
		}
		if (len + n + 1 > NO_PROXY_MAX_TEXT) {
			jsonfile_bad(j, "proxy", "noProxy",
			    "over %u bytes in all", NO_PROXY_MAX_TEXT);
			goto out;
		}
		memcpy(p->direct + len, list[i], n);
		len += n;
		p->direct[len++] = '\n';
	}
	rv = 0;
out:
	jsonfile_strings_free(list);
	return rv;
}

int
config_proxy(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	static const char *const keys[] = {
	    "url", "noProxy", "credential", "ca", NULL};
	struct config_proxy *p = &cfg->proxy;
	struct json_object *o = NULL, *auth = NULL;
	const char *ca = NULL;

	if (jsonfile_object(j, root, "", "proxy", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, "proxy", keys) == -1 ||
	    config_proxy_url(p, j, o) == -1 ||
	    config_proxy_direct(p, j, o) == -1 ||
	    jsonfile_str(j, o, "proxy", "ca", &ca) == -1)
		return -1;
	if (ca != NULL && (p->ca = config_path(j->file, user_home, ca)) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	if (!json_object_object_get_ex(o, "credential", &auth))
		return 0;
	return config_credential_of(
	    &p->auth, j, auth, "proxy.credential", user_home, false);
}
