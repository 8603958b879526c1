/* SPDX-License-Identifier: ISC */
/*
 * pins.json: the definition of each tool of each MCP server when it was first
 * used, or when the user last looked at it, and the entry that the server had.
 * Several sessions may write: each takes the lock, reads the file, and adds its
 * own tools.
 */
#include "policy/pins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/sha256.h"
#include "core/sup.h"
#include "hub/control.h"

#define PINS_WAIT_MS 50U
#define PINS_TRIES 100U

static struct {
	char *path;
	struct json_object *root; /* the file, as last read */
	struct pins_change changes[PINS_MAX_CHANGES];
	size_t nchanges;
	struct loop_timer timer;
	unsigned tries;
	char failed[256]; /* why the last attempt to write failed, or "" */
} store_env;

void
pins_hex(struct span digest, char hex[65])
{
	hex_string(digest.p, digest.len < 32 ? digest.len : 32, hex);
}

int
pins_load(struct fault *fault)
{
	store_env.path = paths_join(sup.paths.home, "pins.json");
	if (store_env.path == NULL)
		return fault_errno(fault, "pins.json");
	return pins_read(store_env.path, &store_env.root, fault);
}

struct json_object *
pins_of(const char *server)
{
	struct json_object *servers, *tools;

	if (!json_object_object_get_ex(store_env.root, "servers", &servers) ||
	    !json_object_object_get_ex(servers, server, &tools))
		return NULL;
	return tools;
}

static const char *
pins_text(const char *member, const char *server)
{
	struct json_object *texts, *v;

	if (!json_object_object_get_ex(store_env.root, member, &texts) ||
	    !json_object_object_get_ex(texts, server, &v))
		return NULL;
	return json_object_get_string(v);
}

const char *
pins_entry(const char *server)
{
	return pins_text("entries", server);
}

const char *
pins_code(const char *server)
{
	return pins_text("code", server);
}

struct json_object *
pins_find(const char *server, const char *tool)
{
	struct json_object *tools, *pin;

	if ((tools = pins_of(server)) == NULL ||
	    !json_object_object_get_ex(tools, tool, &pin))
		return NULL;
	return pin;
}

bool
pins_code_held(unsigned server)
{
	const struct server *s = &sup.servers[server];
	const char *was;

	return sup.config.hold_packages && !s->approved && !s->program.ours &&
	       s->program.code != NULL &&
	       (was = pins_code(s->def->name)) != NULL &&
	       strcmp(was, s->program.code) != 0;
}

bool
pins_entry_approved(unsigned server)
{
	const struct server *s = &sup.servers[server];
	const char *was;

	if (s->approved)
		return true;
	if (pins_code_held(server))
		return false;
	was = pins_entry(s->def->name);
	return was != NULL && s->def->entry != NULL &&
	       strcmp(was, s->def->entry) == 0;
}

static void
pins_write_due(struct loop_timer *t)
{
	char text[256] = "";
	int r;

	if (store_env.nchanges == 0)
		return;
	store_env.failed[0] = '\0';
	r = pins_write(store_env.path, store_env.changes, store_env.nchanges,
	    &store_env.root, text);
	if (r == 1 && ++store_env.tries < PINS_TRIES) {
		loop_timer_set(&sup.loop, &store_env.timer, PINS_WAIT_MS,
		    pins_write_due, NULL);
		return;
	}
	if (r != 0) {
		strlcpy(store_env.failed,
		    r == 1 ? "another session holds its lock" : text,
		    sizeof(store_env.failed));
		sup_warn("%s: %s. Tool definitions are remembered for this "
			 "session only",
		    store_env.path, store_env.failed);
		control_alarm("icsupervisor", "pins", store_env.failed);
	}
	for (size_t i = 0; i < store_env.nchanges; i++)
		free(store_env.changes[i].text);
	store_env.nchanges = 0;
	store_env.tries = 0;
}

int
pins_flush(void)
{
	loop_timer_clear(&sup.loop, &store_env.timer);
	store_env.tries = PINS_TRIES;
	pins_write_due(NULL);
	return store_env.failed[0] == '\0' ? 0 : -1;
}

/* Queue a change, which is written soon together with others. */
static struct pins_change *
change_new(uint16_t server, bool trusted)
{
	struct pins_change *c;

	if (store_env.nchanges == PINS_MAX_CHANGES)
		(void)pins_flush();
	c = &store_env.changes[store_env.nchanges++];
	memset(c, 0, sizeof(*c));
	c->server = sup.servers[server].def->name;
	c->trusted = trusted;
	loop_timer_set(
	    &sup.loop, &store_env.timer, PINS_WAIT_MS, pins_write_due, NULL);
	return c;
}

void
pins_add_entry(uint16_t server, bool trusted)
{
	const char *entry = sup.servers[server].def->entry;

	if (entry != NULL)
		change_new(server, trusted)->text = strdup(entry);
}

void
pins_add_code(unsigned server)
{
	const char *code = sup.servers[server].program.code;
	struct pins_change *c;

	if (code == NULL)
		return;
	c = change_new((uint16_t)server, true);
	c->code = true;
	c->text = strdup(code);
}

void
pins_add_tool(const struct msg_TOOL_SEEN_SHOW *m, const char *tool)
{
	struct pins_change *c =
	    change_new(m->server, m->state == PROTO_TOOL_TRUSTED);
	uint8_t digest[32];

	strlcpy(c->tool, tool, sizeof(c->tool));
	pins_hex(m->digest, c->digest);
	if (m->text.len != 0) {
		sha256_span(m->text, digest);
		pins_hex(span_of(digest, sizeof(digest)), c->defined);
	}
	/* A longer definition is compared only by its digest. */
	if (m->text.len != 0 && m->text.len <= PINS_MAX_TEXT)
		c->text = span_dup(m->text);
}
