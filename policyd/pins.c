/* SPDX-License-Identifier: ISC */
/*
 * The pin of a tool is the SHA-256 of its definition, as its server wrote it,
 * and of the digest of the command that its server was started with. The agent
 * sees what was made of that definition and of nothing else. The server
 * contributes nothing but the definition.
 */
#include "pins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/sha256.h"
#include "policyd.h"

/* server__tool */
#define NAME_MAX_FULL (64U + 2U + PROTO_MAX_TOOL_NAME + 1U)

const struct pin *
pins_of_tool(const struct pins *ps, uint16_t server, struct span tool)
{
	for (size_t i = 0; i < ps->n; i++) {
		if (ps->list[i].server == server &&
		    span_is(tool, ps->list[i].tool))
			return &ps->list[i];
	}
	return NULL;
}

static struct pin *
pin_find(struct pins *ps, uint16_t server, struct span tool)
{
	return (struct pin *)(uintptr_t)pins_of_tool(ps, server, tool);
}

int
pins_add(struct pins *ps, uint16_t server, struct span tool, struct span digest,
    struct span definition)
{
	struct pin p = {.server = server}, *more;
	size_t cap;

	if (digest.len != PIN_DIGEST || definition.len % PIN_DIGEST != 0 ||
	    span_copy(tool, p.tool, sizeof(p.tool)) == -1) {
		errno = EINVAL;
		return -1;
	}
	if (pin_find(ps, server, tool) != NULL) {
		errno = EEXIST;
		return -1;
	}
	if (ps->n == PINS_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	if (ps->n == ps->cap) {
		cap = ps->cap == 0 ? 64 : ps->cap * 2;
		more = reallocarray(ps->list, cap, sizeof(*more));
		if (more == NULL)
			return -1;
		ps->list = more;
		ps->cap = cap;
	}
	memcpy(p.digest, digest.p, PIN_DIGEST);
	if ((p.known = definition.len != 0))
		memcpy(p.defined, definition.p, PIN_DIGEST);
	ps->list[ps->n++] = p;
	ps->known[server] = true;
	return 0;
}

void
pins_free(struct pins *ps)
{
	free(ps->list);
	*ps = (struct pins){0};
}

size_t
pins_skeleton(struct span name, char *dst)
{
	size_t n = 0;

	for (size_t i = 0; i < name.len; i++) {
		char c = (char)name.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c == '_' || c == '-' || c == '.')
			continue;
		if (c == '0')
			c = 'o';
		else if (c == '1' || c == 'i')
			c = 'l';
		else if (c == '5')
			c = 's';
		/* Pairs of letters that look like one. */
		if (c == 'n' && n != 0 && dst[n - 1] == 'r')
			dst[n - 1] = 'm';
		else if (c == 'v' && n != 0 && dst[n - 1] == 'v')
			dst[n - 1] = 'w';
		else
			dst[n++] = c;
	}
	return n;
}

static void
digest_of(const struct server *srv, struct session_tool *t)
{
	const struct span all[] = {
	    t->pinned, SPAN("\n"), span_of(srv->command, sizeof(srv->command))};

	sha256_spans(all, 3, t->digest);
	sha256_span(t->pinned, t->defined);
}

static struct span
full_name(const char *server, struct span tool, char dst[NAME_MAX_FULL])
{
	int n = snprintf(dst, NAME_MAX_FULL, "%s__%.*s", server, (int)tool.len,
	    (const char *)tool.p);

	return span_of(dst, n < 0 ? 0 : (size_t)n);
}

/* A search for another tool, of any server, whose name looks the same. */
struct search {
	char mine[NAME_MAX_FULL];
	size_t n;
	char *other;
	bool found;
};

static void
look_at(struct search *f, const char *server, struct span tool)
{
	char full[NAME_MAX_FULL], his[NAME_MAX_FULL];

	if (pins_skeleton(full_name(server, tool, full), his) != f->n ||
	    memcmp(f->mine, his, f->n) != 0)
		return;
	strlcpy(f->other, full, NAME_MAX_FULL);
	f->found = true;
}

static bool
looks_like(const struct policyd_env *env, const struct session *of,
    const struct session_tool *t, char other[NAME_MAX_FULL])
{
	const struct server *servers = env->engine.servers;
	struct search f = {.other = other};
	const struct session_tools *ts;
	const struct pin *p;
	char full[NAME_MAX_FULL];

	f.n = pins_skeleton(
	    full_name(servers[of->index].name, t->name, full), f.mine);
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		ts = &env->sessions[i].tools;
		for (size_t k = 0; k < ts->n; k++) {
			/* Prefer one that may be used. */
			if (&ts->list[k] != t &&
			    (!f.found || pins_usable(&ts->list[k])))
				look_at(&f, servers[i].name, ts->list[k].name);
		}
	}
	/* A server with pins may not have listed its tools yet. */
	for (size_t i = 0; i < env->pins.n && !f.found; i++) {
		p = &env->pins.list[i];
		if (p->server != of->index || !span_is(t->name, p->tool))
			look_at(&f, servers[p->server].name, span_str(p->tool));
	}
	return f.found;
}

/* Returns true if the tool no longer has the arguments that were annotated. */
static bool
drifted(const struct policyd_env *env, const struct server *srv,
    const struct session_tool *t)
{
	const struct annot_tool *a = NULL;
	const struct value *props, *p;
	bool found;

	if (env->engine.annots != NULL && !srv->trusted)
		a = annots_find(
		    env->engine.annots, span_str(srv->name), t->name);
	if (a == NULL || t->schema == NULL ||
	    (props = value_get(t->schema, "properties")) == NULL ||
	    props->type != VALUE_OBJECT)
		return false;
	/*
	 * An argument without an annotation has no role and would not be
	 * judged.
	 */
	for (p = props->child; p != NULL; p = p->next) {
		found = false;
		for (unsigned i = 0; i < a->nargs && !found; i++)
			found = span_eq(a->args[i].name, p->key);
		if (!found)
			return true;
	}
	return false;
}

static bool
usable(enum proto_tool state)
{
	switch (state) {
	case PROTO_TOOL_OK:
	case PROTO_TOOL_FIRST:
	case PROTO_TOOL_TRUSTED:
		return true;
	case PROTO_TOOL_NEW:
	case PROTO_TOOL_CHANGED:
	case PROTO_TOOL_LOOKALIKE:
	case PROTO_TOOL_DRIFTED:
	case PROTO_TOOL_GONE:
		break;
	}
	return false;
}

static void
tell(struct policyd_env *env, uint16_t server, const struct session_tool *t,
    enum proto_tool state, const char *other)
{
	struct pins *ps = &env->pins;
	struct msg_TOOL_SEEN m = {
	    .server = server,
	    .state = (uint8_t)state,
	    .same = state == PROTO_TOOL_CHANGED && t->as_pinned,
	    .tool = t->name,
	    .digest = span_of(t->digest, sizeof(t->digest)),
	    .other = span_str(other),
	    .text = t->pinned,
	};

	if (ps->told[server] == PINS_TOLD) {
		log_warnx("server %s changes its tools too often: no more is "
			  "told of them",
		    env->engine.servers[server].name);
		ps->told[server]++;
	}
	if (ps->told[server] > PINS_TOLD)
		return;
	ps->told[server]++;
	/* A tool that may be used by now, or is gone, need not be shown. */
	if (state == PROTO_TOOL_OK || state == PROTO_TOOL_GONE ||
	    m.text.len > PINS_TOLD_BYTES - ps->told_bytes[server])
		m.text = span_of(NULL, 0);
	ps->told_bytes[server] += m.text.len;
	env->send(env, ROLE_AUDIT, MSG_TOOL_SEEN, &m);
}

static bool
is_pinned(struct policyd_env *env, const struct session *s,
    const struct session_tool *t)
{
	const struct pin *p = pin_find(&env->pins, s->index, t->name);

	return p != NULL && memcmp(p->digest, t->digest, PIN_DIGEST) == 0;
}

/* Compare the tool with its pin. */
static enum proto_tool
compare(struct policyd_env *env, const struct session *s,
    struct session_tool *t, bool first, char other[NAME_MAX_FULL])
{
	const struct pin *p = pin_find(&env->pins, s->index, t->name);
	enum proto_tool state;

	/* Instructions that a server no longer has can do no harm. */
	if (is_pinned(env, s, t) ||
	    (p != NULL && span_is(t->name, TOOLS_WORDS) && s->words[0] == '\0'))
		return PROTO_TOOL_OK;
	t->as_pinned = p != NULL && p->known &&
		       memcmp(p->defined, t->defined, PIN_DIGEST) == 0;
	state = p != NULL           ? PROTO_TOOL_CHANGED
		: first || t->words ? PROTO_TOOL_FIRST
				    : PROTO_TOOL_NEW;
	/* Earlier versions had no pins of instructions. */
	if (t->words)
		return state;
	return looks_like(env, s, t, other) ? PROTO_TOOL_LOOKALIKE : state;
}

/* The last report about a tool before it is judged again. */
struct told {
	enum proto_tool state;
	uint8_t digest[PIN_DIGEST];
};

static bool
told_before(
    const struct told *was, const struct session_tool *t, enum proto_tool state)
{
	return was->state == state &&
	       memcmp(was->digest, t->digest, PIN_DIGEST) == 0;
}

static void
judge(struct policyd_env *env, struct session *s, struct session_tool *t,
    bool first, const struct session_tool *old)
{
	const struct server *srv = &env->engine.servers[s->index];
	char other[NAME_MAX_FULL] = "";
	struct told was = {.state = PROTO_TOOL_OK};

	if (old != NULL) {
		was.state = old->told;
		memcpy(was.digest, old->digest, PIN_DIGEST);
	}
	t->state = srv->own ? PROTO_TOOL_OK : compare(env, s, t, first, other);
	if (t->state == PROTO_TOOL_FIRST &&
	    pins_add(&env->pins, s->index, t->name,
		span_of(t->digest, PIN_DIGEST),
		span_of(t->defined, PIN_DIGEST)) == -1)
		t->state = PROTO_TOOL_NEW;
	t->told = t->state;
	/* One that is again as pinned is told of, if it was not before. */
	if ((t->state != PROTO_TOOL_OK || !usable(was.state)) &&
	    !told_before(&was, t, t->state))
		tell(env, s->index, t, t->state, other);
	if (!pins_usable(t) || !drifted(env, srv, t))
		return;
	/* Unless `strict`, only report it. */
	t->told = PROTO_TOOL_DRIFTED;
	if (env->engine.strict)
		t->state = PROTO_TOOL_DRIFTED;
	if (!told_before(&was, t, PROTO_TOOL_DRIFTED))
		tell(env, s->index, t, PROTO_TOOL_DRIFTED, "");
}

/* Tell of tools that were in quarantine and are not listed any more. */
static void
judge_gone(struct policyd_env *env, const struct session *s,
    const struct session_tools *old)
{
	for (size_t i = 0; i < old->n; i++)
		if (!usable(old->list[i].told) &&
		    tools_find(&s->tools, old->list[i].name) == NULL)
			tell(env, s->index, &old->list[i], PROTO_TOOL_GONE, "");
}

void
pins_judge(
    struct policyd_env *env, struct session *s, const struct session_tools *old)
{
	const struct server *srv = &env->engine.servers[s->index];
	bool first = !env->pins.known[s->index];
	struct session_tool *t;

	if (old == NULL)
		old = &s->tools;
	/* Start with tools that match their pins: others may look like them. */
	for (size_t i = 0; i < s->tools.n; i++) {
		t = &s->tools.list[i];
		if (old != &s->tools)
			digest_of(srv, t);
		t->state = srv->own || is_pinned(env, s, t) ? PROTO_TOOL_OK
							    : PROTO_TOOL_NEW;
	}
	for (size_t i = 0; i < s->tools.n; i++) {
		t = &s->tools.list[i];
		judge(env, s, t, first, tools_find(old, t->name));
	}
	if (old != &s->tools)
		judge_gone(env, s, old);
	if (s->tools.n != 0)
		env->pins.known[s->index] = true;
}

bool
pins_usable(const struct session_tool *t)
{
	return usable(t->state);
}

struct span
pins_reason(
    struct policyd_env *env, const char *server, const struct session_tool *t)
{
	static const char *const why[PROTO_TOOL_LAST + 1] = {
	    [PROTO_TOOL_NEW] = "its server did not have it when it was first "
			       "used",
	    [PROTO_TOOL_CHANGED] = "its definition is not the one that was "
				   "first used",
	    [PROTO_TOOL_LOOKALIKE] = "its name looks like that of another tool",
	};
	int n = (int)t->name.len;
	const char *p = (const char *)t->name.p;

	if (t->state == PROTO_TOOL_DRIFTED)
		return reason_printf(env->pool,
		    "Tool %s__%.*s has arguments that its annotation does not "
		    "cover. The user can add them: icctl mcp annotate %s, then "
		    "icctl policy reload",
		    server, n, p, server);
	if (t->state == PROTO_TOOL_CHANGED && t->as_pinned)
		return reason_printf(env->pool,
		    "Tool %s__%.*s is in quarantine: the entry of its server "
		    "in "
		    "mcp-servers.json was changed, and the user has not "
		    "approved that yet: icctl trust %s",
		    server, n, p, server);
	return reason_printf(env->pool,
	    "Tool %s__%.*s is in quarantine: %s. The user can look at it and "
	    "allow it: icctl trust %s %.*s",
	    server, n, p, why[t->state] != NULL ? why[t->state] : "?", server,
	    n, p);
}

bool
pins_trust(struct policyd_env *env, const struct msg_TRUST_GO *m)
{
	static const uint8_t none[PIN_DIGEST];
	struct session *s = &env->sessions[m->server];
	struct session_tool *t =
	    (struct session_tool *)(uintptr_t)tools_find(&s->tools, m->tool);
	struct msg_TOOL_SEEN gone = {.server = m->server,
	    .state = PROTO_TOOL_CHANGED,
	    .tool = m->tool,
	    .digest = span_of(none, sizeof(none))};
	struct pin *p;

	if (t == NULL) {
		env->send(env, ROLE_AUDIT, MSG_TOOL_SEEN, &gone);
		return false;
	}
	/* Trust only the definition that the user saw; it may have changed. */
	if (!span_eq(m->digest, span_of(t->digest, PIN_DIGEST))) {
		tell(env, m->server, t, t->state, "");
		return false;
	}
	if ((p = pin_find(&env->pins, m->server, t->name)) != NULL) {
		memcpy(p->digest, t->digest, PIN_DIGEST);
		memcpy(p->defined, t->defined, PIN_DIGEST);
		p->known = true;
	} else if (pins_add(&env->pins, m->server, t->name, m->digest,
		       span_of(t->defined, PIN_DIGEST)) == -1) {
		return false;
	}
	tell(env, m->server, t, PROTO_TOOL_TRUSTED, "");
	judge(env, s, t, false, t);
	return true;
}
