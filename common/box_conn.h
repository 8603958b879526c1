/* SPDX-License-Identifier: ISC */
/*
 * The host's end of the stream of box_stream.h, for termd and acpd: one
 * connection of ic-bridge at a time, its frames, and the frames that wait until
 * it takes them. Any program in the sandbox may be the peer, which makes no
 * difference: the whole sandbox is untrusted.
 *
 * The owner says what frames mean, and when it can take more; until then
 * nothing is read. A malformed frame closes the connection.
 */
#ifndef BOX_CONN_H
#define BOX_CONN_H

#include "common/box_stream.h"
#include "common/buf.h"
#include "common/loop.h"

#define BOX_CONN_READ 65536U /* bytes read at once */

struct box_conn_ops {
	size_t piece;       /* most bytes of data passed on at once */
	enum box_kind last; /* the highest kind that the sandbox may send */
	bool once;          /* no connection follows the first one */
	/* Returns true if more can be passed on. */
	bool (*reads)(void);
	/* Pass on what is left of earlier data. May be NULL. */
	void (*work)(void);
	/* A connection begins, and has room for a frame. May be NULL. */
	void (*begin)(int fd);
	/* A frame with a whole header. Returns -1 if it is not allowed now. */
	int (*frame)(enum box_kind);
	/* Data of a frame of which `left` bytes follow. */
	void (*data)(enum box_kind, struct span, uint32_t left);
	/* The sandbox has taken all frames. May be NULL. */
	void (*taken)(void);
	/* The connection has ended, and its frames are dropped. */
	void (*closed)(void);
};

struct box_conn {
	const struct box_conn_ops *ops;
	struct loop *loop;
	int listener, fd; /* -1: none */
	struct loop_io accept_io, io;
	uint8_t head[BOX_HEADER];
	size_t nhead;
	enum box_kind kind;
	uint32_t left;  /* data of this frame still to come */
	struct buf out; /* frames to be sent */
	/* Bytes that were read and wait until the owner can take them. */
	uint8_t bytes[BOX_CONN_READ];
	size_t at, len;
};

/* `max`: bytes of frames that may wait. */
void box_conn_init(
    struct box_conn *, const struct box_conn_ops *, struct loop *, size_t max);
/* Take the listener. Returns 0, or -1 if there is one. */
int box_conn_listener(struct box_conn *, int fd);
/* Accept connections. Returns 0, or -1 with errno. */
int box_conn_start(struct box_conn *);
/* Take over a connection, or close it if there is one. */
void box_conn_open(struct box_conn *, int fd);
/*
 * The session ends: take a connection that has been made, but not accepted. The
 * sandbox may not have made one yet, and START may not have come.
 */
void box_conn_stop(struct box_conn *);
/* Pass on what can be, and wait for what may come: once a turn of the loop. */
void box_conn_update(struct box_conn *);
/*
 * Queue a frame, until the sandbox connects and takes it. Returns 0, or -1 if
 * there is no room.
 */
int box_conn_send(struct box_conn *, enum box_kind, struct span data);

#endif
