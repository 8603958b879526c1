/* SPDX-License-Identifier: ISC */
/*
 * Where git's remotes lead.  That stands in repositories, which the agent
 * writes and policyd must not read: icgit, an MCP server of ours in a view of
 * its own, asks git, and the call waits for its answer.  An answer that does
 * not come or says nothing leaves the remote unknown, which escalates.
 *
 * Trusts icgit as far as it must: it may lie about the repository that it was
 * asked about, as the repository may change a moment later.  What is reached
 * is bounded by the git server's view, which has no network of its own.
 */
#ifndef REMOTES_H
#define REMOTES_H

#include "common/ipc/proto.h"
#include "common/loop.h"

#define REMOTES_MAX	16U	/* calls that wait at once */
#define REMOTES_NAMES	8U	/* remotes of one call */
#define REMOTES_URLS	64U	/* of all of them */
#define REMOTES_MS	5000U

struct policyd_env;
struct call;
struct work;

struct remotes_ask;
/* Gets the URLs, one a line; p == NULL: where they lead is not known. */
typedef void remotes_led(
    struct policyd_env *, const struct remotes_ask *, struct span urls);

/* A call that waits, as the agent sent it. */
struct remotes_ask {
	uint64_t id, due;
	uint32_t seq;
	uint16_t server;
	bool progress;
	remotes_led *led;
	char tool[257];
	uint8_t *args;
	size_t len;
};

struct remotes {
	struct remotes_ask list[REMOTES_MAX];	/* the oldest first */
	unsigned n;
	uint32_t seq;
	struct loop_timer timer;
};

/* Of where they led, to be compared when the call is approved. */
int remotes_digest(struct span urls, uint8_t digest[32]);
/* Is there a remote to ask for, and somebody to ask? Prepared arguments. */
bool remotes_wanted(const struct policyd_env *, const struct work *);
/*
 * Keep the call and ask; `led` is called later, not from here.  -1: unknown,
 * for now and for this call.
 */
int remotes_ask(struct policyd_env *, struct call *, struct work *,
    struct span args, remotes_led *led);
/*
 * What k->urls says takes the place of names, and stands beside URLs.  -1: it
 * may not be used at all, k->args has rule and reason.
 */
int remotes_apply(struct policyd_env *, struct work *);
/* The reason, with where the remote leads. */
struct span remotes_reason(struct policyd_env *, const struct work *,
    struct span reason);

void remotes_answer(struct policyd_env *, uint16_t server,
    const struct msg_REMOTES *);
/* Nobody answers any more. */
void remotes_gone(struct policyd_env *);
/* A call that is waiting goes on at once, its remotes unknown. */
void remotes_drop(struct policyd_env *, uint64_t id);
void remotes_free(struct remotes *);

#endif
