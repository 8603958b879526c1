/* SPDX-License-Identifier: ISC */
/*
 * The lists and the quarantine. Keeps no state; names and times come from the
 * agent and the registry, patterns from the user.
 */
#include "registry/rules.h"

#include <stdio.h>

#define DAY 86400

bool
registry_glob_ok(struct span s)
{
	if (s.len == 0 || s.len > 256)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] <= 0x20 || s.p[i] > 0x7e)
			return false;
	}
	return true;
}

/*
 * Returns the byte at `*i`, normalised as by this registry, and advances `*i`.
 */
static uint8_t
glob_byte(enum registry r, struct span s, size_t *i)
{
	uint8_t c = s.p[(*i)++];

	if (c >= 'A' && c <= 'Z')
		return (uint8_t)(c | 0x20);
	if (r == REGISTRY_CRATES && c == '_')
		return '-';
	if (r != REGISTRY_PYPI || (c != '-' && c != '_' && c != '.'))
		return c;
	while (
	    *i < s.len && (s.p[*i] == '-' || s.p[*i] == '_' || s.p[*i] == '.'))
		(*i)++;
	return '-';
}

bool
registry_glob(enum registry r, struct span pattern, struct span name)
{
	size_t p = 0, n = 0, star = SIZE_MAX, from = 0, pn, nn;

	/* Going back to the latest star is enough. */
	while (n < name.len) {
		pn = p;
		nn = n;
		if (p < pattern.len && pattern.p[p] == '*') {
			star = ++p;
			from = n;
		} else if (p < pattern.len &&
			   (pattern.p[p] == '?'
				   ? (pn++, (void)glob_byte(r, name, &nn), true)
				   : glob_byte(r, pattern, &pn) ==
					 glob_byte(r, name, &nn))) {
			p = pn;
			n = nn;
		} else if (star != SIZE_MAX) {
			p = star;
			n = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.p[p] == '*')
		p++;
	return p == pattern.len;
}

static bool
rules_hit(const struct registry_rules *r, const struct span *globs, unsigned n,
    struct span package)
{
	for (unsigned i = 0; i < n; i++) {
		if (registry_glob(r->registry, globs[i], package))
			return true;
	}
	return false;
}

struct registry_verdict
registry_judge_name(const struct registry_rules *r, struct span package)
{
	struct registry_verdict v = {.reason = REGISTRY_GOOD};

	if (rules_hit(r, r->deny, r->ndeny, package))
		v.reason = REGISTRY_DENIED;
	else if (rules_hit(r, r->allow, r->nallow, package))
		v.reason = REGISTRY_ON_LIST;
	return v;
}

struct registry_verdict
registry_judge(const struct registry_rules *r, struct span package,
    int64_t published, int64_t now)
{
	struct registry_verdict v = registry_judge_name(r, package);
	int64_t age;

	if (v.reason != REGISTRY_GOOD || r->days == 0 ||
	    r->registry == REGISTRY_DEBIAN)
		return v;
	if (published == REGISTRY_NEVER) {
		v.reason = REGISTRY_UNTIMED;
		return v;
	}
	age = published < now ? (now - published) / DAY : 0;
	if (age < (int64_t)r->days) {
		v.reason = REGISTRY_YOUNG;
		v.days = (unsigned)age;
	}
	return v;
}

void
registry_reason(const struct registry_rules *r, struct registry_verdict v,
    const char *package, const char *version, char *dst, size_t cap)
{
	switch (v.reason) {
	case REGISTRY_GOOD:
		snprintf(dst, cap, "Old enough");
		return;
	case REGISTRY_ON_LIST:
		snprintf(
		    dst, cap, "Package \"%s\" is on the allow list", package);
		return;
	case REGISTRY_DENIED:
		snprintf(
		    dst, cap, "Package \"%s\" is on the deny list", package);
		return;
	case REGISTRY_UNTIMED:
		snprintf(dst, cap,
		    "No publish timestamp for \"%s\" (fail-closed)", package);
		return;
	case REGISTRY_YOUNG:
		snprintf(dst, cap,
		    "Version \"%s\" of \"%s\" is only %u day(s) old "
		    "(quarantine: %u days)",
		    version, package, v.days, r->days);
		return;
	case REGISTRY_UNLISTED:
		snprintf(dst, cap,
		    "Version \"%s\" of \"%s\" is not listed by the registry",
		    version, package);
		return;
	case REGISTRY_NO_INDEX:
		break;
	}
	snprintf(dst, cap,
	    "The registry's metadata of \"%s\" cannot be read (fail-closed)",
	    package);
}
