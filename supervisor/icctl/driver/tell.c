/* SPDX-License-Identifier: ISC */
/* The lines that `icctl driver` writes. */
#include "icctl/driver/priv.h"

#include <string.h>

#include "base/json_get.h"
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

/* The sums over the models of a budget. */
struct tell_sums {
	int64_t in, out, cache_read, cache_write, turns;
	double usd;
	json_object *most; /* the model that has written most, or NULL */
};

static void
tell_sum(json_object *budget, struct tell_sums *t)
{
	json_object *list = get_typed(budget, "models", json_type_array), *m;

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		m = json_object_array_get_idx(list, i);
		t->in += icctl_number(m, "in");
		t->out += icctl_number(m, "out");
		t->cache_read += icctl_number(m, "cacheRead");
		t->cache_write += icctl_number(m, "cacheWrite");
		t->turns += icctl_number(m, "requests");
		t->usd += json_object_get_double(get_member(m, "usd"));
		if (t->most == NULL ||
		    icctl_number(m, "out") > icctl_number(t->most, "out"))
			t->most = m;
	}
}

json_object *
tell_usage(const struct request *r)
{
	json_object *o = json_object_new_object();
	struct tell_sums t, was;

	tell_sum(r->budget, &t);
	/* Earlier requests of the same conversation are no part of it. */
	tell_sum(r->base, &was);
	put_int(o, "input_tokens", t.in - was.in);
	put_int(o, "output_tokens", t.out - was.out);
	put_int(o, "cache_read_tokens", t.cache_read - was.cache_read);
	put_int(o, "cache_creation_tokens", t.cache_write - was.cache_write);
	put_int(o, "num_turns", t.turns - was.turns);
	json_object_object_add(
	    o, "cost_usd", json_object_new_double(t.usd - was.usd));
	put_int(o, "duration_ms", (int64_t)(driver_now() - r->began));
	if (t.most != NULL)
		put_str(o, "model", icctl_text(t.most, "model"));
	else
		json_object_object_add(o, "model",
		    r->ask.model != NULL ? json_text(r->ask.model) : NULL);
	return o;
}
