/* SPDX-License-Identifier: ISC */
/*
 * Paths of the workspace, which the host and the sandbox name differently. A
 * path elsewhere means something else on either side, and is never rewritten.
 */
#include "workers/acpd/acp_priv.h"

#include <string.h>

#define SCHEME SPAN("file://")

/* Returns true if a component of the path is "..". */
static bool
paths_climbs(struct span s)
{
	size_t start = 0;

	for (size_t i = 0; i <= s.len; i++) {
		if (i < s.len && s.p[i] != '/')
			continue;
		if (i - start == 2 && memcmp(s.p + start, "..", 2) == 0)
			return true;
		start = i + 1;
	}
	return false;
}

/* Returns true if `s` is `root` or below it, with the rest in `*rest`. */
static bool
paths_below(struct span s, struct span root, struct span *rest)
{
	while (root.len > 1 && root.p[root.len - 1] == '/')
		root.len--;
	if (!span_starts(s, root))
		return false;
	*rest = span_of(s.p + root.len, s.len - root.len);
	return rest->len == 0 || rest->p[0] == '/' || root.len == 1;
}

static bool
paths_join(struct acp *a, struct span one, struct span root, struct span rest,
    struct span *out)
{
	uint8_t *p;

	while (root.len > 1 && root.p[root.len - 1] == '/')
		root.len--;
	if ((p = value_pool_alloc(a->pool, one.len + root.len + rest.len)) ==
	    NULL)
		return false;
	memcpy(p, one.p, one.len);
	memcpy(p + one.len, root.p, root.len);
	if (rest.len != 0)
		memcpy(p + one.len + root.len, rest.p, rest.len);
	*out = span_of(p, one.len + root.len + rest.len);
	return true;
}

/* Returns the root as it is written in a URI, in the pool. */
static struct span
paths_escaped(struct acp *a, struct span root)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789"
				    "-._~/",
			  hex[] = "0123456789ABCDEF";
	uint8_t *p = value_pool_alloc(a->pool, 3 * root.len);
	size_t n = 0;

	for (size_t i = 0; p != NULL && i < root.len; i++) {
		if (root.p[i] != '\0' && strchr(plain, root.p[i]) != NULL) {
			p[n++] = root.p[i];
			continue;
		}
		p[n++] = '%';
		p[n++] = (uint8_t)hex[root.p[i] >> 4];
		p[n++] = (uint8_t)hex[root.p[i] & 15];
	}
	return span_of(p, p == NULL ? 0 : n);
}

static struct span
paths_root(const struct acp *a, bool host, unsigned i)
{
	const char *s = host ? a->paths.host[i] : a->paths.inside;

	return s == NULL ? SPAN("") : span_str(s);
}

static bool
paths_map(const struct acp_copy *c, struct span path, bool uri,
    struct span *out)
{
	struct acp *a = c->acp;
	struct span from, to, rest;

	if (paths_climbs(path))
		return false;
	for (unsigned i = 0; i < ACP_PATHS; i++) {
		/* The sandbox has one name, the host may have two. */
		if (c->to_editor && i != a->paths.use)
			continue;
		from = paths_root(a, !c->to_editor, i);
		to = paths_root(a, c->to_editor, i);
		if (from.len == 0 || to.len == 0)
			continue;
		if (uri) {
			from = paths_escaped(a, from);
			to = paths_escaped(a, to);
		}
		if (from.len != 0 && paths_below(path, from, &rest))
			return paths_join(
			    a, uri ? SCHEME : SPAN(""), to, rest, out);
	}
	return false;
}

bool
acp_path(const struct acp_copy *c, struct span path, struct span *out)
{
	return paths_map(c, path, false, out);
}

bool
acp_uri(const struct acp_copy *c, struct span uri, struct span *out)
{
	if (!span_starts(uri, SCHEME))
		return false;
	return paths_map(c,
	    span_of(uri.p + SCHEME.len, uri.len - SCHEME.len), true, out);
}

bool
acp_cwd(struct acp *a, struct span path, struct span *out)
{
	const struct acp_copy c = {.acp = a};
	struct span rest;

	for (unsigned i = 0; i < ACP_PATHS; i++)
		if (a->paths.host[i] != NULL && !paths_climbs(path) &&
		    paths_below(path, span_str(a->paths.host[i]), &rest))
			a->paths.use = i;
	return acp_path(&c, path, out);
}
