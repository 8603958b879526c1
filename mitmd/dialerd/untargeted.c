/* SPDX-License-Identifier: ISC */
/*
 * A DIAL that came before its TARGET. icsupervisor sent that first, on a
 * channel that may not have been read yet: one turn of the loop is enough.
 */
#include "dialerd/dialerd.h"

#define UNTARGETED_MAX 8U
#define UNTARGETED_MS 2U
#define UNTARGETED_TURNS 3U

struct untargeted {
	enum role role;
	unsigned key, which, turns;
	uint32_t id;
};

static struct {
	struct loop_timer timer;
	struct untargeted list[UNTARGETED_MAX];
	unsigned n;
} untargeted;

static void untargeted_due(struct loop_timer *);

static void
untargeted_wait(void)
{
	if (untargeted.n != 0)
		loop_timer_set(&dialerd_env.w.loop, &untargeted.timer,
		    UNTARGETED_MS, untargeted_due, NULL);
}

static void
untargeted_refuse(const struct untargeted *d)
{
	const struct msg_DIAL_FAIL m = {
	    .id = d->id, .text = SPAN("icsupervisor has named no host for it")};

	worker_send(&dialerd_env.w, d->role, d->key, MSG_DIAL_FAIL, &m, -1);
}

/* Refuse those that have waited for long enough. */
static void
untargeted_due(struct loop_timer *timer)
{
	unsigned n = untargeted.n;

	(void)timer;
	untargeted.n = 0;
	for (unsigned i = 0; i < n; i++)
		if (++untargeted.list[i].turns < UNTARGETED_TURNS)
			untargeted.list[untargeted.n++] = untargeted.list[i];
		else
			untargeted_refuse(&untargeted.list[i]);
	untargeted_wait();
}

bool
untargeted_keep(const struct chan *c, const struct msg_DIAL *m)
{
	if (!dialerd_env.open || m->avoid.len != 0 ||
	    chan_index(c) >= PROTO_MAX_PROVIDERS ||
	    untargeted.n == UNTARGETED_MAX)
		return false;
	untargeted.list[untargeted.n++] =
	    (struct untargeted){.role = chan_peer(c),
		.key = chan_index(c),
		.which = m->which,
		.id = m->id};
	untargeted_wait();
	return true;
}

void
untargeted_begin(unsigned key, unsigned which)
{
	unsigned n = untargeted.n;

	untargeted.n = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct untargeted d = untargeted.list[i];

		if (d.key != key || d.which != which ||
		    !dial_has_target(key, which, d.role))
			untargeted.list[untargeted.n++] = d;
		else if (dial_start(dial_target(key, which), d.id,
			     span_of(NULL, 0)) == -1)
			untargeted_refuse(&d);
	}
}

void
untargeted_drop(enum role role, unsigned index)
{
	unsigned n = untargeted.n;

	untargeted.n = 0;
	for (unsigned i = 0; i < n; i++)
		if (untargeted.list[i].role != role ||
		    untargeted.list[i].key != index)
			untargeted.list[untargeted.n++] = untargeted.list[i];
}
