/* SPDX-License-Identifier: ISC */
/*
 * `icsupervisor --check`: prints what the start of a session has found before
 * it starts anything, for `icctl doctor`. --sweep: the same, and containers
 * that were left behind, for `icctl gc`. --images: the images of an engine, for
 * `icctl image`.
 */
#include "core/sup.h"

#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "box/sandbox.h"

static struct json_object *
check_server(const struct server *s)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "name", s->def->name);
	if (s->usable)
		put_str(o, "program",
		    s->def->remote != NULL ? s->def->command
					   : s->program.path);
	else
		put_str(o, "why", s->text);
	return o;
}

void
check_line(struct json_object *o)
{
	printf("%s\n",
	    json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
	json_object_put(o);
}

int
check_sweep(struct fault *fault)
{
	struct json_object *o = json_object_new_object(),
			   *ids = json_object_new_array();

	json_object_object_add(o, "containers", ids);
	if (sandbox_sweep(
		strcmp(sup.opt.sweep, "remove") == 0, ids, fault) == -1) {
		json_object_put(o);
		return -1;
	}
	check_line(o);
	return 0;
}

int
check_images(struct fault *fault)
{
	struct json_object *o = json_object_new_object();

	if (sandbox_images(sup.opt.images, o, fault) == -1) {
		json_object_put(o);
		return -1;
	}
	check_line(o);
	return 0;
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
	check_line(o);
}
