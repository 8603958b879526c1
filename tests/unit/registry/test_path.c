/* SPDX-License-Identifier: ISC */
/*
 * Paths of package registries: each has the expected meaning or is refused, and
 * the path of a package's metadata names that package again. Lists and
 * quarantine: which reason takes precedence, and parsing of times.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mitmd/registry/rules.h"
#include "tap.h"
#include "unit/registry/rows.h"

static void
test_path(const struct path_row *row)
{
	struct registry_path r, again;
	size_t len = strlen(row->path);
	uint8_t *copy = malloc(len);
	char meta[256];
	int got;

	if (copy == NULL)
		abort();
	memcpy(copy, row->path, len);
	got = registry_path_parse(row->registry, span_of(copy, len), &r);
	free(copy);
	if (row->package == NULL) {
		is_int(got, -1, "%s: no %s", registry_name(row->registry),
		    row->path);
		return;
	}
	ok(got == 0 && r.what == row->what &&
		strcmp(r.package, row->package) == 0 &&
		strcmp(r.version, row->version) == 0,
	    "%s: %s is %s %s", registry_name(row->registry), row->path,
	    row->package, row->version);
	if (got == -1 || row->registry == REGISTRY_DEBIAN ||
	    r.what == REGISTRY_INDEX)
		return;
	ok(registry_metadata_path(
	       row->registry, r.package, meta, sizeof(meta)) == 0 &&
		registry_path_parse(row->registry, span_str(meta), &again) ==
		    0 &&
		again.what == REGISTRY_METADATA &&
		strcmp(again.package, r.package) == 0,
	    "... whose metadata is at %s", meta);
}

static void
test_id(void)
{
	struct registry_path a, b;

	(void)registry_path_parse(
	    REGISTRY_PYPI, SPAN("/packages/aa/bb/cc/x-1.0%2bz.tar.gz"), &a);
	(void)registry_path_parse(REGISTRY_PYPI,
	    SPAN("/packages/aa/bb/cc/x-1.0+z.tar.gz.metadata"), &b);
	is_str(a.id, "aa/bb/cc/x-1.0+z.tar.gz", "a file of pypi is its path");
	is_str(b.id, a.id, "... and what is beside it goes by that");
	(void)registry_path_parse(REGISTRY_NPM, SPAN("/a/-/a-1.0.0.tgz"), &a);
	is_str(a.id, "1.0.0", "one of npm is its version");
}

/*
 * Every truncation and every changed byte of the good paths: no crash, no dot
 * segments.
 */
static void
test_bent(void)
{
	static const char bytes[] = "/%.@-_+ \\\0\x80?#";
	struct registry_path r;
	uint8_t copy[256];
	size_t len;
	bool bad = false;

	for (size_t i = 0; i < nitems(path_rows); i++) {
		len = strlen(path_rows[i].path);
		for (size_t at = 0; at < len; at++) {
			for (size_t b = 0; b < sizeof(bytes); b++) {
				memcpy(copy, path_rows[i].path, len);
				copy[at] = (uint8_t)bytes[b];
				if (registry_path_parse(path_rows[i].registry,
					span_of(copy, len), &r) == -1)
					continue;
				bad |= memmem(copy, len, "/..", 3) != NULL &&
				       memmem(copy, len, "/../", 4) != NULL;
				bad |= memchr(copy, '\\', len) != NULL ||
				       memchr(copy, ' ', len) != NULL ||
				       memchr(copy, '?', len) != NULL;
			}
		}
	}
	ok(!bad, "no bent path with a dot segment or a stray byte passes");
}

static void
test_glob(enum registry r, const char *pattern, const char *name, bool want)
{
	ok(registry_glob(r, span_str(pattern), span_str(name)) == want,
	    "%s: %s %s %s", registry_name(r), pattern, want ? "is" : "is not",
	    name);
}

static void
test_globs(void)
{
	test_glob(REGISTRY_NPM, "left-pad", "left-pad", true);
	test_glob(REGISTRY_NPM, "Left-Pad", "left-pad", true);
	test_glob(REGISTRY_NPM, "left-pad", "left_pad", false);
	test_glob(REGISTRY_NPM, "left-pad", "left-pad2", false);
	test_glob(REGISTRY_NPM, "left-*", "left-pad", true);
	test_glob(REGISTRY_NPM, "*", "@types/node", true);
	test_glob(REGISTRY_NPM, "@types/*", "@types/node", true);
	test_glob(REGISTRY_NPM, "@types/*", "@typesx/node", false);
	test_glob(REGISTRY_NPM, "node", "@types/node", false);
	test_glob(REGISTRY_NPM, "*/node", "@types/node", true);
	test_glob(REGISTRY_NPM, "a?c", "abc", true);
	test_glob(REGISTRY_NPM, "a?c", "ac", false);
	test_glob(REGISTRY_NPM, "*a*b*c", "xxaxxbxxaxc", true);
	test_glob(REGISTRY_NPM, "*a*b*c", "xxaxxbxxaxcx", false);
	test_glob(REGISTRY_NPM, "***", "", true);
	test_glob(REGISTRY_NPM, "", "a", false);
	test_glob(REGISTRY_PYPI, "Foo_Bar", "foo-bar", true);
	test_glob(REGISTRY_PYPI, "foo._-bar", "foo-bar", true);
	test_glob(REGISTRY_PYPI, "foo.*", "foo-bar", true);
	test_glob(REGISTRY_PYPI, "foo.*", "foobar", false);
	test_glob(REGISTRY_CRATES, "serde_json", "serde-json", true);
	test_glob(REGISTRY_CRATES, "serde-json", "serde_json", true);
	ok(!registry_glob_ok(SPAN("")) && !registry_glob_ok(SPAN("a b")) &&
		!registry_glob_ok(SPAN("a\n")) &&
		registry_glob_ok(SPAN("@a/*")),
	    "patterns are printable and not empty");
}

static void
test_time(const char *text, int64_t want)
{
	int64_t got = REGISTRY_NEVER;

	(void)registry_time(span_str(text), &got);
	is_int(got, want, "time %s", text);
}

static void
test_times(void)
{
	static const char *const bad[] = {"", "2026", "2026-01-01",
	    "2026-01-01T00:00:00", "2026-01-01 00:00:00Z",
	    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
	    "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z",
	    "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
	    "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
	    "2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00ZZ",
	    "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+24:00",
	    "2026-01-01T00:00:00+01:60", "1969-12-31T23:59:59Z",
	    "-026-01-01T00:00:00Z", "99999-01-01T00:00:00Z",
	    "2026-1-01T00:00:00Z", " 2026-01-01T00:00:00Z"};

	test_time("1970-01-01T00:00:00Z", 0);
	test_time("2000-02-29T12:34:56.789Z", 951827696);
	test_time("2026-11-22T04:00:00.123456Z", 1795320000);
	test_time("2026-11-22T05:30:00+01:30", 1795320000);
	test_time("2026-11-21T23:00:00-05:00", 1795320000);
	test_time("2016-12-31T23:59:60Z", 1483228800);
	test_time("9999-12-31T23:59:59Z", 253402300799);
	for (size_t i = 0; i < nitems(bad); i++)
		test_time(bad[i], REGISTRY_NEVER);
}

static void
test_http_time(const char *text, int64_t want)
{
	int64_t got = REGISTRY_NEVER;

	(void)registry_http_time(span_str(text), &got);
	is_int(got, want, "HTTP's time %s", text);
}

static void
test_http_times(void)
{
	static const char *const bad[] = {"", "Thu, 01 Jan 1970 00:00:00 GMT",
	    "Wed, 31 Dec 2014 23:59:59 GMT", "Mon, 22 Nov 2026 04:00:00 GMT",
	    "Sun, 22 nov 2026 04:00:00 GMT", "Sun, 22 Nov 2026 04:00:00 UTC",
	    "Sun, 22 Nov 2026 04:00:00", "Sun, 22 Nov 2026 24:00:00 GMT",
	    "Sun, 22 Nov 2026 04:60:00 GMT", "Sun,  2 Nov 2026 04:00:00 GMT",
	    "Sun, 31 Nov 2026 04:00:00 GMT", "Sun, 29 Feb 2026 04:00:00 GMT",
	    "Sun, 22 Nov 2026 04:00:00 GMTx", "Sun  22 Nov 2026 04:00:00 GMT",
	    "Sun, 22-Nov-2026 04:00:00 GMT", "Sun, 22 Now 2026 04:00:00 GMT",
	    "Sunday, 22-Nov-26 04:00:00 GMT", "Sun Nov 22 04:00:00 2026",
	    "2026-11-22T04:00:00Z"};

	test_http_time("Thu, 01 Jan 2015 00:00:00 GMT", 1420070400);
	test_http_time("Sun, 22 Nov 2026 04:00:00 GMT", 1795320000);
	test_http_time("Thu, 29 Feb 2024 23:59:59 GMT", 1709251199);
	test_http_time("Fri, 31 Dec 9999 23:59:59 GMT", 253402300799);
	for (size_t i = 0; i < nitems(bad); i++)
		test_http_time(bad[i], REGISTRY_NEVER);
}

#define NOW 1795320000

static void
test_judge(const char *package, int64_t when, const char *want)
{
	static const struct span allow[] = {
	    {(const uint8_t *)"ours-*", 6}, {(const uint8_t *)"both", 4}};
	static const struct span deny[] = {
	    {(const uint8_t *)"evil*", 5}, {(const uint8_t *)"both", 4}};
	static const struct registry_rules rules = {.registry = REGISTRY_NPM,
	    .days = 2,
	    .allow = allow,
	    .nallow = 2,
	    .deny = deny,
	    .ndeny = 2};
	char text[REGISTRY_MAX_REASON];

	registry_reason(&rules,
	    registry_judge(&rules, span_str(package), when, NOW), package,
	    "1.0", text, sizeof(text));
	is_str(text, want, "%s", want);
}

static void
test_rules(void)
{
	struct registry_rules none = {.registry = REGISTRY_NPM};

	test_judge("x", NOW - 2 * 86400, "Old enough");
	test_judge("x", NOW - 2 * 86400 + 1,
	    "Version \"1.0\" of \"x\" is only 1 day(s) old "
	    "(quarantine: 2 days)");
	test_judge("x", NOW + 3600,
	    "Version \"1.0\" of \"x\" is only 0 day(s) old "
	    "(quarantine: 2 days)");
	test_judge("x", REGISTRY_NEVER,
	    "No publish timestamp for \"x\" (fail-closed)");
	test_judge("ours-a", REGISTRY_NEVER,
	    "Package \"ours-a\" is on the allow list");
	test_judge(
	    "EVILER", NOW - 99999999, "Package \"EVILER\" is on the deny list");
	test_judge("both", NOW, "Package \"both\" is on the deny list");
	is_int(registry_judge(&none, SPAN("x"), REGISTRY_NEVER, NOW).reason,
	    REGISTRY_GOOD, "without quarantine age does not count");
	none.registry = REGISTRY_DEBIAN;
	none.days = 2;
	is_int(registry_judge(&none, SPAN("x"), REGISTRY_NEVER, NOW).reason,
	    REGISTRY_GOOD, "nor does it for Debian");
}

int
main(void)
{
	for (size_t i = 0; i < nitems(path_rows); i++)
		test_path(&path_rows[i]);
	test_id();
	test_bent();
	test_globs();
	test_times();
	test_http_times();
	test_rules();
	return tap_done();
}
