/* SPDX-License-Identifier: ISC */
/*
 * The tools of MCP servers and what they were when they were pinned. The pins
 * are sent to policyd, which compares and reports tools that are used first, in
 * quarantine, or trusted. If the user has changed a server's entry, the user is
 * asked once: then each tool whose definition is the pinned one is trusted. A
 * definition's text comes from a server and is only stored and passed to icctl.
 */
#include "policy/pins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/log.h"
#include "common/sha256.h"
#include "core/sup.h"
#include "hub/control.h"

/* A tool that is in quarantine or has drifted, as policyd reported. */
struct seen {
	uint16_t server;
	enum proto_tool state;
	bool same; /* defined as pinned: only its server's entry is not */
	char tool[PROTO_MAX_TOOL_NAME + 1], other[257], digest[65];
	char *text;
};

static struct {
	struct seen *seen;
	size_t nseen, capseen;
} pins_env;

/* Find the digest of the pinned definition alone. Returns -1 if unknown. */
static int
pin_defined(struct json_object *pin, uint8_t digest[32])
{
	struct json_object *v;

	if (json_object_object_get_ex(pin, "definitionDigest", &v))
		return sha256_unhex(
		    span_str(json_object_get_string(v)), digest);
	if (!json_object_object_get_ex(pin, "definition", &v))
		return -1;
	sha256_span(span_str(json_object_get_string(v)), digest);
	return 0;
}

void
pins_send(void)
{
	struct json_object *tools, *v;
	uint8_t digest[32], defined[32];
	struct msg_PIN m;

	for (unsigned i = 0; i < sup.nservers; i++) {
		if ((tools = pins_of(sup.servers[i].def->name)) == NULL)
			continue;
		json_object_object_foreach(tools, name, pin)
		{
			json_object_object_get_ex(pin, "digest", &v);
			if (sha256_unhex(
				span_str(json_object_get_string(v)), digest) == -1)
				continue;
			memset(&m, 0, sizeof(m));
			m.server = (uint16_t)i;
			m.tool = span_str(name);
			m.digest = span_of(digest, sizeof(digest));
			if (pin_defined(pin, defined) == 0)
				m.definition =
				    span_of(defined, sizeof(defined));
			child_send(ROLE_POLICY, 0, MSG_PIN, &m, -1);
		}
	}
}

void
pins_command(const struct server *s, uint8_t digest[32])
{
	memset(digest, 0, 32);
	if (s->program.ours)
		return;
	/* Without an entry, the digest matches no server. */
	digest[0] = 1;
	if (s->def->entry == NULL)
		return;
	sha256_span(span_str(s->def->entry), digest);
	/* It is as if the entry had changed. */
	if (pins_code_held((unsigned)(s - sup.servers))) {
		const struct span parts[] = {
		    span_of(digest, 32), span_str(s->program.code)};
		uint8_t both[32];

		sha256_spans(parts, nitems(parts), both);
		memcpy(digest, both, sizeof(both));
	}
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
	    "first", "trusted", "new", "changed", "look-alike", "drifted",
	    "gone"};

	return names[state];
}

static struct json_object *
seen_json(const struct seen *s, bool whole)
{
	const char *server = sup.servers[s->server].def->name;
	struct json_object *o = json_object_new_object(), *pin, *v;

	put_str(o, "server", server);
	put_str(o, "tool", s->tool);
	put_str(o, "state", seen_state(s->state));
	if (s->same)
		put_bool(o, "entryChanged", true);
	if (s->other[0] != '\0')
		put_str(o, "looksLike", s->other);
	if (!whole)
		return o;
	put_str(o, "digest", s->digest);
	if (s->text != NULL)
		put_str(o, "definition", s->text);
	pin = pins_find(server, s->tool);
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

/* The tool is usable again, or gone: drop its quarantine entry. */
static void
pins_good(const struct msg_TOOL_SEEN_SHOW *m, const char *tool)
{
	struct seen *s = seen_find(m->server, tool);

	if (m->state == PROTO_TOOL_FIRST || m->state == PROTO_TOOL_TRUSTED)
		pins_add_tool(m, tool);
	if (m->state == PROTO_TOOL_FIRST)
		pins_add_entry(m->server, false);
	if (s != NULL) {
		free(s->text);
		*s = pins_env.seen[--pins_env.nseen];
	}
	/* Refuse a pending `icctl trust` of the definition that is now gone. */
	if (m->state == PROTO_TOOL_OK)
		control_trusted(sup.servers[m->server].def->name, tool,
		    "it is again as it was pinned: there is nothing to trust");
	if (m->state == PROTO_TOOL_GONE)
		control_trusted(sup.servers[m->server].def->name, tool,
		    "its server no longer lists it");
	if (m->state != PROTO_TOOL_TRUSTED)
		return;
	sup_note(
	    "tool %s__%s is trusted", sup.servers[m->server].def->name, tool);
	/* Write now, so that the user learns at once if it fails. */
	control_trusted(sup.servers[m->server].def->name, tool,
	    pins_flush() == -1
		? "it is trusted in this session, but pins.json cannot be "
		  "written. Correct that, then trust it again"
		: NULL);
}

static void
seen_trust(const struct seen *s)
{
	uint8_t digest[32];
	struct msg_TRUST m = {.server = s->server,
	    .tool = span_str(s->tool),
	    .digest = span_of(digest, sizeof(digest))};

	if (sha256_unhex(span_str(s->digest), digest) == 0)
		child_send(ROLE_AUDIT, 0, MSG_TRUST, &m, -1);
}

unsigned
pins_same(unsigned server, const char *tool)
{
	unsigned n = 0;

	for (size_t i = 0; i < pins_env.nseen; i++)
		n += pins_env.seen[i].same &&
		     pins_env.seen[i].server == server &&
		     (tool == NULL || strcmp(pins_env.seen[i].tool, tool) == 0);
	return n;
}

const char *
pins_approve(unsigned server)
{
	pins_add_entry((uint16_t)server, true);
	pins_add_code(server);
	sup.servers[server].approved = true;
	for (size_t i = 0; i < pins_env.nseen; i++)
		if (pins_env.seen[i].server == server && pins_env.seen[i].same)
			seen_trust(&pins_env.seen[i]);
	/* Write now, so that the user learns at once if it fails. */
	return pins_flush() == 0
		   ? NULL
		   : "it is approved in this session, but pins.json cannot be "
		     "written. Correct that, then approve it again";
}

/* Report a tool that is in quarantine, and how to get it out. */
static void
seen_warn(const struct seen *s)
{
	const char *server = sup.servers[s->server].def->name;

	if (s->state == PROTO_TOOL_DRIFTED && !sup.config.strict)
		sup_warn("tool %s__%s has arguments that its annotation does "
			 "not cover, so no rule checks them. To add them: "
			 "icctl mcp annotate %s, then icctl policy reload",
		    server, s->tool, server);
	else if (s->state == PROTO_TOOL_DRIFTED)
		sup_warn("tool %s__%s is not offered: it has arguments that "
			 "its annotation does not cover (policy.strict). To "
			 "add them: icctl mcp annotate %s, then icctl policy "
			 "reload",
		    server, s->tool, server);
	else if (!s->same)
		sup_warn("tool %s__%s is in quarantine: %s%s%s. To look at it: "
			 "icctl trust %s %s",
		    server, s->tool, seen_state(s->state),
		    s->other[0] != '\0' ? " of " : "", s->other, server,
		    s->tool);
	else if (pins_same(s->server, NULL) == 1 && !pins_code_held(s->server))
		sup_warn("MCP server %s: its entry in %s was changed since "
			 "you approved it, so its tools are in quarantine. "
			 "See the change and approve it once: icctl trust %s",
		    server, sup.defs.file, server);
}

int
pins_seen(const struct msg_TOOL_SEEN_SHOW *m)
{
	const char *server;
	struct seen *s;
	char tool[PROTO_MAX_TOOL_NAME + 1];

	if (m->server >= sup.nservers || m->digest.len != 32 ||
	    span_copy(m->tool, tool, sizeof(tool)) == -1)
		return -1;
	server = sup.servers[m->server].def->name;
	if (m->state <= PROTO_TOOL_TRUSTED || m->state == PROTO_TOOL_GONE) {
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
	pins_hex(m->digest, s->digest);
	/* The user need not be asked again about an entry that is approved. */
	s->same = m->same != 0 && sup.servers[m->server].def->entry != NULL;
	if (s->same && pins_entry_approved(m->server)) {
		seen_trust(s);
		return 0;
	}
	seen_warn(s);
	control_tool(seen_json(s, false));
	control_trusted(server, tool,
	    "it has changed again, or is gone: look at it once more");
	return 0;
}

const char *
policy_pins_trust(
    const char *server, const char *tool, const uint8_t digest[32])
{
	const struct seen *s;
	char hex[65];

	pins_hex(span_of(digest, 32), hex);
	for (size_t i = 0; i < pins_env.nseen; i++) {
		s = &pins_env.seen[i];
		if (strcmp(sup.servers[s->server].def->name, server) != 0 ||
		    strcmp(s->tool, tool) != 0)
			continue;
		if (s->state == PROTO_TOOL_DRIFTED)
			return "its annotation does not cover all of its "
			       "arguments. To add them: icctl mcp annotate "
			       "SERVER, then icctl policy reload";
		if (s->text == NULL)
			return "its server changed its tools so often that "
			       "this session cannot show its definition, and a "
			       "tool that nobody can inspect is not trusted: "
			       "it stays in quarantine. Start another session";
		if (strcmp(s->digest, hex) != 0)
			return "it has changed since it was shown. Look again: "
			       "icctl trust SERVER TOOL";
		seen_trust(s);
		return NULL;
	}
	return "no such tool is in quarantine. See: icctl status";
}
