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

#define PINS_MAX_TEXT 16384U   /* of a definition that is kept */
#define PINS_MAX_FILE (7U << 20) /* beyond it definitions are left out */
#define PINS_MAX_TOOLS 12000U
#define PINS_MAX_CHANGES 2048U
#define PINS_MAX_SEEN 4096U

struct pins_change {
	const char *server; /* borrowed */
	char tool[65], digest[65];
	char *text; /* or NULL */
	bool trusted;
};

/* *servers: an object, empty when there is no file. -1: it is damaged. */
int pins_read(const char *path, struct json_object **servers, struct fault *);
/*
 * Adds to what the file holds by now: a tool that is first used only if it is
 * not there, a trusted one in any case. 0: written, *servers is what it holds;
 * 1: another has the lock; -1: why says what is wrong.
 */
int pins_write(const char *path, const struct pins_change *, size_t n,
    struct json_object **servers, char why[256]);
/* 64 hex digits. -1: they are not. */
int pins_unhex(const char *hex, uint8_t digest[32]);

#endif
