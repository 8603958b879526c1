/* SPDX-License-Identifier: ISC */
/*
 * Internals of egressd. A tunnel is a connection of the server: its CONNECT is
 * checked and sent to auditd, which records it and tells dialerd. The socket
 * that dialerd connected arrives with DIALED. The server's first bytes must be
 * a TLS ClientHello for that host, unless its row is opaque, and so must a
 * second one, if the host asks for it; from then on bytes pass both ways,
 * unread, until both sides are done.
 *
 * The egressd of the agent's services gets one byte instead of a CONNECT: the
 * index of a row. It answers nothing and reads nothing else, unless the row has a
 * login: then it reads the client's first packets, and LOGIN takes the place of
 * CONNECT (front.h).
 */
#ifndef EGRESSD_H
#define EGRESSD_H

#include <sys/queue.h>

#include "common/buf.h"
#include "common/http/http1.h"
#include "common/ipc/worker.h"
#include "common/net/egress_list.h"
#include "egressd/hello.h"

#define EGRESSD_MAX_TUNNELS 64U
#define EGRESSD_MAX_DIALS 32U /* streams to services that are connecting */
#define EGRESSD_MAX_HEAD 8192U
#define EGRESSD_WINDOW (64U << 10) /* each way, for each tunnel */
/* Deadlines in ms. */
#define EGRESSD_HEAD_MS 15000U
#define EGRESSD_DIAL_MS 65000U /* dialerd's own deadlines are shorter */
#define EGRESSD_FIRST_MS 15000U
#define EGRESSD_IDLE_MS 600000U
#define EGRESSD_LINGER_MS 2000U

enum tunnel_state {
	TUNNEL_HEAD,   /* reading a CONNECT */
	TUNNEL_DIAL,   /* being recorded and dialed */
	TUNNEL_FIRST,  /* connected: waiting for a ClientHello */
	TUNNEL_ANSWER, /* the ClientHello is passed: waiting for an answer */
	TUNNEL_AGAIN,  /* the answer asks for a second ClientHello */
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
	bool eof;       /* this side will send no more */
	bool shut;      /* this side was told that the other sends no more */
	struct tunnel *t;
};

struct tunnel {
	TAILQ_ENTRY(tunnel) entry;
	enum tunnel_state state;
	uint32_t id;    /* the id of its CONNECT */
	struct side in; /* the server */
	struct side up; /* the host that it connects to */
	struct loop_timer timer;
	size_t seen; /* bytes of the head examined by http1_request_more() */
	unsigned service; /* the index of its row, if there are services */
	char host[EGRESS_MAX_HOST + 1]; /* its CONNECT names it */
	uint16_t port;
	bool opaque; /* its first bytes are not looked at */
	size_t may;  /* bytes of up.out that may be sent before it is open */
	struct answer answer; /* the host's first bytes */
	bool front;           /* the client does not log in itself */
	bool ssl, gss;        /* it has asked for such encryption */
	bool newer;           /* it speaks a newer protocol than 3.0 */
	bool cancels;         /* it only cancels a query */
	uint8_t key[4];       /* by which its queries can be cancelled */
	bool dead;
};
TAILQ_HEAD(tunnels, tunnel);

struct egressd_env {
	struct worker w;
	struct egress_list list;
	bool services; /* the rows are services of the agent */
	char names[PROTO_MAX_SERVICES][33]; /* the rows' names */
	int listener;
	struct loop_io accept;
	struct tunnels tunnels, dead;
	unsigned ntunnels;
	uint32_t last;                   /* highest id so far */
	bool logins[PROTO_MAX_SERVICES]; /* the rows that have one */
	void (*head)(struct tunnel *);   /* reads a CONNECT */
	void (*client)(struct tunnel *); /* reads a client's first packets */
	/* Tells a client why it is refused, and ends the tunnel. */
	void (*refuse)(struct tunnel *, const char *why);
	void (*first)(struct tunnel *);  /* reads a ClientHello */
	void (*spoken)(struct tunnel *); /* the host sent bytes before it */
	unsigned told; /* kinds of alarms that the person was told of */
};

extern struct egressd_env egressd_env;

/* serve.c */
void egressd_serve(void) __attribute__((noreturn));

/* tunnel.c */
void tunnel_accept(struct loop_io *, uint32_t);
/* Serve a connection, which is taken, or close it if there are too many. */
void tunnel_take(int fd);
/* Watch the listener unless there are too many tunnels or auditd is behind. */
void tunnel_listen(void);
struct tunnel *tunnel_find(uint32_t id);
/* Takes `fd`. */
void tunnel_open(struct tunnel *, int fd);
/* All further bytes may pass. */
void tunnel_pass(struct tunnel *);
/* The first `n` bytes are good: pass these alone until the host answers. */
void tunnel_pass_hello(struct tunnel *, size_t n);
/* Record why the tunnel ends, and end it. */
void tunnel_end(struct tunnel *, const char *error);
/* The same, with a last answer to the server. */
void tunnel_stop(struct tunnel *, struct span answer, const char *error);
/* The same, with an answer of HTTP. */
void tunnel_answer_stop(
    struct tunnel *, unsigned status, const char *text, const char *error);
/* Answer with an error of egressd's own, and close. */
void tunnel_refuse(struct tunnel *, unsigned status, const char *text);
void tunnel_reap(void);

/* connect.c: Read the head, which is collected in t->up.out. */
void connect_line(struct tunnel *);

/* service.c: Read the index of a service. */
void service_read(struct tunnel *);
/* Returns true if there are not too many streams to accept another one. */
bool service_takes(void);
/* Returns true if the service has all the streams that it may have. */
bool service_full(unsigned service);
/* Record a request that is refused, and end it. */
void service_deny(struct tunnel *, const char *code, const char *target);

/*
 * first.c: Judge the first bytes, or those after a HelloRetryRequest, which are
 * collected in t->up.out behind `t->may`.
 */
void first_read(struct tunnel *);
/* Refuse a tunnel whose host spoke first, as in TLS it never does. */
void first_spoken(struct tunnel *);

#endif
