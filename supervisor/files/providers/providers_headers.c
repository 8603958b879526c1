/* SPDX-License-Identifier: ISC */
/* Fills the names of a session into "headers" of config.json's providers. */
#include "files/parse.h"

#include <string.h>

#include "base/json_get.h"
#include "common/buf.h"

/* Returns the header's value with the names that stand in braces. */
static json_object *
config_header(const char *s, const char *const names[][2], size_t n)
{
	json_object *o;
	struct span v;
	struct buf b;
	size_t at;

	buf_init(&b, 4096);
	while (*s != '\0') {
		for (at = 0; at < n; at++)
			if (strncmp(s, names[at][0], strlen(names[at][0])) == 0)
				break;
		if (at == n) {
			buf_addc(&b, (uint8_t)*s++);
		} else {
			buf_adds(&b, names[at][1]);
			s += strlen(names[at][0]);
		}
	}
	/* Strip the blanks around a name that the session does not have. */
	v = buf_span(&b);
	while (v.len != 0 && v.p[v.len - 1] == ' ')
		v.len--;
	while (v.len != 0 && v.p[0] == ' ')
		v = span_of(v.p + 1, v.len - 1);
	o = json_object_new_string_len((const char *)v.p, (int)v.len);
	buf_free(&b);
	return o;
}

void
config_headers(struct config *cfg, const char *session, const char *persona)
{
	const char *const names[][2] = {
	    {"{session}", session}, {"{persona}", persona}, {"{job}", ""}};
	json_object *all, *o;

	for (size_t i = 0; i < cfg->nproviders; i++) {
		all = get_typed(
		    cfg->providers[i].filter, "sendHeaders", json_type_object);
		if (all == NULL)
			continue;
		json_object_object_foreach(all, name, val)
		{
			if (!json_object_is_type(val, json_type_string))
				continue;
			o = config_header(
			    json_object_get_string(val), names, nitems(names));
			/* A name that the session does not have. */
			if (json_object_get_string_len(o) == 0 &&
			    json_object_get_string_len(val) != 0) {
				json_object_put(o);
				json_object_object_del(all, name);
			} else {
				json_object_object_add(all, name, o);
			}
		}
	}
}
