/* SPDX-License-Identifier: ISC */
/*
 * HTTP/1.1 heads and chunks (RFC 9112), strict, without allocation: spans
 * into the caller's buffer.  mitmd reads requests with it, keyd responses.
 * Nothing lenient: bare CR or LF, obs-fold, space before a colon, NUL,
 * controls, non-token names, versions other than 1.1 (responses: 1.0 too,
 * then the connection closes; CONNECT: 1.0 too, as Python up to 3.11 sends)
 * are errors.  security.md 1.5 rows 5, 8, 9, 13, 14, 15.
 *
 * The first offence in the order of the bytes is the one that is named, so
 * that the answer does not depend on how the input was cut.
 */
#ifndef HTTP1_H
#define HTTP1_H

#include "common/span.h"

#define HTTP1_MAX_HEAD		65536U
#define HTTP1_MAX_HEADERS	100U
#define HTTP1_MAX_TARGET	8192U
#define HTTP1_MAX_METHOD	32U
#define HTTP1_MAX_TRAILERS	8192U	/* bytes, responses only */
#define HTTP1_MAX_EXTENSION	1024U	/* of a chunk, responses only */
#define HTTP1_MAX_INTERIM	8U	/* 1xx heads before the real one */

enum http1_result {
	HTTP1_OK,
	HTTP1_MORE,		/* head or chunk not complete yet */
	HTTP1_BAD,		/* reason says why */
};

struct http1_header {
	struct span name;	/* token, as received */
	struct span value;	/* OWS trimmed; 0x21-0x7e, SP, HT, 0x80-0xff */
};

struct http1_head {
	struct span method;	/* request: upper-case token */
	struct span target;	/* request: 0x21-0x7e, as received */
	unsigned status;	/* response: 100-599 */
	bool http10;		/* response, or CONNECT */
	struct http1_header headers[HTTP1_MAX_HEADERS];
	unsigned nheaders;
	size_t size;		/* bytes of the head, empty line included */
	const char *reason;	/* constant text when HTTP1_BAD */
	bool large;		/* HTTP1_BAD: beyond a limit, 431 */
};

/* Contents of *head other than `reason` and `large` count only after HTTP1_OK. */
enum http1_result http1_request(struct span in, struct http1_head *);
enum http1_result http1_response(struct span in, struct http1_head *);

/*
 * The same for input that grows: *seen is 0 at first and ours afterwards (the
 * buffer may move).  Looks again only when a line was completed, so that a
 * head that comes byte by byte costs no more than its lines.
 */
enum http1_result http1_request_more(struct span in, size_t *seen,
    struct http1_head *);
enum http1_result http1_response_more(struct span in, size_t *seen,
    struct http1_head *);

/* The only header of that name (case-insensitive): 1, 0 none, -1 several. */
int http1_header(const struct http1_head *, const char *name, struct span *);

/* Framing, from a head that parsed. */
enum http1_framing {
	HTTP1_NONE,		/* no body */
	HTTP1_LENGTH,
	HTTP1_CHUNKED,
	HTTP1_CLOSE,		/* response: until the connection ends */
};

struct http1_body {
	enum http1_framing framing;
	uint64_t length;	/* HTTP1_LENGTH: bytes left to read */
	unsigned state;		/* chunk decoder's own */
	uint64_t chunk;		/* bytes left in this chunk */
	unsigned count;		/* digits of a size; bytes of the rest */
	bool response;		/* trailers and extensions are dropped */
	bool done;
	const char *reason;
};

/*
 * CL and TE twice, together, in a list, signed, in hex, over 19 digits, over
 * INT64_MAX; names that differ only by `_`; TE other than "chunked"; TE with
 * 1.0: BAD.  In a request also white space about them, and TE in capitals.  A GET, HEAD, DELETE or other
 * bodyless request with a body: BAD.  `nobody`: answers a HEAD.
 */
enum http1_result http1_request_body(const struct http1_head *,
    struct http1_body *);
enum http1_result http1_response_body(const struct http1_head *, bool nobody,
    struct http1_body *);

/*
 * Takes body bytes from the front of `in`: *data is a run of decoded bytes
 * (may be empty), *used how much of `in` was consumed.  OK: call again with
 * the rest, unless body->done; MORE: all of `in` was consumed and the body is
 * not complete.  Sizes over 15 hex digits, anything but CRLF: BAD, for good;
 * in a request also chunk extensions, trailers, white space behind a size and
 * leading zeros (but "0").
 */
enum http1_result http1_body_next(struct http1_body *, struct span in,
    struct span *data, size_t *used);
/* The peer closed. OK: the body is complete (HTTP1_CLOSE: now). */
enum http1_result http1_body_eof(struct http1_body *);

/* What a request asks of this hop alone; none of it is passed on. */
struct http1_hop {
	bool close;		/* Connection: close */
	bool expect;		/* waits for 100 before it sends its body */
	bool websocket;		/* was asked for, and may be */
	unsigned error;		/* HTTP1_BAD: 400, 405, 417 or 426 */
	const char *reason;
};

/*
 * A request to an origin, inside TLS: no CONNECT, TRACE or TRACK (405); origin
 * form, exactly one Host, equal to host or host:443 (ASCII case-insensitive);
 * Upgrade (426); HTTP2-Settings, TE, Keep-Alive, Connection other than exactly
 * close or keep-alive (400); Expect other than 100-continue with a body (417).
 * websocket: it asks for that, and its route allows it: Connection is then
 * exactly "Upgrade", or "keep-alive, Upgrade".
 */
enum http1_result http1_request_hop(const struct http1_head *,
    const struct http1_body *, struct span host, bool websocket,
    struct http1_hop *);
/* A GET with the one header Upgrade: websocket? */
bool http1_is_websocket(const struct http1_head *);

#endif
