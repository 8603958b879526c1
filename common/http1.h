/* SPDX-License-Identifier: ISC */
/*
 * HTTP/1.1 heads and chunks (RFC 9112), strict, without allocation: spans
 * into the caller's buffer.  mitmd reads requests with it, keyd responses.
 * Nothing lenient: bare CR or LF, obs-fold, space before a colon, NUL,
 * controls, non-token names, versions other than 1.1 (responses: 1.0 too,
 * then the connection closes) are errors.  security.md 1.5 rows 9, 14, 15.
 */
#ifndef HTTP1_H
#define HTTP1_H

#include "span.h"

#define HTTP1_MAX_HEAD		65536U
#define HTTP1_MAX_HEADERS	100U
#define HTTP1_MAX_TARGET	8192U

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
	struct span target;	/* request: no space or control, as received */
	unsigned status;	/* response: 100-599 */
	bool http10;		/* response only */
	struct http1_header headers[HTTP1_MAX_HEADERS];
	unsigned nheaders;
	size_t size;		/* bytes of the head, empty line included */
	const char *reason;	/* constant text when HTTP1_BAD */
};

enum http1_result http1_request(struct span in, struct http1_head *);
enum http1_result http1_response(struct span in, struct http1_head *);

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
	bool done;
	const char *reason;
};

/*
 * CL and TE twice, together, in a list, signed, in hex, over 19 digits; TE
 * other than exactly "chunked"; TE with 1.0: BAD.  A GET, HEAD or DELETE
 * request with a body: BAD.  `nobody`: answers a HEAD.
 */
enum http1_result http1_request_body(const struct http1_head *,
    struct http1_body *);
enum http1_result http1_response_body(const struct http1_head *, bool nobody,
    struct http1_body *);

/*
 * Takes body bytes from the front of `in`: *data is a run of decoded bytes
 * (may be empty), *used how much of `in` was consumed.  Call again until
 * *used == 0 or body->done.  Chunk extensions, trailers, sizes over 15 hex
 * digits or with leading zeros (but "0"), anything but CRLF: BAD.
 */
enum http1_result http1_body_next(struct http1_body *, struct span in,
    struct span *data, size_t *used);

#endif
