/* SPDX-License-Identifier: ISC */
/*
 * Requests and connections that mitmd or an egressd refused. Each is a line of
 * its own while there are few. Beyond that, refusals with the same code and
 * host, or the same code and server, become one line a second with their
 * number, so that an agent or a server cannot fill the disk. An agent can
 * invent hosts: beyond some in a second, only the code counts. Every refusal is
 * counted.
 */
#include "workers/auditd/auditd.h"

#include <stdio.h>

#include "common/bucket.h"
#include "common/log.h"

#define REFUSALS_ROWS 96U
/* The rows behind these are for any host, and the last one for any code. */
#define REFUSALS_HOSTS 64U
#define REFUSALS_MS 1000U

/* Refusals that are not written yet: their number, and the last one. */
struct refusal {
	uint64_t count; /* 0: the row is free */
	uint64_t first, last; /* wall-clock us */
	bool others;          /* counts several hosts or servers */
	bool connect;   /* an egressd's connection, not a request */
	unsigned server;
	uint32_t id;
	uint16_t status;
	char code[33], host[254], method[33], target[257];
};

static struct refusal refusals[REFUSALS_ROWS];
static struct loop_timer refusals_timer;
static bool refusals_waiting; /* a row is not free */
static struct bucket refusals_single = {.burst = 200, .ms = 100};

static void
refusal_write(const struct refusal *r)
{
	struct auditlog_line l;
	char id[16];

	auditd_line(&l, r->connect ? "connectDenied" : "refused");
	auditlog_str(&l, "code", span_str(r->code));
	if (r->count > 1) {
		auditlog_u64(&l, "count", r->count);
		auditlog_time(&l, "first", r->first);
	}
	if (!r->connect)
		auditlog_str(&l, "host", span_str(r->host));
	if (r->count > 1)
		auditlog_time(&l, "last", r->last);
	if (!r->connect)
		auditlog_str(&l, "method", span_str(r->method));
	if (r->others)
		auditlog_bool(&l, "others", true);
	if (r->connect) {
		/* The target names the service, or the number of none. */
		if (r->server != PROTO_SERVICES)
			auditlog_str(&l, "serverName",
			    span_str(auditd_env.servers[r->server].name));
	} else {
		snprintf(id, sizeof(id), "%08x", r->id);
		auditlog_str(&l, "request", span_str(id));
		auditlog_u64(&l, "status", r->status);
	}
	auditlog_str(&l, "target", span_str(r->target));
	auditd_line_end(&l);
}

void
auditd_refusals_flush(void)
{
	loop_timer_clear(&auditd_env.w.loop, &refusals_timer);
	for (size_t i = 0; refusals_waiting && i < REFUSALS_ROWS; i++) {
		if (refusals[i].count != 0)
			refusal_write(&refusals[i]);
		refusals[i].count = 0;
	}
	refusals_waiting = false;
	auditd_counted_flush();
}

static void
refusals_due(struct loop_timer *t)
{
	auditd_refusals_flush();
}

static bool
refusal_same(const struct refusal *a, const struct refusal *b)
{
	return a->connect == b->connect && strcmp(a->code, b->code) == 0 &&
	       (a->others ||
		   (a->server == b->server && strcmp(a->host, b->host) == 0));
}

/*
 * Returns the row among those from `from` to `to` that counts refusals like
 * this one, or a free row, or NULL.
 */
static struct refusal *
refusal_find(const struct refusal *r, size_t from, size_t to)
{
	struct refusal *free = NULL;

	for (size_t i = from; i < to; i++) {
		if (refusals[i].count != 0 && refusal_same(&refusals[i], r))
			return &refusals[i];
		if (refusals[i].count == 0 && free == NULL)
			free = &refusals[i];
	}
	return free;
}

/* Returns the row that counts this refusal. */
static struct refusal *
refusal_row(struct refusal *r)
{
	struct refusal *row;

	if ((row = refusal_find(r, 0, REFUSALS_HOSTS)) != NULL)
		return row;
	r->others = true;
	if ((row = refusal_find(r, REFUSALS_HOSTS, REFUSALS_ROWS - 1)) != NULL)
		return row;
	row = &refusals[REFUSALS_ROWS - 1];
	if (row->count != 0 && row->connect != r->connect) {
		refusal_write(row);
		row->count = 0;
	}
	return row;
}

static void
refusal_take(struct refusal *r)
{
	struct worker *w = &auditd_env.w;
	struct refusal *row;

	auditd_env.counts.refused++;
	r->count = 1;
	r->first = r->last = clock_wall_us();
	if (bucket_take(&refusals_single, loop_now(&w->loop))) {
		refusal_write(r);
		return;
	}
	row = refusal_row(r);
	if (row->count != 0)
		r->first = row->first;
	r->count += row->count;
	*row = *r;
	refusals_waiting = true;
	if (refusals_timer.at == 0)
		loop_timer_set(
		    &w->loop, &refusals_timer, REFUSALS_MS, refusals_due, NULL);
}

/* Record a request that mitmd refused. */
int
auditd_on_denied(struct chan *c, const struct msg_DENIED *m)
{
	struct refusal r = {.id = m->id, .status = m->status};

	if (span_copy(m->code, r.code, sizeof(r.code)) == -1 ||
	    span_copy(m->host, r.host, sizeof(r.host)) == -1 ||
	    span_copy(m->method, r.method, sizeof(r.method)) == -1 ||
	    span_copy(m->target, r.target, sizeof(r.target)) == -1)
		return chan_violation(c, "DENIED: too long");
	refusal_take(&r);
	return 0;
}

/* Record a connection that an egressd refused. */
int
auditd_on_connect_denied(struct chan *c, const struct msg_CONNECT_DENIED *m)
{
	struct refusal r = {.connect = true, .server = chan_index(c)};

	if (span_copy(m->code, r.code, sizeof(r.code)) == -1 ||
	    span_copy(m->target, r.target, sizeof(r.target)) == -1)
		return chan_violation(c, "CONNECT_DENIED: too long");
	refusal_take(&r);
	return 0;
}
