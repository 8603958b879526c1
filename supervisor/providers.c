/* SPDX-License-Identifier: ISC */
/*
 * Loads provider files and makes sentinel keys.  Holds no credential.
 */
#include "providers.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jsonfile.h"

#define SENTINEL_BYTES 24

/* The prefix that makes agents take it for a key, and 192 random bits. */
static char *
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

static int
provider_fields(struct provider *p, const char *path, const char *name,
    struct json_object *root, struct fault *fault)
{
	const struct jsonfile j = {path, fault};
	struct json_object *cred = NULL;
	const char *s = NULL, *host = NULL, *env = NULL, *prefix = NULL;

	if (jsonfile_str(&j, root, "", "name", &s) == -1 ||
	    jsonfile_str(&j, root, "", "host", &host) == -1 ||
	    jsonfile_object(&j, root, "", "credential", &cred) == -1)
		return -1;
	if (s == NULL || strcmp(s, name) != 0)
		return jsonfile_bad(&j, "", "name",
		    "must be \"%s\", as the "
		    "file is called",
		    name);
	if (host == NULL)
		return jsonfile_bad(&j, "", "host", "missing");
	if (cred == NULL)
		return jsonfile_bad(&j, "", "credential", "missing");
	if (jsonfile_str(&j, cred, "credential", "env", &env) == -1 ||
	    jsonfile_str(&j, cred, "credential", "sentinel", &prefix) == -1)
		return -1;
	if (env == NULL || prefix == NULL)
		return jsonfile_bad(&j, "credential",
		    env == NULL ? "env" : "sentinel", "missing");
	p->name = strdup(name);
	p->host = strdup(host);
	p->env = strdup(env);
	p->key = provider_sentinel(prefix);
	if (p->name == NULL || p->host == NULL || p->env == NULL ||
	    p->key == NULL)
		return fault_errno(fault, "%s", path);
	return 0;
}

void
provider_free(struct provider *p)
{
	free(p->name);
	free(p->host);
	free(p->env);
	free(p->key);
	free(p->json);
	memset(p, 0, sizeof(*p));
}

/* That a CA file is one is known here; what it holds, to keyd later. */
static int
provider_ca(const struct config_provider *cfg, struct fault *fault)
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
		    fault, "providers.%s.ca: %s", cfg->name, why.text);
	if (len > PROVIDERS_MAX_CA)
		rv = fault_set(fault, "providers.%s.ca: %s: over 4 MiB",
		    cfg->name, cfg->ca);
	else if (memmem(text, len, "-----BEGIN CERTIFICATE-----", 27) == NULL)
		rv = fault_set(fault,
		    "providers.%s.ca: %s: holds no certificate in PEM "
		    "(-----BEGIN CERTIFICATE-----)",
		    cfg->name, cfg->ca);
	free(text);
	return rv;
}

int
provider_load(struct provider *p, const struct paths *paths,
    const struct config *cfg, const char *name, struct fault *fault)
{
	const char *dirs[] = {paths->home, paths->datadir};
	struct json_object *root = NULL;
	char path[4400];
	struct stat st;
	int rv = -1;

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < 2 && p->json == NULL; i++) {
		snprintf(path, sizeof(path), "%.4000s/providers/%.64s.json",
		    dirs[i], name);
		p->json = jsonfile_text(path, &p->json_len, &st, fault);
		if (p->json == NULL && errno != ENOENT)
			return -1;
	}
	if (p->json == NULL)
		return fault_set(fault,
		    "provider %s: there is no %s, nor %s/providers/%s.json. "
		    "The files in these directories are the providers",
		    name, path, paths->home, name);
	if (p->json_len > 1U << 20) {
		fault_set(fault, "%s: too large (over 1 MiB)", path);
		goto out;
	}
	root = jsonfile_parse(path, span_of(p->json, p->json_len), fault);
	if (root == NULL || provider_fields(p, path, name, root, fault) == -1)
		goto out;
	p->config = config_provider(cfg, name);
	rv = provider_ca(p->config, fault);
out:
	json_object_put(root);
	if (rv == -1)
		provider_free(p);
	return rv;
}

int
providers_load(struct providers *ps, const struct paths *paths,
    const struct config *cfg, char *const *names, struct fault *fault)
{
	memset(ps, 0, sizeof(*ps));
	for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
		if (ps->n == PROTO_MAX_PROVIDERS)
			return fault_set(fault,
			    "at most %u providers are "
			    "taken",
			    PROTO_MAX_PROVIDERS);
		if (provider_load(
			&ps->list[ps->n], paths, cfg, names[i], fault) == -1)
			goto bad;
		ps->n++;
	}
	for (size_t i = 0; names == NULL && i < cfg->nproviders; i++) {
		if (!cfg->providers[i].listed)
			continue;
		if (provider_load(&ps->list[ps->n], paths, cfg,
			cfg->providers[i].name, fault) == -1)
			goto bad;
		ps->n++;
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
		provider_free(&ps->list[i]);
	ps->n = 0;
}
