/* SPDX-License-Identifier: ISC */
/*
 * The parameters of a provider file: "parameters" names the region and the
 * project that hosts and paths are made of, with the variables that usually set
 * them and their defaults. The values are filled in before anyone reads the
 * file's routes, so that mitmd and keyd see the same region and project, and no
 * request can go to another.
 */
#include "files/providers/providers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "common/buf.h"

static const char *const param_names[PROVIDERS_PARAMS] = {
    [PARAM_REGION] = "region",
    [PARAM_PROJECT] = "project",
};

/* Returns true if the value is safe both in a host name and in a path. */
static bool
param_ok(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n < 64 && s[0] != '-' && s[n - 1] != '-' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

/* Look up a value in config.json, then the environment, then the file. */
static int
param_value(struct provider *p, const struct jsonfile *j, struct json_object *o,
    const char *provider, unsigned which)
{
	static const char *const keys[] = {"default", "env", "hosts", NULL};
	const char *name = param_names[which], *value = NULL, *dflt = NULL;
	char **env;

	if (jsonfile_known(j, o, name, keys) == -1 ||
	    jsonfile_str(j, o, name, "default", &dflt) == -1 ||
	    jsonfile_strings(j, o, name, "env", 8, &p->param_env[which]) == -1)
		return -1;
	env = p->param_env[which];
	if (p->config != NULL)
		value = p->config->params[which];
	for (size_t i = 0; value == NULL && env != NULL && env[i] != NULL;
	     i++) {
		value = getenv(env[i]);
		if (value != NULL && value[0] == '\0')
			value = NULL;
	}
	if (value == NULL)
		value = dflt;
	if (value != NULL && !param_ok(value))
		return fault_set(j->fault,
		    "the %s of provider %s, \"%.64s\", must be 1 to 63 lower "
		    "case letters, digits and -",
		    name, provider, value);
	if (value != NULL && (p->params[which] = strdup(value)) == NULL)
		return fault_errno(j->fault, "%s", j->file);
	if (value == NULL && p->lacks[0] == '\0')
		snprintf(p->lacks, sizeof(p->lacks),
		    "provider %s needs a %s. Write "
		    "{\"providers\":{\"%s\":{\"%s\":\"...\"}}} in "
		    "config.json%s%s",
		    provider, name, provider, name,
		    env != NULL && env[0] != NULL ? ", or set " : "",
		    env != NULL && env[0] != NULL ? env[0] : "");
	return 0;
}

/* Use the region's own host, if the file lists one: some have other names. */
static void
param_host(struct provider *p, struct json_object *root, struct json_object *o)
{
	struct json_object *hosts, *host;

	if (p->params[PARAM_REGION] != NULL &&
	    json_object_object_get_ex(o, "hosts", &hosts) &&
	    json_object_is_type(hosts, json_type_object) &&
	    json_object_object_get_ex(hosts, p->params[PARAM_REGION], &host))
		json_object_object_add(root, "host", json_object_get(host));
}

/* Returns the text with every {name} replaced, or NULL if memory ran out. */
static char *
param_fill(const struct provider *p, const char *text)
{
	char word[16], *out;
	struct buf b;
	size_t n;

	buf_init(&b, 2U << 20);
	while (*text != '\0') {
		n = 0;
		for (unsigned i = 0; i < PROVIDERS_PARAMS; i++) {
			n = (size_t)snprintf(
			    word, sizeof(word), "{%s}", param_names[i]);
			if (strncmp(text, word, n) != 0) {
				n = 0;
				continue;
			}
			/*
			 * A provider without this value cannot be used
			 * (p->lacks).
			 */
			buf_adds(
			    &b, p->params[i] != NULL ? p->params[i] : "unset");
			break;
		}
		if (n == 0)
			buf_addc(&b, (uint8_t)*text++);
		text += n;
	}
	out = b.failed ? NULL : span_dup(buf_span(&b));
	buf_free(&b);
	return out;
}

int
provider_params(struct provider *p, const char *path, const char *name,
    struct json_object **root, struct fault *fault)
{
	const struct jsonfile j = {path, fault};
	struct json_object *all = NULL, *o, *filled;
	const char *text;
	char *copy;

	if (jsonfile_object(&j, *root, "", "parameters", &all) == -1)
		return -1;
	if (all == NULL)
		return 0;
	if (jsonfile_known(&j, all, "parameters",
		(const char *const[]){"project", "region", NULL}) == -1)
		return -1;
	for (unsigned i = 0; i < PROVIDERS_PARAMS; i++) {
		o = NULL;
		if (jsonfile_object(
			&j, all, "parameters", param_names[i], &o) == -1 ||
		    (o != NULL && param_value(p, &j, o, name, i) == -1))
			return -1;
		if (o != NULL && i == PARAM_REGION)
			param_host(p, *root, o);
	}
	json_object_object_del(*root, "parameters");
	text = json_object_to_json_string_ext(
	    *root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text == NULL || (copy = param_fill(p, text)) == NULL)
		return fault_errno(fault, "%s", path);
	free(p->json);
	p->json = copy;
	p->json_len = strlen(copy);
	if ((filled = jsonfile_parse(
		 path, span_of(copy, p->json_len), fault)) == NULL)
		return -1;
	json_object_put(*root);
	*root = filled;
	return 0;
}
