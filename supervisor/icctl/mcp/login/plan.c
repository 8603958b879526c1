/* SPDX-License-Identifier: ISC */
/*
 * The rules of a login: RFC 9728 section 3, RFC 8414 section 3, RFC 8707, RFC
 * 7636, RFC 6749 section 4.1.1, and those of MCP on top of them.
 */
#include "icctl/mcp/login/plan.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define KNOWN "/.well-known/"
#define RESOURCE KNOWN "oauth-protected-resource"
#define SERVER KNOWN "oauth-authorization-server"
#define OPENID KNOWN "openid-configuration"

int
plan_place(const char *url, struct place *p, const char **why)
{
	struct https_url u;

	if (https_url_read(span_str(url), &u, why) == -1)
		return -1;
	*why = "has a path of more than 1024 bytes";
	if (u.target.len + 1 > PROTO_MAX_PLACE)
		return -1;
	memcpy(p->host, u.host, sizeof(p->host));
	p->port = u.port;
	snprintf(p->path, sizeof(p->path), "%s%.*s",
	    u.target.len == 0 || u.target.p[0] != '/' ? "/" : "",
	    (int)u.target.len, (const char *)u.target.p);
	return 0;
}

/* Copy a path without query and without slashes at its end. */
static void
bare_path(const char *path, char dst[PROTO_MAX_PLACE + 1])
{
	size_t n = strcspn(path, "?");

	while (n != 0 && path[n - 1] == '/')
		n--;
	if (n > PROTO_MAX_PLACE)
		n = PROTO_MAX_PLACE;
	memcpy(dst, path, n);
	dst[n] = '\0';
}

static void
add_path(char to[PLAN_PLACES][PROTO_MAX_PLACE + 64], size_t *n, const char *a,
    const char *b)
{
	snprintf(to[(*n)++], PROTO_MAX_PLACE + 64, "%s%s", a, b);
}

size_t
plan_resource_paths(
    const char *path, char to[PLAN_PLACES][PROTO_MAX_PLACE + 64])
{
	char bare[PROTO_MAX_PLACE + 1];
	size_t n = 0;

	bare_path(path, bare);
	if (bare[0] != '\0')
		add_path(to, &n, RESOURCE, bare);
	add_path(to, &n, RESOURCE, "");
	return n;
}

size_t
plan_server_paths(const char *path, char to[PLAN_PLACES][PROTO_MAX_PLACE + 64])
{
	char bare[PROTO_MAX_PLACE + 1];
	size_t n = 0;

	bare_path(path, bare);
	add_path(to, &n, SERVER, bare);
	add_path(to, &n, OPENID, bare);
	if (bare[0] != '\0')
		add_path(to, &n, bare, OPENID);
	return n;
}

/* Write "host:port", in lower case, of an https address. Returns its path. */
static const char *
authority(const char *url, char *dst, size_t cap)
{
	size_t n, skip = strlen("https://");

	if (strncasecmp(url, "https://", skip) != 0)
		return NULL;
	n = strcspn(url + skip, "/?#");
	if (n == 0 || n + 5 > cap)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		dst[i] = url[skip + i];
		if (dst[i] >= 'A' && dst[i] <= 'Z')
			dst[i] = (char)(dst[i] - 'A' + 'a');
	}
	dst[n] = '\0';
	if (n > 4 && strcmp(dst + n - 4, ":443") == 0)
		dst[n - 4] = '\0';
	return url + skip + n;
}

bool
plan_same_resource(const char *resource, const char *url, bool root)
{
	char a[320], b[320];
	const char *p = authority(resource, a, sizeof(a)),
		   *q = authority(url, b, sizeof(b));
	size_t n, m;

	if (p == NULL || q == NULL || strcmp(a, b) != 0 ||
	    strchr(p, '#') != NULL)
		return false;
	if (root && (p[0] == '\0' || strcmp(p, "/") == 0))
		return true;
	n = strcspn(p, "?");
	m = strcspn(q, "?");
	if (strcmp(p + n, q + m) != 0)
		return false;
	while (n != 0 && p[n - 1] == '/')
		n--;
	while (m != 0 && q[m - 1] == '/')
		m--;
	return n == m && memcmp(p, q, n) == 0;
}

/*
 * Returns the part of a name that somebody registers, as a rule: its last two
 * labels, or three where the second but last is a short one of a country.
 */
static const char *
owner(const char *host)
{
	const char *dots[3] = {NULL, NULL, NULL};

	for (const char *p = host; *p != '\0'; p++)
		if (*p == '.') {
			dots[0] = dots[1];
			dots[1] = dots[2];
			dots[2] = p;
		}
	if (dots[1] == NULL)
		return host;
	if (strlen(dots[2] + 1) == 2 && dots[2] - dots[1] <= 4)
		return dots[0] == NULL ? host : dots[0] + 1;
	return dots[1] + 1;
}

bool
plan_belong(const char *a, const char *b)
{
	/* Under these, anybody gets a name of their own. */
	static const char *const shared[] = {"github.io", "pages.dev",
	    "workers.dev", "vercel.app", "netlify.app", "herokuapp.com",
	    "azurewebsites.net", "cloudfront.net", "amazonaws.com",
	    "ngrok.app", "ngrok.io", "ngrok-free.app", "fly.dev", "onrender.com",
	    "web.app", "run.app", "azurefd.net", "trycloudflare.com",
	    "railway.app", "deno.dev", "appspot.com", "auth0.com", "okta.com",
	    "amazoncognito.com", "azurecontainerapps.io", "gitlab.io",
	    "firebaseapp.com", "cloudapp.net", "azure-api.net"};

	if (strcmp(a, b) == 0)
		return true;
	if (strcmp(owner(a), owner(b)) != 0)
		return false;
	for (size_t i = 0; i < nitems(shared); i++)
		if (strcmp(owner(a), shared[i]) == 0)
			return false;
	return true;
}

static bool
has_scope(const char *list, const char *scope, size_t len)
{
	size_t n;

	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n == len && memcmp(list, scope, len) == 0)
			return true;
	}
	return false;
}

int
plan_scopes(char list[PROTO_MAX_SCOPES + 1], const char *more)
{
	size_t n, have;

	for (; *more != '\0'; more += n + (more[n] == ' ')) {
		n = strcspn(more, " ");
		if (n == 0 || has_scope(list, more, n))
			continue;
		have = strlen(list);
		if (have + n + 2 > PROTO_MAX_SCOPES)
			return -1;
		snprintf(list + have, PROTO_MAX_SCOPES + 1 - have, "%s%.*s",
		    have != 0 ? " " : "", (int)n, more);
	}
	return 0;
}

static const char *const ours[] = {"response_type", "client_id", "redirect_uri",
    "state", "code_challenge", "code_challenge_method", "resource", "scope",
    "response_mode", "request", "request_uri"};

/* Returns true if the endpoint's own query has one of our parameters. */
static bool
has_ours(struct span query)
{
	const uint8_t *end;
	struct span one;
	size_t n;

	while (query.len != 0) {
		end = memchr(query.p, '&', query.len);
		one = query;
		if (end != NULL)
			one.len = (size_t)(end - query.p);
		n = 0;
		while (n < one.len && one.p[n] != '=')
			n++;
		/* A name with an escape may be one in disguise. */
		if (memchr(one.p, '%', n) != NULL)
			return true;
		for (size_t i = 0; i < nitems(ours); i++)
			if (span_ieq(span_of(one.p, n), span_str(ours[i])))
				return true;
		if (end == NULL)
			return false;
		query = span_of(end + 1, query.len - one.len - 1);
	}
	return false;
}

static void
put_param(struct buf *b, const char *mark, const char *name, const char *value)
{
	buf_adds(b, mark);
	buf_adds(b, name);
	buf_addc(b, '=');
	for (; *value != '\0'; value++) {
		uint8_t c = (uint8_t)*value;

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
		    (c >= 'a' && c <= 'z') || strchr("-._~", c) != NULL)
			buf_addc(b, c);
		else
			buf_printf(b, "%%%02X", c);
	}
}

/*
 * Write the endpoint. What a shell could take for its own, and the ; that some
 * servers take for &, is escaped, as it may be in every address.
 */
static void
put_endpoint(struct buf *b, const char *url)
{
	for (; *url != '\0'; url++)
		if (strchr("!$'()*;[]", *url) != NULL)
			buf_printf(b, "%%%02X", (uint8_t)*url);
		else
			buf_addc(b, (uint8_t)*url);
}

int
plan_authorize(const struct plan_request *r, struct buf *b, const char **why)
{
	struct https_url u;

	if (https_url_read(span_str(r->endpoint), &u, why) == -1)
		return -1;
	*why = "has parameters of a login in its own query";
	if (u.query.p != NULL && has_ours(u.query))
		return -1;
	put_endpoint(b, r->endpoint);
	put_param(b,
	    u.query.p == NULL	? "?"
	    : u.query.len == 0	? ""
				: "&",
	    "response_type", "code");
	put_param(b, "&", "client_id", r->client);
	put_param(b, "&", "redirect_uri", r->redirect);
	put_param(b, "&", "state", r->state);
	put_param(b, "&", "code_challenge", r->challenge);
	put_param(b, "&", "code_challenge_method", "S256");
	put_param(b, "&", "resource", r->resource);
	if (r->scopes[0] != '\0')
		put_param(b, "&", "scope", r->scopes);
	*why = "is too long";
	return buf_check(b);
}
