/* SPDX-License-Identifier: ISC */
/*
 * egressd's inside.  A tunnel is one connection of the server: its CONNECT is
 * read and checked, goes to auditd as CONNECT, which writes it down and tells
 * dialerd; what dialerd connected comes back as DIALED, and from then on bytes
 * go both ways, unread, until both sides said that they are done.
 */
#ifndef EGRESSD_H
#define EGRESSD_H

#include <sys/queue.h>

#include "common/buf.h"
#include "common/http/http1.h"
#include "common/ipc/worker.h"
#include "common/net/egress_list.h"

#define EGRESSD_MAX_TUNNELS 64U
#define EGRESSD_MAX_HEAD 8192U
#define EGRESSD_WINDOW (64U << 10) /* each way, of each tunnel */
/* Deadlines, ms. */
#define EGRESSD_HEAD_MS 15000U
#define EGRESSD_DIAL_MS 65000U /* dialerd has its own, shorter ones */
#define EGRESSD_IDLE_MS 600000U
#define EGRESSD_LINGER_MS 2000U

enum tunnel_state {
	TUNNEL_HEAD,   /* reads a CONNECT */
	TUNNEL_DIAL,   /* is written down and dialed */
	TUNNEL_OPEN,   /* bytes go both ways */
	TUNNEL_LINGER, /* refused: drops input until it closes */
};

struct tunnel;

/* One side, and what waits to be written to it. */
struct side {
	int fd; /* -1: none */
	struct loop_io io;
	struct buf out;
	uint64_t taken; /* bytes written to it */
	bool eof;	/* says no more */
	bool shut;	/* was told so of the other */
	struct tunnel *t;
};

struct tunnel {
	TAILQ_ENTRY(tunnel) entry;
	enum tunnel_state state;
	uint32_t id;	/* of its CONNECT */
	struct side in; /* the server */
	struct side up; /* where it wanted to */
	struct loop_timer timer;
	size_t seen; /* of the head, by http1_request_more */
	bool dead;
};
TAILQ_HEAD(tunnels, tunnel);

struct egressd_env {
	struct worker w;
	struct egress_list list;
	int listener;
	struct loop_io accept;
	struct tunnels tunnels, dead;
	unsigned ntunnels;
	uint32_t last; /* id */
	void (*head)(struct tunnel *); /* reads a CONNECT */
};

extern struct egressd_env egressd_env;

/* egressd/serve.c */
void egressd_serve(void) __attribute__((noreturn));

/* egressd/tunnel.c */
void tunnel_accept(struct loop_io *, uint32_t);
/* Watches the listener while there is room and auditd keeps up. */
void tunnel_listen(void);
struct tunnel *tunnel_find(uint32_t id);
/* Takes fd. */
void tunnel_open(struct tunnel *, int fd);
/* Answers with a refusal of ours and closes. */
void tunnel_refuse(struct tunnel *, unsigned status, const char *text);
void tunnel_reap(void);

/* egressd/connect.c: the head, which gathers in t->up.out */
void connect_read(struct tunnel *);

#endif
