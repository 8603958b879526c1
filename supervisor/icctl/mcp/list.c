/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp ls`: lists the MCP servers of a person's own, and what a session
 * would say of each. Values of variables are never printed.
 */
#include "icctl/mcp/mcp.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "files/servers.h"
#include "icctl/icctl.h"
#include "icctl/mcp/import_check.h"
#include "icctl/mcp/login/state.h"
#include "icctl/mcp/own.h"
#include "icctl/words.h"

#define LIST_NAME 20

static struct json_object *
list_names(struct json_object *object)
{
	struct json_object *list = json_object_new_array();

	if (object == NULL)
		return list;
	json_object_object_foreach(object, name, val)
	{
		(void)val;
		json_object_array_add(list, json_object_new_string(name));
	}
	return list;
}

/* Returns the row of the server in what a session says, or NULL. */
static struct json_object *
list_said(struct json_object *said, const char *name)
{
	size_t n = said != NULL ? json_object_array_length(said) : 0;
	struct json_object *o;

	for (size_t i = 0; i < n; i++) {
		o = json_object_array_get_idx(said, i);
		if (strcmp(icctl_text(o, "name"), name) == 0)
			return o;
	}
	return NULL;
}

static struct json_object *
list_row(const struct own *own, const char *name, struct json_object *entry,
    struct json_object *said)
{
	struct json_object *o = json_object_new_object(), *row, *v;

	put_str(o, "name", name);
	if ((row = list_said(said, name)) != NULL) {
		put_bool(o, "starts", get_member(row, "program") != NULL);
		if (*icctl_text(row, "why") != '\0')
			put_str(o, "why", icctl_text(row, "why"));
	}
	put_str(
	    o, "command", get_str(entry, "command", get_str(entry, "url", "")));
	if ((v = get_typed(entry, "args", json_type_array)) != NULL)
		json_object_object_add(o, "args", json_object_get(v));
	json_object_object_add(o, "variables",
	    list_names(get_typed(entry, "env", json_type_object)));
	json_object_object_add(
	    o, "secrets", list_names(own_secrets(own, name)));
	if ((v = login_state_of(own, name, entry)) != NULL)
		json_object_object_add(o, "login", v);
	return o;
}

static void
list_words(const char *title, struct json_object *list)
{
	size_t n = json_object_array_length(list);

	if (n != 0)
		printf("%*s%s", LIST_NAME + 2, "", title);
	for (size_t i = 0; i < n; i++) {
		putchar(' ');
		icctl_put_str(
		    json_object_get_string(json_object_array_get_idx(list, i)));
	}
	if (n != 0)
		putchar('\n');
}

static void
list_put(struct json_object *row)
{
	struct json_object *args = get_typed(row, "args", json_type_array);
	size_t n = args != NULL ? json_object_array_length(args) : 0;
	char login[1100];

	printf("%-*s  ", LIST_NAME, icctl_text(row, "name"));
	icctl_put_str(icctl_text(row, "command"));
	for (size_t i = 0; i < n; i++) {
		putchar(' ');
		icctl_put_str(
		    json_object_get_string(json_object_array_get_idx(args, i)));
	}
	putchar('\n');
	list_words("variables:", get_member(row, "variables"));
	list_words("secrets:", get_member(row, "secrets"));
	if (get_member(row, "login") != NULL)
		printf("%*s%s\n", LIST_NAME + 2, "",
		    login_state_text(get_member(row, "login"),
			icctl_text(row, "name"), login, sizeof(login)));
	if (*icctl_text(row, "why") != '\0') {
		printf("%*ssessions start without it: ", LIST_NAME + 2, "");
		icctl_put_str(icctl_text(row, "why"));
		putchar('\n');
	}
}

static void
list_print(const struct own *own, struct json_object *rows)
{
	char home[ICCTL_PATH];

	if (json_object_array_length(rows) == 0)
		printf("No servers in %s/%s. To add one: icctl mcp add NAME -- "
		       "COMMAND..., or icctl mcp import\n",
		    icctl_path(own->paths.home, home), own->name);
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		list_put(json_object_array_get_idx(rows, i));
	if (own_builtin(own, SERVERS_FILES))
		puts("Sessions have " SERVERS_FILES ", too: IronCurtain's own "
		     "server of the workspace's files");
}

/* Returns an exit status: a session has to start with these files. */
static int
list(struct icctl *ctl, const struct own *own)
{
	struct json_object *said, *rows = json_object_new_array(), *o;
	struct import_check check;
	struct fault fault;

	if (import_check_open(
		&check, &own->paths, own->servers, own->config, &fault) == -1) {
		json_object_put(rows);
		return -1;
	}
	said = import_check_all(&check, &fault);
	json_object_object_foreach(own->servers, name, entry)
	{
		if (json_object_is_type(entry, json_type_object))
			json_object_array_add(
			    rows, list_row(own, name, entry, said));
	}
	if (ctl->json) {
		o = json_object_new_object();
		json_object_object_add(o, "servers", json_object_get(rows));
		if (said == NULL)
			put_str(o, "why", fault.text);
		icctl_put_json(o);
		json_object_put(o);
	} else {
		list_print(own, rows);
	}
	if (said == NULL && !ctl->json)
		warnx("no session starts with your files as they are: %s",
		    fault.text);
	import_check_close(&check);
	json_object_put(rows);
	json_object_put(said);
	return said != NULL ? ICCTL_OK : ICCTL_FAILED;
}

int
mcp_ls(struct icctl *ctl, int argc, char **argv)
{
	struct fault fault;
	struct own own;
	int r;

	if (words_help()) {
		puts("usage: icctl mcp ls\n\nLists your MCP servers and what a "
		     "session would say of each. --json prints the\nsame as "
		     "JSON. Values of variables are never shown.");
		return ICCTL_OK;
	}
	if ((r = icctl_no_arguments(argc)) != 0)
		return r;
	r = ICCTL_FAILED;
	if (own_open(&own, &fault) == -1)
		warnx("%s", fault.text);
	else
		r = list(ctl, &own);
	own_close(&own);
	return r;
}
