/* SPDX-License-Identifier: ISC */
/*
 * Destinations of the kind web in config.json: hosts that may be read.
 * mitmd/provider/dest_web.c says what reading means.
 */
#include "files/providers/destinations.h"

#include "base/json_put.h"

#define WEB_MAX_BYTES (1LL << 40)

int
destination_web_read(const struct jsonfile *j, const char *where,
    struct json_object *o, const struct config *cfg, struct json_object *file)
{
	int64_t max;
	int rv;

	rv = jsonfile_int(j, o, where, "maxBytes", 1, WEB_MAX_BYTES, &max);
	if (rv == 1)
		put_int(file, "maxBytes", max);
	return rv == -1 ? -1 : 0;
}
