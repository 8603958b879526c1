/* SPDX-License-Identifier: ISC */
/*
 * Internals of egressd. A tunnel is a connection of the server: its CONNECT is
 * checked and sent to auditd, which records it and tells dialerd. The socket
 * that dialerd connected arrives with DIALED, and from then on bytes pass both
 * ways, unread, until both sides are done.
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
#define EGRESSD_WINDOW (64U << 10) /* each way, for each tunnel */
/* Deadlines in ms. */
#define EGRESSD_HEAD_MS 15000U
#define EGRESSD_DIAL_MS 65000U /* dialerd's own deadlines are shorter */
#define EGRESSD_IDLE_MS 600000U
#define EGRESSD_LINGER_MS 2000U

enum tunnel_state {
	TUNNEL_HEAD,   /* reading a CONNECT */
	TUNNEL_DIAL,   /* being recorded and dialed */
	TUNNEL_OPEN,   /* bytes pass both ways */
	TUNNEL_LINGER, /* refused: drops input until it closes */
};

struct tunnel;

/* One side, and the bytes to be written to it. */
struct side {
	int fd; /* -1: none */
	struct loop_io io;
	struct buf out;
	uint64_t taken; /* bytes written to this side */
	bool eof;	/* this side will send no more */
	bool shut;	/* this side was told that the other sends no more */
	struct tunnel *t;
};

struct tunnel {
	TAILQ_ENTRY(tunnel) entry;
	enum tunnel_state state;
	uint32_t id;	/* the id of its CONNECT */
	struct side in; /* the server */
	struct side up; /* the host that it connects to */
	struct loop_timer timer;
	size_t seen; /* bytes of the head examined by http1_request_more() */
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
	uint32_t last; /* highest id so far */
	void (*head)(struct tunnel *); /* reads a CONNECT */
};

extern struct egressd_env egressd_env;

/* serve.c */
void egressd_serve(void) __attribute__((noreturn));

/* tunnel.c */
void tunnel_accept(struct loop_io *, uint32_t);
/* Watch the listener unless there are too many tunnels or auditd is behind. */
void tunnel_listen(void);
struct tunnel *tunnel_find(uint32_t id);
/* Takes `fd`. */
void tunnel_open(struct tunnel *, int fd);
/* Answer with an error of egressd's own, and close. */
void tunnel_refuse(struct tunnel *, unsigned status, const char *text);
void tunnel_reap(void);

/* connect.c: Read the head, which is collected in t->up.out. */
void connect_read(struct tunnel *);

#endif
