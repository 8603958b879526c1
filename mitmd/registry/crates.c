/* SPDX-License-Identifier: ISC */
/*
 * The sparse index of crates: a line of JSON for each version. The members
 * about dependencies and checksums are kept; the time of publication decides; a
 * malformed line is left out. From the index's config.json only the place of
 * the files is kept, so that a client learns of no place to publish to.
 */
#include "registry/filter.h"

#include "common/http/date.h"

static const char *const crates_members[] = {"name", "vers", "deps", "cksum",
    "features", "features2", "yanked", "links", "v", "rust_version", "pubtime"};
#define CRATES_MEMBERS nitems(crates_members)

#define CRATES_MAX_LINES 8192U

struct crates_line {
	struct span values[CRATES_MEMBERS]; /* as written */
	struct span name, version, time;
};

/* Returns the index of the member, or CRATES_MEMBERS. */
static size_t
crates_find(struct span key)
{
	size_t i = 0;

	while (i < CRATES_MEMBERS && !registry_is(key, crates_members[i]))
		i++;
	return i;
}

static int
crates_read(struct registry_filter *f, struct span line, struct crates_line *l)
{
	struct body_token t;
	struct span plain, value;
	size_t which;

	*l = (struct crates_line){0};
	registry_scan(f, line);
	if (registry_next(f, &t) != BODY_OBJECT)
		return -1;
	while (registry_next(f, &t) != BODY_CLOSE) {
		which = crates_find(t.key);
		plain = registry_plain(&t);
		if ((value = registry_value(f, &t)).p == NULL)
			return -1;
		if (which == CRATES_MEMBERS)
			continue;
		l->values[which] = value;
		if (which == 0)
			l->name = plain;
		else if (which == 1)
			l->version = plain;
		else if (which == CRATES_MEMBERS - 1)
			l->time = plain;
	}
	if (registry_next(f, &t) != BODY_DONE || l->name.p == NULL ||
	    l->version.p == NULL || !registry_version_ok(l->version))
		return -1;
	return span_ieq(l->name, span_str(f->package)) ? 0 : -1;
}

static void
crates_write(struct registry_filter *f, const struct crates_line *l)
{
	const char *comma = "{\"";

	for (size_t i = 0; i < CRATES_MEMBERS; i++) {
		if (l->values[i].p == NULL)
			continue;
		buf_adds(&f->out, comma);
		buf_adds(&f->out, crates_members[i]);
		buf_adds(&f->out, "\":");
		buf_addspan(&f->out, l->values[i]);
		comma = ",\"";
	}
	buf_adds(&f->out, "}\n");
}

static bool
crates_twice(const struct registry_filter *f, struct span version)
{
	uint8_t id[REGISTRY_ID];

	registry_id(version, id);
	for (unsigned i = 0; i < f->nentries; i++) {
		if (memcmp(f->entries[i].id, id, sizeof(id)) == 0)
			return true;
	}
	return false;
}

static int
crates_line(struct registry_filter *f, struct span line)
{
	struct crates_line l;
	int64_t when = REGISTRY_NEVER;

	if (crates_read(f, line, &l) == -1) {
		f->why = NULL;
		return 0;
	}
	/* Two lines for one version: it is unknown which one holds. */
	if (crates_twice(f, l.version))
		return registry_bad(f, "it lists a version twice");
	/*
	 * Old crates have no times: the index began to record them later. Such
	 * a version was published no later than its file was modified.
	 */
	if (l.time.p != NULL)
		(void)date_rfc3339(l.time, &when);
	else if (l.values[CRATES_MEMBERS - 1].p == NULL && f->modified != 0 &&
		 registry_allows(registry_judge(
		     f->rules, span_str(f->package), f->modified, f->now)))
		when = f->modified;
	if (registry_admit(f, l.version, l.version, when))
		crates_write(f, &l);
	return f->why == NULL ? 0 : -1;
}

int
registry_crates(struct registry_filter *f)
{
	struct span rest = f->text, line;
	unsigned lines = 0;

	while (span_line(&rest, &line)) {
		if (++lines > CRATES_MAX_LINES)
			return registry_bad(f, "it lists too many versions");
		if (line.len != 0 && crates_line(f, line) == -1)
			return -1;
	}
	return 0;
}

int
registry_crates_config(struct registry_filter *f)
{
	struct body_token t;
	struct span dl = span_of(NULL, 0), plain, key;

	registry_scan(f, f->text);
	if (registry_next(f, &t) != BODY_OBJECT)
		return registry_bad(f, "it is no JSON object");
	while (registry_next(f, &t) != BODY_CLOSE) {
		key = t.key;
		plain = registry_plain(&t);
		if (registry_value(f, &t).p == NULL)
			return -1;
		if (registry_is(key, "dl"))
			dl = plain;
	}
	if (registry_next(f, &t) != BODY_DONE || dl.p == NULL)
		return registry_bad(f, "it does not say where the files are");
	buf_adds(&f->out, "{\"dl\":\"");
	buf_addspan(&f->out, dl);
	buf_adds(&f->out, "\"}\n");
	return 0;
}
