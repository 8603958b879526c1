/* SPDX-License-Identifier: ISC */
/* Loads provider files and makes placeholder keys. Holds no credential. */
#include "files/providers/providers.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/names.h"
#include "files/providers/facts.h"

#define SENTINEL_BYTES 24

/* The prefix makes agents accept the key; 192 random bits follow. */
char *
provider_sentinel(const char *prefix)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t raw[SENTINEL_BYTES];
	char text[SENTINEL_BYTES / 3 * 4 + 1], *out;
	uint32_t w;

	arc4random_buf(raw, sizeof(raw));
	for (size_t i = 0; i < SENTINEL_BYTES / 3; i++) {
		w = (uint32_t)raw[3 * i] << 16 | (uint32_t)raw[3 * i + 1] << 8 |
		    raw[3 * i + 2];
		for (size_t k = 0; k < 4; k++)
			text[4 * i + k] = digits[w >> (18 - 6 * k) & 63];
	}
	text[sizeof(text) - 1] = '\0';
	if (asprintf(&out, "%s%s", prefix, text) == -1)
		return NULL;
	return out;
}

/*
 * Returns true if the key is in several variables. Called before any variable
 * is wiped.
 */
static bool
provider_is_in_parts(const struct provider *p)
{
	const char *one = getenv(p->env), *id;

	if (p->parts == NULL)
		return false;
	if (p->config != NULL && p->config->kind != CREDENTIAL_DEFAULT)
		return p->config->kind == CREDENTIAL_ENV &&
		       strcmp(p->config->value, p->parts[0]) == 0;
	id = getenv(p->parts[0]);
	return (one == NULL || one[0] == '\0') && id != NULL && id[0] != '\0';
}

/* Keep the names of the variables for id, secret and session token. */
static int
provider_parts(struct provider *p, const struct span *parts)
{
	if ((p->parts = calloc(PROVIDER_PARTS + 1, sizeof(char *))) == NULL)
		return -1;
	for (unsigned i = 0; i < PROVIDER_PARTS; i++)
		if ((p->parts[i] = span_dup(parts[i])) == NULL)
			return -1;
	if (asprintf(&p->parts_text, "%s,%s,%s", p->parts[0], p->parts[1],
		p->parts[2]) == -1) {
		p->parts_text = NULL;
		return -1;
	}
	p->in_parts = provider_is_in_parts(p);
	return 0;
}

/* Keep what this program uses of the file. Returns -1 if memory ran out. */
static int
provider_keep(struct provider *p, const struct provider_facts *f)
{
	if ((p->name = span_dup(f->name)) == NULL ||
	    (p->env = span_dup(f->env)) == NULL)
		return -1;
	for (unsigned i = 0; i < f->nhosts; i++) {
		if ((p->hosts[i] = span_dup(f->hosts[i])) == NULL)
			return -1;
		p->nhosts++;
	}
	return f->parts == NULL ? 0 : provider_parts(p, f->parts);
}

static int
provider_take(struct provider *p, const struct provider_facts *f,
    const char *path, const char *name, const struct paths *paths,
    struct fault *fault)
{
	char *prefix;

	if (!span_is(f->name, name))
		return fault_set(fault,
		    "%s: name: must be \"%s\", like the file's name", path,
		    name);
	if (f->env.len == 0 || f->sentinel.len == 0)
		return fault_set(fault, "%s: credential: missing", path);
	if (provider_keep(p, f) == -1)
		return fault_errno(fault, "%s", path);
	if (provider_logins(p, f, path, paths, fault) == -1 ||
	    provider_choose(p, fault) == -1)
		return -1;
	prefix = p->login == -1 ? span_dup(f->sentinel)
				: strdup(p->logins[p->login].sentinel);
	if (prefix != NULL)
		p->key = provider_sentinel(prefix);
	free(prefix);
	return p->key != NULL ? 0 : fault_errno(fault, "%s", path);
}

/* Read the file as mitmd and keyd will. */
static int
provider_fields(struct provider *p, const char *path, const char *name,
    const struct paths *paths, struct fault *fault)
{
	struct facts f;
	char err[1024];
	int rv;

	if (facts_read(&f, span_of(p->json, p->json_len), span_of("", 0), err,
		sizeof(err)) == -1)
		return fault_set(fault, "%s: %s", path, err);
	rv = provider_take(p, &f.facts, path, name, paths, fault);
	facts_free(&f);
	return rv;
}

void
provider_clear(struct provider *p)
{
	free(p->name);
	for (unsigned i = 0; i < p->nhosts; i++)
		free(p->hosts[i]);
	free(p->env);
	jsonfile_strings_free(p->parts);
	free(p->parts_text);
	for (unsigned i = 0; i < PROVIDERS_PARAMS; i++) {
		free(p->params[i]);
		jsonfile_strings_free(p->param_env[i]);
	}
	free(p->key);
	free(p->file);
	free(p->json);
	json_object_put(p->trial);
	for (unsigned i = 0; i < p->nlogins; i++) {
		free(p->logins[i].name);
		free(p->logins[i].file);
		free(p->logins[i].sentinel);
		free(p->logins[i].kept);
		jsonfile_strings_free(p->logins[i].lock_dirs);
		jsonfile_strings_free(p->logins[i].lock_files);
	}
	memset(p, 0, sizeof(*p));
}

/* Check only that a CA file holds a certificate; keyd reads it later. */
int
provider_ca(
    const struct config_provider *cfg, const char *where, struct fault *fault)
{
	struct fault why = {""};
	struct stat st;
	size_t len = 0;
	char *text;
	int rv = 0;

	if (cfg == NULL || cfg->ca == NULL)
		return 0;
	if ((text = jsonfile_text(cfg->ca, &len, &st, &why)) == NULL)
		return fault_set(
		    fault, "%s.%s.ca: %s", where, cfg->name, why.text);
	if (len > PROVIDERS_MAX_CA)
		rv = fault_set(fault, "%s.%s.ca: %s: over 4 MiB", where,
		    cfg->name, cfg->ca);
	else if (memmem(text, len, "-----BEGIN CERTIFICATE-----", 27) == NULL)
		rv = fault_set(fault,
		    "%s.%s.ca: %s: holds no certificate in PEM "
		    "(-----BEGIN CERTIFICATE-----)",
		    where, cfg->name, cfg->ca);
	free(text);
	return rv;
}

/*
 * Add the user's settings to the file's filter and protocols. Returns 1 if
 * there were any, 0 if not, or -1 with the fault set.
 */
static int
provider_settings(struct provider *p, const char *path,
    struct json_object *root, struct fault *fault)
{
	struct json_object *all, *set;

	if (p->config == NULL ||
	    (p->config->filter == NULL && p->config->http2))
		return 0;
	if (!p->config->http2)
		put_bool(root, "http2", false);
	if (p->config->filter == NULL)
		return 1;
	json_object_object_foreach(p->config->filter, member, val)
	{
		if (json_object_object_get_ex(root, member, &all) &&
		    !json_object_is_type(all, json_type_object))
			return fault_set(
			    fault, "%s: %s: must be an object", path, member);
		all = put_child(root, member);
		set = val;
		json_object_object_foreach(set, name, one)
		{
			json_object_object_add(all, name, json_object_get(one));
		}
	}
	return 1;
}

static int
provider_unknown(
    const struct paths *paths, const char *name, struct fault *fault)
{
	struct names ns;
	char known[512];

	names_find(&ns, paths, "providers");
	fault_set(fault,
	    "provider %s: no provider has this name (%s). A provider of your "
	    "own is a file %s/providers/%s.json",
	    name, names_known(&ns, name, known, sizeof(known)), paths->home,
	    name);
	names_free(&ns);
	return -1;
}

int
provider_load(struct provider *p, const struct paths *paths,
    const struct config *cfg, const char *name, struct fault *fault)
{
	const char *dirs[] = {paths->home, paths->datadir};
	struct json_object *root = NULL;
	char path[4400];
	struct stat st;
	int capture, settings, rv = -1;

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < 2 && p->json == NULL; i++) {
		snprintf(path, sizeof(path), "%.4000s/providers/%.64s.json",
		    dirs[i], name);
		p->json = jsonfile_text(path, &p->json_len, &st, fault);
		if (p->json == NULL && errno != ENOENT)
			return -1;
	}
	if (p->json == NULL)
		return provider_unknown(paths, name, fault);
	if (p->json_len > 1U << 20) {
		fault_set(fault, "%s: too large (over 1 MiB)", path);
		goto out;
	}
	p->config = config_provider(cfg, name);
	if ((p->file = strdup(path)) == NULL) {
		fault_errno(fault, "%s", path);
		goto out;
	}
	root = jsonfile_parse(path, span_of(p->json, p->json_len), fault);
	if (root == NULL ||
	    provider_params(p, path, name, &root, fault) == -1 ||
	    provider_fields(p, path, name, paths, fault) == -1 ||
	    provider_trial(p, path, root, fault) == -1)
		goto out;
	if ((capture = provider_capture(p, path, root, fault)) == -1 ||
	    (settings = provider_settings(p, path, root, fault)) == -1)
		goto out;
	if ((capture == 1 || settings == 1) &&
	    provider_rewrite(p, root) == -1) {
		fault_errno(fault, "%s", path);
		goto out;
	}
	rv = provider_ca(p->config, "providers", fault);
out:
	json_object_put(root);
	if (rv == -1)
		provider_clear(p);
	return rv;
}

/* Load a provider that the session will use. */
static int
providers_add(struct providers *ps, const struct paths *paths,
    const struct config *cfg, const char *name, struct fault *fault)
{
	struct provider *p = &ps->list[ps->n];

	if (provider_load(p, paths, cfg, name, fault) == -1)
		return -1;
	ps->n++;
	return p->lacks[0] == '\0' ? 0 : fault_set(fault, "%s", p->lacks);
}

int
providers_load(struct providers *ps, const struct paths *paths,
    const struct config *cfg, char *const *names, struct fault *fault)
{
	ps->n = 0;
	for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
		if (ps->n == PROTO_FIRST_ADDED)
			return fault_set(fault,
			    "at most %u providers are allowed",
			    PROTO_FIRST_ADDED);
		if (providers_add(ps, paths, cfg, names[i], fault) == -1)
			goto bad;
	}
	for (size_t i = 0; names == NULL && i < cfg->nproviders; i++) {
		if (!cfg->providers[i].listed)
			continue;
		if (providers_add(
			ps, paths, cfg, cfg->providers[i].name, fault) == -1)
			goto bad;
	}
	return 0;
bad:
	providers_free(ps);
	return -1;
}

void
providers_free(struct providers *ps)
{
	for (unsigned i = 0; i < ps->n; i++)
		provider_clear(&ps->list[i]);
	ps->n = 0;
}
