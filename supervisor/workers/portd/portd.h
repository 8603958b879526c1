/* SPDX-License-Identifier: ISC */
/*
 * Internals of portd. Browsers connect to its listeners (portd_browser.c), and
 * ic-bridge to publish.sock (portd_box.c), always from the sandbox to here. A
 * browser's connection waits until one of the sandbox's is idle, and bytes are
 * copied between both (portd_copy.c).
 */
#ifndef PORTD_H
#define PORTD_H

#include <sys/queue.h>

#include <netinet/in.h>

#include "common/buf.h"
#include "common/ipc/worker.h"

#define PORTD_MAX_OPEN 64U  /* connections that are being copied */
#define PORTD_MAX_WAIT 192U /* those that wait for it */
#define PORTD_MAX_IDLE 8U   /* idle connections from the sandbox */
#define PORTD_ACCEPTS 16U   /* per wake-up, so that nothing else starves */
#define PORTD_WINDOW 65536U /* bytes that wait in each direction */
#define PORTD_TIMERS (PORTD_MAX_OPEN + PORTD_MAX_WAIT + PROTO_MAX_PORTS)
/* Times in ms. */
#define PORTD_WAIT_MS 30000U  /* for the sandbox to take a connection */
#define PORTD_IDLE_MS 600000U /* without a byte in either direction */
#define PORTD_TELL_MS 60000U  /* between reports of use */

enum conn_state {
	CONN_WAIT, /* for a connection from the sandbox */
	CONN_ASKED, /* for ic-bridge to say whether something listens */
	CONN_OPEN,
};

/* One end: bytes that it has not accepted yet. */
struct side {
	struct conn *conn;
	int fd;
	struct loop_io io;
	struct buf out;
	bool eof;  /* it sends no more bytes */
	bool shut; /* it has been told of the other end's last byte */
};

struct port {
	bool used; /* a row of PUBLISH has come */
	uint16_t port;
	struct sockaddr_in address;
	int listener;
	struct loop_io io;
	struct msg_PORT_USE use;
	bool news; /* something was counted since the last report */
	struct loop_timer tell;
};

struct conn {
	TAILQ_ENTRY(conn) entry;
	enum conn_state state;
	struct port *port;
	struct side browser, box;
	struct loop_timer timer;
	bool dead;
};
TAILQ_HEAD(conns, conn);

struct idle {
	int fd; /* -1: free */
	struct loop_io io;
};

struct portd_env {
	struct worker w;
	int box_listener, diag;
	uint32_t uid;
	struct loop_io box_io;
	struct port ports[PROTO_MAX_PORTS];
	struct conns conns; /* the oldest first */
	unsigned nwait, nopen;
	struct idle idle[PORTD_MAX_IDLE];
};

extern struct portd_env portd_env;

/* portd_serve.c */
void portd_serve(void) __attribute__((noreturn));

/* portd_count.c */
/* Something was counted for this port: report it soon. */
void port_news(struct port *);

/* portd_browser.c */
/* Accept connections from browsers. */
void browser_accept(struct loop_io *, uint32_t events);

/* portd_box.c */
/* Accept connections from the sandbox. */
void box_accept(struct loop_io *, uint32_t events);
/* Take over a connection of the sandbox. */
void box_take(int fd);
/* Give idle connections of the sandbox to those that wait. */
void box_match(void);

/* portd_copy.c */
/* A browser's connection, which is taken over. */
void conn_new(struct port *, int fd);
/*
 * The sandbox's connection, which is taken over, has been asked for this port.
 */
void copy_ask(struct conn *, int fd);
/* Free the connections that have ended. */
void conns_reap(void);

#endif
