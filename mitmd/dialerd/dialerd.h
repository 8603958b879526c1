/* SPDX-License-Identifier: ISC */
/*
 * dialerd's inside.  A dial is one connection that a keyd asked for: its
 * target is resolved (or is an address already), every address is screened,
 * and the first that answers is handed over.
 */
#ifndef DIALERD_H
#define DIALERD_H

#include <sys/queue.h>

#include <netinet/in.h>

#include "common/ipc/worker.h"
#include "common/net/egress_list.h"
#include "common/net/no_proxy.h"
#include "dialerd/screen.h"

#define DIALERD_MAX_ADDRS	8U	/* of a name; more are not tried */
#define DIALERD_MAX_ACTIVE	128U	/* connecting at once, of all keyds */
#define DIALERD_MAX_QUEUED	2688U	/* of one keyd: KEYD_MAX_UPS and more */
#define DIALERD_STAGGER_MS	250U
#define DIALERD_CONNECT_MS	10000U
#define DIALERD_RESOLVE_MS	20000U
#define DIALERD_TUNNEL_MS	25000U	/* tunneld has its own, shorter one */
#define DIALERD_MAX_GUESTS	128U	/* connections for servers, at once */
/* Two for each keyd: its provider, its token endpoint. */
#define DIALERD_PROXY		(PROTO_MAX_PROVIDERS * (PROTO_TARGET_LAST + 1U))
#define DIALERD_GUEST		(DIALERD_PROXY + 1U)
#define DIALERD_TARGETS		(DIALERD_GUEST + DIALERD_MAX_GUESTS)
#define DIALERD_TIMERS		(DIALERD_MAX_ACTIVE + DIALERD_TARGETS + 8U)

union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

enum dial_state {
	DIAL_QUEUED,		/* for its name, or for its turn */
	DIAL_CONNECTING,
	DIAL_TUNNEL,		/* tunneld has the connection */
};

struct dial;

struct attempt {
	int fd;
	struct loop_io io;
	unsigned addr;		/* index */
	struct dial *d;
};

struct dial {
	TAILQ_ENTRY(dial) entry;
	enum dial_state state;
	bool dead;
	unsigned key;		/* its target */
	unsigned via;		/* whose address: its target's, the proxy's */
	uint32_t tunnel;	/* DIAL_TUNNEL: id that tunneld was given */
	uint32_t id;
	bool resolved;
	union addr addrs[DIALERD_MAX_ADDRS];
	unsigned naddrs, next;	/* next: to be tried */
	unsigned won;		/* the one that answered */
	struct attempt attempts[DIALERD_MAX_ADDRS];
	unsigned running;
	uint64_t deadline;
	struct loop_timer timer;
	const char *why;	/* of the latest failure */
};
TAILQ_HEAD(dials, dial);

/*
 * Where to: one for each keyd, for good; those of servers come and go, each
 * with its one dial.
 */
struct target {
	bool set;
	enum role role;		/* who asks */
	unsigned index;
	uint32_t serial;	/* of the question to the resolver */
	char host[254];
	uint16_t port;
	bool private_ok;
	bool literal;
	union addr addr;	/* literal */
	bool asking;		/* the resolver works on it */
	struct loop_timer timer;
	uint32_t last;		/* id that its keyd gave */
	unsigned queued;
};

/* A resolver child: keyds have one, servers another. */
struct resolver {
	int fd;			/* -1: has ended */
	struct loop_io io;
};

struct dialerd_env {
	struct worker w;
	struct resolver resolvers[2];	/* of keyds, of servers */
	uint32_t serial;
	struct target targets[DIALERD_TARGETS];
	struct no_proxy direct;	/* not through the proxy, if there is one */
	uint32_t tunnel;	/* last id of TUNNEL */
	bool open;		/* keyds may be added in the session */
	struct egress_list doors[PROTO_MAX_SERVERS];
	uint32_t last[PROTO_MAX_SERVERS]; /* id of CONNECT_GO */
	struct dials dials, dead_dials;
	unsigned active;
	/* What became of a name: dial_resolved(). */
	void (*resolved)(unsigned target, const union addr *, unsigned n,
	    const char *why);
};

extern struct dialerd_env dialerd_env;

/* dialerd/serve.c */
void dialerd_serve(void) __attribute__((noreturn));

/* dialerd/dial.c */
int dialerd_dial(struct chan *, const union proto_any *, int fd);
int dialerd_connect(struct chan *, const union proto_any *, int fd);
/* What a name leads to; n == 0: why. For all who wait for it. */
void dial_resolved(unsigned target, const union addr *, unsigned n,
    const char *why);
/* Starts what may be started. */
void dial_next(void);
/* The number of a keyd's target. */
unsigned dial_target(unsigned key, unsigned which);
/* Who asked is gone. */
void dial_drop(enum role, unsigned index);
void dial_reap(void);
/* It has what it wanted, and ends. */
void dial_done(struct dial *, int fd);
/* It came to nothing. */
void dial_refuse(struct dial *, enum proto_proxy, const char *why);

/* dialerd/proxy.c */
int dialerd_proxy(struct chan *, const union proto_any *, int fd);
/* Does the way to it lead through the proxy? */
bool proxy_serves(const struct target *);
/* NULL, or why this is not asked of the proxy: text that stays. */
const char *proxy_screen(const struct target *);
/* Connected to the proxy: the rest is tunneld's. */
void proxy_hand(struct dial *, int fd);

/* dialerd/serve.c: is the host an address already? */
bool target_literal(struct target *);

/* dialerd/resolve.c */
void resolve_fork(void);	/* before lock-down */
/* Once, at START: the names there will ever be, unless the list is open. */
void resolve_start(void);
/* A keyd that was added. */
void resolve_declare(unsigned target);
void resolve_ask(unsigned target);
/* Nobody waits for a guest's name any more: its target is free. */
void resolve_forget(unsigned target);

#endif
