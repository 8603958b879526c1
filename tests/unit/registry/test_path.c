/* SPDX-License-Identifier: ISC */
/*
 * Paths of package registries: each has the expected meaning or is refused, and
 * the path of a package's metadata names that package again. Lists and
 * quarantine: which reason takes precedence.
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
	test_rules();
	return tap_done();
}
