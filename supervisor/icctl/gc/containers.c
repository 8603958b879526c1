/* SPDX-License-Identifier: ISC */
/*
 * Containers of sessions whose icsupervisor was killed, which the engine keeps.
 * icsupervisor finds them by their labels: a process, its start time, and the
 * boot and the process namespace in which it has that number.
 */
#include "icctl/gc/gc.h"

#include <stdio.h>
#include <string.h>

#include "icctl/doctor/doctor.h"

struct containers {
	struct gc *gc;
	const char *engine;
	bool looked;
};

static void
containers_look(struct box_trial *t, const char *dir)
{
	struct containers *c = t->arg;
	json_object *o = NULL, *ids = NULL;
	char *line = strstr(t->text, "{\"containers\":"), name[64], why[96];

	if (line != NULL)
		o = json_tokener_parse(line);
	if (o != NULL)
		(void)json_object_object_get_ex(o, "containers", &ids);
	c->looked = json_object_is_type(ids, json_type_array);
	for (size_t i = 0; c->looked && i < json_object_array_length(ids);
	     i++) {
		snprintf(name, sizeof(name), "container %.12s",
		    json_object_get_string(json_object_array_get_idx(ids, i)));
		snprintf(why, sizeof(why),
		    "its session ended without removing it (%s)", c->engine);
		gc_say(c->gc, "removed", name, 0, why);
		c->gc->containers++;
	}
	json_object_put(o);
}

static void
containers_ignore(enum grade g, const char *what, const char *found,
    const char *remedy)
{
}

void
gc_containers(struct gc *g)
{
	static const char *const engines[] = {"docker", "podman"};
	const char *found, *remedy;

	for (size_t i = 0; i < nitems(engines); i++) {
		struct containers c = {.gc = g, .engine = engines[i]};
		struct box_trial t = {
		    .words = (const char *const[]){"--runtime", engines[i],
			"--sweep", g->dry ? "list" : "remove", NULL},
		    .engine = true,
		    .prints = true,
		    .look = containers_look,
		    .arg = &c};

		if (!doctor_has(engines[i]) ||
		    trial_run(&t, containers_ignore) == -1 || c.looked)
			continue;
		trial_why(&t, &found, &remedy);
		gc_say(g, "not looked at", engines[i], 0, found);
	}
}
