/* SPDX-License-Identifier: ISC */
/*
 * Tells forges and package registries from other hosts. Has no state; looks at
 * the spelling of a name, never at DNS.
 */
#include "common/http/known_host.h"

#include <stdio.h>

#include "common/span.h"

/* Hosts of repositories; those of one forge are for different purposes. */
static const char *const forges[] = {"github.com", "gitlab.com",
    "bitbucket.org", "codeberg.org", "salsa.debian.org", "sourceware.org"};
/* The first label of a forge that somebody runs. */
static const char *const forge_labels[] = {
    "git", "gitlab", "gitea", "forgejo", "gist"};
/* The first label of a mirror of packages of a distribution ... */
static const char *const mirror_labels[] = {"deb", "ftp", "archive", "ports",
    "security", "snapshot", "mirror", "mirrors", "old-releases"};
/* ... and a label after it. */
static const char *const mirror_of[] = {"debian", "ubuntu", "kali", "devuan"};

/* Take the next label off the name. Returns false after the last. */
static bool
label_next(const char **name, struct span *label)
{
	const char *p = *name, *end;

	if (*p == '\0')
		return false;
	end = p + strcspn(p, ".");
	*label = span_of(p, (size_t)(end - p));
	*name = *end == '.' ? end + 1 : end;
	return true;
}

static bool
label_in(struct span label, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (span_is(label, list[i]))
			return true;
	return false;
}

static struct span
label_first(const char *name)
{
	struct span label = {NULL, 0};

	(void)label_next(&name, &label);
	return label;
}

static bool
is_forge(const char *name)
{
	if (strncmp(name, "www.", 4) == 0)
		name += 4;
	for (size_t i = 0; i < nitems(forges); i++)
		if (strcmp(name, forges[i]) == 0)
			return true;
	return label_in(label_first(name), forge_labels, nitems(forge_labels));
}

static bool
is_mirror(const char *name)
{
	struct span label;

	if (!label_in(label_first(name), mirror_labels, nitems(mirror_labels)))
		return false;
	while (label_next(&name, &label))
		if (label_in(label, mirror_of, nitems(mirror_of)))
			return true;
	return false;
}

/* Returns the kind that a label of the name stands for. */
static enum proto_open
kind_of(const char *name)
{
	struct span label;

	if (is_forge(name))
		return PROTO_OPEN_GIT;
	if (is_mirror(name))
		return PROTO_OPEN_DEBIAN;
	if (span_is(label_first(name), "registry"))
		return PROTO_OPEN_NPM;
	while (label_next(&name, &label)) {
		if (span_starts(label, SPAN("npm")) ||
		    span_is(label, "yarnpkg"))
			return PROTO_OPEN_NPM;
		if (span_starts(label, SPAN("pypi")) ||
		    span_is(label, "pythonhosted"))
			return PROTO_OPEN_PYPI;
		if (span_is(label, "crates"))
			return PROTO_OPEN_CRATES;
	}
	return PROTO_OPEN_WEB;
}

/* Two names of one registry: of its index, and of its packages' files. */
static const struct pair {
	enum proto_open kind;
	const char *index, *files;
} pairs[] = {
    {PROTO_OPEN_PYPI, "pypi.", "files.pythonhosted."},
    {PROTO_OPEN_CRATES, "index.crates.", "static.crates."},
};

/* Fill in both names if `name` begins as one of a pair. */
static bool
pair_names(struct known_host *k, const char *name)
{
	const char *rest;
	int a, b;

	for (size_t i = 0; i < nitems(pairs); i++) {
		size_t n = strlen(pairs[i].index), m = strlen(pairs[i].files);

		if (pairs[i].kind != k->kind)
			continue;
		if (strncmp(name, pairs[i].index, n) == 0)
			rest = name + n;
		else if (strncmp(name, pairs[i].files, m) == 0)
			rest = name + m;
		else
			continue;
		a = snprintf(k->hosts[0], sizeof(k->hosts[0]), "%s%s",
		    pairs[i].index, rest);
		b = snprintf(k->hosts[1], sizeof(k->hosts[1]), "%s%s",
		    pairs[i].files, rest);
		if (a <= (int)HOSTNAME_MAX && b <= (int)HOSTNAME_MAX)
			return true;
	}
	return false;
}

void
known_host(const char *name, struct known_host *k)
{
	k->kind = kind_of(name);
	k->n = 2;
	if (pair_names(k, name))
		return;
	k->n = 1;
	k->hosts[1][0] = '\0';
	snprintf(k->hosts[0], sizeof(k->hosts[0]), "%s", name);
}

bool
known_host_has(const struct known_host *k, const char *name)
{
	for (unsigned i = 0; i < k->n; i++)
		if (strcmp(k->hosts[i], name) == 0)
			return true;
	return false;
}

const char *
known_host_registry(enum proto_open kind)
{
	switch (kind) {
	case PROTO_OPEN_NPM:
		return "npm";
	case PROTO_OPEN_PYPI:
		return "pypi";
	case PROTO_OPEN_CRATES:
		return "crates";
	case PROTO_OPEN_DEBIAN:
		return "debian";
	case PROTO_OPEN_WEB:
	case PROTO_OPEN_GIT:
		break;
	}
	return NULL;
}

bool
known_host_foreign(const char *name)
{
	struct span label;

	while (label_next(&name, &label))
		if (span_starts(label, SPAN("xn--")))
			return true;
	return false;
}
