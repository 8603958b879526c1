/* SPDX-License-Identifier: ISC */
/*
 * Random rules and random calls, each call repeated with other spellings of the
 * same values, among them links to the same file: a call that was denied or
 * escalated is never allowed because of its spelling. The seed is printed; the
 * first argument sets the number of calls, the second the seed.
 */
#include "tap.h"
#include "unit/policyd/rig.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX 2048

static struct rig rig;
static uint64_t seed;

static unsigned
pick(unsigned n)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)((seed * 0x2545f4914f6cdd1dULL) >> 33) % n;
}

#define PICK(list) ((list)[pick(sizeof(list) / sizeof((list)[0]))])

static const char annotations[] =
    "{\"servers\":{\"fetch\":{\"tools\":[{\"toolName\":\"get\",\"args\":"
    "{\"v\":[\"fetch-url\"]}}]},\"git\":{\"tools\":[{\"toolName\":"
    "\"clone\",\"args\":{\"v\":[\"git-remote-url\"]}}]},\"mail\":"
    "{\"tools\":[{\"toolName\":\"send\",\"args\":{\"v\":"
    "[\"email-address\"]}}]},\"github\":{\"tools\":[{\"toolName\":"
    "\"issue\",\"args\":{\"v\":[\"github-owner\"]}}]},\"forge\":"
    "{\"tools\":[{\"toolName\":\"push\",\"args\":{\"v\":"
    "[\"branch-name\"]}}]},\"disk\":{\"tools\":[{\"toolName\":\"read\","
    "\"args\":{\"v\":[\"read-path\"]}}]}}}";

enum kind {
	FETCH,
	GIT,
	MAIL,
	OWNER,
	BRANCH,
	DISK,
	KINDS
};

static const struct {
	const char *server, *tool, *role, *type;
} kinds[KINDS] = {
    [FETCH] = {"fetch", "get", "fetch-url", "domains"},
    [GIT] = {"git", "clone", "git-remote-url", "domains"},
    [MAIL] = {"mail", "send", "email-address", "emails"},
    [OWNER] = {"github", "issue", "github-owner", "identifiers"},
    [BRANCH] = {"forge", "push", "branch-name", "identifiers"},
    [DISK] = {"disk", "read", "read-path", NULL},
};

static const char *const patterns[KINDS][8] = {
    [FETCH] = {"*", "*.evil.example", "evil.example", "a.evil.example",
	"10.0.0.1", "*.example", "ok.example", "xn--a.evil.example"},
    [GIT] = {"*", "*.evil.example", "github.com", "github.com/acme/*",
	"github.com/acme/secret", "Github.com/Acme/App.git", "evil.example/x",
	"ok.example/*"},
    [MAIL] = {"mallory@evil.com", "Bob@OK.example", "a@x.org", "b@x.org",
	"c@x.org", "d@x.org", "o'brien@x.org", "\\\"q\\\"@x.org"},
    [OWNER] = {"acme", "Acme", "bob", "a-b", "c", "d", "e", "f"},
    [BRANCH] = {"main", "Main", "refs/heads/main", "release/1", "dev", "a", "b",
	"heads/x"},
    [DISK] = {"@D/out/keys", "@D/out/dot", "@D/out", "@D/out/dot/d", "@D/home",
	"@D/out/alias", "@D/out/keys/id", "/"},
};
static const char *const values[KINDS][8] = {
    [FETCH] = {"https://a.evil.example/x", "https://evil.example",
	"https://ok.example/a/b", "http://10.0.0.1/", "ftp://a.evil.example/",
	"https://xn--a.evil.example/", "https://www.example/",
	"ssh://ok.example/"},
    [GIT] = {"https://github.com/acme/secret", "git@github.com:acme/app.git",
	"ssh://git@github.com/acme/app", "https://evil.example/x",
	"https://ok.example/r", "https://github.com/bob/r",
	"git@a.evil.example:x/y", "https://github.com/acme"},
    [MAIL] = {"mallory@evil.com", "bob@ok.example", "a@x.org", "b@x.org",
	"o'brien@x.org", "q@x.org", "d@x.org", "z@x.org"},
    [OWNER] = {"acme", "bob", "a-b", "c", "d", "zed", "e", "f"},
    [BRANCH] = {"main", "release/1", "dev", "a", "b", "x", "y", "zed"},
    [DISK] = {"@D/out/keys/id", "@D/out/dot/id", "@D/out/keys/dir/f",
	"@D/out/dot/d/f", "@D/out/keys/real/f", "@D/out/o",
	"@D/out/keys/dir/../id", "@D/home/docs/d"},
};
/* Values, usually allowed, that accompany the others. */
static const char *const beside[KINDS] = {"https://ok.example/a/b",
    "https://ok.example/r", "bob@ok.example", "c", "dev", "@D/home/docs/d"};

/* Links from one directory of secrets into another, and links to both. */
static void
make_tree(void)
{
	rig_dir(&rig, "out/keys");
	rig_dir(&rig, "out/keys/real");
	rig_dir(&rig, "out/dot");
	rig_dir(&rig, "out/dot/d");
	rig_file(&rig, "out/dot/id");
	rig_file(&rig, "out/dot/d/f");
	rig_file(&rig, "out/keys/real/f");
	rig_link(&rig, "../dot/id", "out/keys/id");
	rig_link(&rig, "@D/out/dot/d", "out/keys/dir");
	rig_link(&rig, "keys", "out/alias");
	rig_link(&rig, "@D/out/alias", "out/hop");
	rig_link(&rig, "../out/dot", "out/other");
}

/* Add a condition about directories, or a list of two values. */
static void
add_condition(struct buf *b, unsigned k, bool names)
{
	if (k == DISK) {
		buf_printf(b,
		    "\"paths\":{\"roles\":[\"read-path\"],\"within\":"
		    "\"%s\"}",
		    PICK(patterns[k]));
		return;
	}
	buf_printf(b,
	    "\"lists\":[{\"roles\":[\"%s\"],\"matchType\":\"%s\","
	    "\"allowed\":[\"%s\",\"%s\"]}]",
	    kinds[k].role, kinds[k].type,
	    names ? PICK(values[k]) : PICK(patterns[k]),
	    names ? PICK(values[k]) : PICK(patterns[k]));
}

static void
load_random(void)
{
	static const char *const then[] = {
	    "allow", "allow", "escalate", "deny"};
	unsigned n = 1 + pick(8), k;
	const char *what;
	bool names;
	struct buf b;
	char *text;

	buf_init(&b, 1 << 20);
	buf_adds(&b, "{\"rules\":[");
	for (unsigned i = 0; i < n; i++) {
		k = pick(KINDS);
		what = PICK(then);
		/* A value spelled as in a rule that allows must be allowed. */
		names =
		    strcmp(what, "allow") == 0 && (k == OWNER || k == BRANCH);
		buf_printf(&b,
		    "%s{\"name\":\"r%u\",\"then\":\"%s\",\"reason\":\"x\","
		    "\"if\":{",
		    i == 0 ? "" : ",", i, what);
		add_condition(&b, k, names);
		buf_adds(&b, "}}");
	}
	if (pick(2) == 0)
		buf_adds(&b, ",{\"name\":\"all\",\"then\":\"allow\","
			     "\"reason\":\"x\",\"if\":{}}");
	buf_adds(&b, "]}");
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	rig_must_load(&rig, PROTO_RULES_POLICY, text);
	free(text);
	buf_free(&b);
}

/* Replaces nothing if the text would exceed TEXT_MAX. */
static void
replace(char *s, const char *what, const char *with)
{
	char *at = strstr(s, what);
	size_t old = strlen(what), new = strlen(with);

	if (at == NULL || strlen(s) + new >= TEXT_MAX)
		return;
	memmove(at + new, at + old, strlen(at + old) + 1);
	memcpy(at, with, new);
}

static void
around(char *s, const char *before, const char *after)
{
	size_t n = strlen(before);

	if (strlen(s) + n + strlen(after) >= TEXT_MAX)
		return;
	memmove(s + n, s, strlen(s) + 1);
	memcpy(s, before, n);
	memcpy(s + strlen(s), after, strlen(after) + 1);
}

/* Capitalise some letters from `at` on. */
static void
capitals(char *s, size_t at)
{
	for (; at < strlen(s); at++) {
		if (s[at] >= 'a' && s[at] <= 'z' && pick(3) == 0)
			s[at] = (char)(s[at] - ('a' - 'A'));
	}
}

/* Write one letter of a path as an escape. */
static void
escape(char *s, size_t at)
{
	char one[2] = {0}, three[6];

	if (at >= strlen(s))
		return;
	at += pick((unsigned)(strlen(s) - at));
	if (s[at] == '/' || s[at] == '%' || s[at] == ':' || s[at] == '"')
		return;
	one[0] = s[at];
	snprintf(three, sizeof(three), "%%%02x", one[0]);
	replace(s + at, one, three);
}

static size_t
path_at(const char *s)
{
	const char *p = strstr(s, "://");

	p = p != NULL ? strchr(p + 3, '/') : strchr(s, ':');
	return p == NULL ? strlen(s) : (size_t)(p - s) + 1;
}

static void
noise_url(char *s, bool git)
{
	size_t at = path_at(s);

	switch (pick(git ? 10 : 4)) {
	case 0:
		capitals(s, 0);
		break;
	case 1:
		replace(s, ".example/", ".example./");
		break;
	case 2:
		replace(s, ".example/", ".example:8443/");
		break;
	case 3:
		escape(s, at);
		break;
	case 4:
		capitals(s, at);
		break;
	case 5:
		around(s, "", pick(2) == 0 ? "/.git" : ".git");
		break;
	case 6:
		replace(s, "/acme/", "//acme/");
		break;
	case 7:
		replace(s, "acme/", "acme/./");
		break;
	case 8:
		replace(s, "acme/", "x/../acme/");
		break;
	default:
		replace(s, "ssh://git@github.com", "ssh://ssh.github.com:443");
		break;
	}
}

static void
noise_mail(char *s)
{
	switch (pick(8)) {
	case 0:
		capitals(s, 0);
		break;
	case 1:
		around(s, "Some Body <", ">");
		break;
	case 2:
		around(s, " ", "  ");
		break;
	case 3:
		replace(s, "@", " @ ");
		break;
	case 4:
		replace(s, "@", "(x)@");
		break;
	case 5:
		around(s, "bob@ok.example, ", "");
		break;
	case 6:
		replace(s, ".", "%2e");
		break;
	default:
		around(s, "<", ">");
		break;
	}
}

static void
noise_name(char *s, bool branch)
{
	switch (pick(branch ? 7 : 5)) {
	case 0:
		capitals(s, 0);
		break;
	case 1:
		around(s, " ", " ");
		break;
	case 2:
		escape(s, 0);
		break;
	case 3:
		around(s, "./", "");
		break;
	case 4:
		around(s, "x/../", "/");
		break;
	case 5:
		around(s, "+", "");
		break;
	default:
		around(s, pick(2) == 0 ? "refs/heads/" : "x:", "");
		break;
	}
}

/* Other names of the same file, none of which hides a link of its name. */
static void
noise_path(char *s)
{
	switch (pick(8)) {
	case 0:
		replace(s, "/keys/", "/alias/");
		break;
	case 1:
		replace(s, "/alias/", "/hop/");
		break;
	case 2:
		replace(s, "/dot/", "/other/");
		break;
	case 3:
		replace(s, "/out/", "/out/./");
		break;
	case 4:
		replace(s, "/out/", "//out//");
		break;
	case 5:
		replace(s, "/out/", "/out/dot/../");
		break;
	case 6:
		replace(s, "/out/", "/out/alias/real/../../");
		break;
	default:
		replace(s, "/out/", "/home/../out/");
		break;
	}
}

static void
noise(enum kind k, char *s)
{
	switch (k) {
	case FETCH:
	case GIT:
		noise_url(s, k == GIT);
		break;
	case MAIL:
		noise_mail(s);
		break;
	case DISK:
		noise_path(s);
		break;
	case OWNER:
	case BRANCH:
	case KINDS:
		noise_name(s, k == BRANCH);
		break;
	}
}

static enum proto_status
ask(enum kind k, const char *value, bool more)
{
	char args[3 * TEXT_MAX];
	struct decision d;

	if (more)
		snprintf(args, sizeof(args), "{\"v\":[\"%s\",\"%s\"]}", value,
		    beside[k]);
	else
		snprintf(args, sizeof(args), "{\"v\":\"%s\"}", value);
	rig_eval(&rig, kinds[k].server, kinds[k].tool, args, &d);
	return d.status;
}

int
main(int argc, char **argv)
{
	unsigned long calls = 200000, withheld = 0, bad = 0;
	char text[TEXT_MAX];
	const char *value;
	enum kind k;
	bool more;

	seed = 0xfeedface12345678ULL;
	if (argc > 1 && argv[1][0] >= '1' && argv[1][0] <= '9')
		calls = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	printf("# seed 0x%llx\n", (unsigned long long)seed);
	rig_init(&rig, NULL);
	make_tree();
	rig_must_load(&rig, PROTO_RULES_ANNOTATIONS, annotations);
	for (unsigned long i = 0; i < calls; i++) {
		if (i % 20 == 0)
			load_random();
		k = (enum kind)pick(KINDS);
		value = PICK(values[k]);
		if (ask(k, value, false) == PROTO_ALLOW)
			continue;
		withheld++;
		snprintf(text, sizeof(text), "%s", value);
		for (unsigned n = 1 + pick(3); n > 0; n--)
			noise(k, text);
		more = pick(3) == 0;
		if (ask(k, text, more) == PROTO_ALLOW && bad++ < 10)
			printf("# %s was withheld, %s%s is allowed\n", value,
			    text, more ? " beside another" : "");
	}
	is_int((long long)bad, 0, "%lu calls, no spelling opens one", calls);
	ok(withheld > calls / 4 && withheld < calls - calls / 10,
	    "of them %lu are denied or asked about", withheld);
	rig_free(&rig);
	return tap_done();
}
