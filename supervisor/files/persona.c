/* SPDX-License-Identifier: ISC */
/* Reads personas. Their files are the user's own, and must be private. */
#include "files/persona.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/paths.h"
#include "common/log.h"
#include "common/sha256.h"

bool
persona_name_ok(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n != 0 && n <= PERSONA_NAME && s[n] == '\0' && s[0] != '-';
}

static int
persona_limits(const struct jsonfile *j, struct json_object *budget)
{
	char text[160];
	double d;
	int key;

	json_object_object_foreach(budget, name, v)
	{
		if ((key = budget_find(name)) == -1)
			return jsonfile_bad(j, "budget", name,
			    "is no limit (ironcurtain-config(5), "
			    "resourceBudget)");
		if (v == NULL)
			continue;
		d = json_object_get_double(v);
		if ((!json_object_is_type(v, json_type_int) &&
			!json_object_is_type(v, json_type_double)) ||
		    !budget_value_ok((enum budget_key)key, d))
			return jsonfile_bad(j, "budget", NULL, "%s",
			    budget_wants(
				(enum budget_key)key, text, sizeof(text)));
	}
	return 0;
}

static int
persona_fill(struct persona *p, const struct jsonfile *j)
{
	/* The TypeScript IronCurtain's have those of the second line. */
	static const char *const keys[] = {"agent", "budget", "model", "policy",
	    "profile", "workspace", "allowBroadPolicy", "createdAt",
	    "description", "memory", "name", "servers", NULL};
	struct json_object *budget = NULL;

	if (jsonfile_known(j, p->root, "", keys) == -1 ||
	    jsonfile_str(j, p->root, "", "agent", &p->agent) == -1 ||
	    jsonfile_str(j, p->root, "", "model", &p->model) == -1 ||
	    jsonfile_str(j, p->root, "", "policy", &p->policy) == -1 ||
	    jsonfile_str(j, p->root, "", "profile", &p->profile) == -1 ||
	    jsonfile_str(j, p->root, "", "workspace", &p->workspace) == -1 ||
	    jsonfile_str(j, p->root, "", "description", &p->description) ==
		-1 ||
	    jsonfile_strings(j, p->root, "", "servers", PERSONA_SERVERS,
		&p->servers) == -1 ||
	    jsonfile_object(j, p->root, "", "budget", &budget) == -1)
		return -1;
	if (p->workspace != NULL && p->workspace[0] != '/')
		return jsonfile_bad(
		    j, "", "workspace", "must be an absolute path");
	return budget == NULL ? 0 : persona_limits(j, budget);
}

/* Read the constitution, if there is one. */
static int
persona_constitution(struct persona *p, const char *dir, struct fault *fault)
{
	uint8_t hash[SHA256_SIZE];
	struct stat st;
	char *path;
	size_t len = 0;

	if ((path = paths_join(dir, "constitution.md")) == NULL)
		return fault_errno(fault, "%s", dir);
	if (access(path, F_OK) == -1 && errno == ENOENT) {
		free(path);
		return 0;
	}
	p->text = jsonfile_text(path, &len, &st, fault);
	if (p->text != NULL && len > PERSONA_CONSTITUTION)
		fault_set(fault, "%s: has more than 256 KiB", path);
	free(path);
	if (p->text == NULL || len > PERSONA_CONSTITUTION)
		return -1;
	sha256_span(span_of(p->text, len), hash);
	sha256_hex(hash, p->constitution);
	return 0;
}

int
persona_load(struct persona *p, const char *home, const char *name,
    struct fault *fault)
{
	struct jsonfile j = {NULL, fault};
	char *path = NULL, shown[300];
	struct stat st;
	int rv = -1;

	memset(p, 0, sizeof(*p));
	if (!persona_name_ok(name))
		return fault_set(fault,
		    "\"%s\" cannot be the name of a persona: letters, digits, "
		    "- and _, at most 64",
		    log_vis(span_str(name), shown, sizeof(shown)));
	if (asprintf(&p->dir, "%s/personas/%s", home, name) == -1 ||
	    (p->own = paths_join(p->dir, "generated")) == NULL)
		return fault_errno(fault, "persona");
	if (stat(p->dir, &st) == -1) {
		fault_set(fault,
		    "there is no persona %s. Make it: icctl persona new %s",
		    name, name);
		goto out;
	}
	if (paths_private(&st, "persona", p->dir, fault) == -1 ||
	    (path = paths_join(p->dir, "persona.json")) == NULL ||
	    (p->root = jsonfile_load(path, fault)) == NULL)
		goto out;
	j.file = path;
	if (persona_fill(p, &j) == 0)
		rv = persona_constitution(p, p->dir, fault);
out:
	free(path);
	return rv;
}

void
persona_free(struct persona *p)
{
	json_object_put(p->root);
	free(p->text);
	free(p->dir);
	free(p->own);
	jsonfile_strings_free(p->servers);
	memset(p, 0, sizeof(*p));
}

void
persona_budget(const struct persona *p, struct budget_limits *l)
{
	struct json_object *budget = NULL;
	int key;

	if (!json_object_object_get_ex(p->root, "budget", &budget))
		return;
	json_object_object_foreach(budget, name, v)
	{
		if ((key = budget_find(name)) == -1)
			continue;
		l->on[key] = v != NULL;
		if (v != NULL)
			l->max[key] = json_object_get_double(v);
	}
}
