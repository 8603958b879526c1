/* SPDX-License-Identifier: ISC */
/* Shared by worker.c, setup.c and turn.c: one policyd. */
#ifndef ICCTL_POLICY_PRIV_H
#define ICCTL_POLICY_PRIV_H

#include <limits.h>

#include "base/spawn.h"
#include "common/ipc/chan.h"
#include "icctl/policy/policy.h"

struct policyd {
	struct loop loop;
	struct chan *chan;
	struct spawned sp;
	int log;
	bool hello, gone;
	unsigned rules_open; /* RULES without an answer yet */
	struct policyd_bad *bad;
	bool refused;
	char *warnings;
	char *names[PROTO_MAX_SERVERS];
	uint8_t reach[PROTO_MAX_SERVERS]; /* PROTO_REACH_* */
	unsigned nservers;
	char temp[PATH_MAX]; /* our empty workspace; "": the user named one */
	unsigned asked;
	size_t asked_bytes;
	uint32_t bytes[1024]; /* size of each question, by its number */
	uint64_t first, next; /* numbers of questions */
	policyd_fn *answer;
	void *arg;
};

/*
 * afar.c: Add the remote servers of the user's own files, and send what the
 * settings of a session take from the policy, if the options say so.
 */
void policyd_afar(
    struct policyd *, const struct icctl *, const struct policy_opts *);
/* setup.c */
/* Send everything that precedes START. Returns 0, or -1 with `*bad` set. */
int policyd_configure(struct policyd *, const struct icctl *,
    const struct policy_opts *, const struct policy_set *, bool session,
    struct policyd_bad *bad);
/* turn.c */
/* Show the end of policyd's log. */
void policyd_tell_log(struct policyd *);
void policyd_send(struct policyd *, enum msg_type, const void *msg, int fd);

#endif
