/* SPDX-License-Identifier: ISC */
/* The text of a provider file that was changed here, for mitmd and keyd. */
#include "files/providers/providers.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

int
provider_rewrite(struct provider *p, struct json_object *root)
{
	const char *text;
	char *copy;

	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
	if (text == NULL || (copy = strdup(text)) == NULL)
		return -1;
	free(p->json);
	p->json = copy;
	p->json_len = strlen(copy);
	return 0;
}
