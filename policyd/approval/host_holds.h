/* SPDX-License-Identifier: ISC */
/*
 * Hosts on no list that a program of the sandbox wants to reach: mitmd sends
 * HOST_ASK for a CONNECT that waits, a person decides, and the outcome goes to
 * auditd alone. The name is all that is asked about and all that is approved:
 * its kind follows from it, and the program's own name never counts. An opened
 * host is a grant, which can be revoked; one that was denied or closed is not
 * asked about again. Rules do not apply, and nothing survives the session.
 */
#ifndef HOST_HOLDS_H
#define HOST_HOLDS_H

#include "approval/hold.h"
#include "common/http/known_host.h"
#include "common/loop.h"

/* Questions in one session, so that a person is not worn down. */
#define HOSTS_MAX_ASKED 64U
/* A longer name is not asked about: it must be shown whole everywhere. */
#define HOSTS_MAX_NAME 240U

struct policyd_env;

struct host_ask {
	uint64_t id;      /* has PROTO_HOST_ID; 0: free */
	uint64_t expires; /* ms of the loop's clock */
	uint8_t digest[HOLD_DIGEST];
	char host[HOSTNAME_MAX + 1]; /* the one that was asked for */
	struct known_host known;
};

struct host_opened {
	uint64_t id; /* the id of the question */
	bool closed;
	struct known_host known;
};

/* A host, with those that go with it, that is not asked about again. */
struct host_barred {
	enum proto_shut why;
	struct known_host known;
};

struct hosts {
	enum proto_hosts mode;
	struct host_ask asks[PROTO_MAX_HOST_ASKS];
	struct host_opened opened[PROTO_MAX_OPENED];
	unsigned nopened; /* closed ones count */
	struct host_barred barred[HOSTS_MAX_ASKED];
	unsigned nbarred, asked;
	struct loop_timer timer;
};

/* Returns -1 with *why if mitmd broke the protocol. */
int hosts_take(
    struct policyd_env *, const struct msg_HOST_ASK *, const char **why);
/* The ids have PROTO_HOST_ID. */
void hosts_verdict(struct policyd_env *, const struct msg_VERDICT_GO *);
/* Close an opened host, because a person or icsupervisor says so. */
void hosts_revoke(struct policyd_env *, uint64_t id);

/* approval/host_text.c: the texts of a question, without side effects. */
/* Write "a.example.org:443 and b.example.org:443". */
void host_names(const struct known_host *, struct buf *);
/* Returns what such a host is opened as. */
const char *host_as(enum proto_open);
/* Write what is approved, as canonical JSON; its digest is the question's. */
void host_args(const struct known_host *, struct buf *);
/* Write the sentence that says what an approval does. */
void host_effect(const struct known_host *, struct buf *);
/* Write the reason of the question; `agent` may be empty. */
void host_reason(struct span agent, struct buf *);
/* Write the details that follow the arguments in HOLD. */
void host_details(const struct known_host *, struct span reason, struct buf *);
/* Write the grant as it is shown. */
void host_grant(const struct known_host *, struct buf *);

#endif
