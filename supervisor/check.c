/* SPDX-License-Identifier: ISC */
/*
 * `icsupervisor --check`: prints what the start of a session has found before
 * it starts anything. `icctl doctor` reads it.
 */
#include "sup.h"

#include <stdio.h>

#include "json_put.h"

static struct json_object *
check_server(const struct server *s)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "name", s->def->name);
	if (s->usable)
		put_str(o, "program", s->program.path);
	else
		put_str(o, "why", s->text);
	return o;
}

void
check_print(void)
{
	struct json_object *o = json_object_new_object();
	struct json_object *servers = json_object_new_array();

	servers_unseen();
	for (unsigned i = 0; i < sup.nservers; i++)
		if (!sup.servers[i].def->internal)
			json_object_array_add(
			    servers, check_server(&sup.servers[i]));
	json_object_object_add(o, "servers", servers);
	put_str(o, "policy", sup.rules[PROTO_RULES_POLICY].path);
	printf("%s\n",
	    json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(o);
}
