/* SPDX-License-Identifier: ISC */
/*
 * The file pins.json: {"version":1,"servers":{SERVER:{TOOL:{"digest",
 * "definition","pinned","by"}}}}.
 */
#ifndef PINS_H
#define PINS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "config/fault.h"

#define PINS_MAX_TEXT 16384U   /* a longer definition is not stored */
#define PINS_MAX_FILE (7U << 20) /* a larger file is written without
				    definitions */
#define PINS_MAX_TOOLS 12000U
#define PINS_MAX_CHANGES 2048U
#define PINS_MAX_SEEN 4096U

struct pins_change {
	const char *server; /* borrowed */
	char tool[65], digest[65];
	char *text; /* the definition, or NULL */
	bool trusted;
};

/*
 * Read "servers" of the file into `*servers`; an empty object if there is no
 * file. Returns 0, or -1 with the fault set if it is damaged.
 */
int pins_read(const char *path, struct json_object **servers, struct fault *);
/*
 * Add changes to what the file contains by now: a tool that is first used only
 * if it is not there, a trusted one in any case. Returns 0 and replaces
 * `*servers` with the new contents, 1 if another session holds the lock, or -1
 * with the reason in `why`.
 */
int pins_write(const char *path, const struct pins_change *, size_t n,
    struct json_object **servers, char why[256]);
/* Convert 64 hex digits. Returns 0, or -1 if they are malformed. */
int pins_unhex(const char *hex, uint8_t digest[32]);

#endif
