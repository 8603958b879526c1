/* SPDX-License-Identifier: ISC */
#include "icctl/driver/config_copy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "icctl/icctl.h"

struct json_object *
config_copy_read(const char *home, const char *file, struct fault *fault)
{
	struct json_object *o;
	char path[4300], *text;
	struct stat st;
	size_t len = 0;

	snprintf(path, sizeof(path), "%.4000s/config.json", home);
	text = jsonfile_text(file != NULL ? file : path, &len, &st, fault);
	if (text == NULL)
		return file == NULL && errno == ENOENT
			   ? json_object_new_object()
			   : NULL;
	o = jsonfile_parse(
	    file != NULL ? file : path, span_of(text, len), fault);
	freezero(text, len);
	return o;
}

int
config_copy_write(const char *path, struct json_object *o, struct fault *fault)
{
	if (jsonfile_replace(path,
		span_str(json_object_to_json_string_ext(o, ICCTL_JSON))) == -1)
		return fault_errno(fault, "%s", path);
	return 0;
}
