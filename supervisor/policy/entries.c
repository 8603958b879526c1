/* SPDX-License-Identifier: ISC */
/*
 * Entries of MCP servers that the user has changed since their tools were
 * pinned. The agent and the servers cannot write the file of entries, so that a
 * change of one is the user's; but the user is shown it, because another
 * program may have written it. A server whose tools have changed by themselves
 * gains nothing from an approval here: only tools whose definitions are the
 * pinned ones are trusted with it.
 */
#include "core/sup.h"

#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "policy/pins.h"

void
entries_start(void)
{
	char given[256], hex[65];
	uint8_t hash[32];

	for (unsigned i = 0; i < sup.nservers; i++) {
		pins_command(&sup.servers[i], hash);
		pins_hex(span_of(hash, sizeof(hash)), hex);
		snprintf(given, sizeof(given), "%s:%s",
		    sup.servers[i].def->name, hex);
		for (size_t k = 0; k < sup.opt.napproved; k++)
			if (strcmp(sup.opt.approved[k], given) == 0)
				(void)pins_approve(i);
	}
	code_start();
}

static struct json_object *
entries_row(unsigned server, unsigned tools)
{
	const struct server *s = &sup.servers[server];
	struct json_object *o = json_object_new_object();
	const char *was = pins_entry(s->def->name);
	uint8_t digest[32];

	pins_command(s, digest);
	put_str(o, "server", s->def->name);
	put_str(o, "file", sup.defs.file);
	put_str(o, "entry", s->def->entry);
	if (was != NULL)
		put_str(o, "was", was);
	if (pins_code_held(server)) {
		put_str(o, "code", s->program.code);
		put_str(o, "codeWas", pins_code(s->def->name));
	}
	put_digest(o, "digest", digest);
	put_int(o, "tools", tools);
	return o;
}

struct json_object *
entries_json(const char *server, const char *tool)
{
	struct json_object *list = json_object_new_array();
	unsigned n;

	for (unsigned i = 0; i < sup.nservers; i++) {
		if (server != NULL &&
		    strcmp(sup.servers[i].def->name, server) != 0)
			continue;
		if (pins_same(i, tool) != 0 && (n = pins_same(i, NULL)) != 0)
			json_object_array_add(list, entries_row(i, n));
	}
	return list;
}

const char *
entries_trust(const char *server, const uint8_t digest[32])
{
	uint8_t now[32];

	for (unsigned i = 0; i < sup.nservers; i++) {
		if (strcmp(sup.servers[i].def->name, server) != 0 ||
		    pins_same(i, NULL) == 0)
			continue;
		pins_command(&sup.servers[i], now);
		if (memcmp(now, digest, sizeof(now)) != 0)
			return "its entry is not the one that was shown. Look "
			       "again: icctl trust SERVER";
		sup_note("the entry of MCP server %s is approved", server);
		return pins_approve(i);
	}
	return "no server of this name has a changed entry to approve. See: "
	       "icctl status";
}
