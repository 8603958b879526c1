/* SPDX-License-Identifier: ISC */
/*
 * The logins of a provider: where vendors' programs keep theirs, where logins
 * that began in a sandbox are kept, and whether a session uses a login or a
 * key. Checks only whether the files exist; keyd reads them.
 */
#include "providers/providers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/jsonfile.h"

/*
 * Returns the path of the vendor's login file: below the first of these
 * variables that is set, as in the vendor's program, or else the usual file.
 */
static char *
provider_place(const struct jsonfile *j, struct json_object *dirs,
    const char *file, const struct paths *paths)
{
	const char *dir, *below;

	json_object_object_foreach(dirs, name, val)
	{
		dir = getenv(name);
		below = json_object_get_string(val);
		if (dir != NULL && dir[0] == '/' && below != NULL)
			return paths_join(dir, below);
	}
	return config_path(j->file, paths->user_home, file);
}

static int
provider_login(struct provider *p, const struct jsonfile *j,
    struct json_object *o, const char *where, const struct paths *paths)
{
	struct provider_login *l = &p->logins[p->nlogins++];
	struct json_object *token = NULL, *locks = NULL, *dirs = NULL;
	const char *name = NULL, *file = NULL, *prefix = NULL, *url = NULL,
		   *why = NULL;

	if (jsonfile_str(j, o, where, "name", &name) == -1 ||
	    jsonfile_str(j, o, where, "file", &file) == -1 ||
	    jsonfile_str(j, o, where, "sentinel", &prefix) == -1 ||
	    jsonfile_object(j, o, where, "token", &token) == -1 ||
	    jsonfile_object(j, o, where, "dirs", &dirs) == -1 ||
	    jsonfile_object(j, o, where, "locks", &locks) == -1)
		return -1;
	if (name == NULL || file == NULL || prefix == NULL || token == NULL ||
	    jsonfile_str(j, token, where, "url", &url) != 1)
		return jsonfile_bad(
		    j, where, NULL, "needs name, file, sentinel and token.url");
	if (config_url(url, &l->token, &why) == -1)
		return jsonfile_bad(j, where, "token.url", "%s", why);
	if (locks != NULL && (jsonfile_strings(j, locks, where, "directories",
				  4, &l->lock_dirs) == -1 ||
				 jsonfile_strings(j, locks, where, "files", 4,
				     &l->lock_files) == -1))
		return -1;
	l->name = strdup(name);
	l->file = dirs == NULL ? config_path(j->file, paths->user_home, file)
			       : provider_place(j, dirs, file, paths);
	l->sentinel = strdup(prefix);
	if (asprintf(&l->kept, "%s/logins/%s-%s.json", paths->home, p->name,
		name) == -1)
		l->kept = NULL;
	if (l->name == NULL || l->file == NULL || l->sentinel == NULL ||
	    l->kept == NULL)
		return fault_errno(j->fault, "%s", j->file);
	return 0;
}

int
provider_logins(struct provider *p, const struct jsonfile *j,
    struct json_object *root, const struct paths *paths)
{
	struct json_object *list, *o;
	char where[32];

	if (!json_object_object_get_ex(root, "logins", &list))
		return 0;
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > PROVIDERS_MAX_LOGINS)
		return jsonfile_bad(j, "", "logins",
		    "must be an array of at most %u", PROVIDERS_MAX_LOGINS);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		snprintf(where, sizeof(where), "logins[%zu]", i);
		o = json_object_array_get_idx(list, i);
		if (!json_object_is_type(o, json_type_object))
			return jsonfile_bad(
			    j, where, NULL, "must be an object");
		if (provider_login(p, j, o, where, paths) == -1)
			return -1;
	}
	return 0;
}

const char *
provider_login_file(const struct provider *p)
{
	if (p->login == -1)
		return NULL;
	if (p->config != NULL && p->config->kind == CREDENTIAL_LOGIN &&
	    p->config->login_file != NULL)
		return p->config->login_file;
	if (p->kept)
		return p->logins[p->login].kept;
	return p->logins[p->login].file;
}

static bool
provider_is_there(const struct provider_login *l)
{
	return access(l->file, F_OK) == 0;
}

/*
 * Choose a key or a login: what config.json says; otherwise the variable,
 * because somebody set it on purpose; otherwise a login that exists, the
 * vendor's program's before one that began in a sandbox.
 */
int
provider_choose(struct provider *p, struct fault *fault)
{
	const struct config_provider *cfg = p->config;
	const char *value = getenv(p->env);

	p->login = -1;
	if (cfg != NULL && (cfg->kind == CREDENTIAL_LOGIN ||
			       cfg->kind == CREDENTIAL_CAPTURE)) {
		for (unsigned i = 0; i < p->nlogins; i++)
			if (strcmp(p->logins[i].name, cfg->value) == 0)
				p->login = (int)i;
		if (p->login == -1)
			return fault_set(fault,
			    "credentials.%s.%s: provider %s knows no login "
			    "of \"%s\"%s%s",
			    p->name,
			    cfg->kind == CREDENTIAL_LOGIN ? "login" : "capture",
			    p->name, cfg->value,
			    p->nlogins != 0 ? "; try " : "",
			    p->nlogins != 0 ? p->logins[0].name : "");
		p->captures = p->kept = cfg->kind == CREDENTIAL_CAPTURE;
		if (cfg->login_file == NULL && !p->kept)
			p->kept = !provider_is_there(&p->logins[p->login]) &&
				  access(p->logins[p->login].kept, F_OK) == 0;
		p->waits =
		    p->captures && access(p->logins[p->login].kept, F_OK) == -1;
		return 0;
	}
	if ((cfg != NULL && cfg->kind != CREDENTIAL_DEFAULT) ||
	    (value != NULL && value[0] != '\0'))
		return 0;
	for (unsigned i = 0; i < p->nlogins && p->login == -1; i++)
		if (provider_is_there(&p->logins[i]))
			p->login = (int)i;
	for (unsigned i = 0; i < p->nlogins && p->login == -1; i++)
		if (access(p->logins[i].kept, F_OK) == 0) {
			p->login = (int)i;
			p->kept = true;
		}
	return 0;
}
