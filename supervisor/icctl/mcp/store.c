/* SPDX-License-Identifier: ISC */
/* Reads and replaces JSON files that may contain secrets. */
#include "icctl/mcp/store.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"

struct json_object *
store_read(const char *dir, const char *name, struct fault *fault)
{
	struct json_object *root = NULL;
	char path[4400], *text;
	struct stat st;
	size_t len;

	snprintf(path, sizeof(path), "%.4000s/%.300s", dir, name);
	if ((text = jsonfile_text(path, &len, &st, fault)) == NULL)
		return errno == ENOENT ? json_object_new_object() : NULL;
	root = jsonfile_parse(path, span_of(text, len), fault);
	freezero(text, len);
	return root;
}

struct json_object *
store_servers(struct json_object *root)
{
	struct json_object *all;

	return json_object_object_get_ex(root, "mcpServers", &all) &&
		       json_object_is_type(all, json_type_object) &&
		       !json_object_object_get_ex(all, "command", NULL)
		   ? all
		   : root;
}

int
store_write(const char *dir, const char *name, struct json_object *root,
    struct fault *fault)
{
	char path[4400], *text = NULL;
	int n, rv;

	snprintf(path, sizeof(path), "%.4000s/%.300s", dir, name);
	n = asprintf(&text, "%s\n",
	    json_object_to_json_string_ext(
		root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			  JSON_C_TO_STRING_NOSLASHESCAPE));
	if (n == -1)
		return fault_errno(fault, "%s", path);
	rv = jsonfile_replace(path, span_of(text, (size_t)n));
	if (rv == -1)
		fault_errno(fault, "%s", path);
	freezero(text, (size_t)n);
	return rv;
}
