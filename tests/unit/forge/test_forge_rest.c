/* SPDX-License-Identifier: ISC */
/*
 * REST: each route of each forge is reached and composed again, no path of the
 * list of what is never permitted is, in any spelling, and a target that can be
 * read in two ways is refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include <errno.h>

#include "common/forge/table.h"
#include "forge_case.h"
#include "tests/lib/tap.h"

static void
sample_part(struct buf *b, const struct forge_part *p)
{
	static const char *const samples[] = {
	    [FORGE_PART_OWNER] = "me/shop",
	    [FORGE_PART_PROJECT] = "me%2Fshop",
	    [FORGE_PART_NUMBER] = "12",
	    [FORGE_PART_TEXT] = "kind%3A%20bug",
	    [FORGE_PART_REF] = "fix%2Ftax",
	    [FORGE_PART_REST] = "src/a%20b.c",
	    [FORGE_PART_SUFFIX] = "7",
	};

	buf_addc(b, '/');
	if (p->kind == FORGE_PART_WORD)
		buf_adds(b, p->name);
	else
		buf_adds(b, samples[p->kind]);
	if (p->kind == FORGE_PART_SUFFIX)
		buf_adds(b, p->suffix);
}

/* A value for a member, as JSON. */
static void
sample_value(struct buf *b, const struct forge_member *m)
{
	if (m->list)
		buf_addc(b, '[');
	if (m->role == FORGE_FIXED || m->form == FORGE_ENUM)
		buf_printf(b, "\"%s\"", m->words[0]);
	else if (m->form == FORGE_INT)
		buf_adds(b, "7");
	else if (m->form == FORGE_BOOL)
		buf_adds(b, "true");
	else if (m->role == FORGE_SEARCH)
		buf_adds(b, "\"repo:me/shop x\"");
	else
		buf_adds(b, m->form == FORGE_INPUT ? "{}" : "\"x\"");
	if (m->list)
		buf_addc(b, ']');
}

static void
sample_body(struct buf *b, const struct forge_member *m)
{
	const char *comma = "";

	if (m == NULL || m->name == NULL)
		return;
	buf_addc(b, '{');
	for (; m->name != NULL; m++) {
		if (m->role == FORGE_NONE || m->role == FORGE_REF ||
		    m->form == FORGE_INPUT)
			continue;
		buf_printf(b, "%s\"%s\":", comma, m->name);
		sample_value(b, m);
		comma = ",";
	}
	buf_addc(b, '}');
}

static void
sample_query(struct buf *b, const struct forge_member *m)
{
	char sep = '?';

	for (; m->name != NULL; m++) {
		buf_printf(b, "%c%s=%s", sep, m->name,
		    m->role == FORGE_SEARCH ? "repo:me%2Fshop+x" : "7");
		sep = '&';
	}
}

static const char *const prefixes[] = {"", "/api/v4", "/api/v1"};

static void
test_route(enum forge_kind kind, const struct forge_route *r)
{
	struct buf target, body;
	struct forge_case c;
	const char *said;

	buf_init(&target, 8192);
	buf_init(&body, 8192);
	case_init(&c, kind);
	buf_adds(&target, prefixes[kind]);
	if (r->parts->name == NULL)
		buf_addc(&target, '/');
	for (const struct forge_part *p = r->parts; p->name != NULL; p++) {
		if (p->kind != FORGE_PART_REPO)
			sample_part(&target, p);
	}
	sample_query(&target, r->query);
	buf_addc(&target, '\0');
	sample_body(&body, r->body);
	ok(case_run(&c, r->method, (const char *)buf_span(&target).p,
	       buf_span(&body)) == 0 &&
		c.call.class == r->class && c.call.route == r,
	    "%s: %s %s is reached: %s", r->name, r->method,
	    (const char *)buf_span(&target).p, c.fail.why);
	if (r->class != FORGE_READ && c.call.route == r) {
		said = case_say(&c, NULL);
		ok(strstr(said, "me/shop") != NULL &&
			strchr(said, '{') == NULL && strchr(said, '[') == NULL,
		    "%s says: %s", r->name, said);
		ok(r->body == NULL || r->body->name == NULL ||
			c.said.text.len != 0,
		    "and has its values below");
	}
	case_free(&c);
	buf_free(&target);
	buf_free(&body);
}

/* Put a pattern of the list as a path, with "**" as `rest`. */
static void
never_path(struct buf *b, const char *pattern, const char *rest)
{
	static const char *const names[] = {"me", "shop", "7", "8"};
	static const char *const parts[] = {"me%2Fshop", "7", "8", "9"};
	bool project = strncmp(pattern, "/projects/", 10) == 0;
	size_t n = 0;

	for (const char *p = pattern; *p != '\0'; p++) {
		if (strncmp(p, "/**", 3) == 0) {
			buf_adds(b, rest);
			p += 2;
		} else if (*p == '*') {
			buf_adds(b, project ? parts[n++ % nitems(parts)]
					    : names[n++ % nitems(names)]);
		} else {
			buf_addc(b, (uint8_t)*p);
		}
	}
}

enum spelling {
	PLAIN,
	CAPITALS,
	ENCODED, /* each letter by its number */
	TWICE,   /* the same, with its percent sign encoded */
	SLASHES,
	SLASH_AFTER,
	DOTS,
	DOTS_BACK,
	PARAMETER,
	SLASH_ENCODED,
	BACKSLASH,
	NUL,
	FRAGMENT,
	SUFFIX, /* ".json", as some servers take it */
	SPELLINGS,
};

static void
spell(struct buf *b, struct span path, enum spelling how)
{
	for (size_t i = 0; i < path.len; i++) {
		uint8_t c = path.p[i];

		if (how == CAPITALS && c >= 'a' && c <= 'z')
			c = (uint8_t)(c - 0x20);
		if ((how == ENCODED || how == TWICE) && c != '/')
			buf_printf(b, how == TWICE ? "%%25%02x" : "%%%02x", c);
		else if (how == SLASHES && c == '/')
			buf_adds(b, "//");
		else if (how == DOTS && c == '/')
			buf_adds(b, "/./");
		else if (how == SLASH_ENCODED && c == '/' && i != 0)
			buf_adds(b, "%2f");
		else if (how == BACKSLASH && c == '/' && i != 0)
			buf_adds(b, "\\");
		else
			buf_addc(b, c);
	}
	buf_adds(b, how == SLASH_AFTER ? "/"
		    : how == DOTS_BACK ? "/x/.."
		    : how == PARAMETER ? ";x=y"
		    : how == NUL       ? "%00"
		    : how == FRAGMENT  ? "#x"
		    : how == SUFFIX    ? ".json"
				       : "");
}

/*
 * Each path of the list, in each spelling, with and without what follows it. A
 * spelling may lead to another route's text (a label named "keys"), but never
 * to the path itself.
 */
static void
test_never(enum forge_kind kind, const struct forge_never *n)
{
	static const char *const methods[] = {"GET", "POST", "PUT", "PATCH",
	    "DELETE"},
				 *const rests[] = {"", "/7", "/x/y"};
	struct buf path, target;
	struct forge_case c;
	unsigned reached = 0, tried = 0;

	buf_init(&path, 8192);
	buf_init(&target, 8192);
	case_init(&c, kind);
	for (size_t k = 0; k < nitems(rests) * nitems(methods) * SPELLINGS;
	     k++) {
		const char *method = methods[k % nitems(methods)];
		size_t rest = k / nitems(methods) % nitems(rests);
		size_t how = k / nitems(methods) / nitems(rests);

		if (n->method == NULL ? strcmp(method, "GET") == 0
				      : strcmp(n->method, "*") != 0 &&
					    strcmp(n->method, method) != 0)
			continue;
		buf_reset(&path, 8192);
		buf_reset(&target, 8192);
		never_path(&path, n->path, rests[rest]);
		buf_adds(&target, prefixes[kind]);
		spell(&target, buf_span(&path), (enum spelling)how);
		buf_addc(&target, '\0');
		tried++;
		if (case_run(&c, method, (const char *)buf_span(&target).p,
			SPAN("")) == 0) {
			printf("# %s %s\n", method,
			    (const char *)buf_span(&target).p);
			reached++;
		}
	}
	ok(reached == 0 && tried >= SPELLINGS,
	    "%s %s is not reached in %u spellings",
	    n->method == NULL ? "(changes)" : n->method, n->path, tried);
	case_free(&c);
	buf_free(&path);
	buf_free(&target);
}

static void
test_tables(enum forge_kind kind)
{
	const struct forge_table *t = forge_table(kind);

	for (const struct forge_route *r = t->routes; r->name != NULL; r++)
		test_route(kind, r);
	for (const struct forge_never *n = t->never; n->path != NULL; n++)
		test_never(kind, n);
}

static const struct {
	const char *method, *target, *body, *why;
} refused[] = {
    {"GET", "/repos/me/other", "", "not on the list"},
    {"GET", "/repos/other/shop", "", "not on the list"},
    {"GET", "/repos/me%2Fshop", "", "not on the list"},
    {"GET", "/repos/me/shop%2F..%2Fother", "", "not permitted"},
    {"GET", "/repos/me/shop/../other", "", "not permitted"},
    {"GET", "/repos/me/shop/%2e%2e/other", "", "not permitted"},
    {"GET", "/repos/me/shop/", "", "not permitted"},
    {"GET", "//repos/me/shop", "", "not permitted"},
    {"GET", "/repos//me/shop", "", "not permitted"},
    {"GET", "/repos/me/shop;x", "", "not permitted"},
    {"GET", "/repos/me/shop\\x", "", "not permitted"},
    {"GET", "/repos/me/shop%", "", "not permitted"},
    {"GET", "/repos/me/shop%4", "", "not permitted"},
    {"GET", "/repos/me/shop%00", "", "not permitted"},
    {"GET", "/repos/me/shop%2500", "", "not permitted"},
    {"GET", "/Repos/me/shop", "", "not on the list"},
    {"GET", "repos/me/shop", "", "begin"},
    {"GET", "https://api.github.com/repos/me/shop", "", "begin"},
    {"GET", "/repos/me/shop?a=b", "", "\"a\""},
    {"GET", "/repos/me/shop/issues?state=open&state=all", "", "twice"},
    {"GET", "/repos/me/shop/issues?state=%zz", "", "encoded"},
    {"GET", "/repos/me/shop/issues?state=a%0d%0ab", "", "encoded"},
    {"GET", "/repos/me/shop/issues?&&", "", "\"\""},
    {"GET", "/repos/me/shop/issues?access_token=x", "", "access_token"},
    {"GET", "/repos/me/shop/issues/012", "", "not on the list"},
    {"GET", "/repos/me/shop/issues/0", "", "not on the list"},
    {"GET", "/repos/me/shop/issues/12345678901234567890", "", "on the list"},
    {"GET", "/repos/me/shop/issues/-1", "", "not on the list"},
    {"GET", "/repos/me/shop/compare/main...other:main", "", "on the list"},
    {"GET", "/repos/me/shop/commits/-x", "", "not on the list"},
    {"GET", "/repos/me/shop/contents/..%2f..%2fx", "", "not permitted"},
    {"HEAD", "/repos/me/shop", "", "not on the list"},
    {"OPTIONS", "/repos/me/shop", "", "not permitted"},
    {"GET", "/repos/me/shop/issues", "{}", "takes no body"},
    {"GET", "/search/issues?q=tax", "", "needs \"repo:\""},
    {"GET", "/search/issues", "", "lacks \"q\""},
    {"GET", "/search/issues?q=repo:me/shop&q=x", "", "twice"},
    {"GET", "/search/code?q=repo:me/other", "", "me/other"},
    {"GET", "/search/repositories?q=x", "", "not on the list"},
    {"GET", "/search/users?q=x", "", "not on the list"},
    {"GET", "/repositories/1", "", "not on the list"},
    {"GET", "/repositories", "", "not on the list"},
    {"GET", "/organizations", "", "not on the list"},
    {"GET", "/events", "", "not on the list"},
    {"GET", "/users/me/repos", "", "not on the list"},
    {"GET", "/emojis", "", "not on the list"},
    {"POST", "/markdown", "{}", "not on the list"},
    {"POST", "/repos/me/shop/issues", "", "lacks \"title\""},
    {"POST", "/repos/me/shop/issues", "[]", "an object"},
    {"POST", "/repos/me/shop/issues", "title=x", "not JSON"},
    {"POST", "/repos/me/shop/issues", "{\"title\":\"a\",\"title\":\"b\"}",
	"not JSON"},
    {"POST", "/repos/me/shop/issues", "{\"title\":[\"a\"]}", "a string"},
    {"POST", "/repos/me/shop/issues", "{\"title\":\"a\",\"labels\":\"x\"}",
	"a list"},
    {"POST", "/repos/me/shop/issues", "{\"title\":\"a\",\"evil\":1}",
	"\"evil\""},
    {"POST", "/repos/me/shop/issues?title=x", "{\"title\":\"a\"}", "title"},
    {"PATCH", "/repos/me/shop/issues/1", "{\"state\":\"deleted\"}", "words"},
    {"PUT", "/repos/me/shop/pulls/1/merge", "{\"merge_method\":\"x\"}",
	"words"},
    {"DELETE", "/repos/me/shop/issues/1", "", "not on the list"},
    {"POST", "/repos/me/shop/pulls",
	"{\"title\":\"a\",\"head\":\"a b\\u202e\",\"base\":\"main\"}",
	"name of a branch"},
};

static void
test_refused(void)
{
	struct forge_case c;

	for (size_t i = 0; i < nitems(refused); i++) {
		case_init(&c, FORGE_GITHUB);
		ok(case_run(&c, refused[i].method, refused[i].target,
		       span_str(refused[i].body)) == -1 &&
			strstr(c.fail.why, refused[i].why) != NULL,
		    "%s %s: \"%s\" is why: %s", refused[i].method,
		    refused[i].target, refused[i].why, c.fail.why);
		case_free(&c);
	}
}

static void
test_composed(void)
{
	struct forge_case c;

	case_init(&c, FORGE_GITHUB);
	(void)case_run(&c, "GET",
	    "/repos/ME/Shop/actions/runs?per_page=20&"
	    "branch=fix%2ftax&actor=a+b",
	    SPAN(""));
	is_str(case_target(&c),
	    "/repos/me/shop/actions/runs?actor=a%20b&"
	    "branch=fix%2Ftax&per_page=20",
	    "a target is composed in one way");
	(void)case_run(&c, "GET", "/", SPAN(""));
	is_str(case_target(&c), "/", "also the root");
	(void)case_run(&c, "PATCH", "/repos/me/shop/labels/kind:%20bug",
	    SPAN("{ \"color\" : \"ff0000\" }"));
	is_str(case_target(&c), "/repos/me/shop/labels/kind%3A%20bug",
	    "and a label");
	is_str(case_body(&c), "{\"color\":\"ff0000\"}", "and its body");
	c.grant.enterprise = true;
	is_int(case_run(&c, "GET", "/repos/me/shop", SPAN("")), -1,
	    "other hosts have a prefix");
	is_int(case_run(&c, "GET", "/api/v3/repos/me/shop", SPAN("")), 0,
	    "that is needed there");
	is_str(case_target(&c), "/api/v3/repos/me/shop", "and kept");
	is_int(case_run(&c, "GET", "/api/v3repos/me/shop", SPAN("")), -1,
	    "as a part of the path");
	case_free(&c);
}

static void
test_limits(void)
{
	struct forge_case c;
	struct buf b;

	case_init(&c, FORGE_GITHUB);
	buf_init(&b, 1U << 20);
	buf_adds(&b, "/repos/me/shop/contents");
	for (unsigned i = 0; i < 40; i++)
		buf_adds(&b, "/a");
	buf_addc(&b, '\0');
	is_int(case_run(&c, "GET", (const char *)buf_span(&b).p, SPAN("")), -1,
	    "a path of 43 parts is refused");
	buf_reset(&b, 0);
	buf_adds(&b, "/repos/me/shop/contents/");
	for (unsigned i = 0; i < FORGE_MAX_TARGET; i++)
		buf_addc(&b, 'a');
	buf_addc(&b, '\0');
	ok(case_run(&c, "GET", (const char *)buf_span(&b).p, SPAN("")) == -1 &&
		strstr(c.fail.why, "2048 at most") != NULL,
	    "an address over the limit is refused: %s", c.fail.why);
	buf_reset(&b, 0);
	buf_adds(&b, "{\"body\":\"");
	for (unsigned i = 0; i < FORGE_MAX_BODY; i++)
		buf_addc(&b, 'a');
	buf_adds(&b, "\"}");
	ok(case_run(&c, "POST", "/repos/me/shop/issues/1/comments",
	       buf_span(&b)) == -1 &&
		strstr(c.fail.why, "at most") != NULL,
	    "a body over the limit is refused: %s", c.fail.why);
	buf_free(&b);
	case_free(&c);
}

static void
test_answers(void)
{
	struct forge_case c;
	struct buf out;

	case_init(&c, FORGE_GITHUB);
	buf_init(&out, 1U << 16);
	is_int(case_run(&c, "GET", "/repos/me/shop", SPAN("")), 0,
	    "a repository is read");
	ok(c.call.cut, "and its answer is cut");
	is_int(forge_answer_cut(&c.call,
		   SPAN("{\"temp_clone_token\":\"s\",\"a\":"
			"[{\"temp_clone_token\":{\"b\":1},\"n\":1.50}]}"),
		   &out),
	    0, "so");
	is_mem(buf_span(&out).p, out.len, "{\"a\":[{\"n\":1.50}]}", 18,
	    "at every depth");
	is_int(forge_answer_cut(
		   &c.call, SPAN("{\"temp_clone_token\":\"s\""), &out),
	    -1, "an answer that is no JSON is not passed on");
	buf_reset(&out, 0);
	is_int(case_run(&c, "GET", "/user", SPAN("")), 0, "the user is read");
	is_int(forge_answer_cut(&c.call,
		   SPAN("{\"login\":\"me\",\"email\":\"e\","
			"\"plan\":{\"login\":1}}"),
		   &out),
	    0, "its answer");
	is_mem(buf_span(&out).p, out.len, "{\"login\":\"me\"}", 14,
	    "has names alone");
	c.grant.kind = FORGE_GITLAB;
	buf_reset(&out, 0);
	is_int(case_run(&c, "GET", "/api/v4/users?username=octo", SPAN("")), 0,
	    "a person of GitLab is looked up");
	is_int(forge_answer_cut(&c.call,
		   SPAN("[{\"id\":5,\"email\":\"e\"},"
			"\"x\"]"),
		   &out),
	    0, "and the answer");
	is_mem(buf_span(&out).p, out.len, "[{\"id\":5},null]", 15,
	    "has names alone, in a list, too");
	buf_reset(&out, 0);
	is_int(case_run(&c, "GET", "/api/v4/projects/ME%2fShop", SPAN("")), 0,
	    "a project is read");
	is_int(
	    forge_answer_cut(&c.call,
		SPAN("{\"id\":7,\"a\":[{\"runners_token\":\"GR13\"}]}"), &out),
	    -1, "a token that sees that of the runners is refused");
	is_int(errno, EACCES, "for its rights");
	is_int(forge_answer_cut(
		   &c.call, SPAN("{\"runners_token\":null,\"id\":7}"), &out),
	    0, "one that sees none is not");
	is_mem(buf_span(&out).p, out.len, "{\"id\":7}", 8, "and it is cut out");
	buf_reset(&out, 0);
	c.grant.classic = true;
	is_int(forge_answer_cut(&c.call,
		   SPAN("{\"runners_token\":\"GR13\","
			"\"id\":7}"),
		   &out),
	    0, "and its owner's token");
	is_mem(buf_span(&out).p, out.len, "{\"id\":7}", 8, "is cut out");
	buf_reset(&out, 0);
	is_int(forge_refusal(true, "no \"x\"", &out), 200, "a refusal");
	is_mem(buf_span(&out).p, out.len,
	    "{\"data\":null,\"errors\":[{\"type\":"
	    "\"FORBIDDEN\",\"message\":\"IronCurtain: no \\\"x\\\"\"}]}",
	    79, "of GraphQL");
	buf_reset(&out, 0);
	is_int(forge_refusal(false, "no", &out), 403, "and of REST");
	buf_free(&out);
	case_free(&c);
}

static void
test_hosts(void)
{
	static const struct {
		const char *host;
		bool good;
	} hosts[] = {
	    {"productionresultssa0.blob.core.windows.net", true},
	    {"codeload.github.com", true},
	    {"release-assets.githubusercontent.com", true},
	    {"blob.core.windows.net", false},
	    {".blob.core.windows.net", false},
	    {"a.b.blob.core.windows.net", false},
	    {"xblob.core.windows.net", false},
	    {"codeload.github.com.evil.org", false},
	    {"evilcodeload.github.com", false},
	    {"api.github.com", false},
	    {"me:pw@x.blob.core.windows.net", false},
	    {"x:1@x.blob.core.windows.net", false},
	    {"x\\.blob.core.windows.net", false},
	    {"X.blob.core.windows.net", false},
	    {"%78.blob.core.windows.net", false},
	    {"127.0.0.1", false},
	    {"", false},
	};

	for (size_t i = 0; i < nitems(hosts); i++)
		is_int(forge_follow_host(FORGE_GITHUB, span_str(hosts[i].host)),
		    hosts[i].good, "%s is %sfollowed", hosts[i].host,
		    hosts[i].good ? "" : "not ");
}

static void
test_places(void)
{
	static const struct {
		const char *location, *host, *target;
	} places[] = {
	    {"https://codeload.github.com/a?b=c", "codeload.github.com",
		"/a?b=c"},
	    {"https://x.blob.core.windows.net:443/", "x.blob.core.windows.net",
		"/"},
	    {"http://codeload.github.com/", NULL, NULL},
	    {"HTTPS://codeload.github.com/", NULL, NULL},
	    {"https:/codeload.github.com/", NULL, NULL},
	    {"//codeload.github.com/", NULL, NULL},
	    {"/a", NULL, NULL},
	    {"", NULL, NULL},
	    {"https://", NULL, NULL},
	    {"https://codeload.github.com", NULL, NULL},
	    {"https://codeload.github.com?a/", NULL, NULL},
	    {"https://Codeload.github.com/", NULL, NULL},
	    {"https://codeload.github.com./", NULL, NULL},
	    {"https://codeload.github.com:444/", NULL, NULL},
	    {"https://codeload.github.com:443:443/", NULL, NULL},
	    {"https://me@codeload.github.com/", NULL, NULL},
	    {"https://me:pw@x.blob.core.windows.net/", NULL, NULL},
	    {"https://codeload.github.com\\@evil.org/", NULL, NULL},
	    {"https://evil.org/https://codeload.github.com/", NULL, NULL},
	    {"https://codeload.github.com/a b", NULL, NULL},
	    {"https://codeload.github.com/a\tb", NULL, NULL},
	    {"https://codeload.github.com/\xc3\xa4", NULL, NULL},
	    {"https://codeload.github.com/a#b", NULL, NULL},
	    {"https://codeload.github.com/12345678901", NULL, NULL},
	    {"https://api.github.com/", NULL, NULL},
	    {"https://127.0.0.1/", NULL, NULL},
	    {"https://[::1]/", NULL, NULL},
	};
	struct forge_place p;
	const char *why;

	for (size_t i = 0; i < nitems(places); i++) {
		why = forge_place_read(
		    FORGE_GITHUB, span_str(places[i].location), 10, &p);
		ok((why == NULL) == (places[i].host != NULL) &&
			(why != NULL ||
			    (span_is(p.host, places[i].host) &&
				span_is(p.target, places[i].target))),
		    "%s is %sfollowed", places[i].location,
		    places[i].host != NULL ? "" : "not ");
	}
	ok(forge_place_read(FORGE_GITEA, SPAN("https://codeload.github.com/"),
	       10, &p) != NULL,
	    "each forge has hosts of its own");
}

static void
test_accept(void)
{
	struct forge_case c;

	case_init(&c, FORGE_GITHUB);
	(void)case_run(&c, "GET", "/repos/me/shop/pulls/1", SPAN(""));
	ok(forge_accept(&c.call, SPAN("application/vnd.github.v3.diff")),
	    "a pull request is had as a diff");
	ok(forge_accept(
	       &c.call, SPAN("application/vnd.github.v3.diff; charset=utf-8")),
	    "as gh asks for one");
	ok(!forge_accept(&c.call, SPAN("text/html")), "and not as a page");
	(void)case_run(&c, "GET", "/repos/me/shop/issues", SPAN(""));
	ok(!forge_accept(&c.call, SPAN("application/vnd.github.v3.diff")),
	    "issues are not");
	case_free(&c);
}

static void
test_tokens(void)
{
	static const struct {
		enum forge_kind kind;
		const char *token;
		bool classic;
	} tokens[] = {
	    {FORGE_GITHUB, "ghp_0123456789abcdefABCDEF0123456789abcd", true},
	    {FORGE_GITHUB, "gho_0123456789abcdefABCDEF0123456789abcd", true},
	    {FORGE_GITHUB, "0123456789abcdef0123456789abcdef01234567", true},
	    {FORGE_GITHUB, "github_pat_0123456789abcdefABCDEF", false},
	    {FORGE_GITHUB, "ghs_0123456789abcdefABCDEF0123456789abcd", false},
	    {FORGE_GITHUB, "0123456789abcdef0123456789abcdef0123456g", false},
	    {FORGE_GITHUB, "", false},
	    {FORGE_GITLAB, "ghp_0123456789", false},
	    {FORGE_GITEA, "0123456789abcdef0123456789abcdef01234567", false},
	};

	for (size_t i = 0; i < nitems(tokens); i++)
		is_int(forge_token_is_classic(
			   tokens[i].kind, span_str(tokens[i].token)),
		    tokens[i].classic, "%s is %sclassic", tokens[i].token,
		    tokens[i].classic ? "" : "not ");
}

int
main(void)
{
	for (unsigned k = 0; k < FORGE_KINDS; k++)
		test_tables((enum forge_kind)k);
	test_refused();
	test_composed();
	test_limits();
	test_answers();
	test_hosts();
	test_places();
	test_tokens();
	test_accept();
	return tap_done();
}
