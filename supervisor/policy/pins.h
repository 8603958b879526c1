/* SPDX-License-Identifier: ISC */
/*
 * The file pins.json: {"version":4,"servers":{SERVER:{TOOL:{"digest",
 * "definition","definitionDigest","pinned","by"}}},"entries":{SERVER:ENTRY},
 * "code":{SERVER:CODE}}. ENTRY is the server_def.entry that the tools were
 * pinned with, and CODE the program.code of the last session; version 1 had no
 * entries, versions 1 and 2 no digest of the definition alone, and 1 to 3 no
 * code.
 */
#ifndef PINS_H
#define PINS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "common/ipc/proto.h"

#define PINS_VERSION 4
#define PINS_MAX_TEXT (256U << 10) /* a longer definition is not stored */
#define PINS_MAX_FILE (7U << 20) /* a larger file is written without
				    definitions */
#define PINS_MAX_TOOLS 12000U
#define PINS_MAX_CHANGES 2048U
#define PINS_MAX_SEEN 4096U

struct pins_change {
	const char *server;        /* borrowed */
	bool code;                 /* no tool: the server's code, or its entry */
	char tool[PROTO_MAX_TOOL_NAME + 1], digest[65];
	char defined[65];          /* digest of the definition, or "" */
	char *text;                /* the definition, entry or code, or NULL */
	bool trusted;
};

/*
 * Read the file into `*root`, which has "servers" and "entries" even if there
 * is no file. Returns 0, or -1 with the fault set if it is damaged.
 */
int pins_read(const char *path, struct json_object **root, struct fault *);
/*
 * Add changes to what the file contains by now: a tool that is first used only
 * if it is not there, a trusted one in any case. Returns 0 and replaces
 * `*root` with the new contents, 1 if another session holds the lock, or -1
 * with the reason in `why`.
 */
int pins_write(const char *path, const struct pins_change *, size_t n,
    struct json_object **root, char why[256]);

/* pins_store.c: the file as this session knows it. */
/* Returns the pins of a server by tool, or NULL. */
struct json_object *pins_of(const char *server);
/* Returns the pin of a tool, or NULL. */
struct json_object *pins_find(const char *server, const char *tool);
/* Returns the entry that a server's tools were pinned with, or NULL. */
const char *pins_entry(const char *server);
/* Returns the code that a server had in the last session, or NULL. */
const char *pins_code(const char *server);
/*
 * Returns true if the server's code is another one than in the last session and
 * has to be approved ("pins").
 */
bool pins_code_held(unsigned server);
/*
 * Returns true if the user approved the server's entry as it is now, and its
 * code is not held.
 */
bool pins_entry_approved(unsigned server);
/* Queue changes, which are written soon and together. */
void pins_add_tool(const struct msg_TOOL_SEEN_SHOW *, const char *tool);
void pins_add_entry(uint16_t server, bool trusted);
void pins_add_code(unsigned server);

/* code.c */
/* Tell of each server whose code is another one than in the last session. */
void code_start(void);

void pins_hex(struct span digest, char hex[65]);

#endif
