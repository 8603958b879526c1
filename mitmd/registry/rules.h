/* SPDX-License-Identifier: ISC */
/*
 * May this version of this package be installed?  The deny list says no; the
 * allow list says yes, whatever its age; else it must have been published at
 * least `days` days ago, and what does not say when it was published is too
 * young.  Debian's archives tell no dates: there the lists decide alone.
 */
#ifndef REGISTRY_RULES_H
#define REGISTRY_RULES_H

#include "registry/path.h"

#define REGISTRY_DFLT_DAYS 2U
#define REGISTRY_MAX_DAYS 3650U
#define REGISTRY_MAX_GLOBS 1024U /* of each list */
#define REGISTRY_MAX_REASON 480U

struct registry_rules {
	enum registry registry;
	unsigned days; /* 0: no quarantine */
	const struct span *allow, *deny;
	unsigned nallow, ndeny;
};

enum registry_reason {
	REGISTRY_GOOD,    /* old enough */
	REGISTRY_ON_LIST, /* the allow list */
	REGISTRY_DENIED,
	REGISTRY_UNTIMED,
	REGISTRY_YOUNG,
	REGISTRY_UNLISTED, /* the index does not list it */
	REGISTRY_NO_INDEX, /* the index could not be read */
};

struct registry_verdict {
	enum registry_reason reason;
	unsigned days; /* old, when young */
};

static inline bool
registry_allows(struct registry_verdict v)
{
	return v.reason == REGISTRY_GOOD || v.reason == REGISTRY_ON_LIST;
}

/*
 * Case-insensitive; `*` is any text, slashes included, `?` one character.
 * Where a registry takes - _ . for one another, so does this.
 */
bool registry_glob(enum registry, struct span pattern, struct span name);
/* 1 to 256 printable characters without a space. */
bool registry_glob_ok(struct span pattern);

#define REGISTRY_NEVER INT64_MIN /* no time of publication */
/* Seconds since 1970 out of 2026-01-31T12:34:56[.789](Z|+hh:mm). -1: none. */
int registry_time(struct span, int64_t *out);
/*
 * The same out of an HTTP date, Sun, 06 Nov 1994 08:49:37 GMT.  None either,
 * if it is before 2015: of a file that somebody dated so.
 */
int registry_http_time(struct span, int64_t *out);

/* Only the lists: DENIED, ON_LIST or GOOD. */
struct registry_verdict registry_judge_name(
    const struct registry_rules *, struct span package);
struct registry_verdict registry_judge(const struct registry_rules *,
    struct span package, int64_t published, int64_t now);
/* One sentence, always the same for the same reason. version may be "". */
void registry_reason(const struct registry_rules *, struct registry_verdict,
    const char *package, const char *version, char *dst, size_t cap);

#endif
