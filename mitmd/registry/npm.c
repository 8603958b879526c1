/* SPDX-License-Identifier: ISC */
/*
 * npm's packument: `versions`, `time` and `dist-tags`, without the refused
 * versions. If `latest` is refused, it becomes the newest remaining version, a
 * prerelease only if there is nothing else. The abbreviated document has no
 * times, so it is composed here from the full one.
 */
#include "registry/filter.h"

#define NPM_MAX_TAGS 1000U

struct npm {
	struct registry_filter *f;
	struct span versions, time, tags; /* objects in the text */
	struct span modified, latest;
	int64_t latest_when;
	bool latest_pre;
	bool comma;
};

static bool
npm_among(struct span name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (registry_is(name, list[i]))
			return true;
	}
	return false;
}

#define NPM_AMONG(name, list) npm_among(name, list, nitems(list))

/* Write "name": for the next value. */
static void
npm_name(struct npm *n, struct span name)
{
	struct buf *out = &n->f->out;

	buf_adds(out, n->comma ? ",\"" : "\"");
	buf_addspan(out, name);
	buf_adds(out, "\":");
	n->comma = true;
}

static void
npm_open(struct npm *n, const char *name)
{
	npm_name(n, span_str(name));
	buf_addc(&n->f->out, '{');
	n->comma = false;
}

static void
npm_close(struct npm *n)
{
	buf_addc(&n->f->out, '}');
	n->comma = true;
}

/* Copy the members about the package, as opposed to its versions. */
static int
npm_root(struct npm *n)
{
	static const char *const kept[] = {"_id", "author", "bugs",
	    "contributors", "description", "homepage", "keywords", "license",
	    "maintainers", "readme", "readmeFilename", "repository"};
	struct registry_filter *f = n->f;
	enum body_token_type type;
	struct body_token t;
	struct span value, key;
	bool named = false;

	registry_scan(f, f->text);
	if (registry_next(f, &t) != BODY_OBJECT)
		return registry_bad(f, "it is no JSON object");
	while ((type = registry_next(f, &t)) != BODY_CLOSE) {
		key = t.key;
		if (type == BODY_STRING && registry_is(key, "name"))
			named = registry_is(t.value, f->package);
		if ((value = registry_value(f, &t)).p == NULL)
			return -1;
		if (type == BODY_OBJECT && registry_is(key, "versions"))
			n->versions = value;
		else if (type == BODY_OBJECT && registry_is(key, "time"))
			n->time = value;
		else if (type == BODY_OBJECT && registry_is(key, "dist-tags"))
			n->tags = value;
		else if (f->form == REGISTRY_FORM_NPM && NPM_AMONG(key, kept)) {
			npm_name(n, key);
			buf_addspan(&f->out, value);
		}
	}
	if (registry_next(f, &t) != BODY_DONE)
		return -1;
	if (!named)
		return registry_bad(f, "it is another package's");
	if (n->versions.p == NULL)
		return registry_bad(f, "it lists no versions");
	return 0;
}

static int
npm_times(struct npm *n)
{
	struct registry_filter *f = n->f;
	enum body_token_type type;
	struct body_token t;
	struct span key, text;

	if (n->time.p == NULL)
		return 0;
	registry_scan(f, n->time);
	(void)registry_next(f, &t);
	while ((type = registry_next(f, &t)) != BODY_CLOSE) {
		key = t.key;
		text = registry_plain(&t);
		if (registry_value(f, &t).p == NULL)
			return -1;
		if (span_is(key, "modified"))
			n->modified = text;
		else if (type == BODY_STRING && registry_version_ok(key) &&
			 registry_row(f, key, text) == -1)
			return -1;
	}
	registry_sort(f);
	return 0;
}

static void
npm_newest(struct npm *n, struct span version, int64_t when)
{
	bool pre = memchr(version.p, '-', version.len) != NULL;

	if (when == REGISTRY_NEVER)
		return;
	if (n->latest.p != NULL &&
	    (pre == n->latest_pre ? when <= n->latest_when : pre))
		return;
	n->latest = version;
	n->latest_when = when;
	n->latest_pre = pre;
}

/* Set `*runs` if one of the scripts runs at installation. */
static int
npm_scripts(struct registry_filter *f, bool *runs)
{
	static const char *const install[] = {
	    "install", "postinstall", "preinstall"};
	struct body_token t;
	struct span key;

	while (registry_next(f, &t) != BODY_CLOSE) {
		key = t.key;
		if (registry_value(f, &t).p == NULL)
			return -1;
		*runs |= NPM_AMONG(key, install);
	}
	return 0;
}

/* Copy the members of a version that the short document needs. */
static int
npm_short(struct npm *n)
{
	static const char *const kept[] = {"acceptDependencies", "bin",
	    "bundleDependencies", "bundledDependencies", "cpu", "dependencies",
	    "deprecated", "devDependencies", "directories", "dist", "engines",
	    "funding", "_hasShrinkwrap", "libc", "name", "optionalDependencies",
	    "os", "peerDependencies", "peerDependenciesMeta", "version"};
	struct registry_filter *f = n->f;
	enum body_token_type type;
	struct body_token t;
	struct span key, value;
	bool runs = false;

	buf_addc(&f->out, '{');
	n->comma = false;
	while ((type = registry_next(f, &t)) != BODY_CLOSE) {
		key = t.key;
		if (type == BODY_OBJECT && registry_is(key, "scripts")) {
			if (npm_scripts(f, &runs) == -1)
				return -1;
			continue;
		}
		if ((value = registry_value(f, &t)).p == NULL)
			return -1;
		if (!NPM_AMONG(key, kept))
			continue;
		npm_name(n, key);
		buf_addspan(&f->out, value);
	}
	if (runs) {
		npm_name(n, SPAN("hasInstallScript"));
		buf_adds(&f->out, "true");
	}
	npm_close(n);
	return 0;
}

static int
npm_version(struct npm *n, struct body_token *t, enum body_token_type type)
{
	struct registry_filter *f = n->f;
	struct span key = t->key, value;
	struct registry_row *row;
	int64_t when;

	row = registry_find_row(f, key);
	when = row != NULL ? row->when : REGISTRY_NEVER;
	if (type != BODY_OBJECT || !registry_version_ok(key) ||
	    !registry_admit(f, key, key, when))
		return registry_value(f, t).p == NULL || f->why != NULL ? -1
									: 0;
	if (row != NULL)
		row->kept = true;
	npm_newest(n, key, when);
	npm_name(n, key);
	if (f->form == REGISTRY_FORM_NPM_SHORT)
		return npm_short(n);
	if ((value = registry_value(f, t)).p == NULL)
		return -1;
	buf_addspan(&f->out, value);
	return 0;
}

static int
npm_versions(struct npm *n)
{
	struct registry_filter *f = n->f;
	enum body_token_type type;
	struct body_token t;

	npm_open(n, "versions");
	registry_scan(f, n->versions);
	(void)registry_next(f, &t);
	while ((type = registry_next(f, &t)) != BODY_CLOSE) {
		if (type == BODY_BAD || npm_version(n, &t, type) == -1)
			return -1;
	}
	npm_close(n);
	return 0;
}

static bool
npm_kept(const struct registry_filter *f, struct span version)
{
	uint8_t id[REGISTRY_ID];

	registry_id(version, id);
	for (unsigned i = 0; i < f->nentries; i++) {
		if (memcmp(f->entries[i].id, id, sizeof(id)) == 0)
			return registry_allows((struct registry_verdict){
			    (enum registry_reason)f->entries[i].reason, 0});
	}
	return false;
}

static void
npm_tag(struct npm *n, struct span name, struct span version)
{
	npm_name(n, name);
	buf_addc(&n->f->out, '"');
	buf_addspan(&n->f->out, version);
	buf_addc(&n->f->out, '"');
}

static int
npm_tags(struct npm *n)
{
	struct registry_filter *f = n->f;
	struct body_token t;
	struct span key, version;
	unsigned count = 0;
	bool latest = false;

	npm_open(n, "dist-tags");
	if (n->tags.p != NULL) {
		registry_scan(f, n->tags);
		(void)registry_next(f, &t);
		while (registry_next(f, &t) != BODY_CLOSE) {
			key = t.key;
			version = registry_plain(&t);
			if (registry_value(f, &t).p == NULL)
				return -1;
			if (version.p == NULL || key.len > 256 ||
			    ++count > NPM_MAX_TAGS || !npm_kept(f, version))
				continue;
			latest |= registry_is(key, "latest");
			npm_tag(n, key, version);
		}
	}
	if (!latest && n->latest.p != NULL)
		npm_tag(n, SPAN("latest"), n->latest);
	npm_close(n);
	return 0;
}

static void
npm_out_times(struct npm *n)
{
	struct registry_filter *f = n->f;

	if (f->form == REGISTRY_FORM_NPM_SHORT) {
		if (n->modified.p != NULL)
			npm_tag(n, SPAN("modified"), n->modified);
		return;
	}
	npm_open(n, "time");
	if (n->modified.p != NULL)
		npm_tag(n, SPAN("modified"), n->modified);
	for (unsigned i = 0; i < f->nrows; i++) {
		if (f->rows[i].kept && f->rows[i].text.p != NULL)
			npm_tag(n, f->rows[i].version, f->rows[i].text);
	}
	npm_close(n);
}

int
registry_npm(struct registry_filter *f)
{
	struct npm n = {.f = f};

	buf_addc(&f->out, '{');
	npm_name(&n, SPAN("name"));
	buf_printf(&f->out, "\"%s\"", f->package);
	if (npm_root(&n) == -1 || npm_times(&n) == -1 ||
	    npm_versions(&n) == -1 || npm_tags(&n) == -1)
		return -1;
	npm_out_times(&n);
	buf_adds(&f->out, "}\n");
	return 0;
}
