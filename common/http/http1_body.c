/* SPDX-License-Identifier: ISC */
/*
 * HTTP/1.1 after the head: the framing of a body, and the chunk decoder.  The
 * decoder consumes every byte it is given and keeps its position in struct
 * http1_body, so that any cut of the stream gives the same bytes and the same
 * error.  Allocates nothing.
 */
#include "common/http/http1.h"

enum chunk_state {
	CHUNK_SIZE,      /* count: digits so far */
	CHUNK_EXTENSION, /* count: its bytes */
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_END, /* after the last chunk: CR, or a trailer */
	CHUNK_END_LF,
	CHUNK_TRAILER_NAME,
	CHUNK_TRAILER_VALUE,
	CHUNK_TRAILER_LF,
};

struct framing {
	bool has_length, has_coding;
	struct span length, coding;
};

/*
 * Returns true if `name` equals `real` only when `_` is read as `-` (ignoring
 * case).
 */
static bool
looks_like(struct span name, const char *real)
{
	bool odd = false;

	if (name.len != strlen(real))
		return false;
	for (size_t i = 0; i < name.len; i++) {
		uint8_t b = name.p[i];

		if (b == '_') {
			odd = true;
			b = '-';
		}
		if (b >= 'A' && b <= 'Z')
			b = (uint8_t)(b | 0x20);
		if (b != (uint8_t)real[i])
			return false;
	}
	return odd;
}

/*
 * Find the framing headers.  Returns NULL, or the error.  Names of codings are
 * case-insensitive (RFC 9112 7), but in a request only the spelling that every
 * parser knows is accepted.
 */
static const char *
framing_find(const struct http1_head *h, bool response, struct framing *f)
{
	struct span chunked = SPAN("chunked");

	memset(f, 0, sizeof(*f));
	for (unsigned i = 0; i < h->nheaders; i++) {
		const struct http1_header *x = &h->headers[i];

		if (x->name.len == strlen("content-length")) {
			if (looks_like(x->name, "content-length"))
				return "look-alike of Content-Length";
			if (!span_ieq(x->name, SPAN("content-length")))
				continue;
			if (f->has_length)
				return "Content-Length given twice";
			f->has_length = true;
			f->length = x->value;
		} else if (x->name.len == strlen("transfer-encoding")) {
			if (looks_like(x->name, "transfer-encoding"))
				return "look-alike of Transfer-Encoding";
			if (!span_ieq(x->name, SPAN("transfer-encoding")))
				continue;
			if (f->has_coding)
				return "Transfer-Encoding given twice";
			f->has_coding = true;
			f->coding = x->value;
		}
	}
	if (f->has_length && f->has_coding)
		return "both Content-Length and Transfer-Encoding";
	if (f->has_coding && !span_eq(f->coding, chunked) &&
	    (!response || !span_ieq(f->coding, chunked)))
		return "Transfer-Encoding is not exactly chunked";
	if (f->has_coding && h->http10)
		return "Transfer-Encoding in HTTP/1.0";
	return NULL;
}

static const char *
length_read(struct span s, uint64_t *out)
{
	uint64_t n = 0;

	if (s.len == 0)
		return "Content-Length is empty";
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == ',')
			return "Content-Length is a list";
		if (s.p[i] < '0' || s.p[i] > '9')
			return "Content-Length is not plain digits";
		if (i == 1 && s.p[0] == '0')
			return "Content-Length has a leading zero";
		if (i == 19)
			return "Content-Length is too large";
		n = n * 10 + (uint64_t)(s.p[i] - '0');
	}
	if (n > INT64_MAX)
		return "Content-Length is too large";
	*out = n;
	return NULL;
}

static void
body_set(struct http1_body *b, enum http1_framing framing, uint64_t length)
{
	b->framing = framing;
	b->length = length;
	b->done =
	    framing == HTTP1_NONE || (framing == HTTP1_LENGTH && length == 0);
}

/*
 * Determine the framing of either kind of message.  Returns -1 if neither
 * header is present; b->reason is set on an error.
 */
static int
body_begin(const struct http1_head *h, bool response, struct http1_body *b)
{
	struct framing f;
	uint64_t length = 0;

	memset(b, 0, sizeof(*b));
	b->response = response;
	b->reason = framing_find(h, response, &f);
	if (b->reason == NULL && f.has_length)
		b->reason = length_read(f.length, &length);
	if (b->reason != NULL)
		return 0;
	if (f.has_coding)
		body_set(b, HTTP1_CHUNKED, 0);
	else if (f.has_length)
		body_set(b, HTTP1_LENGTH, length);
	else
		return -1;
	return 0;
}

static bool
method_in(struct span method, const char *const *names)
{
	for (; *names != NULL; names++)
		if (span_is(method, *names))
			return true;
	return false;
}

enum http1_result
http1_request_body(const struct http1_head *h, struct http1_body *b)
{
	static const char *const bodyless[] = {"GET", "HEAD", "DELETE",
	    "CONNECT", "OPTIONS", "TRACE", "TRACK", NULL};

	if (body_begin(h, false, b) == -1)
		body_set(b, HTTP1_NONE, 0);
	else if (b->reason == NULL && !b->done &&
		 method_in(h->method, bodyless))
		b->reason = "body on a method that has none";
	return b->reason == NULL ? HTTP1_OK : HTTP1_BAD;
}

enum http1_result
http1_response_body(
    const struct http1_head *h, bool nobody, struct http1_body *b)
{
	bool none = h->status < 200 || h->status == 204;

	if (body_begin(h, true, b) == -1)
		body_set(b, HTTP1_CLOSE, 0);
	else if (b->reason == NULL && none && !b->done)
		b->reason = "body on a status that has none";
	if (b->reason != NULL)
		return HTTP1_BAD;
	if (none || nobody || h->status == 304)
		body_set(b, HTTP1_NONE, 0);
	return HTTP1_OK;
}

static int
hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Process one byte of the line with a chunk's size. */
static const char *
chunk_size(struct http1_body *b, uint8_t c)
{
	int digit = hex_value(c);

	if (digit != -1) {
		if (b->count == 1 && b->chunk == 0 && !b->response)
			return "chunk size has a leading zero";
		if (++b->count > 15)
			return "chunk size is over 15 digits";
		b->chunk = b->chunk << 4 | (uint64_t)digit;
		return NULL;
	}
	if (c == '\n')
		return "bare LF in a chunk line";
	if (b->count == 0)
		return c == '\r' ? "chunk size is empty"
				 : "bad character in chunk size";
	if (c == ';' || c == ' ' || c == '\t') {
		if (!b->response)
			return c == ';' ? "chunk extension"
					: "white space after a chunk size";
		b->state = CHUNK_EXTENSION;
		b->count = 0;
		return NULL;
	}
	if (c != '\r')
		return "bad character in chunk size";
	b->state = CHUNK_SIZE_LF;
	return NULL;
}

/*
 * Process one byte after a chunk's size in a response.  It is ignored, as RFC
 * 9112 7.1.1 requires of extensions that the reader does not know.
 */
static const char *
chunk_extension(struct http1_body *b, uint8_t c)
{
	if (c == '\r') {
		b->state = CHUNK_SIZE_LF;
		return NULL;
	}
	if (++b->count > HTTP1_MAX_EXTENSION)
		return "chunk extension is larger than 1 KiB";
	if (c == '\n')
		return "bare LF in a chunk line";
	if ((c < ' ' && c != '\t') || c == 0x7f)
		return "control character in a chunk extension";
	return NULL;
}

/*
 * Process one byte of the trailer section of a response: check it and drop it.
 */
static const char *
chunk_trailer(struct http1_body *b, uint8_t c)
{
	/*
	 * The name is checked only as far as framing needs: it must end in a
	 * colon.
	 */
	if (++b->count > HTTP1_MAX_TRAILERS)
		return "trailers are larger than 8 KiB";
	if (c == '\n')
		return "bare LF in a trailer";
	if (b->state == CHUNK_TRAILER_NAME) {
		if (c == ':')
			b->state = CHUNK_TRAILER_VALUE;
		else if (c <= ' ' || c >= 0x7f)
			return "bad character in a trailer name";
	} else if (c == '\r') {
		b->state = CHUNK_TRAILER_LF;
	} else if ((c < ' ' && c != '\t') || c == 0x7f) {
		return "control character in a trailer";
	}
	return NULL;
}

/* Process the byte after the line of the last chunk, or after a trailer. */
static const char *
chunk_end(struct http1_body *b, uint8_t c)
{
	if (c == '\r') {
		b->state = CHUNK_END_LF;
		return NULL;
	}
	if (c == '\n')
		return "bare LF after the last chunk";
	if (!b->response)
		return "trailer in a request";
	if (c == ':' || c == ' ' || c == '\t')
		return "bad character in a trailer name";
	b->state = CHUNK_TRAILER_NAME;
	return chunk_trailer(b, c);
}

/* Process one byte that is not data.  Returns NULL, or the error. */
static const char *
chunk_byte(struct http1_body *b, uint8_t c)
{
	switch ((enum chunk_state)b->state) {
	case CHUNK_SIZE:
		return chunk_size(b, c);
	case CHUNK_EXTENSION:
		return chunk_extension(b, c);
	case CHUNK_SIZE_LF:
		if (c != '\n')
			return "bare CR in a chunk line";
		b->state = b->chunk == 0 ? CHUNK_END : CHUNK_DATA;
		b->count = 0;
		return NULL;
	case CHUNK_DATA_CR:
		if (c != '\r')
			return "no CRLF after a chunk";
		b->state = CHUNK_DATA_LF;
		return NULL;
	case CHUNK_DATA_LF:
		if (c != '\n')
			return "no CRLF after a chunk";
		b->state = CHUNK_SIZE;
		return NULL;
	case CHUNK_END:
		return chunk_end(b, c);
	case CHUNK_END_LF:
		if (c != '\n')
			return "bare CR after the last chunk";
		b->done = true;
		return NULL;
	case CHUNK_TRAILER_NAME:
	case CHUNK_TRAILER_VALUE:
		return chunk_trailer(b, c);
	case CHUNK_TRAILER_LF:
		if (c != '\n')
			return "bare CR in a trailer";
		b->state = CHUNK_END;
		return NULL;
	case CHUNK_DATA:
		break;
	}
	return "chunk decoder out of step";
}

static enum http1_result
chunk_next(
    struct http1_body *b, struct span in, struct span *data, size_t *used)
{
	size_t at = 0;

	while (at < in.len && !b->done && b->state != CHUNK_DATA) {
		if ((b->reason = chunk_byte(b, in.p[at])) != NULL) {
			*used = at;
			return HTTP1_BAD;
		}
		at++;
	}
	if (b->state == CHUNK_DATA && at < in.len) {
		data->p = in.p + at;
		data->len = in.len - at;
		if (data->len > b->chunk)
			data->len = (size_t)b->chunk;
		b->chunk -= data->len;
		at += data->len;
		if (b->chunk == 0)
			b->state = CHUNK_DATA_CR;
	}
	*used = at;
	return b->done || at < in.len ? HTTP1_OK : HTTP1_MORE;
}

enum http1_result
http1_body_next(
    struct http1_body *b, struct span in, struct span *data, size_t *used)
{
	*data = span_of(in.p, 0);
	*used = 0;
	if (b->reason != NULL)
		return HTTP1_BAD;
	if (b->done)
		return HTTP1_OK;
	if (b->framing == HTTP1_CHUNKED)
		return chunk_next(b, in, data, used);
	data->len = in.len;
	if (b->framing == HTTP1_LENGTH) {
		if (data->len > b->length)
			data->len = (size_t)b->length;
		b->length -= data->len;
		b->done = b->length == 0;
	}
	*used = data->len;
	return b->done ? HTTP1_OK : HTTP1_MORE;
}

enum http1_result
http1_body_eof(struct http1_body *b)
{
	if (b->reason != NULL)
		return HTTP1_BAD;
	if (b->framing == HTTP1_CLOSE)
		b->done = true;
	if (b->done)
		return HTTP1_OK;
	b->reason = "connection closed inside a body";
	return HTTP1_BAD;
}
