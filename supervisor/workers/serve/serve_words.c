/* SPDX-License-Identifier: ISC */
/* A service's entry, and the words of ic-bridge that begin its command. */
#include "workers/serve/serve.h"

#include <stdio.h>

struct serve_env serve_env;

const char *
serve_text(const struct service *s, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(s->o, key, &v)
		   ? json_object_get_string(v)
		   : NULL;
}

struct json_object *
serve_list(const struct service *s, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(s->o, key, &v) &&
		       json_object_is_type(v, json_type_array)
		   ? v
		   : NULL;
}

void
serve_bridge(struct wordlist *w, const struct service *s, bool limited,
    const char *ready)
{
	struct json_object *health = serve_list(s, "health");
	static char limits[96], port[8], count[8];

	wordlist_add(w, "serve");
	if (limited) {
		wordlist_add(w, "--limits");
		wordlist_add(w, limits_option(&serve_env.limits, true, limits,
				    sizeof(limits)));
	}
	snprintf(port, sizeof(port), "%u", s->port);
	wordlist_add(w, "--publish");
	wordlist_add(w, port);
	if (health != NULL) {
		snprintf(count, sizeof(count), "%zu",
		    json_object_array_length(health));
		wordlist_add(w, "--health");
		wordlist_add(w, count);
		for (size_t i = 0; i < json_object_array_length(health); i++)
			wordlist_add(w, json_object_get_string(
					    json_object_array_get_idx(
						health, i)));
	}
	if (health == NULL && ready != NULL)
		wordlist_all(w, (const char *const[]){"--health", "3",
				    "/bin/sh", "-euc", ready, NULL});
	wordlist_add(w, SERVE_SOCKET);
	wordlist_add(w, "--");
}
