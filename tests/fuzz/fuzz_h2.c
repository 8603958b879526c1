/* SPDX-License-Identifier: ISC */
/*
 * mitmd's handling of HTTP/2 before and after libnghttp2: the frame counter
 * must report the same for the input in pieces and whole; the library,
 * configured as in mitmd, parses it; every header block becomes a head or a
 * refusal, and the checks can read every head.
 */
#include <nghttp2/nghttp2.h>

#include <stdlib.h>

#include "mitmd/h2_head.h"
#include "mitmd/h2_scan.h"

static struct h2_head head;

static int
begin(nghttp2_session *s, const nghttp2_frame *f, void *user)
{
	h2_head_begin(&head);
	return 0;
}

static int
field(nghttp2_session *s, const nghttp2_frame *f, const uint8_t *name,
    size_t nname, const uint8_t *value, size_t nvalue, uint8_t flags, void *user)
{
	h2_head_field(&head, span_of(name, nname), span_of(value, nvalue));
	return 0;
}

static void
check(const struct http1_head *h)
{
	struct http1_body body;
	struct http1_hop hop;

	if (h->nheaders > HTTP1_MAX_HEADERS || h->method.len == 0)
		abort();
	for (unsigned i = 0; i < h->nheaders; i++) {
		const struct http1_header *x = &h->headers[i];

		if (x->name.len == 0 ||
		    memchr(x->name.p, ':', x->name.len) != NULL ||
		    (x->value.len != 0 &&
			(memchr(x->value.p, '\n', x->value.len) != NULL ||
			    memchr(x->value.p, '\r', x->value.len) != NULL ||
			    memchr(x->value.p, '\0', x->value.len) != NULL)))
			abort();
		for (size_t k = 0; k < x->name.len; k++) {
			if (x->name.p[k] >= 'A' && x->name.p[k] <= 'Z')
				abort();
		}
	}
	if (http1_request_body(h, &body) == HTTP1_OK)
		(void)http1_request_hop(h, &body, SPAN("h.co"), false, &hop);
}

static int
frame(nghttp2_session *s, const nghttp2_frame *f, void *user)
{
	static struct http1_head h;
	bool ends = (f->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;

	if (f->hd.type != NGHTTP2_HEADERS)
		return 0;
	if (h2_head_end(&head, ends, &h) == HTTP1_OK)
		check(&h);
	else if (h.reason == NULL)
		abort();
	return 0;
}

static nghttp2_session *
session(void)
{
	static nghttp2_session_callbacks *cbs;
	static nghttp2_option *option;
	nghttp2_session *s;

	if (cbs == NULL) {
		if (nghttp2_session_callbacks_new(&cbs) != 0 ||
		    nghttp2_option_new(&option) != 0)
			abort();
		nghttp2_session_callbacks_set_on_begin_headers_callback(
		    cbs, begin);
		nghttp2_session_callbacks_set_on_header_callback(cbs, field);
		nghttp2_session_callbacks_set_on_frame_recv_callback(
		    cbs, frame);
		nghttp2_option_set_no_http_messaging(option, 1);
		nghttp2_option_set_no_closed_streams(option, 1);
		h2_head_init(&head);
	}
	if (nghttp2_session_server_new2(&s, cbs, NULL, option) != 0)
		abort();
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char magic[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	struct h2_scan whole = {.preface = 24}, cut = {.preface = 24};
	const char *a, *b = NULL;
	nghttp2_session *s;
	const uint8_t *out;

	a = h2_scan(&whole, span_of(data, size), 1000);
	for (size_t i = 0; i < size && b == NULL; i++)
		b = h2_scan(&cut, span_of(data + i, 1), 1000);
	if (a != b || (a == NULL && memcmp(&whole, &cut, sizeof(cut)) != 0 &&
			  h2_scan_partial(&whole) != h2_scan_partial(&cut)))
		abort();
	if (a != NULL)
		return 0;
	s = session();
	if (nghttp2_session_mem_recv(s, (const uint8_t *)magic,
		sizeof(magic) - 1) > 0)
		(void)nghttp2_session_mem_recv(s, data, size);
	while (nghttp2_session_mem_send(s, &out) > 0)
		;
	nghttp2_session_del(s);
	return 0;
}
