/* SPDX-License-Identifier: ISC */
/* Finds the MCP servers of a person as sessions find them. */
#include "icctl/mcp/own.h"

#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "files/servers.h"
#include "icctl/icctl.h"
#include "icctl/mcp/store.h"

int
own_open(struct own *own, struct fault *fault)
{
	struct json_object *all;

	*own = (struct own){.name = "mcp-servers.json"};
	if (paths_init(&own->paths, NULL, fault) == -1)
		return -1;
	own->config = store_read(own->paths.home, "config.json", fault);
	if (own->config == NULL)
		return -1;
	all = get_typed(own->config, "mcpServers", json_type_object);
	if (all != NULL) {
		own->file = json_object_get(own->config);
		own->servers = all;
		own->name = "config.json";
		return 0;
	}
	own->file = store_read(own->paths.home, own->name, fault);
	if (own->file == NULL)
		return -1;
	own->servers = store_servers(own->file);
	return 0;
}

void
own_close(struct own *own)
{
	json_object_put(own->file);
	json_object_put(own->config);
	paths_free(&own->paths);
}

/* Returns true for the name of the server that no file has to name. */
static bool
own_is_ours(const char *name)
{
	return strcmp(name, SERVERS_FILES) == 0;
}

bool
own_builtin(const struct own *own, const char *name)
{
	return own_is_ours(name) && get_member(own->servers, name) == NULL;
}

struct json_object *
own_find(const struct own *own, const char *name, struct fault *fault)
{
	struct json_object *entry =
	    get_typed(own->servers, name, json_type_object);
	char home[ICCTL_PATH], names[300] = "";
	size_t n = 0;

	if (entry != NULL)
		return entry;
	(void)icctl_path(own->paths.home, home);
	if (own_is_ours(name)) {
		(void)fault_set(fault,
		    "%s is IronCurtain's own server of the workspace's files%s "
		    "\"%s\": false in %s/%s%s",
		    name,
		    own_builtin(own, name)
			? ", which no file has; to have sessions without it, "
			  "write"
			: ", and is turned off by",
		    name, home, own->name,
		    own_builtin(own, name) ? "" : "; remove that first");
		return NULL;
	}
	json_object_object_foreach(own->servers, other, val)
	{
		if (json_object_is_type(val, json_type_object) &&
		    n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n,
			    "%s%s", n == 0 ? "" : ", ", other);
	}
	(void)fault_set(fault, "there is no server %s in %s/%s%s%s", name, home,
	    own->name,
	    names[0] != '\0' ? ", which has: " : ". To add one: icctl mcp add",
	    names);
	return NULL;
}

struct json_object *
own_secrets(const struct own *own, const char *name)
{
	return get_typed(
	    get_typed(own->config, "serverCredentials", json_type_object), name,
	    json_type_object);
}
