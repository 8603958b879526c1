/* SPDX-License-Identifier: ISC */
/*
 * The latest calls as a ring of hashes.  Calls that alternate are noticed, too,
 * because the same pair need not come twice in a row.
 */
#include "docker/agent/repeat.h"

/* FNV-1a; nobody gains from a collision but the agent that is warned. */
static uint64_t
hash_add(uint64_t h, struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		h = (h ^ s.p[i]) * 0x100000001b3ULL;
	return (h ^ s.len) * 0x100000001b3ULL;
}

static uint64_t
hash(struct span a, struct span b)
{
	return hash_add(hash_add(0xcbf29ce484222325ULL, a), b);
}

void
repeat_reset(struct repeat *r)
{
	*r = (struct repeat){0};
}

/* Returns how often the approach had its latest outcome. */
static unsigned
times(const struct repeat *r, uint64_t approach)
{
	const struct repeat_call *c, *latest = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < r->n; i++) {
		c = &r->calls[(r->at + REPEAT_KEPT - 1 - i) % REPEAT_KEPT];
		if (c->approach != approach)
			continue;
		if (latest == NULL)
			latest = c;
		else if (c->outcome != latest->outcome)
			break;
		n++;
	}
	return n;
}

enum repeat_verdict
repeat_before(
    struct repeat *r, struct span tool, struct span args, const char **why)
{
	if (times(r, hash(tool, args)) >= REPEAT_STAGNATION_BLOCK) {
		r->blocked++;
		*why = "Not called: this call was made five times already, "
		       "with the same result. Do something else, or tell the "
		       "user what is in the way.";
		return REPEAT_BLOCK;
	}
	if (r->failures >= REPEAT_STUCK_BLOCK) {
		r->blocked++;
		r->failures = REPEAT_STUCK_WARN;
		*why = "Not called: the last eight calls failed. Stop here and "
		       "tell the user what you tried and what is in the way.";
		return REPEAT_BLOCK;
	}
	return REPEAT_FINE;
}

enum repeat_verdict
repeat_after(struct repeat *r, struct span tool, struct span args,
    struct span result, bool is_error, const char **why)
{
	uint64_t approach = hash(tool, args);

	r->calls[r->at] = (struct repeat_call){
	    approach, hash(is_error ? SPAN("e") : SPAN("r"), result)};
	r->at = (r->at + 1) % REPEAT_KEPT;
	if (r->n < REPEAT_KEPT)
		r->n++;
	r->failures = is_error ? r->failures + 1 : 0;
	if (times(r, approach) >= REPEAT_STAGNATION_WARN) {
		*why = "[You have made this call several times with the same "
		       "result. Try another way.]";
		return REPEAT_WARN;
	}
	if (r->failures >= REPEAT_STUCK_WARN) {
		*why = "[The last calls all failed. Think again about what is "
		       "in the way, or tell the user.]";
		return REPEAT_WARN;
	}
	return REPEAT_FINE;
}

bool
repeat_hopeless(const struct repeat *r)
{
	return r->blocked >= REPEAT_GIVE_UP;
}
