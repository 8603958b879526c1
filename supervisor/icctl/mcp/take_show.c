/* SPDX-License-Identifier: ISC */
/*
 * Shows a person the entry of an MCP server before it is written. All of its
 * texts are another program's, and are printed escaped.
 */
#include "icctl/mcp/take.h"

#include <stdio.h>

#include "base/json_get.h"
#include "common/span.h"
#include "icctl/icctl.h"

/* Print `key`, then each value of the list, escaped. */
static void
show_list(const char *key, struct json_object *list)
{
	size_t n = list != NULL ? json_object_array_length(list) : 0;

	if (n == 0)
		return;
	printf("  %-9s", key);
	for (size_t i = 0; i < n; i++) {
		if (i != 0)
			putchar(' ');
		icctl_put_str(
		    json_object_get_string(json_object_array_get_idx(list, i)));
	}
	putchar('\n');
}

static struct json_object *
deep(struct json_object *o, const char *a, const char *b, const char *c)
{
	const char *const keys[] = {a, b, c};

	for (size_t i = 0; i < 3; i++)
		if (o == NULL || !json_object_object_get_ex(o, keys[i], &o))
			return NULL;
	return o;
}

static void
show_names(const char *key, struct json_object *object, const char *after)
{
	const char *space = "";

	if (object == NULL || json_object_object_length(object) == 0)
		return;
	printf("  %-9s", key);
	json_object_object_foreach(object, name, val)
	{
		(void)val;
		fputs(space, stdout);
		icctl_put_str(name);
		space = " ";
	}
	printf("%s\n", after);
}

/* Show what the login of a remote server is to use. */
static void
show_login(struct json_object *oauth)
{
	const char *client = get_str(oauth, "clientId", NULL);
	struct json_object *port =
	    get_typed(oauth, "callbackPort", json_type_int);

	if (client != NULL) {
		printf("  %-9s", "client");
		icctl_put_str(client);
		putchar('\n');
	}
	show_list("scopes", get_typed(oauth, "scopes", json_type_array));
	if (port != NULL)
		printf("  %-9s127.0.0.1:%d\n", "callback",
		    json_object_get_int(port));
}

void
take_show(const struct mcp_entry *e, const char *file)
{
	struct json_object *v = NULL;

	printf("%s   (", e->name);
	icctl_put_str(file);
	puts(")");
	if (e->refused != NULL) {
		printf("  left out: ");
		icctl_put_str(e->refused);
		puts("\n");
		return;
	}
	if (json_object_object_get_ex(e->entry, "url", &v)) {
		printf("  %-9s", "posts to");
	} else {
		json_object_object_get_ex(e->entry, "command", &v);
		printf("  %-9s", "runs");
	}
	icctl_put_str(json_object_get_string(v));
	putchar('\n');
	v = NULL;
	json_object_object_get_ex(e->entry, "args", &v);
	show_list("with", v);
	v = NULL;
	json_object_object_get_ex(e->entry, "env", &v);
	show_names("sets", v, "");
	v = NULL;
	json_object_object_get_ex(e->entry, "headers", &v);
	show_names("sends", v, "");
	show_login(get_typed(e->entry, "oauth", json_type_object));
	show_names("secrets", e->secrets,
	    " (kept in serverCredentials of config.json)");
	show_list(
	    "reads", deep(e->entry, "sandbox", "filesystem", "allowRead"));
	show_list(
	    "writes", deep(e->entry, "sandbox", "filesystem", "allowWrite"));
	show_list(
	    "hosts", deep(e->entry, "sandbox", "network", "allowedDomains"));
	show_list("needs", e->variables);
	if (json_object_array_length(e->variables) != 0)
		puts("           from your environment, whenever a session "
		     "starts");
	for (size_t i = 0; i < json_object_array_length(e->notes); i++) {
		printf("  note: ");
		icctl_put_str(json_object_get_string(
		    json_object_array_get_idx(e->notes, i)));
		putchar('\n');
	}
	putchar('\n');
}
