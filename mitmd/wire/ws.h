/* SPDX-License-Identifier: ISC */
/*
 * WebSocket (RFC 6455), the parts that mitmd and keyd share: the answer to a
 * handshake's key, an incremental frame parser, and heads of frames. No
 * extension is ever negotiated, so reserved bits are errors. Both directions
 * are strict: an agent masks and a provider does not, lengths have their
 * shortest form, control frames are small and unfragmented, fragments come in
 * order.
 */
#ifndef WS_H
#define WS_H

#include "common/span.h"

#define WS_KEY 24U    /* base64 of 16 bytes */
#define WS_ACCEPT 28U /* base64 of a SHA-1 */
#define WS_MAX_HEAD 14U
#define WS_MAX_CONTROL 125U

enum ws_op {
	WS_CONTINUED = 0,
	WS_TEXT = 1,
	WS_BINARY = 2,
	WS_CLOSE = 8,
	WS_PING = 9,
	WS_PONG = 10,
};

/* Reasons for closing, RFC 6455 7.4.1. */
enum ws_code {
	WS_NORMAL = 1000,
	WS_GOING_AWAY = 1001,
	WS_BROKEN = 1002,
	WS_NOT_TEXT = 1007,
	WS_POLICY = 1008,
	WS_TOO_LARGE = 1009,
	WS_INTERNAL = 1011,
};

/* An incremental check of UTF-8; starts at zero. */
struct ws_utf8 {
	unsigned left;     /* bytes that must follow */
	uint8_t low, high; /* range of the next byte; 0: any */
};

struct ws_parser {
	bool masked; /* whether the other side must mask */
	uint8_t head[WS_MAX_HEAD];
	size_t have, need; /* bytes of the head */
	bool payload;      /* the frame was reported, its end not yet */
	uint64_t left;     /* bytes left of the frame's payload */
	uint8_t mask[4];
	unsigned at; /* position in mask[] */
	bool fin;
	enum ws_op op;         /* a continuation has the type of its message */
	bool control;          /* this is a control frame */
	bool open;             /* a message has begun and is incomplete */
	enum ws_op message;    /* type of the message */
	bool closed;           /* a close frame came: nothing may follow */
	const char *bad;       /* constant text */
	enum ws_code code;     /* code to close with after an error */
	struct ws_utf8 text;   /* state of a text message */
	struct ws_utf8 reason; /* state of the text in a close frame */
	unsigned ncode;        /* bytes read of the close code */
	unsigned closing;      /* the close code */
};

enum ws_event {
	WS_MORE, /* all input was used */
	WS_HEAD, /* start of a frame: p->op, p->fin, p->control, p->left */
	WS_DATA, /* a piece of the payload, never empty */
	WS_END,  /* end of the frame and, if p->fin, of the message */
	WS_BAD,  /* error: see p->bad */
};

void ws_init(struct ws_parser *, bool masked);
/*
 * Consume input from the front of `*p` up to the next event. For WS_DATA,
 * `*data` points into the input, unmasked in place. Text and the reason in a
 * close frame must be UTF-8, and a close code must be one that may be sent.
 */
enum ws_event ws_next(
    struct ws_parser *, uint8_t **p, size_t *len, struct span *data);
/* Returns true inside a frame or a message. */
bool ws_partial(const struct ws_parser *);

/* Write the head of a frame; `mask` may be NULL. Returns its length. */
size_t ws_head(uint8_t dst[WS_MAX_HEAD], enum ws_op, bool fin, uint64_t len,
    const uint8_t mask[4]);
/* Mask `len` bytes of a payload, beginning at its byte `at`. */
void ws_mask(uint8_t *p, size_t len, const uint8_t mask[4], size_t at);

/* Returns true for the base64 of 16 bytes. */
bool ws_key_ok(struct span);
/* Write the server's answer to a key (RFC 6455 4.2.2): 28 characters. */
void ws_accept(struct span key, char dst[WS_ACCEPT + 1]);
/* Encode 16 bytes as a key. */
void ws_key(const uint8_t random[16], char dst[WS_KEY + 1]);

#endif
