/* SPDX-License-Identifier: ISC */
/* Reads price files, which are the user's own or shipped. */
#include "files/prices.h"

#include <stdio.h>
#include <string.h>

#include "base/jsonfile.h"

#define PRICES_HIGHEST 1e6
#define PRICES_LONGEST 1e12 /* tokens */

struct price_file {
	struct jsonfile j;
	struct prices *ps;
	bool shipped;
};

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

/*
 * Read the prices of requests of one size. Those of cached tokens follow from
 * that of other input as they do in `base`; NULL: a model without them pays the
 * price of other input, and twice that for what is kept for an hour.
 */
static int
price_set(const struct jsonfile *j, struct json_object *o, const char *where,
    const struct price_set *base, struct price_set *p)
{
	double more = 1, read, write, hour;

	if (price_number(j, o, where, "in", true, 0, &p->in) == -1 ||
	    price_number(j, o, where, "out", true, 0, &p->out) == -1)
		return -1;
	if (base != NULL && base->in > 0)
		more = p->in / base->in;
	read = base != NULL ? base->cache_read * more : p->in;
	write = base != NULL ? base->cache_write * more : p->in;
	if (price_number(
		j, o, where, "cacheRead", false, read, &p->cache_read) == -1 ||
	    price_number(
		j, o, where, "cacheWrite", false, write, &p->cache_write) == -1)
		return -1;
	hour = 2 * p->in > p->cache_write ? 2 * p->in : p->cache_write;
	if (base != NULL)
		hour = base->cache_write_1h * more;
	return price_number(
	    j, o, where, "cacheWrite1h", false, hour, &p->cache_write_1h);
}

static int
price_step(const struct jsonfile *j, struct json_object *o, const char *where,
    struct price *p)
{
	static const char *const keys[] = {"tokens", "in", "out", "cacheRead",
	    "cacheWrite", "cacheWrite1h", NULL};
	struct json_object *v;
	double above, last;

	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, where, NULL, "must be an object, is %s",
		    jsonfile_kind(o));
	if (jsonfile_known(j, o, where, keys) == -1)
		return -1;
	last = p->nsteps != 0 ? p->steps[p->nsteps - 1].above : 0;
	if (!json_object_object_get_ex(o, "tokens", &v) ||
	    !json_object_is_type(v, json_type_int) ||
	    (above = json_object_get_double(v)) <= last ||
	    above > PRICES_LONGEST)
		return jsonfile_bad(j, where, "tokens",
		    "must be a number of tokens, and rise from step to step");
	p->steps[p->nsteps].above = above;
	if (price_set(j, o, where, &p->set, &p->steps[p->nsteps].set) == -1)
		return -1;
	p->nsteps++;
	return 0;
}

static int
price_steps(const struct jsonfile *j, struct json_object *o, const char *where,
    struct price *p)
{
	struct json_object *list;
	char at[64];

	if (!json_object_object_get_ex(o, "above", &list))
		return 0;
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > PRICES_STEPS)
		return jsonfile_bad(j, where, "above",
		    "must be a list of at most %u objects", PRICES_STEPS);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		snprintf(at, sizeof(at), "%s.above[%zu]", where, i);
		if (price_step(j, json_object_array_get_idx(list, i), at, p) ==
		    -1)
			return -1;
	}
	return 0;
}

/*
 * Read the factors. One that is not in the row is the highest that is usual:
 * an answer that names a tier or a speed has been paid for.
 */
static int
price_factors(const struct jsonfile *j, struct json_object *o,
    const char *where, struct price *p)
{
	const struct {
		const char *key;
		double dflt;
		double *out;
	} rows[] = {
	    {"fast", 6, &p->fast},
	    {"batch", 1, &p->tiers[1]},
	    {"flex", 1, &p->tiers[2]},
	    {"priority", 2.5, &p->tiers[3]},
	    {"regional", 1.1, &p->regional},
	    {"search", 10, &p->search},
	    {"audioIn", p->set.in, &p->audio_in},
	    {"audioOut", p->set.out, &p->audio_out},
	};

	p->tiers[0] = 1;
	for (size_t i = 0; i < nitems(rows); i++) {
		if (price_number(j, o, where, rows[i].key, false, rows[i].dflt,
			rows[i].out) == -1)
			return -1;
	}
	return 0;
}

/*
 * Copy a host, or * and its end, to `dst`. Returns 0, or -1 with the fault set.
 */
static int
price_host(const struct jsonfile *j, const char *where, const char *key,
    const char *host, char dst[PRICES_HOST])
{
	if (host == NULL || *host == '\0' || strlen(host) >= PRICES_HOST ||
	    strspn(host + (*host == '*'), "abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789.-") !=
		strlen(host + (*host == '*')))
		return jsonfile_bad(j, where, key,
		    "must be a host without a port, or * and the end of one, "
		    "of at most %u bytes",
		    PRICES_HOST - 1);
	snprintf(dst, PRICES_HOST, "%s", host);
	return 0;
}

static int
price_row(const struct price_file *f, struct json_object *o, const char *where)
{
	static const char *const keys[] = {"model", "host", "in", "out",
	    "cacheRead", "cacheWrite", "cacheWrite1h", "above", "fast", "batch",
	    "flex", "priority", "regional", "search", "audioIn", "audioOut",
	    "family", "source", "date", "note", NULL};
	const struct jsonfile *j = &f->j;
	struct prices *ps = f->ps;
	struct price *p = &ps->rows[ps->n];
	const char *model = NULL, *host = NULL;
	struct json_object *v;

	if (ps->n == PRICES_MAX)
		return jsonfile_bad(
		    j, where, NULL, "at most %u rows are taken", PRICES_MAX);
	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, where, NULL, "must be an object, is %s",
		    jsonfile_kind(o));
	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_str(j, o, where, "model", &model) == -1 ||
	    jsonfile_str(j, o, where, "host", &host) == -1)
		return -1;
	if (model == NULL || *model == '\0' ||
	    strlen(model) >= sizeof(p->model))
		return jsonfile_bad(j, where, "model",
		    "must be a name of at most %zu bytes, or its beginning "
		    "and *",
		    sizeof(p->model) - 1);
	*p = (struct price){.rest = f->shipped && strcmp(model, "*") == 0};
	snprintf(p->model, sizeof(p->model), "%s", model);
	if (json_object_object_get_ex(o, "host", &v) &&
	    price_host(j, where, "host", host, p->host) == -1)
		return -1;
	p->special = json_object_object_get_ex(o, "family", &v) &&
		     !json_object_get_boolean(v);
	if (price_set(j, o, where, NULL, &p->set) == -1 ||
	    price_steps(j, o, where, p) == -1 ||
	    price_factors(j, o, where, p) == -1)
		return -1;
	ps->n++;
	return 0;
}

static int
price_rows(const struct price_file *f, struct json_object *root)
{
	struct json_object *rows;
	char where[32];

	if (!json_object_object_get_ex(root, "models", &rows) ||
	    !json_object_is_type(rows, json_type_array))
		return jsonfile_bad(
		    &f->j, "", "models", "must be a list of objects");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		snprintf(where, sizeof(where), "models[%zu]", i);
		if (price_row(f, json_object_array_get_idx(rows, i), where) ==
		    -1)
			return -1;
	}
	return 0;
}

/* Read a family: the beginnings of its names. */
static int
price_family(const struct price_file *f, struct json_object *list,
    const char *where, unsigned family)
{
	struct prices *ps = f->ps;
	struct json_object *v;
	const char *s;

	if (!json_object_is_type(list, json_type_array))
		return jsonfile_bad(&f->j, where, NULL,
		    "must be a list of beginnings of names");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		v = json_object_array_get_idx(list, i);
		s = json_object_is_type(v, json_type_string)
			? json_object_get_string(v)
			: "";
		if (*s == '\0' || strlen(s) >= sizeof(ps->families[0].begins) ||
		    ps->nfamilies == PRICES_FAMILIES)
			return jsonfile_bad(&f->j, where, NULL,
			    "must hold names of 1 to %zu bytes, at most %u in "
			    "all",
			    sizeof(ps->families[0].begins) - 1,
			    PRICES_FAMILIES);
		snprintf(ps->families[ps->nfamilies].begins,
		    sizeof(ps->families[0].begins), "%s", s);
		ps->families[ps->nfamilies++].family = family;
	}
	return 0;
}

static int
price_families(const struct price_file *f, struct json_object *root)
{
	struct json_object *lists;
	unsigned last = f->ps->nfamilies;
	char where[32];

	if (!json_object_object_get_ex(root, "families", &lists))
		return 0;
	if (!json_object_is_type(lists, json_type_array))
		return jsonfile_bad(
		    &f->j, "", "families", "must be a list of lists");
	for (size_t i = 0; i < json_object_array_length(lists); i++) {
		snprintf(where, sizeof(where), "families[%zu]", i);
		if (price_family(f, json_object_array_get_idx(lists, i), where,
			last + (unsigned)i) == -1)
			return -1;
	}
	return 0;
}

/* Read the hosts that keep data in one place. */
static int
price_regional(const struct price_file *f, struct json_object *root)
{
	struct json_object *list, *v;
	struct prices *ps = f->ps;

	if (!json_object_object_get_ex(root, "regional", &list))
		return 0;
	if (!json_object_is_type(list, json_type_array))
		return jsonfile_bad(
		    &f->j, "", "regional", "must be a list of hosts");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		v = json_object_array_get_idx(list, i);
		if (ps->nregional == PRICES_REGIONAL)
			return jsonfile_bad(&f->j, "", "regional",
			    "must have at most %u hosts", PRICES_REGIONAL);
		if (price_host(&f->j, "", "regional",
			json_object_is_type(v, json_type_string)
			    ? json_object_get_string(v)
			    : NULL,
			ps->regional[ps->nregional].host) == -1)
			return -1;
		ps->nregional++;
	}
	return 0;
}

int
prices_parse(struct prices *ps, const char *path, struct span text,
    bool shipped, struct fault *fault)
{
	static const char *const keys[] = {
	    "about", "families", "regional", "models", NULL};
	const struct price_file f = {{path, fault}, ps, shipped};
	struct json_object *root = jsonfile_parse(path, text, fault);
	int rv = -1;

	if (root != NULL && jsonfile_known(&f.j, root, "", keys) == 0 &&
	    price_families(&f, root) == 0 && price_regional(&f, root) == 0 &&
	    price_rows(&f, root) == 0)
		rv = 0;
	json_object_put(root);
	if (!shipped)
		ps->own = ps->n;
	else if (rv == 0 && (ps->n == 0 || !ps->rows[ps->n - 1].rest))
		rv = jsonfile_bad(&f.j, "", "models",
		    "must end with a row for the model \"*\"");
	return rv;
}
