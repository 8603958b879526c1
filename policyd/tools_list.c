/* SPDX-License-Identifier: ISC */
/*
 * The list of tools that the agent is offered: those of all servers, of which
 * none may crowd out another's.
 */
#include "policyd.h"

#include "common/log.h"
#include "engine/rules.h"

bool
tools_offered(const struct session_tool *t)
{
	return pins_usable(t) && !t->crowded && !t->words && !t->hidden;
}

int
tools_only(struct session *s, struct span pattern)
{
	if (s->nonly == PROTO_MAX_PATTERNS ||
	    (s->only[s->nonly] = span_dup(pattern)) == NULL)
		return -1;
	s->nonly++;
	return 0;
}

void
tools_hide(struct session *s)
{
	for (size_t i = 0; i < s->tools.n; i++) {
		s->tools.list[i].hidden = s->nonly != 0;
		for (unsigned k = 0; k < s->nonly; k++)
			if (rule_pattern(
				span_str(s->only[k]), s->tools.list[i].name))
				s->tools.list[i].hidden = false;
	}
}

/* Returns true if the tool belongs in the list if there is room. */
static bool
is_wanted(
    struct policyd_env *env, unsigned server, const struct session_tool *t)
{
	return env->sessions[server].state != PROTO_STATE_GONE &&
	       pins_usable(t) && !t->words && !t->hidden &&
	       !unknown_hidden(env, server, t->name);
}

/*
 * Returns how much of `room` each server may use: the whole of it, or as much
 * as leaves the same to all that want more.
 */
static size_t
share(const size_t want[PROTO_MAX_SERVERS], size_t room)
{
	bool done[PROTO_MAX_SERVERS] = {false};
	unsigned left = 0, before;
	size_t each;

	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++)
		left += want[i] != 0;
	for (each = room; left != 0;) {
		before = left;
		each = room / left;
		for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
			if (done[i] || want[i] == 0 || want[i] > each)
				continue;
			done[i] = true;
			room -= want[i];
			left--;
		}
		if (left == before)
			return each;
	}
	return SIZE_MAX;
}

static bool
make_room(struct policyd_env *env, unsigned server, size_t most)
{
	struct session *s = &env->sessions[server];
	struct session_tool *t;
	unsigned before = s->crowded;
	bool changed = false, crowded;
	size_t used = 0;

	s->crowded = 0;
	for (size_t i = 0; i < s->tools.n; i++) {
		t = &s->tools.list[i];
		crowded =
		    is_wanted(env, server, t) && t->json.len + 1 > most - used;
		if (is_wanted(env, server, t) && !crowded)
			used += t->json.len + 1;
		changed = changed || crowded != t->crowded;
		t->crowded = crowded;
		s->crowded += crowded;
	}
	return changed || before != s->crowded;
}

bool
tools_make_room(struct policyd_env *env)
{
	size_t want[PROTO_MAX_SERVERS] = {0}, most;
	const struct session_tools *t;
	bool changed = false;

	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		t = &env->sessions[i].tools;
		for (size_t k = 0; k < t->n; k++)
			if (is_wanted(env, i, &t->list[k]))
				want[i] += t->list[k].json.len + 1;
	}
	most = share(want, env->limits.all);
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++)
		changed = make_room(env, i, most) || changed;
	return changed;
}
