/* SPDX-License-Identifier: ISC */
/*
 * Decides whether a version of a package may be installed. The deny list
 * forbids it; the allow list permits it at any age; otherwise it must have been
 * published at least `days` days ago, and a version without a time of
 * publication is refused. Debian's archives have no times: there the lists
 * alone decide.
 */
#ifndef REGISTRY_RULES_H
#define REGISTRY_RULES_H

#include "registry/path.h"

#define REGISTRY_DFLT_DAYS 2U
#define REGISTRY_MAX_DAYS 3650U
#define REGISTRY_MAX_GLOBS 1024U /* in each list */
#define REGISTRY_MAX_REASON 480U

struct registry_rules {
	enum registry registry;
	unsigned days; /* 0: no quarantine */
	const struct span *allow, *deny;
	unsigned nallow, ndeny;
};

enum registry_reason {
	REGISTRY_GOOD,    /* old enough */
	REGISTRY_ON_LIST, /* on the allow list */
	REGISTRY_DENIED,
	REGISTRY_UNTIMED,
	REGISTRY_YOUNG,
	REGISTRY_UNLISTED, /* the index does not list it */
	REGISTRY_NO_INDEX, /* the index could not be read */
};

struct registry_verdict {
	enum registry_reason reason;
	unsigned days; /* age in days, if REGISTRY_YOUNG */
};

static inline bool
registry_allows(struct registry_verdict v)
{
	return v.reason == REGISTRY_GOOD || v.reason == REGISTRY_ON_LIST;
}

/*
 * Match a pattern, case-insensitively; `*` matches any text including slashes,
 * `?` one character. Where the registry treats - _ . as equal, so does this.
 */
bool registry_glob(enum registry, struct span pattern, struct span name);
/* 1 to 256 printable characters without a space. */
bool registry_glob_ok(struct span pattern);

#define REGISTRY_NEVER INT64_MIN /* no time of publication */

/* Consult only the lists: DENIED, ON_LIST or GOOD. */
struct registry_verdict registry_judge_name(
    const struct registry_rules *, struct span package);
struct registry_verdict registry_judge(const struct registry_rules *,
    struct span package, int64_t published, int64_t now);
/*
 * Write the reason as one sentence, always the same for the same reason. The
 * version may be "".
 */
void registry_reason(const struct registry_rules *, struct registry_verdict,
    const char *package, const char *version, char *dst, size_t cap);

#endif
