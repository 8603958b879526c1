/* SPDX-License-Identifier: ISC */
/*
 * A git server over smart HTTP: fetching from the listed repositories, and
 * pushing to them if a person approves each push; the dumb protocol, which can
 * read any file, has no route. Objects of git-lfs are fetched from the same
 * repositories: a batch request says where they are (keyd/lfs.c reads the
 * answer), and those of this server have routes. keyd adds the credential; git
 * in the sandbox has none.
 * {"name": ..., "kind": "git", "host": ..., "repositories": ["owner/name"],
 *  "fetch": "allow"|"ask"|"deny", "push": "ask"|"deny", "maxPush": 33554432,
 *  "credential": {"env": ..., "basic": "x-access-token"}}
 */
#include "provider/dest.h"

#include <stdio.h>

#define GIT_MAX_GLOBS 64U
#define GIT_MAX_SEGMENTS 6U
#define GIT_MAX_SHOWN 256U       /* bytes of a repository in a refusal */
#define GIT_MAX_FETCH (1U << 20) /* the objects that a client has and wants */
#define GIT_MAX_LFS (1U << 20)   /* a batch of git-lfs, and its answer */
#define GIT_LFS_ID 64U           /* letters in the name of an object of LFS */
#define GIT_REFS "/info/refs"
#define GIT_UPLOAD "git-upload-pack"
#define GIT_RECEIVE "git-receive-pack"
#define GIT_LFS "/info/lfs/"
#define GIT_BATCH GIT_LFS "objects/batch"
#define GIT_LOCKS GIT_LFS "locks/verify"

enum git_route {
	GIT_REFS_UPLOAD,
	GIT_REFS_RECEIVE,
	GIT_FETCH,
	GIT_PUSH,
	GIT_LFS_BATCH,
	GIT_LFS_OBJECT,
	GIT_LFS_LOCKS,
	GIT_ROUTES
};

struct dest_git {
	struct span *globs; /* patterns of repositories, without ".git" */
	unsigned nglobs;
	bool fetch, push;
};

static const char *const git_request[] = {
    "accept", "content-type", "git-protocol", "pragma", "user-agent", NULL};
static const char *const git_response[] = {
    "cache-control", "content-type", "expires", "location", "pragma", NULL};

static bool
git_is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("._~-", c) != NULL);
}

/* Take the next segment off the front. */
static bool
git_segment(struct span *rest, struct span *seg)
{
	if (rest->p == NULL)
		return false;
	*seg = span_of(rest->p, 0);
	while (seg->len < rest->len && seg->p[seg->len] != '/')
		seg->len++;
	*rest = seg->len == rest->len
		    ? span_of(NULL, 0)
		    : span_of(rest->p + seg->len + 1, rest->len - seg->len - 1);
	return true;
}

/*
 * Check for one to six segments. If `star`, it is a pattern and may contain
 * `*`.
 */
static bool
git_is_repository(struct span s, bool star)
{
	struct span seg;
	unsigned n = 0;

	while (git_segment(&s, &seg)) {
		if (seg.len == 0 || ++n > GIT_MAX_SEGMENTS ||
		    span_is(seg, ".") || span_is(seg, ".."))
			return false;
		for (size_t i = 0; i < seg.len; i++)
			if (!git_is_letter(seg.p[i]) &&
			    !(star && seg.p[i] == '*'))
				return false;
	}
	return n != 0;
}

static bool
git_is_glob(struct span s)
{
	return s.len <= 256 && git_is_repository(s, true);
}

/* Strip ".git": both names mean the same repository. */
static struct span
git_bare(struct span repo)
{
	struct span end = SPAN(".git");

	if (repo.len > end.len &&
	    span_eq(span_of(repo.p + repo.len - end.len, end.len), end))
		repo.len -= end.len;
	return repo;
}

/* Match a pattern; `*` matches any characters within one segment. */
static bool
git_glob(struct span glob, struct span s)
{
	size_t g = 0, i = 0, star = SIZE_MAX, from = 0;

	while (i < s.len) {
		if (g < glob.len && glob.p[g] == '*') {
			star = g++;
			from = i;
		} else if (g < glob.len && glob.p[g] == s.p[i]) {
			g++;
			i++;
		} else if (star != SIZE_MAX && s.p[from] != '/') {
			g = star + 1;
			i = ++from;
		} else {
			return false;
		}
	}
	while (g < glob.len && glob.p[g] == '*')
		g++;
	return g == glob.len;
}

static bool
git_listed(const struct dest_git *git, struct span repo)
{
	repo = git_bare(repo);
	for (unsigned i = 0; i < git->nglobs; i++)
		if (git_glob(git_bare(git->globs[i]), repo))
			return true;
	return false;
}

/* Read one of `words`; the first is the default. */
static int
git_word(struct parse *ps, const struct value *file, const char *name,
    const char *const *words, size_t n, size_t *out)
{
	const struct value *v = value_get(file, name);

	*out = 0;
	if (v == NULL)
		return 0;
	for (*out = 0; *out < n; ++*out)
		if (v->type == VALUE_STRING && span_is(v->text, words[*out]))
			return 0;
	return parse_fail(
	    ps, "%s: must be \"%s\" or another of its words", name, words[0]);
}

static int
git_routes(struct parse *ps, bool ask_fetch, uint64_t max_push)
{
	static struct span fetch_type[] = {
	    {(const uint8_t *)"application/x-git-upload-pack-request", 37}};
	static struct span push_type[] = {
	    {(const uint8_t *)"application/x-git-receive-pack-request", 38}};
	static struct span lfs_type[] = {
	    {(const uint8_t *)"application/vnd.git-lfs+json", 28}};
	struct provider *p = ps->p;

	p->routes = parse_alloc(ps, GIT_ROUTES, sizeof(*p->routes));
	if (p->routes == NULL)
		return -1;
	p->nroutes = GIT_ROUTES;
	p->routes[GIT_REFS_UPLOAD] = (struct provider_route){
	    .method = SPAN("GET"), .path = SPAN("/REPOSITORY" GIT_REFS)};
	p->routes[GIT_REFS_RECEIVE] = p->routes[GIT_REFS_UPLOAD];
	p->routes[GIT_FETCH] = (struct provider_route){.method = SPAN("POST"),
	    .path = SPAN("/REPOSITORY/" GIT_UPLOAD),
	    .types = fetch_type,
	    .ntypes = 1,
	    .max = GIT_MAX_FETCH,
	    .ask = ask_fetch};
	p->routes[GIT_PUSH] = (struct provider_route){.method = SPAN("POST"),
	    .path = SPAN("/REPOSITORY/" GIT_RECEIVE),
	    .types = push_type,
	    .ntypes = 1,
	    .max = max_push,
	    .ask = true,
	    .push = true};
	p->routes[GIT_LFS_BATCH] =
	    (struct provider_route){.method = SPAN("POST"),
		.path = SPAN("/REPOSITORY" GIT_BATCH),
		.types = lfs_type,
		.ntypes = 1,
		.max = GIT_MAX_LFS,
		.reply = GIT_MAX_LFS,
		.ask = ask_fetch,
		.lfs = true};
	/* The server's own answer may be that another host has it. */
	p->routes[GIT_LFS_OBJECT] =
	    (struct provider_route){.method = SPAN("GET"),
		.path = SPAN("/REPOSITORY" GIT_LFS "objects/ID")};
	/* git-lfs asks before a push, and goes on if there are no locks. */
	p->routes[GIT_LFS_LOCKS] =
	    (struct provider_route){.method = SPAN("POST"),
		.path = SPAN("/REPOSITORY" GIT_LOCKS),
		.types = lfs_type,
		.ntypes = 1,
		.max = GIT_MAX_LFS,
		.answer = 404};
	for (unsigned i = 0; i < GIT_ROUTES; i++)
		p->routes[i].stay = i != GIT_LFS_OBJECT;
	return 0;
}

static int
git_parse(struct parse *ps, const struct value *file)
{
	static const char *const names[] = {"name", "kind", "repositories",
	    "host", "hosts", "fetch", "push", "maxPush", "credential"};
	static const char *const fetches[] = {"allow", "ask", "deny"};
	static const char *const pushes[] = {"ask", "deny"};
	const struct value *max = value_get(file, "maxPush");
	struct provider *p = ps->p;
	int64_t n = PROVIDER_DFLT_BODY;
	struct dest_git *git;
	size_t fetch, push;

	if ((git = parse_alloc(ps, 1, sizeof(*git))) == NULL)
		return -1;
	p->git = git;
	p->plain = true;
	if (parse_members(ps, file, "file", names, 9, 3) == -1 ||
	    dest_parse_common(ps, file) == -1 ||
	    parse_texts(ps, value_get(file, "repositories"), "repositories",
		git_is_glob, GIT_MAX_GLOBS, false, &git->globs,
		&git->nglobs) == -1 ||
	    git_word(ps, file, "fetch", fetches, 3, &fetch) == -1 ||
	    git_word(ps, file, "push", pushes, 2, &push) == -1 ||
	    dest_list(ps, git_request, &p->request) == -1 ||
	    dest_list(ps, git_response, &p->response) == -1)
		return -1;
	if (max != NULL && value_int(max, 1, PROVIDER_MAX_BODY, &n) == -1)
		return parse_fail(
		    ps, "maxPush: must be 1 to %u", PROVIDER_MAX_BODY);
	git->fetch = fetch != 2;
	git->push = push != 1;
	return git_routes(ps, fetch == 1, (uint64_t)n);
}

bool
dest_git_reads(const struct provider *p)
{
	return p->git != NULL && p->git->fetch && !p->git->push &&
	       !p->routes[GIT_FETCH].ask;
}

/* Find the route for the part of the path after the repository. */
static enum provider_result
git_route(struct span method, struct span rest, struct span query,
    enum git_route *route)
{
	if (span_is(rest, GIT_REFS)) {
		if (!span_is(method, "GET"))
			return PROVIDER_NO_METHOD;
		/* Without a service this would be the dumb protocol. */
		if (span_is(query, "service=" GIT_UPLOAD))
			*route = GIT_REFS_UPLOAD;
		else if (span_is(query, "service=" GIT_RECEIVE))
			*route = GIT_REFS_RECEIVE;
		else
			return PROVIDER_NO_PARAM;
		return PROVIDER_OK;
	}
	if (span_is(rest, "/" GIT_UPLOAD))
		*route = GIT_FETCH;
	else if (span_is(rest, "/" GIT_RECEIVE))
		*route = GIT_PUSH;
	else if (span_is(rest, GIT_BATCH))
		*route = GIT_LFS_BATCH;
	else
		*route =
		    span_is(rest, GIT_LOCKS) ? GIT_LFS_LOCKS : GIT_LFS_OBJECT;
	if (!span_is(method, *route == GIT_LFS_OBJECT ? "GET" : "POST"))
		return PROVIDER_NO_METHOD;
	return query.p == NULL ? PROVIDER_OK : PROVIDER_NO_PARAM;
}

/*
 * Returns the length of the end of a path that names an object of LFS, in the
 * forms of Gitea and of GitLab, or 0.
 */
static size_t
git_object(struct span path)
{
	static const struct span before[] = {
	    {(const uint8_t *)GIT_LFS "objects/", sizeof(GIT_LFS) + 7},
	    {(const uint8_t *)"/gitlab-lfs/objects/", 20}};
	size_t at, n;

	if (path.len <= GIT_LFS_ID)
		return 0;
	at = path.len - GIT_LFS_ID;
	for (size_t i = at; i < path.len; i++)
		if (!(path.p[i] >= '0' && path.p[i] <= '9') &&
		    !(path.p[i] >= 'a' && path.p[i] <= 'f'))
			return 0;
	for (size_t i = 0; i < nitems(before); i++) {
		n = before[i].len;
		if (at > n && span_eq(span_of(path.p + at - n, n), before[i]))
			return n + GIT_LFS_ID;
	}
	return 0;
}

/* Split a path into the repository and git's part. Returns false if it cannot.
 */
static bool
git_split(struct span path, struct span *repo, struct span *rest)
{
	static const struct span ends[] = {
	    {(const uint8_t *)GIT_REFS, sizeof(GIT_REFS) - 1},
	    {(const uint8_t *)"/" GIT_UPLOAD, sizeof(GIT_UPLOAD)},
	    {(const uint8_t *)"/" GIT_RECEIVE, sizeof(GIT_RECEIVE)},
	    {(const uint8_t *)GIT_BATCH, sizeof(GIT_BATCH) - 1},
	    {(const uint8_t *)GIT_LOCKS, sizeof(GIT_LOCKS) - 1}};
	size_t n = git_object(path);

	for (size_t i = 0; n == 0 && i < nitems(ends); i++)
		if (path.len >= ends[i].len &&
		    span_eq(
			span_of(path.p + path.len - ends[i].len, ends[i].len),
			ends[i]))
			n = ends[i].len;
	if (n == 0 || path.len < n + 2)
		return false;
	*rest = span_of(path.p + path.len - n, n);
	*repo = span_of(path.p + 1, path.len - n - 1);
	return git_is_repository(*repo, false);
}

const char *
provider_git_why(const struct provider *p, struct span path, struct span query,
    char *dst, size_t cap)
{
	struct span repo, rest;
	bool push;

	if (!git_split(path, &repo, &rest) || repo.len > GIT_MAX_SHOWN)
		return NULL;
	if (!git_listed(p->git, repo)) {
		snprintf(dst, cap,
		    "%.*s is not in \"repositories\" of destinations.%.*s in "
		    "config.json. Do not retry. The user can add it there, for "
		    "the next session.",
		    (int)git_bare(repo).len, (const char *)repo.p,
		    (int)p->name.len, (const char *)p->name.p);
		return dst;
	}
	push = span_is(rest, "/" GIT_RECEIVE) ||
	       span_is(query, "service=" GIT_RECEIVE);
	snprintf(dst, cap,
	    "destinations.%.*s.%s in config.json denies every %s. Do not "
	    "retry. The user can change it, for the next session.",
	    (int)p->name.len, (const char *)p->name.p, push ? "push" : "fetch",
	    push ? "push" : "fetch");
	return dst;
}

static enum provider_result
git_match(const struct provider *p, unsigned host, struct span method,
    struct span path, struct span query, unsigned *route)
{
	struct span rest, repo;
	enum git_route found = GIT_PUSH;
	enum provider_result r;

	if (!dest_is_path(path) || (query.p != NULL && query.len == 0))
		return PROVIDER_BAD_PATH;
	if (!git_split(path, &repo, &rest) || !git_listed(p->git, repo))
		return PROVIDER_NO_ROUTE;
	if ((r = git_route(method, rest, query, &found)) != PROVIDER_OK)
		return r;
	if (found == GIT_REFS_RECEIVE || found == GIT_PUSH ? !p->git->push
							   : !p->git->fetch)
		return PROVIDER_NO_ROUTE;
	*route = found;
	return PROVIDER_OK;
}

const struct dest_kind dest_git = {"git", git_parse, git_match};
