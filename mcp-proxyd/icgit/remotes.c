/* SPDX-License-Identifier: ISC */
/*
 * Finds the URLs of a remote: every URL that git would fetch from or push to,
 * as git itself reports it: rewritten (insteadOf), for pushing (pushurl), by
 * the default of the branch, through includes.  If git would take the name for
 * something other than a remote with URLs (a group, a helper), the answer is
 * that the URLs are unknown.
 */
#include "icgit/icgit.h"

#include <sys/random.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/loop.h"

#define ASK_MS 3000U     /* for one call in total */
#define NO_SUCH_REMOTE 2 /* exit status; other errors give 128 */
#define MAX_REMOTES 8U
#define MAX_NAME 8192U
#define MAX_URLS 64U
#define MAX_OUT ((size_t)64 << 10)

static const char listed[] =
    "{\"description\":\"URLs that git would fetch from and push to\","
    "\"inputSchema\":{\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"remotes\":{\"items\":{\"type\":\"string\"},\"type\":\"array\"}},"
    "\"required\":[\"path\",\"remotes\"],\"type\":\"object\"},"
    "\"name\":\"remotes\"}";

struct ask {
	char path[PATH_MAX];
	uint64_t until;
	struct buf out;   /* output of the last command */
	struct buf found; /* URLs, one per line */
	size_t nfound;
	char why[200];
};

static int
unknown(struct ask *k, const char *why)
{
	(void)snprintf(k->why, sizeof(k->why), "%s", why);
	return -1;
}

/*
 * Run git -C path [-c set] words...  Returns its exit status, or -1 with k->why
 * set.
 */
static int
git(struct ask *k, const char *set, const char *const *words)
{
	static struct icgit_args a;
	uint64_t now = clock_mono_us() / 1000;
	int r;

	a.n = 0;
	a.full = false;
	icgit_add(&a, "git");
	icgit_add(&a, "-C");
	icgit_add(&a, k->path);
	icgit_fixed(&a);
	if (set != NULL) {
		icgit_add(&a, "-c");
		icgit_add(&a, set);
	}
	for (; *words != NULL; words++)
		icgit_add(&a, *words);
	buf_reset(&k->out, MAX_OUT);
	if (now >= k->until)
		return unknown(k, "git takes too long");
	r = icgit_run(&a, &k->out, (unsigned)(k->until - now));
	if (r == -1)
		return unknown(k, errno == ETIMEDOUT ? "git takes too long"
						     : "git cannot be run");
	return r;
}
#define GIT(k, set, ...)                                                       \
	git((k), (set), (const char *const[]){__VA_ARGS__, NULL})

/* Copy the first line of the output to `dst`, or "" if it is too long. */
static void
one_line(struct ask *k, char dst[MAX_NAME])
{
	struct span s = buf_span(&k->out), line;

	dst[0] = '\0';
	if (span_line(&s, &line) && line.len < MAX_NAME)
		(void)span_copy(line, dst, MAX_NAME);
}

static int
take_urls(struct ask *k)
{
	struct span s = buf_span(&k->out), url;

	while (span_line(&s, &url)) {
		if (url.len == 0)
			return unknown(k, "an empty URL");
		if (k->nfound++ == MAX_URLS)
			return unknown(k, "more than 64 URLs");
		buf_addspan(&k->found, url);
		buf_addc(&k->found, '\n');
		if (k->found.failed)
			return unknown(k, "URLs are too long");
	}
	return 0;
}

/*
 * Refuse a name that remotes.NAME makes a group, or that remote.NAME.vcs hands
 * to a helper program.
 */
static int
check_special(struct ask *k, const char *name)
{
	char group[MAX_NAME + 16], vcs[MAX_NAME + 16];
	const uint8_t *end;
	struct span s;
	int r;

	(void)snprintf(group, sizeof(group), "remotes.%s", name);
	(void)snprintf(vcs, sizeof(vcs), "remote.%s.vcs", name);
	r = GIT(k, NULL, "config", "-z", "--name-only", "--get-regexp",
	    "^(remotes\\.|remote\\..*\\.vcs$)");
	if (r != 0 && r != 1)
		return r == -1 ? -1
			       : unknown(k, "git cannot read its "
					    "configuration there");
	for (s = buf_span(&k->out); s.len != 0;) {
		if ((end = memchr(s.p, '\0', s.len)) == NULL)
			break;
		struct span key = span_of(s.p, (size_t)(end - s.p));

		if (span_ieq(key, span_str(group)))
			return unknown(k, "the name is that of a group of "
					  "remotes");
		if (span_ieq(key, span_str(vcs)))
			return unknown(k, "the remote is a helper's");
		s = span_of(end + 1, s.len - key.len - 1);
	}
	return 0;
}

/* Take the URLs of this remote from lines "name\tURL (fetch)" or "(push)". */
static int
take_verbose(struct ask *k, const char *name)
{
	static const char *const ends[] = {" (fetch)", " (push)"};
	struct span s = buf_span(&k->out), line, tail;
	struct buf urls;
	const uint8_t *end;
	size_t skip = strlen(name) + 1, n = 0;
	int r = -1;

	buf_init(&urls, MAX_OUT);
	while (s.len != 0 && (end = memchr(s.p, '\n', s.len)) != NULL) {
		line = span_of(s.p, (size_t)(end - s.p));
		s = span_of(end + 1, s.len - line.len - 1);
		if (line.len < skip || memcmp(line.p, name, skip - 1) != 0 ||
		    line.p[skip - 1] != '\t')
			continue;
		for (size_t i = 0; i < 2; i++) {
			if (line.len < skip + strlen(ends[i]))
				continue;
			tail = span_of(line.p + line.len - strlen(ends[i]),
			    strlen(ends[i]));
			if (!span_is(tail, ends[i]))
				continue;
			buf_add(
			    &urls, line.p + skip, line.len - skip - tail.len);
			buf_addc(&urls, '\n');
			n++;
		}
	}
	buf_reset(&k->out, MAX_OUT);
	buf_addspan(&k->out, buf_span(&urls));
	if (n < 2 || urls.failed || k->out.failed)
		(void)unknown(k, "git does not say where that leads");
	else
		r = take_urls(k);
	buf_free(&urls);
	return r;
}

/*
 * Resolve a URL that is no remote's name, as the URL of a remote with a random
 * name.
 */
static int
resolve_url(struct ask *k, const char *url)
{
	char name[40], set[MAX_NAME + 64];
	uint64_t nonce;
	int n;

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return unknown(k, "no random numbers");
	(void)snprintf(
	    name, sizeof(name), "icgit-%016llx", (unsigned long long)nonce);
	n = snprintf(set, sizeof(set), "remote.%s.url=%s", name, url);
	if (n < 0 || (size_t)n >= sizeof(set))
		return unknown(k, "the URL is too long");
	if ((n = GIT(k, set, "remote", "-v")) != 0)
		return n == -1 ? -1 : unknown(k, "git refuses the URL");
	return take_verbose(k, name);
}

static int
resolve(struct ask *k, const char *name)
{
	int r;

	if (name[0] == '-' || strlen(name) >= MAX_NAME - 64)
		return unknown(k, "no name of a remote");
	if (check_special(k, name) == -1)
		return -1;
	r = GIT(k, NULL, "remote", "get-url", "--all", "--", name);
	if (r == -1)
		return -1;
	if (r == 0) {
		if (take_urls(k) == -1)
			return -1;
		r = GIT(k, NULL, "remote", "get-url", "--all", "--push", "--",
		    name);
		if (r != 0)
			return r == -1 ? -1 : unknown(k, "git cannot say");
		return take_urls(k);
	}
	/*
	 * git takes anything that is not a remote's name for a URL or a path.
	 */
	if (r != NO_SUCH_REMOTE)
		return unknown(k, "git cannot say where the remote leads");
	if (strpbrk(name, ":/") == NULL)
		return unknown(k, "there is no such remote");
	return resolve_url(k, name);
}

/*
 * Read branch.BRANCH.KIND into `dst`, "" if it is not set.  Returns 0, or -1.
 */
static int
of_branch(
    struct ask *k, const char *branch, const char *kind, char dst[MAX_NAME])
{
	char key[MAX_NAME + 32];
	int r;

	dst[0] = '\0';
	if (branch[0] == '\0')
		return 0;
	(void)snprintf(key, sizeof(key), "branch.%s.%s", branch, kind);
	if ((r = GIT(k, NULL, "config", "--get", key)) == -1)
		return -1;
	if (r == 0)
		one_line(k, dst);
	return 0;
}

/*
 * Resolve the remotes that git, or its server, chooses from if none is given.
 */
static int
resolve_default(struct ask *k)
{
	char branch[MAX_NAME], name[4][MAX_NAME];
	struct span s;
	size_t before = k->nfound;
	int r;

	if ((r = GIT(k, NULL, "symbolic-ref", "-q", "--short", "HEAD")) == -1)
		return -1;
	branch[0] = '\0';
	if (r == 0)
		one_line(k, branch);
	if (of_branch(k, branch, "remote", name[0]) == -1 ||
	    of_branch(k, branch, "pushRemote", name[1]) == -1 ||
	    (r = GIT(k, NULL, "config", "--get", "remote.pushDefault")) == -1)
		return -1;
	name[2][0] = name[3][0] = '\0';
	if (r == 0)
		one_line(k, name[2]);
	/* git's own choice for fetching, for example the only remote */
	if ((r = GIT(k, NULL, "remote")) == -1)
		return -1;
	s = buf_span(&k->out);
	if (s.len != 0 && memchr(s.p, '\n', s.len) == s.p + s.len - 1)
		one_line(k, name[3]);
	if ((r = GIT(k, NULL, "remote", "get-url", "--", "origin")) == -1 ||
	    (r == 0 && resolve(k, "origin") == -1))
		return -1;
	for (size_t i = 0; i < 4; i++) {
		if (name[i][0] != '\0' && resolve(k, name[i]) == -1)
			return -1;
	}
	if ((r = GIT(k, NULL, "ls-remote", "--get-url")) == -1 ||
	    (r == 0 && take_urls(k) == -1))
		return -1;
	return k->nfound != before ? 0 : unknown(k, "there is no remote");
}

static int
resolve_all(struct ask *k, const struct value *args)
{
	const struct value *remotes = value_get(args, "remotes"), *v;
	struct span path = value_str(args, "path");
	char name[MAX_NAME];

	if (path.p == NULL || path.len == 0 || path.p[0] != '/' ||
	    span_copy(path, k->path, sizeof(k->path)) == -1)
		return unknown(k, "path is no absolute path");
	if (remotes == NULL || remotes->type != VALUE_ARRAY ||
	    remotes->count > MAX_REMOTES)
		return unknown(k, "remotes is no array of at most 8 names");
	for (v = remotes->child; v != NULL; v = v->next) {
		if (v->type != VALUE_STRING ||
		    span_copy(v->text, name, sizeof(name)) == -1)
			return unknown(k, "a remote is no name");
		if ((name[0] == '\0' ? resolve_default(k) : resolve(k, name)) ==
		    -1)
			return -1;
	}
	return 0;
}

void
icgit_list(struct mcp *m)
{
	buf_adds(m->out, listed);
}

/* Answer {"urls":[...]}, or unknown if a URL is not valid UTF-8. */
static void
answer(struct mcp *m, const struct jsonrpc *rpc, struct ask *k)
{
	struct span s = buf_span(&k->found), url;
	bool first = true;

	if (!utf8_valid(s)) {
		(void)jsonrpc_add_text(
		    m->out, &rpc->id, SPAN("a URL is no text"), true);
		return;
	}
	(void)jsonrpc_add_head(m->out, &rpc->id);
	buf_adds(m->out, "{\"content\":[],\"structuredContent\":"
			 "{\"urls\":[");
	while (span_line(&s, &url)) {
		if (!first)
			buf_addc(m->out, ',');
		(void)json_write_string(m->out, url);
		first = false;
	}
	buf_adds(m->out, "]}}");
	(void)jsonrpc_add_tail(m->out);
}

bool
icgit_call(struct mcp *m, const struct jsonrpc *rpc, struct span tool,
    const struct value *args)
{
	static struct ask k;

	if (!span_is(tool, "remotes"))
		return false;
	buf_init(&k.out, MAX_OUT);
	buf_init(&k.found, MAX_OUT);
	k.nfound = 0;
	k.why[0] = '\0';
	k.until = clock_mono_us() / 1000 + ASK_MS;
	if (args == NULL || resolve_all(&k, args) == -1)
		(void)jsonrpc_add_text(m->out, &rpc->id,
		    span_str(k.why[0] == '\0' ? "no arguments" : k.why), true);
	else
		answer(m, rpc, &k);
	buf_free(&k.out);
	buf_free(&k.found);
	return true;
}
