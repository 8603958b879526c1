/* SPDX-License-Identifier: ISC */
/*
 * A DIAL that came before its TARGET. icsupervisor sent that first, on a
 * channel that may not have been read yet: one turn of the loop is enough.
 */
#include "dialerd/dialerd.h"

#define EARLY_MAX 8U
#define EARLY_MS 2U
#define EARLY_TURNS 3U

struct early {
	enum role role;
	unsigned key, which, turns;
	uint32_t id;
};

static struct {
	struct loop_timer timer;
	struct early list[EARLY_MAX];
	unsigned n;
} early_env;

static void early_due(struct loop_timer *);

static void
early_wait(void)
{
	if (early_env.n != 0)
		loop_timer_set(&dialerd_env.w.loop, &early_env.timer, EARLY_MS,
		    early_due, NULL);
}

static void
early_refuse(const struct early *d)
{
	const struct msg_DIAL_FAIL m = {
	    .id = d->id, .text = SPAN("icsupervisor has named no host for it")};

	worker_send(&dialerd_env.w, d->role, d->key, MSG_DIAL_FAIL, &m, -1);
}

/* Refuse those that have waited for long enough. */
static void
early_due(struct loop_timer *timer)
{
	unsigned n = early_env.n;

	(void)timer;
	early_env.n = 0;
	for (unsigned i = 0; i < n; i++)
		if (++early_env.list[i].turns < EARLY_TURNS)
			early_env.list[early_env.n++] = early_env.list[i];
		else
			early_refuse(&early_env.list[i]);
	early_wait();
}

bool
early_keep(const struct chan *c, const struct msg_DIAL *m)
{
	if (!dialerd_env.open || m->avoid.len != 0 ||
	    chan_index(c) >= PROTO_MAX_PROVIDERS || early_env.n == EARLY_MAX)
		return false;
	early_env.list[early_env.n++] = (struct early){.role = chan_peer(c),
	    .key = chan_index(c),
	    .which = m->which,
	    .id = m->id};
	early_wait();
	return true;
}

void
early_begin(unsigned key, unsigned which)
{
	unsigned n = early_env.n;

	early_env.n = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct early d = early_env.list[i];

		if (d.key != key || d.which != which ||
		    !dial_has_target(key, which, d.role))
			early_env.list[early_env.n++] = d;
		else if (dial_start(dial_target(key, which), d.id,
			     span_of(NULL, 0)) == -1)
			early_refuse(&d);
	}
}

void
early_drop(enum role role, unsigned index)
{
	unsigned n = early_env.n;

	early_env.n = 0;
	for (unsigned i = 0; i < n; i++)
		if (early_env.list[i].role != role ||
		    early_env.list[i].key != index)
			early_env.list[early_env.n++] = early_env.list[i];
}
