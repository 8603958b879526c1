/* SPDX-License-Identifier: ISC */
/*
 * Takes MCP servers into mcp-servers.json, for `icctl mcp import` and `add`: an
 * entry is converted, checked as the start of a session would, and shown to the
 * person in full before anything is written.
 */
#ifndef MCP_TAKE_H
#define MCP_TAKE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/fault.h"
#include "base/paths.h"
#include "icctl/mcp/entry.h"
#include "icctl/mcp/guarded.h"
#include "icctl/mcp/import_check.h"

#define TAKE_MAX 32U

struct mcp_take {
	struct paths paths;
	struct mcp_entry_how how;
	struct guards guards;
	struct import_check check;
	char data_home[4200];
	struct mcp_entry entries[TAKE_MAX];
	unsigned n;
	unsigned refused, declined; /* by us, and by the person */
	bool dry, yes, start;
	struct json_object *servers; /* mcp-servers.json */
	struct json_object *config;  /* config.json */
};

/*
 * Read the user's files. `dry`, `yes` and `start` are the caller's. Returns 0,
 * or -1 with the fault set; take_close() frees it in either case.
 */
int take_open(struct mcp_take *, struct fault *);
void take_close(struct mcp_take *);
/*
 * Prepare to ask what a session would say of each entry. Returns 0, or -1 with
 * the fault set.
 */
int take_ask(struct mcp_take *, struct fault *);
/*
 * Convert and check one entry of another program, and show it; `from` says
 * where it is from. It is kept unless it is refused, or `each`, and the person
 * does not want it.
 */
void take_one(struct mcp_take *, const char *name, struct json_object *theirs,
    const char *from, bool each);
/*
 * Ask the person, write what was taken, and start each server once to list its
 * tools; `verb` is the command. Returns an exit status.
 */
int take_finish(struct mcp_take *, const char *verb);

/* take_show.c: print an entry, or the reason why it is left out. */
void take_show(const struct mcp_entry *, const char *from);

#endif
