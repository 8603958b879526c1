/* SPDX-License-Identifier: ISC */
/*
 * Filtered metadata: versions that are too young, without a time, or on the
 * deny list are missing from every part of it; the result is strict JSON; a
 * malformed document, or one for another package, is refused; and the cached
 * verdicts agree with the result.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "mitmd/registry/filter.h"
#include "tap.h"

#define NOW 1795320000 /* 2026-11-22T04:00:00Z */
#define OLD "2026-01-05T00:00:00.000Z"
#define OLDER "2025-01-05T00:00:00.000Z"
#define YOUNG "2026-11-21T20:00:00.000Z"

static struct registry_filter f;
static struct registry_rules rules = {.days = 2};

static const char *
run(enum registry r, enum registry_form form, const char *package,
    const char *text)
{
	static char out[65536];
	size_t len = strlen(text);
	char *copy = malloc(len + (len == 0));
	int got;

	if (copy == NULL)
		abort();
	memcpy(copy, text, len);
	rules.registry = r;
	f.rules = &rules;
	f.package = package;
	f.form = form;
	f.now = NOW;
	f.seed[0] = 3;
	f.seed[1] = 5;
	got = registry_filter(&f, span_of(copy, len));
	if (got == -1)
		snprintf(out, sizeof(out), "BAD: %s", f.why);
	else
		snprintf(out, sizeof(out), "%.*s", (int)f.out.len,
		    (const char *)buf_span(&f.out).p);
	free(copy);
	return out;
}

static int
reason_of(const char *id)
{
	uint8_t sum[REGISTRY_ID];

	registry_id(span_str(id), sum);
	for (unsigned i = 0; i < f.nentries; i++) {
		if (memcmp(f.entries[i].id, sum, sizeof(sum)) == 0)
			return f.entries[i].reason;
	}
	return -1;
}

static void
over(void)
{
	registry_filter_free(&f);
}

static bool
strict(struct span s)
{
	struct value_pool *pool = value_pool_new(1U << 20);
	bool good = pool != NULL && json_read(pool, s, NULL) != NULL;

	value_pool_free(pool);
	return good;
}

static const char packument[] =
    "{\"_id\":\"x\",\"_rev\":\"9\",\"name\":\"x\",\"description\":\"d \\\"q\","
    "\"dist-tags\":{\"latest\":\"3.0.0\",\"next\":\"3.0.0\",\"old\":\"1.0.0\"},"
    "\"versions\":{"
    "\"1.0.0\":{\"name\":\"x\",\"version\":\"1.0.0\",\"secret\":{\"a\":[1,2]},"
    "\"scripts\":{\"test\":\"t\",\"postinstall\":\"p\"},"
    "\"dist\":{\"tarball\":\"u\"}},"
    "\"2.0.0\":{\"version\":\"2.0.0\",\"scripts\":{\"test\":\"t\"}},"
    "\"2.1.0-rc.1\":{\"version\":\"2.1.0-rc.1\"},"
    "\"2.5.0\":{\"version\":\"2.5.0\"},"
    "\"3.0.0\":{\"version\":\"3.0.0\"}},"
    "\"readme\":\"long\",\"_attachments\":{},"
    "\"time\":{\"created\":\"" OLDER "\",\"modified\":\"" YOUNG "\","
    "\"1.0.0\":\"" OLDER "\",\"2.0.0\":\"2026-01-04T00:00:00.000Z\","
    "\"2.1.0-rc.1\":\"" OLD "\",\"3.0.0\":\"" YOUNG "\","
    "\"9.9.9\":\"" OLD "\",\"unpublished\":{\"a\":1}}}";

static void
test_npm(void)
{
	is_str(run(REGISTRY_NPM, REGISTRY_FORM_NPM, "x", packument),
	    "{\"name\":\"x\",\"_id\":\"x\",\"description\":\"d \\\"q\","
	    "\"readme\":\"long\",\"versions\":{"
	    "\"1.0.0\":{\"name\":\"x\",\"version\":\"1.0.0\",\"secret\":"
	    "{\"a\":[1,2]},\"scripts\":{\"test\":\"t\",\"postinstall\":\"p\"},"
	    "\"dist\":{\"tarball\":\"u\"}},"
	    "\"2.0.0\":{\"version\":\"2.0.0\",\"scripts\":{\"test\":\"t\"}},"
	    "\"2.1.0-rc.1\":{\"version\":\"2.1.0-rc.1\"}},"
	    "\"dist-tags\":{\"old\":\"1.0.0\",\"latest\":\"2.0.0\"},"
	    "\"time\":{\"modified\":\"" YOUNG "\",\"1.0.0\":\"" OLDER "\","
	    "\"2.0.0\":\"2026-01-04T00:00:00.000Z\",\"2.1.0-rc.1\":\"" OLD
	    "\"}}\n",
	    "npm: young and untimed versions are gone, latest moves on");
	ok(strict(buf_span(&f.out)), "... as strict JSON");
	is_int(f.kept, 3, "... three are left");
	is_int(f.gone, 2, "... two are gone");
	is_int(reason_of("1.0.0"), REGISTRY_GOOD, "... 1.0.0 may be had");
	is_int(reason_of("2.5.0"), REGISTRY_UNTIMED, "... 2.5.0 has no time");
	is_int(reason_of("3.0.0"), REGISTRY_YOUNG, "... 3.0.0 is young");
	is_int(reason_of("9.9.9"), -1, "... 9.9.9 is nowhere listed");
	is_str(f.refused[1].version, "3.0.0", "... the refused are named");
	over();
	is_str(run(REGISTRY_NPM, REGISTRY_FORM_NPM_SHORT, "x", packument),
	    "{\"name\":\"x\",\"versions\":{"
	    "\"1.0.0\":{\"name\":\"x\",\"version\":\"1.0.0\","
	    "\"dist\":{\"tarball\":\"u\"},\"hasInstallScript\":true},"
	    "\"2.0.0\":{\"version\":\"2.0.0\"},"
	    "\"2.1.0-rc.1\":{\"version\":\"2.1.0-rc.1\"}},"
	    "\"dist-tags\":{\"old\":\"1.0.0\",\"latest\":\"2.0.0\"},"
	    "\"modified\":\"" YOUNG "\"}\n",
	    "npm: the abbreviated document, out of the full one");
	over();
}

static void
test_npm_lists(void)
{
	static const struct span all = {(const uint8_t *)"*", 1};

	rules.allow = &all;
	rules.nallow = 1;
	(void)run(REGISTRY_NPM, REGISTRY_FORM_NPM, "x", packument);
	is_int(f.kept, 5, "npm: the allow list skips the quarantine");
	ok(memmem(buf_span(&f.out).p, f.out.len, "\"latest\":\"3.0.0\"", 16) !=
		NULL,
	    "... and latest stays");
	over();
	rules.deny = &all;
	rules.ndeny = 1;
	(void)run(REGISTRY_NPM, REGISTRY_FORM_NPM, "x", packument);
	is_int(f.kept, 0, "npm: the deny list wins");
	is_int(reason_of("1.0.0"), REGISTRY_DENIED, "... and says so");
	over();
	rules.nallow = rules.ndeny = 0;
}

static void
test_bad(enum registry r, enum registry_form form, const char *text,
    const char *want)
{
	char bad[128];

	snprintf(bad, sizeof(bad), "BAD: %s", want);
	is_str(run(r, form, "x", text), bad, "%.60s", text);
	over();
}

static void
test_npm_bad(void)
{
	enum registry r = REGISTRY_NPM;
	enum registry_form n = REGISTRY_FORM_NPM;

	test_bad(r, n, "", "it is not strict JSON");
	test_bad(r, n, "[]", "it is no JSON object");
	test_bad(r, n, "{}", "it is another package's");
	test_bad(r, n, "{\"name\":\"y\",\"versions\":{}}",
	    "it is another package's");
	test_bad(r, n, "{\"name\":[\"x\"],\"versions\":{}}",
	    "it is another package's");
	test_bad(r, n, "{\"name\":\"x\"}", "it lists no versions");
	test_bad(
	    r, n, "{\"name\":\"x\",\"versions\":[]}", "it lists no versions");
	test_bad(
	    r, n, "{\"name\":\"x\",\"versions\":{}", "it is not strict JSON");
	test_bad(
	    r, n, "{\"name\":\"x\",\"versions\":{}}x", "it is not strict JSON");
	test_bad(r, n, "{\"name\":\"x\",\"versions\":{},\"v\\u0065rsions\":{}}",
	    "it is not strict JSON");
	test_bad(r, n,
	    "{\"name\":\"x\",\"versions\":{\"1.0.0\":{},\"1.0.0\":{}}}",
	    "it is not strict JSON");
	test_bad(r, n,
	    "{\"name\":\"x\",\"versions\":{\"1.0.0\":{\"a\":\"\xff\"}}}",
	    "it is not strict JSON");
}

/* Malformed versions are left out, and no part of them is copied. */
static void
test_npm_odd(void)
{
	is_str(
	    run(REGISTRY_NPM, REGISTRY_FORM_NPM_SHORT, "x",
		"{\"name\":\"x\",\"time\":{\"1.0.0\":17,\"\\u0032.0.0\":\"" OLD
		"\",\"3.0.0\":\"yesterday\",\"..\":\"" OLD "\",\"4.0.0\":\"" OLD
		"\"},\"versions\":{\"1.0.0\":{},\"\\u0032.0.0\":{},"
		"\"3.0.0\":{},\"..\":{},\"4.0.0\":[],\"1/..\":{},"
		"\"\":{}},\"dist-tags\":{\"latest\":4,\"a\":\"3.0.0\","
		"\"b\":[\"4.0.0\"]}}"),
	    "{\"name\":\"x\",\"versions\":{},\"dist-tags\":{}}\n",
	    "npm: odd shapes are no versions");
	is_int(f.kept, 0, "... none is left");
	over();
	is_str(run(REGISTRY_NPM, REGISTRY_FORM_NPM, "x",
		   "{\"versions\":{\"1.0.0-a\":{}},\"time\":{\"1.0.0-a\":\"" OLD
		   "\"},\"name\":\"\\u0078\"}"),
	    "{\"name\":\"x\",\"versions\":{\"1.0.0-a\":{}},\"dist-tags\":"
	    "{\"latest\":\"1.0.0-a\"},\"time\":{\"1.0.0-a\":\"" OLD "\"}}\n",
	    "npm: a prerelease is latest where nothing else is");
	over();
}

#define SUM "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PFILE(file, more)                                                      \
	"{\"filename\":\"" file                                                \
	"\",\"url\":\"https://f.test/packages/a/b/c/" file "\"" more "}"

static const char project[] =
    "{\"meta\":{\"api-version\":\"1.3\"},\"name\":\"X\",\"files\":[" PFILE(
	"x-1.0-py3-none-any.whl",
	",\"hashes\":{\"sha256\":\"" SUM "\","
	"\"odd\":\"\\\"><script>\"},\"requires-python\":\">=3.8 <\\\"4\\\"\","
	"\"upload-time\":\"" OLD "\",\"size\":12,\"yanked\":\"a & <b>\","
	"\"core-metadata\":{\"sha256\":\"" SUM
	"\"},\"provenance\":\"p\"") "," PFILE("x-1.0.tar.gz",
	",\"hashes\":{},\"upload-time\":\"" YOUNG
	"\"") "," PFILE("x-2.0.tar.gz",
	",\"hashes\":{}") "," PFILE("y-1.0.tar.gz",
	",\"upload-time\":\"" OLD "\"") "," PFILE("x-3.0.exe",
	",\"upload-time\":\"" OLD
	"\"") "," PFILE("x-0.9.zip", ",\"upload-time\":\"" OLD
				     "\",\"yanked\":false,"
				     "\"requires-python\":null,\"dist-info-"
				     "metadata\":true") ","
							"{\"filename\":\"x-0.8."
							"zip\",\"upload-time\":"
							"\"" OLD "\","
							"\"url\":\"https://"
							"f.test/packages/a/b/c/"
							"x-0.7.zip\"},"
							"{\"filename\":\"x-0.8."
							"zip\",\"upload-time\":"
							"\"" OLD "\","
							"\"url\":\"https://"
							"f.test/packages/a/b/c/"
							"x-0.8.zip#egg=y\"},"
							"{\"filename\":\"x-0.8."
							"zip\",\"upload-time\":"
							"\"" OLD "\","
							"\"url\":\"https://"
							"f.test/packages/a/b/c/"
							"x-0.8.zip.metadata\"},"
							"{\"filename\":\"x-0.8."
							"zip\",\"upload-time\":"
							"\"" OLD "\"},17,[]"
							"],\"versions\":[\"9."
							"9\"]}";

static void
test_pypi(void)
{
	is_str(run(REGISTRY_PYPI, REGISTRY_FORM_PYPI_JSON, "x", project),
	    "{\"meta\":{\"api-version\":\"1.1\"},\"name\":\"x\",\"files\":"
	    "[" PFILE("x-1.0-py3-none-any.whl",
		",\"hashes\":{\"sha256\":\"" SUM
		"\"},\"requires-python\":\">=3.8 <\\\"4\\\"\",\"size\":12,"
		"\"upload-time\":\"" OLD
		"\",\"core-metadata\":{\"sha256\":\"" SUM
		"\"},\"yanked\":\"a & <b>\"") "," PFILE("x-0.9.zip",
		",\"hashes\":{},\"upload-time\":\"" OLD
		"\",\"core-metadata\":true,\"yanked\":false") "],\"versions\":["
							      "\"0.9\",\"1.0\"]"
							      "}\n",
	    "pypi: files that are young, untimed or another's are gone");
	ok(strict(buf_span(&f.out)), "... as strict JSON");
	is_int(reason_of("a/b/c/x-1.0-py3-none-any.whl"), REGISTRY_GOOD,
	    "... a file that may be had");
	is_int(reason_of("a/b/c/x-1.0.tar.gz"), REGISTRY_YOUNG,
	    "... one that was added to an old version today");
	is_int(reason_of("a/b/c/x-2.0.tar.gz"), REGISTRY_UNTIMED,
	    "... one without a time");
	is_int(reason_of("a/b/d/x-1.0-py3-none-any.whl"), -1,
	    "... the same name elsewhere is another file");
	over();
	is_str(run(REGISTRY_PYPI, REGISTRY_FORM_PYPI_HTML, "x", project),
	    "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version"
	    "\" content=\"1.1\"><title>Links for x</title></head>\n<body>\n"
	    "<a href=\"https://f.test/packages/a/b/c/x-1.0-py3-none-any.whl"
	    "#sha256=" SUM "\" data-requires-python=\"&gt;=3.8 &lt;&quot;4"
	    "&quot;\" data-core-metadata=\"sha256=" SUM "\" "
	    "data-yanked=\"a &amp; &lt;b&gt;\">x-1.0-py3-none-any.whl</a><br>\n"
	    "<a href=\"https://f.test/packages/a/b/c/x-0.9.zip\" "
	    "data-core-metadata=\"true\">x-0.9.zip</a><br>\n"
	    "</body></html>\n",
	    "pypi: the same as HTML, escaped");
	over();
	test_bad(REGISTRY_PYPI, REGISTRY_FORM_PYPI_JSON,
	    "{\"name\":\"y\",\"files\":[]}", "it is another package's");
	test_bad(REGISTRY_PYPI, REGISTRY_FORM_PYPI_JSON, "{\"files\":[]}",
	    "it is another package's");
	test_bad(REGISTRY_PYPI, REGISTRY_FORM_PYPI_JSON, "{\"name\":\"x\"}",
	    "it lists no files");
	test_bad(REGISTRY_PYPI, REGISTRY_FORM_PYPI_HTML,
	    "<!DOCTYPE html><a href=\"x\">", "it is not strict JSON");
	test_bad(REGISTRY_PYPI, REGISTRY_FORM_PYPI_JSON,
	    "{\"name\":\"x\",\"files\":[{\"url\":1,\"url\":2}]}",
	    "it is not strict JSON");
}

static void
test_crates(void)
{
	is_str(
	    run(REGISTRY_CRATES, REGISTRY_FORM_CRATES, "x",
		"{\"name\":\"X\",\"vers\":\"1.0.0\",\"deps\":[{\"a\":1}],"
		"\"cksum\":\"c\",\"extra\":1,\"yanked\":false,"
		"\"pubtime\":\"" OLD "\"}\n"
		"{\"name\":\"x\",\"vers\":\"1.1.0\",\"cksum\":\"c\"}\r\n"
		"{\"name\":\"x\",\"vers\":\"1.2.0\",\"pubtime\":\"" YOUNG
		"\"}\n\nnot json\n{\"name\":\"y\",\"vers\":\"1.3.0\","
		"\"pubtime\":\"" OLD "\"}\n{\"name\":\"x\",\"vers\":\"1.4.0\","
		"\"vers\":\"1.5.0\",\"pubtime\":\"" OLD "\"}\n"
		"{\"name\":\"x\",\"vers\":\"1.6.0\",\"pubtime\":\"" OLD "\"} {"
		"}\n{\"name\":\"x\",\"vers\":\"../1\",\"pubtime\":\"" OLD
		"\"}\n{\"vers\":\"1.7.0\",\"name\":\"x\",\"pubtime\":\"" OLD
		"\"}"),
	    "{\"name\":\"X\",\"vers\":\"1.0.0\",\"deps\":[{\"a\":1}],"
	    "\"cksum\":\"c\",\"yanked\":false,\"pubtime\":\"" OLD "\"}\n"
	    "{\"name\":\"x\",\"vers\":\"1.7.0\",\"pubtime\":\"" OLD "\"}\n",
	    "crates: lines that are young, untimed, another's or no JSON go");
	is_int(f.kept, 2, "... two are left");
	is_int(f.gone, 2, "... two are refused");
	is_int(reason_of("1.4.0"), -1, "... one with a name twice is none");
	over();
	test_bad(REGISTRY_CRATES, REGISTRY_FORM_CRATES,
	    "{\"name\":\"x\",\"vers\":\"1.0.0\",\"pubtime\":\"" OLD "\"}\n"
	    "{\"name\":\"x\",\"vers\":\"1.0.0\",\"pubtime\":\"" YOUNG "\"}\n",
	    "it lists a version twice");
	is_str(
	    run(REGISTRY_CRATES, REGISTRY_FORM_CRATES_CONFIG, "",
		"{\"dl\":\"https://s.test/crates\",\"api\":\"https://a.test\","
		"\"auth-required\":true}"),
	    "{\"dl\":\"https://s.test/crates\"}\n",
	    "crates: of config.json the place of the files is left");
	over();
	test_bad(REGISTRY_CRATES, REGISTRY_FORM_CRATES_CONFIG,
	    "{\"api\":\"x\"}", "it does not say where the files are");
}

/* A line without a time is at least as old as its file. */
static void
test_crates_untimed(void)
{
	static const char text[] =
	    "{\"name\":\"x\",\"vers\":\"1.0.0\"}\n"
	    "{\"name\":\"x\",\"vers\":\"1.1.0\",\"pubtime\":\"" YOUNG "\"}\n"
	    "{\"name\":\"x\",\"vers\":\"1.2.0\",\"pubtime\":\"soon\"}\n";
	static const struct {
		int64_t modified;
		int want;
	} rows[] = {{0, REGISTRY_UNTIMED}, {NOW, REGISTRY_UNTIMED},
	    {NOW + 86400, REGISTRY_UNTIMED},
	    {NOW - 2 * 86400 + 1, REGISTRY_UNTIMED},
	    {NOW - 2 * 86400, REGISTRY_GOOD}};

	for (size_t i = 0; i < nitems(rows); i++) {
		f.modified = rows[i].modified;
		(void)run(REGISTRY_CRATES, REGISTRY_FORM_CRATES, "x", text);
		is_int(reason_of("1.0.0"), rows[i].want,
		    "crates: no time, in a file of %lld",
		    (long long)rows[i].modified);
		is_int(reason_of("1.1.0"), REGISTRY_YOUNG, "... a young one");
		is_int(reason_of("1.2.0"), REGISTRY_UNTIMED,
		    "... one whose time is none");
		over();
	}
	f.modified = 0;
}

/* One version or file too many, and a document with exactly the maximum. */
static void
test_limits(void)
{
	struct buf b;
	bool over_it;

	for (int more = 0; more < 2; more++) {
		over_it = more != 0;
		buf_init(&b, 8U << 20);
		buf_adds(&b, "{\"name\":\"x\",\"files\":[");
		for (unsigned i = 0; i < REGISTRY_MAX_ENTRIES + (unsigned)more;
		     i++)
			buf_printf(&b,
			    "%s" PFILE(
				"x-%u.zip", ",\"upload-time\":\"" OLD "\""),
			    i == 0 ? "" : ",", i, i);
		buf_adds(&b, "]}");
		buf_addc(&b, 0);
		rules.registry = REGISTRY_PYPI;
		f.rules = &rules;
		f.package = "x";
		f.form = REGISTRY_FORM_PYPI_HTML;
		is_int(registry_filter(&f, span_of(buf_span(&b).p, b.len - 1)),
		    over_it ? -1 : 0, "%u files", f.nentries);
		if (over_it)
			is_str(f.why, "it lists too many versions",
			    "... too many");
		over();
		buf_free(&b);
	}
}

static void
test_form(enum registry r, const char *accept, enum registry_form want)
{
	is_int(registry_form(
		   r, accept == NULL ? span_of(NULL, 0) : span_str(accept)),
	    want, "Accept: %s", accept == NULL ? "(none)" : accept);
}

int
main(void)
{
	test_npm();
	test_npm_lists();
	test_npm_bad();
	test_npm_odd();
	test_pypi();
	test_crates();
	test_crates_untimed();
	test_limits();
	test_form(REGISTRY_NPM, NULL, REGISTRY_FORM_NPM);
	test_form(REGISTRY_NPM,
	    "application/vnd.npm.install-v1+json; q=1.0, */*",
	    REGISTRY_FORM_NPM_SHORT);
	test_form(REGISTRY_PYPI, "text/html", REGISTRY_FORM_PYPI_HTML);
	test_form(REGISTRY_PYPI,
	    "application/vnd.pypi.simple.v1+json, text/html; q=0.1",
	    REGISTRY_FORM_PYPI_JSON);
	test_form(REGISTRY_PYPI, "application/vnd.pypi.simple.v1+html",
	    REGISTRY_FORM_PYPI_HTML_V1);
	return tap_done();
}
