/* SPDX-License-Identifier: ISC */
/* Finds the MCP servers of a person as sessions find them. */
#include "icctl/mcp/own.h"

#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
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

struct json_object *
own_find(const struct own *own, const char *name, struct fault *fault)
{
	struct json_object *entry =
	    get_typed(own->servers, name, json_type_object);
	char home[ICCTL_PATH], names[300] = "";
	size_t n = 0;

	if (entry != NULL)
		return entry;
	json_object_object_foreach(own->servers, other, val)
	{
		if (json_object_is_type(val, json_type_object) &&
		    n < sizeof(names))
			n += (size_t)snprintf(names + n, sizeof(names) - n,
			    "%s%s", n == 0 ? "" : ", ", other);
	}
	(void)fault_set(fault, "there is no server %s in %s/%s%s%s", name,
	    icctl_path(own->paths.home, home), own->name,
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
