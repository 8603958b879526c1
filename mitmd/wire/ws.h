/* SPDX-License-Identifier: ISC */
/*
 * WebSocket (RFC 6455), the parts that mitmd and keyd share: the answer to a
 * handshake's key, frames taken apart piece by piece, heads of frames.  No
 * extension is ever agreed on, so that reserved bits are errors.  Strict
 * either way: an agent masks and a provider does not, lengths take their
 * shortest form, control frames are whole and small, fragments in order.
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

/* Reasons of a close, RFC 6455 7.4.1. */
enum ws_code {
	WS_NORMAL = 1000,
	WS_GOING_AWAY = 1001,
	WS_BROKEN = 1002,
	WS_NOT_TEXT = 1007,
	WS_POLICY = 1008,
	WS_TOO_LARGE = 1009,
	WS_INTERNAL = 1011,
};

/* A check of UTF-8 that goes on with the next piece; zero at its start. */
struct ws_utf8 {
	unsigned left;     /* bytes that must follow */
	uint8_t low, high; /* between which the next one lies; 0: any */
};

struct ws_parser {
	bool masked; /* what the other side has to do */
	uint8_t head[WS_MAX_HEAD];
	size_t have, need; /* bytes of the head */
	bool payload;      /* the head was told, the frame's end was not */
	uint64_t left;     /* of the frame's payload */
	uint8_t mask[4];
	unsigned at; /* in mask */
	bool fin;
	enum ws_op op; /* of the frame; a continued one has its message's */
	bool control;  /* the frame is one */
	bool open;     /* a message has begun and is not complete */
	enum ws_op message;    /* what it began with */
	bool closed;           /* a close frame came: nothing follows */
	const char *bad;       /* constant text */
	enum ws_code code;     /* of the close that it asks for */
	struct ws_utf8 text;   /* of a text message */
	struct ws_utf8 reason; /* of a close frame */
	unsigned ncode;        /* bytes of its code that were read */
	unsigned closing;      /* the code */
};

enum ws_event {
	WS_MORE, /* all of the input is used */
	WS_HEAD, /* a frame begins: p->op, p->fin, p->control, p->left */
	WS_DATA, /* a piece of its payload, never empty */
	WS_END,  /* its last byte was there; p->fin: the message's too */
	WS_BAD,  /* p->bad says why */
};

void ws_init(struct ws_parser *, bool masked);
/*
 * Takes from the front of *in until something is there. WS_DATA: *data lies
 * in the input, unmasked in place. Text and the reasons of closes are checked
 * to be UTF-8, and the codes of closes to be ones that may be sent.
 */
enum ws_event ws_next(
    struct ws_parser *, uint8_t **p, size_t *len, struct span *data);
/* Is a frame cut off, or a message? */
bool ws_partial(const struct ws_parser *);

/* Head of a frame; mask NULL: none. How many bytes. */
size_t ws_head(uint8_t dst[WS_MAX_HEAD], enum ws_op, bool fin, uint64_t len,
    const uint8_t mask[4]);
/* Masks len bytes of a payload from its byte `at` on. */
void ws_mask(uint8_t *p, size_t len, const uint8_t mask[4], size_t at);

/* 24 characters of base64 that stand for 16 bytes? */
bool ws_key_ok(struct span);
/* What the server answers to a key (RFC 6455 4.2.2): 28 characters. */
void ws_accept(struct span key, char dst[WS_ACCEPT + 1]);
/* 16 bytes as a key. */
void ws_key(const uint8_t random[16], char dst[WS_KEY + 1]);

#endif
