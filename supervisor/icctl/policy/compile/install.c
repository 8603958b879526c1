/* SPDX-License-Identifier: ISC */
/* Puts the drafts in pending/ in force, as a set. */
#include "icctl/policy/compile/compile.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "files/policy_install.h"
#include "files/policydir.h"

#define INSTALL_MAX (COMPILE_MAX_SERVERS + 8U)

struct install {
	const struct compile *c;
	struct policy_move moves[INSTALL_MAX];
	char names[INSTALL_MAX][200];
	size_t n;
};

bool
artefact_same(const char *path, json_object *now)
{
	struct fault ignored;
	json_object *was;
	struct stat st;
	bool same;
	size_t len;
	char *text;

	if ((text = jsonfile_text(path, &len, &st, &ignored)) == NULL)
		return false;
	was = jsonfile_parse(path, span_of(text, len), &ignored);
	freezero(text, len);
	if (was == NULL)
		return false;
	json_object_object_del(was, "generatedAt");
	same = json_object_equal(was, now);
	json_object_put(was);
	return same;
}

/* Returns true if two files differ in nothing but when they were made. */
static bool
same_files(const char *a, const char *b)
{
	struct fault ignored;
	json_object *o;
	struct stat st;
	size_t len;
	char *text;
	bool same;

	if ((text = jsonfile_text(a, &len, &st, &ignored)) == NULL)
		return false;
	o = jsonfile_parse(a, span_of(text, len), &ignored);
	freezero(text, len);
	if (o == NULL)
		return false;
	json_object_object_del(o, "generatedAt");
	same = artefact_same(b, o);
	json_object_put(o);
	return same;
}

static void
add_move(struct install *in, const char *name, bool remove)
{
	(void)strlcpy(in->names[in->n], name, sizeof(in->names[0]));
	in->moves[in->n] =
	    (struct policy_move){in->names[in->n], remove};
	in->n++;
}

/* Add a draft, if there is one that says something else. */
static int
add_draft(struct install *in, const char *name, struct fault *fault)
{
	char from[PATH_MAX], to[PATH_MAX];

	snprintf(from, sizeof(from), "%.3800s/%.200s", in->c->pending, name);
	snprintf(to, sizeof(to), "%.3800s/%.200s", in->c->dir, name);
	if (access(from, F_OK) == -1)
		return errno == ENOENT ? 0 : fault_errno(fault, "%s", from);
	if (same_files(from, to))
		(void)unlink(from);
	else if (in->n == INSTALL_MAX)
		return fault_set(fault, "%s: too many files", in->c->pending);
	else
		add_move(in, name, false);
	return 0;
}

/* Add the rules of each server, from which others are merged later. */
static int
add_servers(struct install *in, struct fault *fault)
{
	char path[PATH_MAX], name[200];
	struct dirent *e;
	int rv = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%.3900s/servers", in->c->pending);
	if ((d = opendir(path)) == NULL)
		return errno == ENOENT ? 0 : fault_errno(fault, "%s", path);
	while (rv == 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "servers/%.100s/%s", e->d_name,
		    policydir_names[PROTO_RULES_POLICY]);
		rv = add_draft(in, name, fault);
	}
	closedir(d);
	return rv;
}

/* Returns true if the file has this text. */
static bool
is_text(const char *path, const char *want)
{
	size_t len = strlen(want);
	char *have = malloc(len + 1);
	FILE *f = fopen(path, "re");
	bool same;

	same = f != NULL && have != NULL && fread(have, 1, len + 1, f) == len &&
	       memcmp(have, want, len) == 0;
	if (f != NULL)
		fclose(f);
	freezero(have, have == NULL ? 0 : len + 1);
	return same;
}

/*
 * Put the text beside the policy that was made of it, if it is not the user's
 * usual constitution or a persona's: a session compares them.
 */
static int
add_constitution(struct install *in, struct fault *fault)
{
	static const char name[] = "constitution.md";
	const struct compile *c = in->c;
	char path[PATH_MAX], draft[PATH_MAX];

	if (c->constitution == NULL)
		return 0;
	snprintf(path, sizeof(path), "%.4000s/%s", c->dir, name);
	snprintf(draft, sizeof(draft), "%.4000s/%s", c->pending, name);
	if (c->o.persona != NULL ||
	    (c->o.constitution == NULL && c->o.task == NULL)) {
		if (access(path, F_OK) == 0)
			add_move(in, name, true);
	} else if (!is_text(path, c->constitution)) {
		if (jsonfile_replace(draft, span_str(c->constitution)) == -1)
			return fault_errno(fault, "%s", draft);
		add_move(in, name, false);
	}
	return 0;
}

/* Remove the directories of servers whose rules were moved. */
static void
drop_servers(const struct compile *c)
{
	char path[PATH_MAX], sub[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%.3900s/servers", c->pending);
	if ((d = opendir(path)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		snprintf(sub, sizeof(sub), "%.3800s/%.200s", path, e->d_name);
		if (e->d_name[0] != '.')
			(void)rmdir(sub);
	}
	closedir(d);
	(void)rmdir(path);
}

int
artefact_install(const struct compile *c, struct fault *fault)
{
	static struct install in;
	char path[PATH_MAX];

	memset(&in, 0, sizeof(in));
	in.c = c;
	if (add_constitution(&in, fault) == -1 ||
	    add_servers(&in, fault) == -1 ||
	    add_draft(&in, "test-scenarios.json", fault) == -1)
		return -1;
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		if (add_draft(&in, policydir_names[k], fault) == -1)
			return -1;
	if (policy_install(c->dir, c->pending, in.moves, in.n, fault) == -1)
		return -1;
	snprintf(path, sizeof(path), "%.4000s/" PLACE_STATUS, c->pending);
	(void)unlink(path);
	drop_servers(c);
	return 0;
}
