/* SPDX-License-Identifier: ISC */
/*
 * Finds where to log in: the server's challenge, the metadata of the resource
 * (RFC 9728), and those of its authorization server (RFC 8414), or what servers
 * of 2025-03-26 have instead. mcp-logind reads each; what it says is checked
 * here before it is used.
 */
#include "icctl/mcp/login/login.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "common/log.h"

#define DISCOVER_MS 60000U
#define MAX_PATHS PLAN_PLACES

static void
keep(struct span s, char *dst, size_t cap)
{
	if (span_copy(s, dst, cap) == -1)
		dst[0] = '\0';
}

int
on_meta_doc(struct chan *c, const struct msg_META_DOC *m)
{
	struct login *l = chan_arg(c);
	struct doc *d = &l->doc;

	*d = (struct doc){.come = true,
	    .good = m->good != 0,
	    .status = m->status,
	    .flags = m->flags};
	keep(m->why, d->why, sizeof(d->why));
	keep(m->metadata, d->metadata, sizeof(d->metadata));
	keep(m->resource, d->resource, sizeof(d->resource));
	keep(m->issuers, d->issuers, sizeof(d->issuers));
	keep(m->scopes, d->scopes, sizeof(d->scopes));
	keep(m->authorization, d->authorization, sizeof(d->authorization));
	keep(m->token, d->token, sizeof(d->token));
	keep(m->registration, d->registration, sizeof(d->registration));
	keep(m->revocation, d->revocation, sizeof(d->revocation));
	return 0;
}

/* Get a document; l->doc has it. Returns 0, or -1 after the reason. */
static int
get(struct login *l, enum proto_meta kind, const struct place *p,
    const char *path)
{
	const struct msg_META_GET m = {.kind = (uint8_t)kind,
	    .host = span_str(p->host),
	    .port = p->port,
	    .path = span_str(path)};

	l->doc.come = false;
	if (strlen(path) > PROTO_MAX_PLACE) {
		warnx("%s: its path is too long", l->url);
		return -1;
	}
	if (boxes_send(l, BOX_META, MSG_META_GET, &m, -1) == -1)
		return -1;
	return boxes_wait(l, &l->doc.come, DISCOVER_MS);
}

/* Say what a document lacks. Returns -1. */
static int
bad(const struct login *l, const char *host, const char *path)
{
	char vis[600];

	warnx("%s: https://%s%s: %s", l->name, host, path,
	    log_vis(span_str(l->doc.why), vis, sizeof(vis)));
	return -1;
}

/*
 * Try the paths, one after the other. Returns 1 if one has the document, whose
 * number is in `*at`, 0 if none has, or -1 after the reason: a document that
 * cannot be used is not passed over.
 */
static int
first(struct login *l, enum proto_meta kind, const struct place *p,
    char paths[PLAN_PLACES][PROTO_MAX_PLACE + 64], size_t n, size_t *at)
{
	for (size_t i = 0; i < n; i++) {
		*at = i;
		if (get(l, kind, p, paths[i]) == -1)
			return -1;
		if (l->doc.good)
			return 1;
		if (l->doc.status == 200 || l->doc.status == 0)
			return bad(l, p->host, paths[i]);
	}
	return 0;
}

/* Returns 1 if the server asks for a login, 0 if it does not, or -1. */
static int
ask(struct login *l)
{
	if (get(l, PROTO_META_CHALLENGE, &l->at, l->at.path) == -1)
		return -1;
	if (l->doc.status == 0)
		return bad(l, l->at.host, l->at.path);
	/* Without a challenge, the usual places may say more. */
	if (l->doc.status != 401 && l->doc.status != 403)
		l->doc.metadata[0] = l->doc.scopes[0] = '\0';
	if (!l->doc.good && l->doc.status == 401 &&
	    strstr(l->doc.why, "malformed") != NULL)
		return bad(l, l->at.host, l->at.path);
	return l->doc.status == 401 || l->doc.status == 403;
}

/*
 * Find the resource's document. Returns as first(). `*root`: it is that of the
 * whole host (RFC 9728, section 3.1).
 */
static int
resource(struct login *l, const char *metadata, bool *root)
{
	char paths[PLAN_PLACES][PROTO_MAX_PLACE + 64];
	struct place p = l->at;
	const char *why = "";
	size_t n, at = 0;
	int rv;

	*root = false;
	if (metadata[0] == '\0') {
		n = plan_resource_paths(l->at.path, paths);
		rv = first(l, PROTO_META_RESOURCE, &l->at, paths, n, &at);
		*root = at == n - 1;
		return rv;
	}
	if (l->private_ok)
		rv = strncmp(metadata, "https://", 8) == 0 ? 0 : -1;
	else
		rv = plan_place(metadata, &p, &why);
	if (rv == -1) {
		warnx("%s: the address that its challenge names for its "
		      "metadata (resource_metadata) %s",
		    l->name, why[0] != '\0' ? why : "must begin with https://");
		return -1;
	}
	if (l->private_ok) {
		/* A person wrote the host; the document may name its path. */
		why = metadata + 8 + strcspn(metadata + 8, "/");
		snprintf(p.path, sizeof(p.path), "%s", why);
	} else if (strcmp(p.host, l->at.host) != 0 || p.port != l->at.port) {
		warnx("%s: its challenge names a document of another host, "
		      "%s:%u, which is not read",
		    l->name, p.host, p.port);
		return -1;
	}
	if (get(l, PROTO_META_RESOURCE, &p, p.path) == -1)
		return -1;
	return l->doc.good ? 1 : bad(l, p.host, p.path);
}

/* Choose the authorization server. Returns 0, or -1 after the reason. */
static int
choose(struct login *l)
{
	const char *own = get_str(l->oauth, "issuer", NULL);
	char *list = l->doc.issuers, *one, vis[600];
	unsigned n = 0;

	while ((one = strsep(&list, "\n")) != NULL && one[0] != '\0') {
		if (n++ == 0 || (own != NULL && strcmp(own, one) == 0))
			snprintf(l->issuer, sizeof(l->issuer), "%s", one);
	}
	if (n > 1)
		printf("It names %u servers to log in at; this is %s. Another "
		       "one: \"oauth\": {\"issuer\": ...} in its entry.\n",
		    n, log_vis(span_str(l->issuer), vis, sizeof(vis)));
	return l->issuer[0] != '\0' ? 0 : -1;
}

/* Returns true if the document is the one of this issuer. */
static bool
is_issuer(const struct login *l)
{
	const char *own = get_str(l->oauth, "issuer", NULL);

	return strcmp(l->doc.issuers, l->issuer) == 0 ||
	       (own != NULL && strcmp(l->doc.issuers, own) == 0);
}

/* Nobody publishes anything: use what servers of 2025-03-26 have. */
static void
guess(struct login *l)
{
	struct doc *d = &l->server;

	*d = (struct doc){.good = true, .flags = PROTO_SERVER_PKCE};
	l->guessed = true;
	snprintf(d->authorization, sizeof(d->authorization), "%.1500s/authorize",
	    l->issuer);
	snprintf(d->token, sizeof(d->token), "%.1500s/token", l->issuer);
	snprintf(d->registration, sizeof(d->registration), "%.1500s/register",
	    l->issuer);
}

/* Check what its document says. Returns 0, or -1 after the reason. */
static int
check(struct login *l)
{
	char a[600], b[600];

	if (!is_issuer(l)) {
		warnx("%s: the document of %s says that it is of another "
		      "issuer, %s: it is not used. If you know that both are "
		      "one, write \"oauth\": {\"issuer\": \"%s\"} into the "
		      "server's entry",
		    l->name, log_vis(span_str(l->issuer), a, sizeof(a)),
		    log_vis(span_str(l->doc.issuers), b, sizeof(b)), b);
		return -1;
	}
	if ((l->doc.flags & PROTO_SERVER_PKCE) == 0) {
		warnx("%s: %s does not say that it takes PKCE with S256 "
		      "(code_challenge_methods_supported), without which a "
		      "login could be stolen",
		    l->name, log_vis(span_str(l->issuer), a, sizeof(a)));
		return -1;
	}
	snprintf(l->issuer, sizeof(l->issuer), "%s", l->doc.issuers);
	l->server = l->doc;
	return 0;
}

/* Find the authorization server's document. Returns 0, or -1. */
static int
server(struct login *l, bool published)
{
	char paths[PLAN_PLACES][PROTO_MAX_PLACE + 64], vis[600];
	struct place p = l->at;
	const char *why = "";
	size_t at;
	int r;

	if (published && plan_place(l->issuer, &p, &why) == -1) {
		warnx("%s: the address of the server to log in at %s", l->name,
		    why);
		return -1;
	}
	if (published && strchr(p.path, '?') != NULL) {
		warnx("%s: the address of the server to log in at has a query",
		    l->name);
		return -1;
	}
	if (box_target(l, BOX_META, 1, &p,
		!published && l->private_ok) == -1)
		return -1;
	if (!published)
		p.path[0] = '\0';
	r = first(l, PROTO_META_SERVER, &p, paths,
	    plan_server_paths(p.path, paths), &at);
	if (r == -1)
		return -1;
	if (r == 1)
		return check(l);
	if (!published) {
		guess(l);
		return 0;
	}
	warnx("%s: %s publishes no metadata (the last place answered with "
	      "status %u)",
	    l->name, log_vis(span_str(l->issuer), vis, sizeof(vis)),
	    l->doc.status);
	return -1;
}

/* Returns the scopes of the entry as one text. */
static void
own_scopes(struct login *l, char dst[PROTO_MAX_SCOPES + 1])
{
	struct json_object *list = get_member(l->oauth, "scopes");
	const char *one;

	dst[0] = '\0';
	if (json_object_is_type(list, json_type_string))
		(void)plan_scopes(dst, json_object_get_string(list));
	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list);
	     i++) {
		one = json_object_get_string(json_object_array_get_idx(list, i));
		(void)plan_scopes(dst, one != NULL ? one : "");
	}
}

int
discover(struct login *l)
{
	char scopes[PROTO_MAX_SCOPES + 1], own[PROTO_MAX_SCOPES + 1];
	char metadata[PROTO_MAX_URL + 1], vis[600];
	unsigned status;
	int wants, found;
	bool root;

	if (box_target(l, BOX_META, 0, &l->at, l->private_ok) == -1 ||
	    (wants = ask(l)) == -1)
		return -1;
	memcpy(scopes, l->doc.scopes, sizeof(scopes));
	memcpy(metadata, l->doc.metadata, sizeof(metadata));
	status = l->doc.status;
	if (wants == 0 && status >= 300)
		warnx("%s answers with status %u, and does not say that it "
		      "wants a login",
		    l->url, status);
	if ((found = resource(l, metadata, &root)) == -1)
		return -1;
	if (found == 0 && wants == 0 && status >= 300)
		return -1;
	if (found == 0 && wants == 0) {
		printf("%s answers without a login: there is nothing to do.\n",
		    l->name);
		return ICCTL_OK;
	}
	if (found == 1 && !plan_same_resource(l->doc.resource, l->url, root)) {
		warnx("%s: its metadata is of another resource, %s: it is not "
		      "used",
		    l->name,
		    log_vis(span_str(l->doc.resource), vis, sizeof(vis)));
		return -1;
	}
	snprintf(l->resource, sizeof(l->resource), "%s",
	    found == 1 ? l->doc.resource : l->url);
	if (scopes[0] == '\0' && found == 1)
		memcpy(scopes, l->doc.scopes, sizeof(scopes));
	if (found == 0)
		snprintf(l->issuer, sizeof(l->issuer), "https://%s",
		    l->at.host);
	if (found == 0 && l->at.port != 443)
		snprintf(l->issuer, sizeof(l->issuer), "https://%s:%u",
		    l->at.host, l->at.port);
	if ((found == 1 && choose(l) == -1) || server(l, found == 1) == -1)
		return -1;
	own_scopes(l, own);
	if (plan_scopes(l->wanted, own[0] != '\0' ? own : scopes) == -1 ||
	    ((l->server.flags & PROTO_SERVER_OFFLINE) != 0 &&
		plan_scopes(l->wanted, "offline_access") == -1)) {
		warnx("%s: the scopes do not fit", l->name);
		return -1;
	}
	return 0;
}
