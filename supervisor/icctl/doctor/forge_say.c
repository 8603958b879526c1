/* SPDX-License-Identifier: ISC */
/*
 * Says what a forge's answers mean: which repositories a token can write that
 * its destination does not list, which role it has in those that are listed,
 * and which scopes. The forges differ in how much they say. GitHub names the
 * scopes of a classic token; of a fine-grained one, and of any token of Gitea,
 * it is known only what the account may do with what the token reaches. GitLab
 * gives the role in each project, and the scopes in an answer of their own.
 */
#include "icctl/doctor/forge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"

#define FORGE_NAMED 5U /* repositories that a line names */
#define FORGE_NAMES 1250U
#define FORGE_SCOPES 520U

/* Names for one line. */
struct forge_names {
	char text[FORGE_NAMES];
	unsigned n;
};

struct forge_found {
	const struct forge_dest *d;
	char scopes[FORGE_SCOPES]; /* "": none are known */
	unsigned all, unread;
	bool rest;
	struct forge_names beyond, unsaid; /* not listed, what is writable */
	struct forge_names high, runners;  /* listed, more than Developer */
};

void
forge_report(const struct forge_dest *d, enum grade g, const char *text,
    const char *remedy)
{
	char all[FORGE_NAMES + 400];

	snprintf(all, sizeof(all), "%.64s: %s", d->name, text);
	d->check(g, "forge", all, remedy);
}

static void __attribute__((format(printf, 4, 5)))
forge_tell(const struct forge_dest *d, enum grade g, const char *remedy,
    const char *fmt, ...)
{
	char text[FORGE_NAMES + 320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	forge_report(d, g, text, remedy);
}

/* Add a name; those after the first few are only counted. */
static void
forge_add(struct forge_names *to, const char *name, const char *role)
{
	size_t len = strlen(to->text);

	if (to->n++ < FORGE_NAMED)
		snprintf(to->text + len, sizeof(to->text) - len, "%s%s%s%s%s",
		    len == 0 ? "" : ", ", name, role[0] == '\0' ? "" : " (",
		    role, role[0] == '\0' ? "" : ")");
}

/* Returns the names, and how many more there are. */
static const char *
forge_named(struct forge_names *l)
{
	size_t len = strlen(l->text);

	if (l->n > FORGE_NAMED)
		snprintf(l->text + len, sizeof(l->text) - len, " and %u more",
		    l->n - FORGE_NAMED);
	return l->text;
}

/* Returns true if the destination lists the repository. */
static bool
forge_lists_it(const struct forge_dest *d, const char *name)
{
	json_object *list = get_typed(d->own, "repositories", json_type_array);
	const char *s;

	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		s = json_object_get_string(json_object_array_get_idx(list, i));
		if (s != NULL && strcasecmp(s, name) == 0)
			return true;
	}
	return false;
}

/* Returns GitLab's name of a role above Developer, or "". */
static const char *
forge_role(const struct forge_dest *d, const char *right)
{
	if (d->kind != FORGE_GITLAB)
		return "";
	return strcmp(right, "maintain") == 0 ? "Maintainer"
	       : strcmp(right, "admin") == 0  ? "Owner"
					      : "";
}

static void
forge_repository(struct forge_found *f, const char *name, const char *right,
    bool runners)
{
	const char *role = forge_role(f->d, right);

	f->all++;
	if (forge_lists_it(f->d, name)) {
		if (runners)
			forge_add(&f->runners, name, role);
		else if (role[0] != '\0')
			forge_add(&f->high, name, role);
	} else if (strcmp(right, "unknown") == 0) {
		forge_add(&f->unsaid, name, "");
	} else if (strcmp(right, "read") != 0) {
		forge_add(&f->beyond, name, role);
	}
}

/* Read ic-asker's lines. */
static void
forge_lines(struct forge_found *f, struct span rest)
{
	char line[FORGE_SCOPES + 16], name[256], right[16], runners[16];
	struct span l;
	int n;

	while (span_line(&rest, &l)) {
		if (span_copy(l, line, sizeof(line)) == -1)
			continue;
		n = sscanf(line, "repository %255s %15s %15s", name, right,
		    runners);
		if (n >= 2)
			forge_repository(f, name, right, n == 3);
		else if (strncmp(line, "scopes ", 7) == 0)
			(void)strlcpy(f->scopes, line + 7, sizeof(f->scopes));
		else if (strcmp(line, "unread") == 0)
			f->unread++;
		else if (strcmp(line, "rest") == 0)
			f->rest = true;
	}
}

/*
 * Copy the scopes of a GitLab token that no request of a session needs. Returns
 * true if all of its scopes only read.
 */
static bool
forge_scopes(const char *scopes, char *more, size_t cap)
{
	char copy[FORGE_SCOPES], *save = NULL;
	bool reads = true;
	size_t len = 0;

	more[0] = '\0';
	(void)strlcpy(copy, scopes, sizeof(copy));
	for (char *s = strtok_r(copy, ", ", &save); s != NULL;
	     s = strtok_r(NULL, ", ", &save)) {
		if (strncmp(s, "read_", 5) == 0 || strcmp(s, "-") == 0)
			continue;
		reads = false;
		if (strcmp(s, "api") != 0 && len < cap)
			len += (size_t)snprintf(more + len, cap - len, "%s%s",
			    len == 0 ? "" : ", ", s);
	}
	return reads;
}

/* Say what GitLab tells about a token. Returns false if it only reads. */
static bool
forge_gitlab(struct forge_found *f)
{
	const enum grade g = get_true(f->d->own, "classic") ? NOTE : FAILED;
	static const char remedy[] =
	    "make a project token with the role Developer: icctl setup --forge";
	char more[FORGE_SCOPES];

	if (f->runners.n != 0)
		forge_tell(f->d, g, remedy,
		    "its token is shown that of the runners, which a session "
		    "refuses: %s",
		    forge_named(&f->runners));
	if (f->high.n != 0)
		forge_tell(f->d, NOTE, remedy,
		    "its token has a role above Developer: %s",
		    forge_named(&f->high));
	if (f->scopes[0] == '\0') {
		forge_tell(f->d, NOTE, NULL, "the scopes of its token are not known");
		return true;
	}
	if (forge_scopes(f->scopes, more, sizeof(more))) {
		forge_tell(f->d, GOOD, NULL,
		    "its token can change nothing: its scopes are %s",
		    f->scopes);
		return false;
	}
	if (more[0] != '\0')
		forge_tell(f->d, NOTE,
		    "the scope \"api\" alone is enough: icctl setup --forge",
		    "its token has scopes that no request of a session needs: "
		    "%s",
		    more);
	return true;
}

/* Say what the token can write beyond the list. */
static void
forge_beyond(struct forge_found *f, bool classic)
{
	static const char *const safer[] = {
	    [FORGE_GITHUB] = "a session reaches none of them; a token that is "
			     "for the listed ones alone is safer: icctl setup "
			     "--forge",
	    [FORGE_GITLAB] = "a session reaches none of them; a project token "
			     "is safer: icctl setup --forge",
	    [FORGE_GITEA] = "a session reaches none of them; the token of an "
			    "account that has the listed ones alone is safer"};
	const bool known = classic || f->d->kind == FORGE_GITLAB;

	if (f->beyond.n != 0)
		forge_tell(f->d, NOTE, safer[f->d->kind], "%s: %s",
		    known ? "its token can write, beyond the list"
			  : "its token reaches, beyond the list, repositories "
			    "that its account can write",
		    forge_named(&f->beyond));
	if (f->unsaid.n != 0)
		forge_tell(f->d, NOTE, safer[f->d->kind],
		    "the forge does not say what its token can do with: %s",
		    forge_named(&f->unsaid));
	if (f->unread != 0)
		forge_tell(f->d, NOTE, NULL,
		    "%u parts of the forge's answer are not understood",
		    f->unread);
	if (f->rest)
		forge_tell(f->d, NOTE, safer[f->d->kind],
		    "it has more repositories than the first %u, which were "
		    "looked at",
		    f->all);
	if (f->beyond.n == 0 && f->unsaid.n == 0 && f->unread == 0 && !f->rest)
		forge_tell(f->d, GOOD, NULL,
		    "its token can write no repository beyond the list%s",
		    f->all == 0 ? " (the forge names none)" : "");
}

void
forge_judge(const struct forge_dest *d, struct span token, struct span list)
{
	struct forge_found f = {.d = d};
	bool classic;

	forge_lines(&f, token);
	forge_lines(&f, list);
	classic = d->kind == FORGE_GITHUB && f.scopes[0] != '\0';
	if (classic)
		forge_tell(d, get_true(d->own, "classic") ? NOTE : FAILED,
		    "make a fine-grained token for these repositories: icctl "
		    "setup --forge",
		    "its token is a classic one, for every repository of its "
		    "account: %s",
		    strcmp(f.scopes, "-") == 0 ? "no scopes" : f.scopes);
	if (d->kind != FORGE_GITLAB || forge_gitlab(&f))
		forge_beyond(&f, classic);
}
