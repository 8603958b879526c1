/* SPDX-License-Identifier: ISC */
/* The lines that `icctl driver` writes. */
#include "icctl/driver/priv.h"

#include <string.h>

#include "base/json_put.h"

void
driver_tell(struct driver *d, json_object *id, json_object *o)
{
	json_object *line = json_object_new_object();

	json_object_object_add(line, "id", json_object_get(id));
	json_object_object_foreach(o, key, v)
	{
		/* An event may have an id of its own: a pending call's. */
		json_object_object_add(line,
		    strcmp(key, "id") == 0 ? "pending_id" : key,
		    json_object_get(v));
	}
	json_object_put(o);
	buf_adds(&d->out, json_object_to_json_string_ext(line, ICCTL_JSON));
	buf_addc(&d->out, '\n');
	json_object_put(line);
}

void
tell_fail(struct driver *d, json_object *id, enum fail fail, const char *why,
    json_object *more)
{
	json_object *o = json_object_new_object();

	put_str(o, d->amelia ? "type" : "event", "error");
	put_str(o, "code", fail_code(fail));
	put_int(o, "status", fail_status(fail));
	put_str(o, d->amelia ? "content" : "text", why);
	if (d->amelia)
		put_bool(o, "is_error", true);
	if (more != NULL) {
		json_object_object_foreach(more, key, v)
		    json_object_object_add(o, key, json_object_get(v));
	}
	if (d->status == ICCTL_OK)
		d->status = fail_status(fail);
	driver_tell(d, id, o);
}

static void
tell_add(json_object *o, const char *key, json_object *from, const char *as)
{
	put_int(o, key, icctl_number(o, key) + icctl_number(from, as));
}

json_object *
tell_usage(const struct request *r)
{
	json_object *o = json_object_new_object(), *list, *m, *most = NULL,
		    *usd;
	double cost = 0;

	put_int(o, "input_tokens", 0);
	put_int(o, "output_tokens", 0);
	put_int(o, "cache_read_tokens", 0);
	put_int(o, "cache_creation_tokens", 0);
	put_int(o, "num_turns", 0);
	json_object_object_get_ex(r->budget, "models", &list);
	if (!json_object_is_type(list, json_type_array))
		list = NULL;
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		m = json_object_array_get_idx(list, i);
		tell_add(o, "input_tokens", m, "in");
		tell_add(o, "output_tokens", m, "out");
		tell_add(o, "cache_read_tokens", m, "cacheRead");
		tell_add(o, "cache_creation_tokens", m, "cacheWrite");
		tell_add(o, "num_turns", m, "requests");
		if (json_object_object_get_ex(m, "usd", &usd))
			cost += json_object_get_double(usd);
		if (most == NULL ||
		    icctl_number(m, "out") > icctl_number(most, "out"))
			most = m;
	}
	json_object_object_add(o, "cost_usd", json_object_new_double(cost));
	put_int(o, "duration_ms", (int64_t)(driver_now() - r->began));
	if (most != NULL)
		put_str(o, "model", icctl_text(most, "model"));
	else
		json_object_object_add(o, "model",
		    r->ask.model != NULL ? json_text(r->ask.model) : NULL);
	return o;
}
