/* SPDX-License-Identifier: ISC */
/*
 * Resolves git's remotes to URLs. These are in repositories, which the agent
 * writes and policyd must not read: icgit, an MCP server of IronCurtain in a
 * view of its own, asks git, and the call waits for its answer. If the answer
 * is missing or says nothing, the remote is unknown, which escalates.
 *
 * icgit is trusted no further than necessary: it may give a wrong answer about
 * a repository, just as the repository may change a moment later. What git can
 * reach is bounded by the git server's view, which has no network of its own.
 */
#ifndef REMOTES_H
#define REMOTES_H

#include "common/ipc/proto.h"
#include "common/loop.h"

#define REMOTES_MAX	16U	/* calls waiting at once */
#define REMOTES_NAMES	8U	/* remotes in one call */
#define REMOTES_URLS	64U	/* URLs of all its remotes */
#define REMOTES_MS	5000U

struct policyd_env;
struct call;
struct work;

struct remotes_ask;
/* Called with the URLs, one per line; p == NULL: they are not known. */
typedef void remotes_led(
    struct policyd_env *, const struct remotes_ask *, struct span urls);

/* A waiting call, as the agent sent it. */
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
	struct remotes_ask list[REMOTES_MAX];	/* oldest first */
	unsigned n;
	uint32_t seq;
	struct loop_timer timer;
};

/* Digest of the URLs, to be compared when the call is approved. */
int remotes_digest(struct span urls, uint8_t digest[32]);
/* Returns true if the prepared call names a remote and icgit can be asked. */
bool remotes_wanted(const struct policyd_env *, const struct work *);
/*
 * Keep the call and ask icgit; `led` is called later, never from here. Returns
 * 0, or -1 if the remotes stay unknown for this call.
 */
int remotes_ask(struct policyd_env *, struct call *, struct work *,
    struct span args, remotes_led *led);
/*
 * Replace remotes' names by the URLs in k->urls, and add those beside URLs.
 * Returns 0, or -1 if a URL must not be used, with rule and reason in k->args.
 */
int remotes_apply(struct policyd_env *, struct work *);
/* Returns the reason with the remotes' URLs appended. */
struct span remotes_reason(struct policyd_env *, const struct work *,
    struct span reason);

void remotes_answer(struct policyd_env *, uint16_t server,
    const struct msg_REMOTES *);
/* icgit is gone: let all waiting calls continue without an answer. */
void remotes_gone(struct policyd_env *);
/* Let a waiting call continue at once, its remotes unknown. */
void remotes_drop(struct policyd_env *, uint64_t id);
void remotes_free(struct remotes *);

#endif
