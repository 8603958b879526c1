/* SPDX-License-Identifier: ISC */
/*
 * Internals of dialerd. A dial is a connection that a keyd or egressd asked
 * for: its target is resolved (unless it is an address), every address is
 * screened, and the first connection that succeeds is handed over.
 */
#ifndef DIALERD_H
#define DIALERD_H

#include <sys/queue.h>

#include <netinet/in.h>

#include "common/ipc/worker.h"
#include "common/net/egress_list.h"
#include "common/net/no_proxy.h"
#include "dialerd/screen.h"

#define DIALERD_MAX_ADDRS 8U /* addresses tried for a name */
#define DIALERD_MAX_ACTIVE                                                     \
	128U /* connecting at the same time, for all                           \
		keyds */
/* Connections that the sandbox of a service keeps ready, and has in use. */
#define DIALERD_OWN_IDLE 16U
#define DIALERD_OWN_ASKS 64U  /* connections to them being made, in all */
#define DIALERD_OWN_MS 60000U /* for a service to start, and to take it */
#define DIALERD_GONE_MS 3000U /* a sandbox without connections ended */
#define DIALERD_OTHERS                                                         \
	(64U + PROTO_MAX_SERVICES * (DIALERD_OWN_IDLE + 1U) +                  \
	    DIALERD_OWN_ASKS) /* descriptors that are not attempts */
#define DIALERD_MAX_QUEUED                                                     \
	2688U /* for one keyd: KEYD_MAX_UPS and                                \
		 more */
#define DIALERD_STAGGER_MS 250U
#define DIALERD_CONNECT_MS 10000U
#define DIALERD_RESOLVE_MS 20000U
#define DIALERD_TUNNEL_MS 25000U /* tunneld has its own, shorter one */
#define DIALERD_MAX_GUESTS                                                     \
	128U /* connections for servers at the same                            \
		time */
/* Several for each keyd: its provider's hosts, and its token endpoint. */
#define DIALERD_PROXY (PROTO_MAX_PROVIDERS * (PROTO_TARGET_LAST + 1U))
#define DIALERD_GUEST (DIALERD_PROXY + 1U)
#define DIALERD_TARGETS (DIALERD_GUEST + DIALERD_MAX_GUESTS)
#define DIALERD_TIMERS                                                         \
	(DIALERD_MAX_ACTIVE + DIALERD_TARGETS + DIALERD_OWN_ASKS + 9U)

union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

enum dial_state {
	DIAL_QUEUED, /* waits for its name, or for its turn */
	DIAL_CONNECTING,
	DIAL_TUNNEL, /* tunneld has the connection */
};

struct dial;

struct attempt {
	int fd;
	struct loop_io io;
	unsigned addr; /* index in `addrs` */
	struct dial *d;
};

struct dial {
	TAILQ_ENTRY(dial) entry;
	enum dial_state state;
	bool dead;
	unsigned key;    /* index of its target */
	unsigned via;    /* target to connect to: `key`, or the proxy */
	uint32_t tunnel; /* DIAL_TUNNEL: the id that tunneld was given */
	uint32_t id;
	bool resolved;
	union addr addrs[DIALERD_MAX_ADDRS];
	unsigned naddrs, next; /* `next` is the next to try */
	char *avoid;           /* lines of addresses that failed; or NULL */
	unsigned won;          /* the address that answered */
	struct attempt attempts[DIALERD_MAX_ADDRS];
	unsigned running;
	uint64_t deadline;
	struct loop_timer timer;
	const char *why; /* the latest failure */
};
TAILQ_HEAD(dials, dial);

/*
 * A host to connect to. A keyd's targets are permanent; those of servers come
 * and go, each with its single dial.
 */
struct target {
	bool set;
	enum role role; /* the role that asks */
	unsigned index;
	uint32_t serial; /* identifies the question to the resolver */
	char host[254];
	uint16_t port;
	bool private_ok;
	bool direct; /* never through the corporate proxy */
	bool literal;
	union addr addr; /* the address, if `literal` */
	bool asking;     /* its dials wait for its addresses */
	bool sent;       /* the resolver was asked, in its turn */
	struct loop_timer timer;
	uint32_t last; /* highest id that its keyd gave */
	unsigned queued;
};

/* A resolver: keyds have one, servers another. */
struct resolver {
	int fd; /* -1: closed */
	struct loop_io io;
	bool busy;       /* it was asked, and has not answered */
	uint32_t serial; /* its question */
	unsigned turn;   /* index of the worker that asked it */
};

struct dialerd_env {
	struct worker w;
	struct resolver resolvers[2]; /* for keyds, for servers */
	uint32_t serial;
	struct target targets[DIALERD_TARGETS];
	struct no_proxy direct; /* hosts not to proxy, if there is a proxy */
	uint32_t tunnel;        /* last id of a TUNNEL */
	bool open;              /* keyds may be added in the session */
	/* those of servers, of services, and of followd */
	struct egress_list doors[PROTO_FOLLOWS + 1U];
	/* The list has rows; to look at an empty one would touch its page. */
	bool door_set[PROTO_FOLLOWS + 1U];
	/* last id of a CONNECT_GO, or of a FOLLOW_DIAL */
	uint32_t last[PROTO_FOLLOWS + 1U];
	struct dials dials, dead_dials;
	unsigned active;
	unsigned max_active; /* there are descriptors for their attempts */
	/* Called with the answer to a name: dial_resolved(). */
	void (*resolved)(
	    unsigned target, const union addr *, unsigned n, const char *why);
};

extern struct dialerd_env dialerd_env;

/* serve.c */
void dialerd_serve(void) __attribute__((noreturn));

/* dial.c */
int dialerd_connect(struct chan *, const struct msg_CONNECT_GO *);
int dialerd_follow(struct chan *, const struct msg_FOLLOW_DIAL *);
/*
 * Handle the addresses of a name, for all dials that wait for it. If `n` is 0,
 * `why` is the reason.
 */
void dial_resolved(
    unsigned target, const union addr *, unsigned n, const char *why);
/* Start the dials that may start. */
void dial_next(void);
/* Returns the index of a keyd's target. */
unsigned dial_target(unsigned key, unsigned which);
/* Returns true if the worker has a host to connect to under that number. */
bool dial_has_target(unsigned key, unsigned which, enum role);
/*
 * Begin a dial to that target, without the addresses in `avoid`. Returns -1 if
 * its id is not a new one, or too many are queued.
 */
int dial_start(unsigned target, uint32_t id, struct span avoid);
/* End the dials of a worker that is gone. */
void dial_drop(enum role, unsigned index);
void dial_reap(void);
/* Hand over the connection, and end the dial. Takes `fd`. */
void dial_done(struct dial *, int fd);
/* Report the failure, and end the dial. */
void dial_refuse(struct dial *, enum proto_proxy, const char *why);

/* untargeted.c */
/* Keep a DIAL whose TARGET may be on its way. Returns false if it is not. */
bool untargeted_keep(const struct chan *, const struct msg_DIAL *);
/* The TARGET has come: begin those that waited for it. */
void untargeted_begin(unsigned key, unsigned which);
/* The worker is gone. */
void untargeted_drop(enum role, unsigned index);

/* proxy.c */
int dialerd_proxy(struct chan *, const struct msg_VIA_PROXY *);
/* Returns true if the target is reached through the proxy. */
bool proxy_serves(const struct target *);
/*
 * Returns NULL, or the reason why the proxy is not asked for this host, in
 * static memory.
 */
const char *proxy_screen(const struct target *);
/* Pass a connection to the proxy on to tunneld. Takes `fd`. */
void proxy_hand(struct dial *, int fd);

/* target.c: Returns true if the host is an address, and sets it. */
bool target_literal(struct target *);

/* own.c: services of the session's own, whose sandboxes connect to dialerd. */
int own_add(struct chan *, const struct msg_SERVICE_OWN *, int fd);
/* Accept the connections of their sandboxes. */
void own_start(void);
/*
 * Connect to the service, if it is one of them: DIALED or DIAL_FAIL follows.
 * Returns false if it is not.
 */
bool own_dial(const char *host, uint16_t port, uint32_t id);
/* The egressd of services is gone. */
void own_drop(void);

/* resolve.c */
void resolve_fork(void); /* before lock-down */
/*
 * Declare all names at START; later ones are possible only if the list is open.
 */
void resolve_start(void);
/* Declare a keyd that was added. */
void resolve_declare(unsigned target);
void resolve_ask(unsigned target);
/* A guest's dial has ended: free its target. */
void resolve_forget(unsigned target);

#endif
