/* SPDX-License-Identifier: ISC */
/* Names of forges, classes and repositories, and texts of refusals. */
#include <errno.h>
#include <stdio.h>

#include "common/forge/forge_priv.h"
#include "common/json/json.h"
#include "common/json/text.h"

extern const struct forge_table forge_github, forge_gitlab, forge_gitea;

const struct forge_table *
forge_table(enum forge_kind kind)
{
	switch (kind) {
	case FORGE_GITHUB:
		return &forge_github;
	case FORGE_GITLAB:
		return &forge_gitlab;
	case FORGE_GITEA:
		return &forge_gitea;
	case FORGE_KINDS:
		break;
	}
	return NULL;
}

const char *forge_class_name(enum forge_class class)
{
	static const char *const names[] = {
	    "never", "read", "write", "run", "merge", "release"};

	_Static_assert(nitems(names) == FORGE_CLASSES, "a name for each");
	return class < FORGE_CLASSES ? names[class] : "never";
}

const char *
forge_kind_name(enum forge_kind kind)
{
	static const char *const names[] = {"github", "gitlab", "gitea"};

	_Static_assert(nitems(names) == FORGE_KINDS, "a name for each");
	return kind < FORGE_KINDS ? names[kind] : "unknown";
}

int
forge_kind_find(struct span name, enum forge_kind *kind)
{
	for (unsigned i = 0; i < FORGE_KINDS; i++) {
		if (!span_is(name, forge_kind_name((enum forge_kind)i)))
			continue;
		*kind = (enum forge_kind)i;
		return 0;
	}
	errno = EINVAL;
	return -1;
}

bool
forge_token_is_classic(enum forge_kind kind, struct span token)
{
	if (kind != FORGE_GITHUB)
		return false;
	if (span_starts(token, SPAN("ghp_")) ||
	    span_starts(token, SPAN("gho_")))
		return true;
	/* Before 2021, they were 40 hexadecimal digits. */
	for (size_t i = 0; i < token.len; i++)
		if (!text_is_digit(token.p[i]) &&
		    (token.p[i] < 'a' || token.p[i] > 'f'))
			return false;
	return token.len == 40;
}

/* Check one part of a repository's name. */
static bool
part_valid(struct span part)
{
	if (part.len == 0 || part.len > 100 || part.p[0] == '-' ||
	    span_is(part, ".") || span_is(part, ".."))
		return false;
	for (size_t i = 0; i < part.len; i++) {
		uint8_t c = part.p[i];

		if (!text_is_digit(c) && (c < 'a' || c > 'z') &&
		    (c < 'A' || c > 'Z') && c != '-' && c != '_' && c != '.')
			return false;
	}
	return true;
}

bool
forge_repository_valid(enum forge_kind kind, struct span name)
{
	size_t most = kind == FORGE_GITLAB ? 8 : 2, n = 0;
	const uint8_t *slash;
	struct span part;

	if (name.len == 0 || name.len > FORGE_MAX_REPOSITORY)
		return false;
	while (true) {
		slash = memchr(name.p, '/', name.len);
		part = span_of(name.p,
		    slash == NULL ? name.len : (size_t)(slash - name.p));
		if (++n > most || !part_valid(part))
			return false;
		if (slash == NULL)
			return n >= 2;
		name = span_of(slash + 1, name.len - part.len - 1);
		if (name.len == 0)
			return false;
	}
}

struct span
forge_repository_find(const struct forge_grant *grant, struct span name)
{
	for (size_t i = 0; i < grant->nrepositories; i++) {
		if (span_ieq(grant->repositories[i], name))
			return grant->repositories[i];
	}
	return (struct span){NULL, 0};
}

int
forge_refuse(struct forge_fail *fail, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(fail->why, sizeof(fail->why), fmt, ap);
	va_end(ap);
	return -1;
}

const struct value *
forge_body_read(
    struct value_pool *pool, struct span body, struct forge_fail *fail)
{
	const struct value *v;
	struct json_fail at;

	if (body.len > FORGE_MAX_BODY) {
		forge_refuse(fail, "the body has %zu bytes (%u at most)",
		    body.len, FORGE_MAX_BODY);
		return NULL;
	}
	if ((v = json_read(pool, body, &at)) == NULL)
		forge_refuse(fail, "the body is not JSON: %s at byte %zu",
		    json_strerror(at.error), at.at);
	return v;
}

const char *
forge_brief(struct span s, char out[FORGE_BRIEF])
{
	size_t n = 0;

	for (size_t i = 0; i < s.len && n < FORGE_BRIEF / 2; i++) {
		uint8_t c = s.p[i];

		/* A quote or a backslash would end the text around it. */
		out[n++] = c < 0x20 || c > 0x7e || c == '"' || c == '\\'
			       ? '?'
			       : (char)c;
	}
	if (s.len > n) {
		memcpy(out + n, "...", 3);
		n += 3;
	}
	out[n] = '\0';
	return out;
}
