/* SPDX-License-Identifier: ISC */
/*
 * The logins of a provider: where vendors' programs keep theirs, where logins
 * that began in a sandbox are kept, and whether a session uses a login or a
 * key. Checks only whether the files exist; keyd reads them.
 */
#include "files/providers/providers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mitmd/provider/check.h"

/*
 * Returns the path of the vendor's login file: below the first of these
 * variables that is set, as in the vendor's program, or else the usual file.
 */
static char *
provider_file(const struct provider_place *place, const char *path,
    const struct paths *paths)
{
	char *name, *below, *out;
	const char *dir;

	for (unsigned i = 0; i < place->ndirs; i++) {
		if ((name = span_dup(place->dirs[i][0])) == NULL)
			return NULL;
		dir = getenv(name);
		free(name);
		if (dir == NULL || dir[0] != '/')
			continue;
		if ((below = span_dup(place->dirs[i][1])) == NULL)
			return NULL;
		out = paths_join(dir, below);
		free(below);
		return out;
	}
	if ((name = span_dup(place->file)) == NULL)
		return NULL;
	out = config_path(path, paths->user_home, name);
	free(name);
	return out;
}

/* Copy the patterns of locks; NULL if there are none. */
static int
provider_locks(char ***out, const struct span *locks, unsigned n)
{
	if (n == 0)
		return 0;
	if ((*out = calloc(n + 1, sizeof(char *))) == NULL)
		return -1;
	for (unsigned i = 0; i < n; i++)
		if (((*out)[i] = span_dup(locks[i])) == NULL)
			return -1;
	return 0;
}

static int
provider_login(struct provider *p, const struct provider_place *place,
    const char *path, const struct paths *paths, struct fault *fault)
{
	struct provider_login *l = &p->logins[p->nlogins++];
	const char *why = NULL;
	char *url;
	int rv;

	if ((l->name = span_dup(place->name)) == NULL ||
	    (l->file = provider_file(place, path, paths)) == NULL ||
	    (l->sentinel = span_dup(place->sentinel)) == NULL ||
	    provider_locks(&l->lock_dirs, place->locks[0], place->nlocks[0]) ==
		-1 ||
	    provider_locks(&l->lock_files, place->locks[1], place->nlocks[1]) ==
		-1)
		return fault_errno(fault, "%s", path);
	if (asprintf(&l->kept, "%s/logins/%s-%s.json", paths->home, p->name,
		l->name) == -1) {
		l->kept = NULL;
		return fault_errno(fault, "%s", path);
	}
	if ((url = span_dup(place->url)) == NULL)
		return fault_errno(fault, "%s", path);
	if ((rv = config_url(url, &l->token, &why)) == -1)
		fault_set(fault, "%s: logins[%u].token.url: %s", path,
		    p->nlogins - 1, why);
	free(url);
	return rv;
}

int
provider_logins(struct provider *p, const struct provider_facts *f,
    const char *path, const struct paths *paths, struct fault *fault)
{
	for (unsigned i = 0; i < f->nlogins; i++)
		if (provider_login(p, f->logins[i], path, paths, fault) == -1)
			return -1;
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
