/* SPDX-License-Identifier: ISC */
/*
 * HTTP/1.1 heads and chunks (RFC 9112), parsed strictly and without allocation:
 * results are spans into the caller's buffer.  mitmd parses requests with it,
 * keyd responses.  Bare CR or LF, obs-fold, space before a colon, NUL, control
 * characters, names that are not tokens, and versions other than 1.1 are
 * errors.  Version 1.0 is accepted in responses (the connection then closes)
 * and for CONNECT, because Python up to 3.11 sends it.
 *
 * The first error in the order of the bytes is the one reported, so the result
 * does not depend on how the input was cut.
 */
#ifndef HTTP1_H
#define HTTP1_H

#include "common/span.h"

#define HTTP1_MAX_HEAD 65536U
#define HTTP1_MAX_HEADERS 100U
#define HTTP1_MAX_TARGET 8192U
#define HTTP1_MAX_METHOD 32U
#define HTTP1_MAX_TRAILERS 8192U  /* bytes, responses only */
#define HTTP1_MAX_EXTENSION 1024U /* per chunk, responses only */
#define HTTP1_MAX_INTERIM 8U      /* 1xx heads before the final one */

enum http1_result {
	HTTP1_OK,
	HTTP1_MORE, /* head or chunk not complete yet */
	HTTP1_BAD,  /* `reason` is set */
};

struct http1_header {
	struct span name;  /* token, as received */
	struct span value; /* OWS trimmed; 0x21-0x7e, SP, HT, 0x80-0xff */
};

struct http1_head {
	struct span method; /* request: upper-case token */
	struct span target; /* request: 0x21-0x7e, as received */
	unsigned status;    /* response: 100-599 */
	bool http10;        /* response or CONNECT only */
	struct http1_header headers[HTTP1_MAX_HEADERS];
	unsigned nheaders;
	size_t size;        /* bytes of the head, including the empty line */
	const char *reason; /* constant text when HTTP1_BAD */
	bool large;         /* HTTP1_BAD because of a limit: answer 431 */
};

/*
 * Parse a head.  Unless the result is HTTP1_OK, only `reason` and `large` are
 * set.
 */
enum http1_result http1_request(struct span in, struct http1_head *);
enum http1_result http1_response(struct span in, struct http1_head *);

/*
 * Parse input that grows.  `*seen` is 0 at first and then kept by the parser;
 * the buffer may move between calls.  The head is parsed again only after
 * another line has arrived, so that a head that comes byte by byte costs no
 * more than one parse per line.
 */
enum http1_result http1_request_more(
    struct span in, size_t *seen, struct http1_head *);
enum http1_result http1_response_more(
    struct span in, size_t *seen, struct http1_head *);

/*
 * Find the only header with that name (case-insensitive).  Returns 1, 0 if
 * there is none, or -1 if there are several.
 */
int http1_header(const struct http1_head *, const char *name, struct span *);

/* How the body is framed, from a head that parsed. */
enum http1_framing {
	HTTP1_NONE, /* no body */
	HTTP1_LENGTH,
	HTTP1_CHUNKED,
	HTTP1_CLOSE, /* response: the body ends with the connection */
};

struct http1_body {
	enum http1_framing framing;
	uint64_t length; /* HTTP1_LENGTH: bytes still to read */
	unsigned state;  /* internal to the chunk decoder */
	uint64_t chunk;  /* bytes left in this chunk */
	unsigned count;  /* internal: digits or bytes in the current part */
	bool response;   /* accept and drop trailers and extensions */
	bool done;
	const char *reason;
};

/*
 * Determine the framing of the body.  HTTP1_BAD: Content-Length or
 * Transfer-Encoding given twice, together, as a list, signed, in hex, with over
 * 19 digits or over INT64_MAX; a name that differs from one of them only by
 * `_`; a coding other than "chunked"; Transfer-Encoding with HTTP/1.0.  In a
 * request also white space around them, "chunked" in capitals, and a body on
 * GET, HEAD, DELETE and other methods that have none.  `nobody`: the response
 * answers a HEAD.
 */
enum http1_result http1_request_body(
    const struct http1_head *, struct http1_body *);
enum http1_result http1_response_body(
    const struct http1_head *, bool nobody, struct http1_body *);

/*
 * Decode body bytes from the front of `in`.  `*data` is a run of decoded bytes
 * (may be empty), `*used` the number of bytes of `in` consumed.  HTTP1_OK: call
 * again with the rest, unless body->done.  HTTP1_MORE: all of `in` was consumed
 * and the body is not complete.  HTTP1_BAD, permanently: a size of over 15 hex
 * digits, or anything but CR LF; in a request also chunk extensions, trailers,
 * white space after a size, and leading zeros (except "0" itself).
 */
enum http1_result http1_body_next(
    struct http1_body *, struct span in, struct span *data, size_t *used);
/*
 * The peer has closed the connection.  HTTP1_OK if the body is complete; this
 * completes HTTP1_CLOSE.
 */
enum http1_result http1_body_eof(struct http1_body *);

/* The parts of a request that concern this hop only; none is passed on. */
struct http1_hop {
	bool close;     /* Connection: close */
	bool expect;    /* the client waits for 100 before its body */
	bool websocket; /* requested, and allowed by the route */
	unsigned error; /* HTTP1_BAD: 400, 405, 417 or 426 */
	const char *reason;
};

/*
 * Check a request to an origin, inside TLS.  405: CONNECT, TRACE or TRACK.
 * 400: a target that is not in origin form; not exactly one Host that equals
 * host or host:443 (ASCII case-insensitive); HTTP2-Settings; TE or Keep-Alive
 * given twice, or with another value than clients send; Connection with more
 * than close or keep-alive and, beside a TE header, TE.  426: Upgrade.  417:
 * Expect other than 100-continue with a body.  `websocket`: the request asks
 * for a WebSocket and its route allows it; Connection must then have Upgrade,
 * and may have keep-alive.
 */
enum http1_result http1_request_hop(const struct http1_head *,
    const struct http1_body *, struct span host, bool websocket,
    struct http1_hop *);
/* Returns true for a GET with exactly one Upgrade header, "websocket". */
bool http1_is_websocket(const struct http1_head *);

#endif
