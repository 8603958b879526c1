/* SPDX-License-Identifier: ISC */
/*
 * Takes from an entry of a compose file what a service of the session's own can
 * have. Mounts, networks, privileges, builds and files of variables have no
 * place there; each is named, so that nobody wonders why a service behaves
 * otherwise.
 */
#include "icctl/services/services.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/log.h"
#include "files/config.h"

void
services_note(struct services_notes *n, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (n->n < SERVICES_NOTES && vasprintf(&text, fmt, ap) != -1)
		n->list[n->n++] = text;
	va_end(ap);
}

void
services_notes_free(struct services_notes *n)
{
	while (n->n != 0)
		free(n->list[--n->n]);
}

/* Write text of the file so that it can be printed. */
static const char *
compose_shown(const char *s, char dst[200])
{
	const size_t n = strlen(s);

	return log_vis(span_of(s, n < 48 ? n : 48), dst, 200);
}

/*
 * Copy a text with $$ as $. Returns NULL if it names a variable of the person's
 * or does not fit.
 */
static char *
compose_constant(const char *s)
{
	char *out = strdup(s), *to = out;

	for (; out != NULL && *s != '\0'; s++) {
		if (*s == '$' && s[1] == '$') {
			s++;
		} else if (*s == '$') {
			free(out);
			return NULL;
		}
		*to++ = *s;
	}
	if (out != NULL)
		*to = '\0';
	return out;
}

/* Returns the port of the container in "5432", "8080:5432/tcp" ..., or 0. */
static long
compose_port_text(const char *s)
{
	const char *at = strrchr(s, ':');
	char *end;
	long port = strtol(at != NULL ? at + 1 : s, &end, 10);

	return (*end == '\0' || strcmp(end, "/tcp") == 0) && port > 0 &&
		       port < 65536
		   ? port
		   : 0;
}

static long
compose_port_of(json_object *v)
{
	json_object *target = NULL;

	if (json_object_is_type(v, json_type_object)) {
		(void)json_object_object_get_ex(v, "target", &target);
		v = target;
	}
	if (json_object_is_type(v, json_type_int) ||
	    json_object_is_type(v, json_type_string))
		return compose_port_text(json_object_get_string(v));
	return 0;
}

/* Returns the usual port of a well-known image, or 0. */
static long
compose_usual(const char *image)
{
	static const struct {
		const char *name;
		long port;
	} usual[] = {{"postgres", 5432}, {"postgis", 5432}, {"mysql", 3306},
	    {"mariadb", 3306}, {"redis", 6379}, {"valkey", 6379},
	    {"rabbitmq", 5672}, {"mongo", 27017}, {"memcached", 11211},
	    {"mailhog", 1025}, {"mailpit", 1025}, {"nats", 4222},
	    {"elasticsearch", 9200}, {"minio", 9000}};
	const char *slash = strrchr(image, '/');
	const char *name = slash != NULL ? slash + 1 : image;
	const size_t n = strcspn(name, ":@-");

	for (size_t i = 0; i < nitems(usual); i++)
		if (strlen(usual[i].name) == n &&
		    strncasecmp(usual[i].name, name, n) == 0)
			return usual[i].port;
	return 0;
}

static long
compose_port(const char *name, json_object *from, const char *image,
    struct services_notes *notes)
{
	static const char *const keys[] = {"ports", "expose"};
	json_object *list = NULL;
	long port = 0;
	size_t n;

	for (size_t i = 0; i < nitems(keys) && port == 0; i++) {
		if (!json_object_object_get_ex(from, keys[i], &list) ||
		    !json_object_is_type(list, json_type_array))
			continue;
		n = json_object_array_length(list);
		if (n != 0)
			port =
			    compose_port_of(json_object_array_get_idx(list, 0));
		if (n > 1)
			services_note(notes,
			    "%s: the first of its %zu %s is taken; give each "
			    "further one an entry of its own",
			    name, n, keys[i]);
	}
	return port != 0 ? port : compose_usual(image);
}

/* Add a variable, unless its value is not constant. */
static void
compose_variable(json_object *env, const char *service, const char *name,
    const char *value, struct services_notes *notes)
{
	char *text = value == NULL ? NULL : compose_constant(value);
	char shown[200];

	if (text == NULL)
		services_note(notes,
		    "%s: environment %s is not taken: it is a variable of "
		    "yours, and not a constant",
		    service, compose_shown(name, shown));
	else
		put_str(env, name, text);
	free(text);
}

static void
compose_env(const char *name, json_object *from, json_object *o,
    struct services_notes *notes)
{
	json_object *v = NULL, *env = json_object_new_object();
	char text[4096], *eq;

	(void)json_object_object_get_ex(from, "environment", &v);
	if (json_object_is_type(v, json_type_object)) {
		json_object_object_foreach(v, key, val)
		    compose_variable(env, name, key,
			json_object_is_type(val, json_type_array) ||
				json_object_is_type(val, json_type_object)
			    ? NULL
			    : json_object_get_string(val),
			notes);
	}
	for (size_t i = 0; json_object_is_type(v, json_type_array) &&
			   i < json_object_array_length(v);
	     i++) {
		snprintf(text, sizeof(text), "%s",
		    json_object_get_string(json_object_array_get_idx(v, i)));
		eq = strchr(text, '=');
		if (eq != NULL)
			*eq = '\0';
		compose_variable(
		    env, name, text, eq != NULL ? eq + 1 : NULL, notes);
	}
	if (json_object_object_length(env) != 0)
		json_object_object_add(o, "env", env);
	else
		json_object_put(env);
}

/* Take the check of its health: a command, or one of a shell. */
static void
compose_health(const char *name, json_object *from, json_object *o,
    struct services_notes *notes)
{
	json_object *check = NULL, *test = NULL, *out, *v;
	const char *first = "CMD-SHELL";
	size_t i = 0, n = 1;
	char *text;

	if (!json_object_object_get_ex(from, "healthcheck", &check) ||
	    !json_object_object_get_ex(check, "test", &test))
		return;
	if (json_object_is_type(test, json_type_array)) {
		n = json_object_array_length(test);
		first = n == 0 ? "NONE"
			       : json_object_get_string(
				     json_object_array_get_idx(test, i++));
	}
	if (first == NULL || strcmp(first, "NONE") == 0)
		return;
	out = json_object_new_array();
	if (strcmp(first, "CMD-SHELL") == 0) {
		json_object_array_add(out, json_object_new_string("/bin/sh"));
		json_object_array_add(out, json_object_new_string("-c"));
	}
	for (; i < n; i++) {
		v = json_object_is_type(test, json_type_array)
			? json_object_array_get_idx(test, i)
			: test;
		text = json_object_get_string(v) == NULL
			   ? NULL
			   : compose_constant(json_object_get_string(v));
		if (text == NULL) {
			services_note(notes,
			    "%s: its health check is not taken: it has a "
			    "variable of yours",
			    name);
			json_object_put(out);
			return;
		}
		json_object_array_add(out, json_object_new_string(text));
		free(text);
		/* A text alone is a shell's. */
		if (!json_object_is_type(test, json_type_array))
			break;
	}
	json_object_object_add(o, "health", out);
}

/* Name what is not taken of the service, or, without a name, of the file. */
static void
compose_ignored(const char *name, json_object *from, const char *const *taken,
    struct services_notes *notes)
{
	char text[1024] = "", shown[200];
	size_t n = 0, i;

	json_object_object_foreach(from, key, val)
	{
		(void)val;
		for (i = 0; taken[i] != NULL && strcmp(taken[i], key) != 0; i++)
			;
		if (taken[i] == NULL && n + 60 < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s%.48s", n == 0 ? "" : ", ",
			    compose_shown(key, shown));
	}
	if (n != 0)
		services_note(notes, "%s%signored: %s", name,
		    name[0] == '\0' ? "" : ": ", text);
}

void
compose_others(json_object *root, struct services_notes *notes)
{
	static const char *const taken[] = {
	    "services", "name", "version", NULL};

	compose_ignored("", root, taken, notes);
}

json_object *
compose_entry(const char *name, json_object *from, struct services_notes *notes)
{
	static const char *const taken[] = {
	    "image", "environment", "ports", "expose", "healthcheck", NULL};
	json_object *v = NULL, *o;
	const char *image = NULL;
	long port;

	if (!json_object_is_type(from, json_type_object)) {
		services_note(notes, "%s: is no service", name);
		return NULL;
	}
	compose_ignored(name, from, taken, notes);
	if (json_object_object_get_ex(from, "image", &v) &&
	    json_object_is_type(v, json_type_string))
		image = json_object_get_string(v);
	if (image == NULL || !config_is_image(image)) {
		services_note(notes,
		    "%s: has no image that can be taken: build it yourself, "
		    "and name it by its digest",
		    name);
		return NULL;
	}
	if ((port = compose_port(name, from, image, notes)) < 1024) {
		services_note(notes,
		    "%s: has no port of 1024 or more: name it in \"ports\"",
		    name);
		return NULL;
	}
	o = json_object_new_object();
	put_int(o, "port", port);
	put_str(o, "image", image);
	compose_env(name, from, o, notes);
	compose_health(name, from, o, notes);
	return o;
}
