/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` that asks running sessions which tools of MCP
 * servers they leave out. Servers list their tools only in a session; icctl mcp
 * import tries one in a session of its own.
 */
#include "icctl/doctor/doctor.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEFINITIONS_SHOWN 20U

static void
definition_left_out(json_object *o, doctor_check *check)
{
	char found[600];

	snprintf(found, sizeof(found), "%.64s: %.200s is left out: %.300s",
	    icctl_text(o, "server"), icctl_text(o, "tool"),
	    icctl_text(o, "why"));
	check(NOTE, "MCP tool", found,
	    "its server defines it so that clients or model providers would "
	    "refuse all tools; tell the server's authors, or see "
	    "ironcurtain-policy(5), \"Definitions of tools\"");
}

/* Report the tools that the session in `dir` leaves out. */
static unsigned
definitions_of(const char *dir, doctor_check *check)
{
	json_object *reply = icctl_ask_dir(dir, "status"), *list, *o;
	unsigned n = 0;

	if (reply != NULL &&
	    json_object_object_get_ex(reply, "definitions", &list))
		for (size_t i = 0; i < json_object_array_length(list) &&
				   n < DEFINITIONS_SHOWN;
		     i++) {
			o = json_object_array_get_idx(list, i);
			if (strcmp(icctl_text(o, "state"), "left out") != 0)
				continue;
			definition_left_out(o, check);
			n++;
		}
	json_object_put(reply);
	return n;
}

void
doctor_definitions(const struct icctl *ctl, doctor_check *check)
{
	char run[PATH_MAX], path[PATH_MAX + 300];
	unsigned n = 0;
	struct dirent *e;
	DIR *d;

	snprintf(run, sizeof(run), "%.4000s/run", ctl->home);
	if (ctl->session != NULL) {
		(void)definitions_of(ctl->session, check);
		return;
	}
	if ((d = opendir(run)) == NULL)
		return;
	while (n < DEFINITIONS_SHOWN && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", run, e->d_name);
		if (e->d_name[0] != '.')
			n += definitions_of(path, check);
	}
	closedir(d);
}
