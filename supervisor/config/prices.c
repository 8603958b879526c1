/* SPDX-License-Identifier: ISC */
/* Reads price files, which are the user's own or shipped. */
#include "config/prices.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/jsonfile.h"

#define PRICES_HIGHEST 1e6

static int
price_number(const struct jsonfile *j, struct json_object *o, const char *where,
    const char *key, bool needed, double dflt, double *out)
{
	struct json_object *v;

	*out = dflt;
	if (!json_object_object_get_ex(o, key, &v))
		return needed ? jsonfile_bad(j, where, key, "missing") : 0;
	if (!json_object_is_type(v, json_type_int) &&
	    !json_object_is_type(v, json_type_double))
		return jsonfile_bad(
		    j, where, key, "must be a number, is %s", jsonfile_kind(v));
	*out = json_object_get_double(v);
	if (!(*out >= 0 && *out <= PRICES_HIGHEST))
		return jsonfile_bad(
		    j, where, key, "must be USD for a million tokens");
	return 0;
}

static int
price_row(struct prices *ps, const struct jsonfile *j, struct json_object *o,
    const char *where)
{
	static const char *const keys[] = {
	    "model", "in", "out", "cacheRead", "cacheWrite", NULL};
	struct price *p = &ps->rows[ps->n];
	const char *model = NULL;

	if (ps->n == PRICES_MAX)
		return jsonfile_bad(
		    j, where, NULL, "at most %u rows are taken", PRICES_MAX);
	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, where, NULL, "must be an object, is %s",
		    jsonfile_kind(o));
	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_str(j, o, where, "model", &model) == -1)
		return -1;
	if (model == NULL || *model == '\0' ||
	    strlen(model) >= sizeof(p->model))
		return jsonfile_bad(j, where, "model",
		    "must be a name of at most %zu bytes, or its beginning "
		    "and *",
		    sizeof(p->model) - 1);
	snprintf(p->model, sizeof(p->model), "%s", model);
	/* A model without cache prices pays the price of other input. */
	if (price_number(j, o, where, "in", true, 0, &p->in) == -1 ||
	    price_number(j, o, where, "out", true, 0, &p->out) == -1 ||
	    price_number(
		j, o, where, "cacheRead", false, p->in, &p->cache_read) == -1 ||
	    price_number(
		j, o, where, "cacheWrite", false, p->in, &p->cache_write) == -1)
		return -1;
	ps->n++;
	return 0;
}

static int
prices_file(
    struct prices *ps, const char *path, bool needed, struct fault *fault)
{
	static const char *const keys[] = {"about", "models", NULL};
	const struct jsonfile j = {path, fault};
	struct json_object *root = NULL, *rows;
	char *text, where[32];
	struct stat st;
	size_t len;
	int rv = -1;

	if ((text = jsonfile_text(path, &len, &st, fault)) == NULL)
		return errno == ENOENT && !needed ? 0 : -1;
	if ((root = jsonfile_parse(path, span_of(text, len), fault)) == NULL ||
	    jsonfile_known(&j, root, "", keys) == -1)
		goto out;
	if (!json_object_object_get_ex(root, "models", &rows) ||
	    !json_object_is_type(rows, json_type_array)) {
		jsonfile_bad(&j, "", "models", "must be a list of objects");
		goto out;
	}
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		snprintf(where, sizeof(where), "models[%zu]", i);
		if (price_row(ps, &j, json_object_array_get_idx(rows, i),
			where) == -1)
			goto out;
	}
	rv = 0;
out:
	json_object_put(root);
	free(text);
	return rv;
}

int
prices_load(struct prices *ps, const struct paths *paths, struct fault *fault)
{
	char path[4400];

	ps->n = 0;
	snprintf(path, sizeof(path), "%.4000s/prices.json", paths->home);
	if (prices_file(ps, path, false, fault) == -1)
		return -1;
	snprintf(path, sizeof(path), "%.4000s/prices.json", paths->datadir);
	return prices_file(ps, path, true, fault);
}

const struct price *
prices_find(const struct prices *ps, const char *model)
{
	const char *slash = strrchr(model, '/');
	const struct price *p;
	size_t n;

	if (slash != NULL)
		model = slash + 1;
	for (unsigned i = 0; i < ps->n; i++) {
		p = &ps->rows[i];
		n = strlen(p->model);
		if (p->model[n - 1] == '*'
			? strncmp(p->model, model, n - 1) == 0
			: strcmp(p->model, model) == 0)
			return p;
	}
	return NULL;
}
