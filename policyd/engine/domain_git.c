/* SPDX-License-Identifier: ISC */
/*
 * Git remotes: URLs, user@host:path, names. Texts that git would run as a
 * program (ext::, fd::, other helpers) or take for an option are refused. The
 * URL of a named remote is in a configuration that the agent writes; it is
 * reported as not known.
 */
#include "engine/domain.h"

#include "engine/domain_url.h"

/*
 * Write host/owner/repo without a slash at either end and without a final
 * ".git". A rule that allows compares this text as it is; other rules reduce
 * it.
 */
static int
full_name(struct value_pool *pool, struct span host, struct span path,
    struct span *out)
{
	uint8_t *p;

	if (path.len != 0 && path.p[0] == '/') {
		path.p++;
		path.len--;
	}
	if (path.len != 0 && path.p[path.len - 1] == '/')
		path.len--;
	if (path.len > 4 && memcmp(path.p + path.len - 4, ".git", 4) == 0)
		path.len -= 4;
	if (path.len == 0) {
		*out = host;
		return 0;
	}
	if ((p = value_pool_alloc(pool, host.len + 1 + path.len)) == NULL)
		return -1;
	if (host.len != 0)
		memcpy(p, host.p, host.len);
	p[host.len] = '/';
	memcpy(p + host.len + 1, path.p, path.len);
	*out = span_of(p, host.len + 1 + path.len);
	return 0;
}

static bool
user_plain(struct span user)
{
	for (size_t i = 0; i < user.len; i++) {
		uint8_t c = user.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '.' && c != '_' &&
		    (c != '-' || i == 0))
			return false;
	}
	return user.len != 0;
}

/* [user@]host:path, as given to ssh; it is sent unchanged. */
static int
scp_parse(struct value_pool *pool, struct span in, size_t colon, struct url *u,
    const char **why)
{
	struct span host = span_of(in.p, colon);
	struct span path = span_of(in.p + colon + 1, in.len - colon - 1);
	char name[DOMAIN_MAX_HOST + 1];
	const uint8_t *at;
	uint8_t *copy;
	size_t len;

	if ((at = memchr(host.p, '@', host.len)) != NULL) {
		*why = "has a user that ssh could misread";
		if (!user_plain(span_of(host.p, (size_t)(at - host.p))))
			return -1;
		host = span_of(at + 1, host.len - (size_t)(at + 1 - host.p));
	}
	*why = "has no path after its host";
	if (path.len == 0 || path.p[0] == '-')
		return -1;
	if (host_normalise(host, name, &len, &u->domain.kind, why) == -1)
		return -1;
	*why = NULL;
	if ((copy = value_pool_alloc(pool, len)) == NULL)
		return -1;
	memcpy(copy, name, len);
	u->domain.host = span_of(copy, len);
	u->domain.known = true;
	u->text = in;
	return full_name(pool, u->domain.host, path, &u->domain.full);
}

/* A remote's name, or a path on this machine: the host is not known. */
static int
name_parse(struct span in, struct url *u)
{
	u->domain.kind = HOST_NONE;
	u->domain.host = u->domain.full = in;
	u->domain.known = false;
	u->text = in;
	return 0;
}

static int
ssh_user(const struct url_parts *p, const char **why)
{
	bool ssh = span_is(p->scheme, "ssh") || span_is(p->scheme, "git+ssh");

	*why = "holds a user or password: a URL may not carry credentials";
	if (p->user.len != 0 && !ssh)
		return -1;
	*why = "has a user that ssh could misread";
	if (p->user.len != 0 && !user_plain(p->user))
		return -1;
	return 0;
}

static int
scheme_known(struct span scheme)
{
	static const char *const known[] = {
	    "https", "http", "ssh", "git", "git+ssh"};

	for (size_t i = 0; i < nitems(known); i++) {
		if (span_is(scheme, known[i]))
			return 0;
	}
	return -1;
}

/* Returns the path of the canonical URL, with dot segments resolved. */
static struct span
url_path(const struct url *u)
{
	const uint8_t *end = u->text.p + u->text.len, *p;
	struct span path = span_of(end, 0);

	if ((p = memchr(u->domain.host.p, '/',
		 (size_t)(end - u->domain.host.p))) != NULL)
		path = span_of(p, (size_t)(end - p));
	for (size_t i = 0; i < path.len; i++) {
		if (path.p[i] == '?' || path.p[i] == '#')
			path.len = i;
	}
	return path;
}

static int
git_url(struct value_pool *pool, struct span in, size_t scheme_len,
    struct url *u, const char **why)
{
	struct url_parts p = {0};
	char scheme[URL_MAX_SCHEME];

	(void)url_scheme(in, scheme);
	p.scheme = span_of(scheme, scheme_len);
	if (span_is(p.scheme, "file")) {
		if (url_hostless(pool, in, scheme_len, u, why) == -1)
			return -1;
		*why = NULL;
		return full_name(pool, SPAN(""),
		    span_of(in.p + scheme_len + 3, in.len - scheme_len - 3),
		    &u->domain.full);
	}
	*why = "has a transport other than https, ssh, git and http";
	if (scheme_known(p.scheme) == -1)
		return -1;
	if (url_split(span_of(in.p + scheme_len + 3, in.len - scheme_len - 3),
		&p, why) == -1 ||
	    ssh_user(&p, why) == -1 || url_compose(pool, &p, u, why) == -1)
		return -1;
	*why = NULL;
	return full_name(pool, u->domain.host, url_path(u), &u->domain.full);
}

int
url_parse_git(
    struct value_pool *pool, struct span in, struct url *u, const char **why)
{
	char scheme[URL_MAX_SCHEME];
	const uint8_t *colon, *slash;
	size_t len;

	*u = (struct url){0};
	if (url_check(in, why) == -1)
		return -1;
	*why = "begins with -: git would take it for an option";
	if (in.p[0] == '-')
		return -1;
	len = url_scheme(in, scheme);
	if (len != 0 && in.len >= len + 3 && memcmp(in.p + len, "://", 3) == 0)
		return git_url(pool, in, len, u, why);
	colon = memchr(in.p, ':', in.len);
	slash = memchr(in.p, '/', in.len);
	*why = "names a remote helper: git would run a program";
	if (colon != NULL && colon + 1 < in.p + in.len && colon[1] == ':')
		return -1;
	if (colon != NULL && (slash == NULL || colon < slash))
		return scp_parse(pool, in, (size_t)(colon - in.p), u, why);
	return name_parse(in, u);
}
