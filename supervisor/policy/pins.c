/* SPDX-License-Identifier: ISC */
/*
 * pins.json: the definition of each tool of each MCP server when it was first
 * used, or when the user last looked at it. It is sent to policyd, which
 * compares, and written when policyd reports a tool as used first, or trusted.
 * Several sessions may write: each takes the lock, reads the file, and adds its
 * own tools. A definition's text comes from a server and is only stored and
 * passed to icctl.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/json/json.h"
#include "common/log.h"
#include "common/sha256.h"
#include "config/jsonfile.h"
#include "control/control.h"
#include "policy/pins.h"
#include "sup.h"

#define PINS_WAIT_MS 50U
#define PINS_TRIES 100U
#define PINS_POOL (1U << 20)

/* A tool that is in quarantine or has drifted, as policyd reported. */
struct seen {
	uint16_t server;
	enum proto_tool state;
	char tool[65], other[257], digest[65];
	char *text;
};

static struct {
	char *path;
	struct json_object *servers; /* name -> tool -> pin, as last read */
	struct pins_change changes[PINS_MAX_CHANGES];
	size_t nchanges;
	struct seen *seen;
	size_t nseen, capseen;
	struct loop_timer timer;
	unsigned tries;
	char failed[256];
} pins_env;

static void
hex_of(struct span digest, char hex[65])
{
	hex[0] = '\0';
	for (size_t i = 0; i < digest.len && i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest.p[i]);
}

int
pins_load(struct fault *fault)
{
	pins_env.path = paths_join(sup.paths.home, "pins.json");
	if (pins_env.path == NULL)
		return fault_errno(fault, "pins.json");
	return pins_read(pins_env.path, &pins_env.servers, fault);
}

/* Returns the pin of a tool, or NULL. */
static struct json_object *
pin_of(const char *server, const char *tool)
{
	struct json_object *tools, *pin;

	if (!json_object_object_get_ex(pins_env.servers, server, &tools) ||
	    !json_object_object_get_ex(tools, tool, &pin))
		return NULL;
	return pin;
}

void
pins_send(void)
{
	struct json_object *tools, *v;
	uint8_t digest[32];
	struct msg_PIN m;

	for (unsigned i = 0; i < sup.nservers; i++) {
		if (!json_object_object_get_ex(
			pins_env.servers, sup.servers[i].def->name, &tools))
			continue;
		json_object_object_foreach(tools, name, pin)
		{
			json_object_object_get_ex(pin, "digest", &v);
			if (pins_unhex(json_object_get_string(v), digest) == -1)
				continue;
			memset(&m, 0, sizeof(m));
			m.server = (uint16_t)i;
			m.tool = span_str(name);
			m.digest = span_of(digest, sizeof(digest));
			child_send(ROLE_POLICY, 0, MSG_PIN, &m, -1);
		}
	}
}

/*
 * Hash the command, its arguments and the names of its variables, as canonical
 * JSON.
 */
void
pins_command(const struct server *s, uint8_t digest[32])
{
	struct value_pool *p;
	struct value *o, *args, *env;
	struct span text;
	struct buf b;
	const char *eq;

	memset(digest, 0, 32);
	if (s->program.ours)
		return;
	/* On any failure below, a digest that matches no server. */
	digest[0] = 1;
	buf_init(&b, PINS_POOL);
	if ((p = value_pool_new(PINS_POOL)) == NULL)
		return;
	o = value_new(p, VALUE_OBJECT);
	args = value_new(p, VALUE_ARRAY);
	env = value_new(p, VALUE_OBJECT);
	for (char **a = s->def->args; a != NULL && *a != NULL; a++)
		(void)value_append(args, value_new_string(p, span_str(*a)));
	for (char **e = s->def->env; e != NULL && *e != NULL; e++) {
		if ((eq = strchr(*e, '=')) != NULL)
			(void)value_set(env, span_of(*e, (size_t)(eq - *e)),
			    value_new(p, VALUE_TRUE));
	}
	if (value_set(o, SPAN("args"), args) == 0 &&
	    value_set(o, SPAN("command"),
		value_new_string(p, span_str(s->def->command))) == 0 &&
	    value_set(o, SPAN("env"), env) == 0 && json_write(&b, o) == 0) {
		text = buf_span(&b);
		sha256_span(text, digest);
	}
	buf_free(&b);
	value_pool_free(p);
}

static void
pins_write_due(struct loop_timer *t)
{
	char text[256] = "";
	int r;

	(void)t;
	if (pins_env.nchanges == 0)
		return;
	r = pins_write(pins_env.path, pins_env.changes, pins_env.nchanges,
	    &pins_env.servers, text);
	if (r == 1 && ++pins_env.tries < PINS_TRIES) {
		loop_timer_set(&sup.loop, &pins_env.timer, PINS_WAIT_MS,
		    pins_write_due, NULL);
		return;
	}
	if (r != 0) {
		strlcpy(pins_env.failed,
		    r == 1 ? "another session holds its lock" : text,
		    sizeof(pins_env.failed));
		sup_warn("%s: %s. What tools are is remembered for this "
			 "session only",
		    pins_env.path, pins_env.failed);
		control_alarm("icsupervisor", "pins", pins_env.failed);
	}
	for (size_t i = 0; i < pins_env.nchanges; i++)
		free(pins_env.changes[i].text);
	pins_env.nchanges = 0;
	pins_env.tries = 0;
}

void
pins_flush(void)
{
	loop_timer_clear(&sup.loop, &pins_env.timer);
	pins_env.tries = PINS_TRIES;
	pins_write_due(NULL);
}

/* Queue a change, which is written soon together with others. */
static void
pins_change(const struct msg_TOOL_SEEN_SHOW *m, const char *tool)
{
	struct pins_change *c;

	if (pins_env.nchanges == PINS_MAX_CHANGES)
		pins_flush();
	c = &pins_env.changes[pins_env.nchanges++];
	memset(c, 0, sizeof(*c));
	c->server = sup.servers[m->server].def->name;
	strlcpy(c->tool, tool, sizeof(c->tool));
	hex_of(m->digest, c->digest);
	c->trusted = m->state == PROTO_TOOL_TRUSTED;
	/* A longer definition is compared only by its digest. */
	if (m->text.len != 0 && m->text.len <= PINS_MAX_TEXT)
		c->text = span_dup(m->text);
	loop_timer_set(
	    &sup.loop, &pins_env.timer, PINS_WAIT_MS, pins_write_due, NULL);
}

static struct seen *
seen_find(uint16_t server, const char *tool)
{
	for (size_t i = 0; i < pins_env.nseen; i++)
		if (pins_env.seen[i].server == server &&
		    strcmp(pins_env.seen[i].tool, tool) == 0)
			return &pins_env.seen[i];
	return NULL;
}

static struct seen *
seen_new(void)
{
	struct seen *more;
	size_t cap;

	if (pins_env.nseen == pins_env.capseen) {
		cap = pins_env.capseen == 0 ? 16 : pins_env.capseen * 2;
		if (cap > PINS_MAX_SEEN || (more = reallocarray(pins_env.seen,
						cap, sizeof(*more))) == NULL)
			return NULL;
		pins_env.seen = more;
		pins_env.capseen = cap;
	}
	memset(&pins_env.seen[pins_env.nseen], 0, sizeof(*pins_env.seen));
	return &pins_env.seen[pins_env.nseen++];
}

static const char *
seen_state(enum proto_tool state)
{
	static const char *const names[PROTO_TOOL_LAST + 1] = {"pinned",
	    "first", "trusted", "new", "changed", "look-alike", "drifted"};

	return names[state];
}

static struct json_object *
seen_json(const struct seen *s, bool whole)
{
	const char *server = sup.servers[s->server].def->name;
	struct json_object *o = json_object_new_object(), *pin, *v;

	json_object_object_add(o, "server", json_object_new_string(server));
	json_object_object_add(o, "tool", json_object_new_string(s->tool));
	json_object_object_add(
	    o, "state", json_object_new_string(seen_state(s->state)));
	if (s->other[0] != '\0')
		json_object_object_add(
		    o, "looksLike", json_object_new_string(s->other));
	if (!whole)
		return o;
	json_object_object_add(o, "digest", json_object_new_string(s->digest));
	if (s->text != NULL)
		json_object_object_add(
		    o, "definition", json_object_new_string(s->text));
	pin = pin_of(server, s->tool);
	if (pin == NULL)
		return o;
	if (json_object_object_get_ex(pin, "definition", &v))
		json_object_object_add(o, "was", json_object_get(v));
	if (json_object_object_get_ex(pin, "pinned", &v))
		json_object_object_add(o, "pinned", json_object_get(v));
	return o;
}

struct json_object *
pins_json(const char *server, const char *tool, bool whole)
{
	struct json_object *list = json_object_new_array();
	const struct seen *s;

	for (size_t i = 0; i < pins_env.nseen; i++) {
		s = &pins_env.seen[i];
		if ((server == NULL || strcmp(sup.servers[s->server].def->name,
					   server) == 0) &&
		    (tool == NULL || strcmp(s->tool, tool) == 0))
			json_object_array_add(list, seen_json(s, whole));
	}
	return list;
}

/* The tool is usable again: drop its quarantine entry. */
static void
pins_good(const struct msg_TOOL_SEEN_SHOW *m, const char *tool)
{
	struct seen *s = seen_find(m->server, tool);

	if (m->state != PROTO_TOOL_OK)
		pins_change(m, tool);
	if (s != NULL) {
		free(s->text);
		*s = pins_env.seen[--pins_env.nseen];
	}
	/* Refuse a pending `icctl trust` of the definition that is now gone. */
	if (m->state == PROTO_TOOL_OK)
		control_trusted(sup.servers[m->server].def->name, tool,
		    "it is as it was pinned again: there is nothing to trust");
	if (m->state != PROTO_TOOL_TRUSTED)
		return;
	sup_note(
	    "tool %s__%s is trusted", sup.servers[m->server].def->name, tool);
	/* Write now, so that the user learns at once if it fails. */
	pins_flush();
	control_trusted(sup.servers[m->server].def->name, tool,
	    pins_env.failed[0] != '\0'
		? "it is trusted in this session, but pins.json cannot be "
		  "written: mend that and trust it again"
		: NULL);
	pins_env.failed[0] = '\0';
}

int
pins_seen(const struct msg_TOOL_SEEN_SHOW *m)
{
	const char *server;
	struct seen *s;
	char tool[65];

	if (m->server >= sup.nservers || m->digest.len != 32 ||
	    span_copy(m->tool, tool, sizeof(tool)) == -1)
		return -1;
	server = sup.servers[m->server].def->name;
	if (m->state <= PROTO_TOOL_TRUSTED) {
		pins_good(m, tool);
		return 0;
	}
	if ((s = seen_find(m->server, tool)) == NULL &&
	    (s = seen_new()) == NULL) {
		sup_note("more tools in quarantine than are shown");
		return 0;
	}
	free(s->text);
	s->text = m->text.len == 0 ? NULL : span_dup(m->text);
	s->server = m->server;
	s->state = (enum proto_tool)m->state;
	strlcpy(s->tool, tool, sizeof(s->tool));
	log_vis(m->other, s->other, sizeof(s->other));
	hex_of(m->digest, s->digest);
	if (s->state == PROTO_TOOL_DRIFTED && !sup.config.strict)
		sup_warn("tool %s__%s has arguments that its annotation does "
			 "not know: nobody looks at them. Annotate it anew",
		    server, tool);
	else if (s->state == PROTO_TOOL_DRIFTED)
		sup_warn("tool %s__%s is not used: it has arguments that its "
			 "annotation does not know (policy.strict)",
		    server, tool);
	else
		sup_warn("tool %s__%s is in quarantine: %s%s%s. Look at it: "
			 "icctl trust %s %s",
		    server, tool, seen_state(s->state),
		    s->other[0] != '\0' ? " of " : "", s->other, server, tool);
	control_tool(seen_json(s, false));
	control_trusted(server, tool,
	    "it is another one again, or gone: look at it once more");
	return 0;
}

const char *
pins_trust(const char *server, const char *tool, const uint8_t digest[32])
{
	struct msg_TRUST m = {
	    .tool = span_str(tool), .digest = span_of(digest, 32)};
	const struct seen *s;
	char hex[65];

	hex_of(m.digest, hex);
	for (size_t i = 0; i < pins_env.nseen; i++) {
		s = &pins_env.seen[i];
		if (strcmp(sup.servers[s->server].def->name, server) != 0 ||
		    strcmp(s->tool, tool) != 0)
			continue;
		if (s->state == PROTO_TOOL_DRIFTED)
			return "its annotation does not know all of its "
			       "arguments: annotate it anew, then: icctl "
			       "policy reload";
		if (s->text == NULL)
			return "its definition is too long to be shown, and "
			       "what nobody can look at is not trusted: it "
			       "stays in quarantine";
		if (strcmp(s->digest, hex) != 0)
			return "it is another one since it was shown: look "
			       "again: icctl trust SERVER TOOL";
		m.server = s->server;
		child_send(ROLE_AUDIT, 0, MSG_TRUST, &m, -1);
		return NULL;
	}
	return "no such tool is in quarantine. See: icctl status";
}
