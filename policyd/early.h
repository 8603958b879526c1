/* SPDX-License-Identifier: ISC */
/*
 * Calls that came before their server has listed its tools: at the start of the
 * session, or while it is started again. Each waits until the server is ready or
 * gone, or mcp-proxyd cancels it, which keeps the call's deadline. Admission
 * bounds how many there are, and their size.
 */
#ifndef EARLY_H
#define EARLY_H

#include <sys/queue.h>

#include "common/span.h"

struct policyd_env;
struct call;
struct work;
struct early;
/* Called when the wait is over. */
typedef void early_go(struct policyd_env *, const struct early *);

/* A waiting call, as the agent sent it. */
struct early {
	TAILQ_ENTRY(early) entry;
	uint64_t id;
	uint16_t server;
	bool progress;
	early_go *go;
	char tool[257];
	size_t len;
	uint8_t args[];
};
TAILQ_HEAD(early_calls, early);

/*
 * Returns true if the call's server has yet to list its tools, and may do so
 * soon: one that is out of reach is asked again at ever longer times.
 */
bool early_wanted(const struct policyd_env *, const struct work *);
/* Keep the call. Returns 0, or -1 with errno. */
int early_keep(struct policyd_env *, struct call *, const struct work *,
    struct span args, early_go *);
/* The server is ready, or gone: its calls go on, in their order. */
void early_listed(struct policyd_env *, uint16_t server);
/* The call was cancelled: let it go on at once. */
void early_drop(struct policyd_env *, uint64_t id);
void early_free(struct policyd_env *);

#endif
