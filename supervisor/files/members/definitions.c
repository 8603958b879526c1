/* SPDX-License-Identifier: ISC */
/*
 * Reads "toolDefinitions": how long the definitions of MCP servers' tools may
 * be.
 */
#include "files/parse.h"

#include "common/ipc/proto.h"

int
config_definitions(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const keys[] = {
	    "maxServerKiB", "maxToolKiB", "maxTotalKiB", NULL};
	const char *where = "toolDefinitions";
	int64_t tool = PROTO_TOOL_BYTES >> 10;
	int64_t server = PROTO_SERVER_BYTES >> 10;
	int64_t list = PROTO_LIST_BYTES >> 10;
	struct json_object *o = NULL;

	if (jsonfile_object(j, root, "", where, &o) == -1)
		return -1;
	if (o != NULL && (jsonfile_known(j, o, where, keys) == -1 ||
			     jsonfile_int(j, o, where, keys[0], 1,
				 PROTO_MAX_SERVER_LIST >> 10, &server) == -1 ||
			     jsonfile_int(j, o, where, keys[1], 1,
				 PROTO_MAX_TOOL_BYTES >> 10, &tool) == -1 ||
			     jsonfile_int(j, o, where, keys[2], 1,
				 PROTO_MAX_LIST_BYTES >> 10, &list) == -1))
		return -1;
	cfg->tool_kib = (uint32_t)tool;
	cfg->server_kib = (uint32_t)server;
	cfg->list_kib = (uint32_t)list;
	return 0;
}
