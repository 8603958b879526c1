/* SPDX-License-Identifier: ISC */
/*
 * A decoder for the paths of each registry. They take bytes of the agent, keep
 * no state, and accept only paths with the same meaning here and at the
 * registry: no dot segments, no unlisted escapes, nothing left over.
 */
#include "registry/path.h"

#include <stdio.h>

#include "common/json/text.h"

#define PATH_MAX_SEGMENTS 12U
#define PATH_MAX_SEGMENT 256U

/* A path, decoded and split at its slashes. */
struct segments {
	struct span s[PATH_MAX_SEGMENTS];
	unsigned n;
	bool slash; /* the path ends in a slash */
	uint8_t mem[2048];
};

static const char *const registry_names[REGISTRY_COUNT] = {
    [REGISTRY_NPM] = "npm",
    [REGISTRY_PYPI] = "pypi",
    [REGISTRY_CRATES] = "crates",
    [REGISTRY_DEBIAN] = "debian",
};

const char *
registry_name(enum registry r)
{
	return (unsigned)r < REGISTRY_COUNT ? registry_names[r] : "";
}

int
registry_find(struct span name)
{
	for (unsigned i = 0; i < REGISTRY_COUNT; i++) {
		if (span_is(name, registry_names[i]))
			return (int)i;
	}
	return -1;
}

static bool
path_alnum(uint8_t c)
{
	return text_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Letters, digits and the characters of `more`; 1 to `max` of them. */
static bool
path_made_of(struct span s, const char *more, size_t max)
{
	if (s.len == 0 || s.len > max)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!path_alnum(s.p[i]) &&
		    (s.p[i] == '\0' || strchr(more, s.p[i]) == NULL))
			return false;
	}
	return true;
}

/* Returns the byte that %XX encodes if it is in `coded`, else 0. */
static uint8_t
path_escape(struct span s, const char *coded)
{
	static const struct {
		char hex[3];
		char is;
	} known[] = {{"2b", '+'}, {"2f", '/'}, {"3a", ':'}, {"7e", '~'}};

	if (s.len < 3)
		return 0;
	for (unsigned i = 0; i < nitems(known); i++) {
		if (strchr(coded, known[i].is) != NULL &&
		    span_ieq(span_of(s.p + 1, 2), span_str(known[i].hex)))
			return (uint8_t)known[i].is;
	}
	return 0;
}

/* Add a segment. Returns -1 if it is empty, a dot segment, or one too many. */
static int
path_segment(struct segments *g, size_t from, size_t to)
{
	struct span s = span_of(g->mem + from, to - from);

	if (g->n == PATH_MAX_SEGMENTS || s.len > PATH_MAX_SEGMENT ||
	    s.len == 0 || span_is(s, ".") || span_is(s, ".."))
		return -1;
	g->s[g->n++] = s;
	return 0;
}

/* Split at slashes. A %2f is a byte of its segment. */
static int
path_split(struct segments *g, struct span path, const char *coded)
{
	size_t n = 0, from = 0;
	uint8_t c;

	g->n = 0;
	if (path.len < 2 || path.len > sizeof(g->mem) || path.p[0] != '/')
		return -1;
	g->slash = path.p[path.len - 1] == '/';
	if (g->slash)
		path.len--;
	for (size_t i = 1; i < path.len; i++) {
		c = path.p[i];
		if (c == '/') {
			if (path_segment(g, from, n) == -1)
				return -1;
			from = n;
			continue;
		}
		if (c == '%') {
			c = path_escape(
			    span_of(path.p + i, path.len - i), coded);
			if (c == 0)
				return -1;
			i += 2;
		}
		g->mem[n++] = c;
	}
	return path_segment(g, from, n);
}

bool
registry_version_ok(struct span s)
{
	return path_made_of(s, ".-+_", REGISTRY_MAX_VERSION) &&
	       text_is_digit(s.p[0]);
}

static int
path_set(struct registry_path *r, enum registry_what what, struct span package,
    struct span version)
{
	r->what = what;
	if (span_copy(package, r->package, sizeof(r->package)) == -1 ||
	    span_copy(version, r->version, sizeof(r->version)) == -1 ||
	    span_copy(version, r->id, sizeof(r->id)) == -1)
		return -1;
	return 0;
}

/* Returns the text between `before` and `dash`, and `after`; or p NULL. */
static struct span
path_between(struct span s, struct span before, char dash, const char *after)
{
	size_t n = strlen(after);

	if (s.len <= before.len + 1 + n || !span_starts(s, before) ||
	    s.p[before.len] != (uint8_t)dash ||
	    !span_is(span_of(s.p + s.len - n, n), after))
		return span_of(NULL, 0);
	return span_of(s.p + before.len + 1, s.len - before.len - 1 - n);
}

static bool
npm_word_ok(struct span s)
{
	return path_made_of(s, "-._~", REGISTRY_MAX_NAME) && path_alnum(s.p[0]);
}

/*
 * Read "@scope/name" or "name" from the front. Returns the number of segments
 * used, or 0.
 */
static unsigned
npm_package(const struct segments *g, char *dst, size_t cap, struct span *name)
{
	struct span scope = g->s[0];
	const uint8_t *mark;
	unsigned used = 1;
	int n;

	if (scope.p[0] != '@') {
		*name = scope;
		if (!npm_word_ok(*name) || span_copy(*name, dst, cap) == -1)
			return 0;
		return 1;
	}
	if ((mark = memchr(scope.p, '/', scope.len)) != NULL) {
		*name =
		    span_of(mark + 1, (size_t)(scope.p + scope.len - mark) - 1);
		scope.len = (size_t)(mark - scope.p);
	} else {
		if (g->n < 2)
			return 0;
		*name = g->s[1];
		used = 2;
	}
	if (!npm_word_ok(*name) ||
	    !npm_word_ok(span_of(scope.p + 1, scope.len - 1)))
		return 0;
	n = snprintf(dst, cap, "%.*s/%.*s", (int)scope.len,
	    (const char *)scope.p, (int)name->len, (const char *)name->p);
	return n > 0 && (size_t)n < cap ? used : 0;
}

static int
path_npm(const struct segments *g, struct registry_path *r)
{
	struct span name, version;
	unsigned used;

	if (g->slash ||
	    (used = npm_package(g, r->package, sizeof(r->package), &name)) == 0)
		return -1;
	if (g->n == used) {
		r->what = REGISTRY_METADATA;
		return 0;
	}
	if (g->n != used + 2 || !span_is(g->s[used], "-"))
		return -1;
	version = path_between(g->s[used + 1], name, '-', ".tgz");
	if (!registry_version_ok(version))
		return -1;
	return path_set(r, REGISTRY_ARTEFACT, span_str(r->package), version);
}

static int
path_pypi(const struct segments *g, struct registry_path *r)
{
	struct span file, version, meta = SPAN(".metadata");
	size_t n = 0;

	if (g->n == 2 && span_is(g->s[0], "simple") && g->slash) {
		r->what = REGISTRY_METADATA;
		return registry_pypi_name(
		    g->s[1], r->package, sizeof(r->package));
	}
	if (g->n < 3 || g->n > 6 || g->slash || !span_is(g->s[0], "packages"))
		return -1;
	file = g->s[g->n - 1];
	if (file.len > meta.len &&
	    span_eq(span_of(file.p + file.len - meta.len, meta.len), meta))
		file.len -= meta.len;
	if (registry_pypi_file(
		file, r->package, sizeof(r->package), &version) == -1 ||
	    path_set(r, REGISTRY_ARTEFACT, span_str(r->package), version) == -1)
		return -1;
	for (unsigned i = 1; i + 1 < g->n; i++) {
		if (!path_made_of(g->s[i], "-._", 64))
			return -1;
		memcpy(r->id + n, g->s[i].p, g->s[i].len);
		n += g->s[i].len;
		r->id[n++] = '/';
	}
	return span_copy(file, r->id + n, sizeof(r->id) - n);
}

static bool
crate_name_ok(struct span s)
{
	return path_made_of(s, "-_", 64) && !text_is_digit(s.p[0]) &&
	       path_alnum(s.p[0]);
}

/* Store the name in lower case, as in the index. */
static int
crate_set(struct registry_path *r, struct span name, struct span version)
{
	if (!crate_name_ok(name) || !registry_version_ok(version) ||
	    path_set(r, REGISTRY_ARTEFACT, name, version) == -1)
		return -1;
	for (char *p = r->package; *p != '\0'; p++) {
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p | 0x20);
	}
	return 0;
}

static int
path_crates(const struct segments *g, struct registry_path *r)
{
	char want[REGISTRY_MAX_NAME + 16];
	unsigned i = 0;
	size_t at = 0;

	if (g->slash)
		return -1;
	if (g->n == 1 && span_is(g->s[0], "config.json"))
		return path_set(r, REGISTRY_INDEX, SPAN(""), SPAN(""));
	if (g->n == 5 || g->n == 6) {
		if (!span_is(g->s[0], "api") || !span_is(g->s[1], "v1"))
			return -1;
		i = 2;
	}
	if (g->n > i + 2 && span_is(g->s[i], "crates")) {
		if (g->n == i + 3 && i == 0)
			return crate_set(r, g->s[1],
			    path_between(g->s[2], g->s[1], '-', ".crate"));
		if (g->n == i + 4 && span_is(g->s[i + 3], "download"))
			return crate_set(r, g->s[i + 1], g->s[i + 2]);
	}
	if (g->n > 3 || !crate_name_ok(g->s[g->n - 1]))
		return -1;
	/* The name determines the directories: accept only that spelling. */
	r->what = REGISTRY_METADATA;
	if (span_copy(g->s[g->n - 1], r->package, sizeof(r->package)) == -1 ||
	    registry_metadata_path(
		REGISTRY_CRATES, r->package, want, sizeof(want)) == -1)
		return -1;
	for (i = 0; i < g->n; i++) {
		if (want[at] != '/' ||
		    !span_starts(span_str(want + at + 1), g->s[i]))
			return -1;
		at += 1 + g->s[i].len;
	}
	return want[at] == '\0' ? 0 : -1;
}

static bool
debian_ends(struct span s, const char *end)
{
	size_t n = strlen(end);

	return s.len > n && span_is(span_of(s.p + s.len - n, n), end);
}

/* NAME_VERSION_ARCH.deb, or NAME_VERSION... for sources. */
static int
debian_file(struct span file, struct registry_path *r)
{
	static const char *const source[] = {".dsc", ".tar.gz", ".tar.bz2",
	    ".tar.xz", ".tar.zst", ".diff.gz", ".asc"};
	const uint8_t *mark = memchr(file.p, '_', file.len);
	struct span name, version;
	bool good = false;

	if (mark == NULL)
		return -1;
	name = span_of(file.p, (size_t)(mark - file.p));
	version = span_of(mark + 1, file.len - name.len - 1);
	if (!path_made_of(name, "+.-", 128) || !path_alnum(name.p[0]))
		return -1;
	if (debian_ends(version, ".deb") || debian_ends(version, ".udeb")) {
		if ((mark = memchr(version.p, '_', version.len)) == NULL)
			return -1;
		file = span_of(
		    mark + 1, (size_t)(version.p + version.len - mark) - 1);
		version.len = (size_t)(mark - version.p);
		good = path_made_of(file, "-.", 64);
	}
	for (unsigned i = 0; i < nitems(source); i++)
		good |= debian_ends(version, source[i]);
	if (!good || !path_made_of(version, ".+~:-", REGISTRY_MAX_VERSION) ||
	    !text_is_digit(version.p[0]))
		return -1;
	return path_set(r, REGISTRY_ARTEFACT, name, version);
}

static int
path_debian(const struct segments *g, struct registry_path *r)
{
	unsigned root = 0;
	struct span last;

	for (unsigned i = 0; i < g->n; i++) {
		if (!path_made_of(g->s[i], "._+~:-", PATH_MAX_SEGMENT))
			return -1;
	}
	while (root < g->n && !span_is(g->s[root], "dists") &&
	       !span_is(g->s[root], "pool"))
		root++;
	last = g->s[g->n - 1];
	if (g->slash || root > 4 || g->n < root + 3)
		return -1;
	if (span_is(g->s[root], "pool"))
		return debian_file(last, r);
	if (debian_ends(last, ".deb") || debian_ends(last, ".udeb"))
		return -1;
	return path_set(r, REGISTRY_INDEX, SPAN(""), SPAN(""));
}

int
registry_path_parse(
    enum registry reg, struct span path, struct registry_path *r)
{
	struct segments g;

	*r = (struct registry_path){.what = REGISTRY_INDEX};
	switch (reg) {
	case REGISTRY_NPM:
		if (path_split(&g, path, "/+") == -1)
			return -1;
		return path_npm(&g, r);
	case REGISTRY_PYPI:
		if (path_split(&g, path, "+") == -1)
			return -1;
		return path_pypi(&g, r);
	case REGISTRY_CRATES:
		if (path_split(&g, path, "+") == -1)
			return -1;
		return path_crates(&g, r);
	case REGISTRY_DEBIAN:
		if (path_split(&g, path, "+:~") == -1)
			return -1;
		return path_debian(&g, r);
	case REGISTRY_COUNT:
		break;
	}
	return -1;
}

int
registry_metadata_path(enum registry reg, const char *p, char *dst, size_t cap)
{
	const char *slash = strchr(p, '/');
	size_t len = strlen(p);
	int n = -1;

	switch (reg) {
	case REGISTRY_NPM:
		n = slash == NULL ? snprintf(dst, cap, "/%s", p)
				  : snprintf(dst, cap, "/%.*s%%2f%s",
					(int)(slash - p), p, slash + 1);
		break;
	case REGISTRY_PYPI:
		n = snprintf(dst, cap, "/simple/%s/", p);
		break;
	case REGISTRY_CRATES:
		if (len < 3)
			n = snprintf(dst, cap, "/%zu/%s", len, p);
		else if (len == 3)
			n = snprintf(dst, cap, "/3/%.1s/%s", p, p);
		else
			n = snprintf(dst, cap, "/%.2s/%.2s/%s", p, p + 2, p);
		for (char *c = dst; n > 0 && (size_t)n < cap && *c != '\0';
		     c++) {
			if (*c >= 'A' && *c <= 'Z')
				return -1;
		}
		break;
	case REGISTRY_DEBIAN:
	case REGISTRY_COUNT:
		break;
	}
	return n > 0 && (size_t)n < cap ? 0 : -1;
}
