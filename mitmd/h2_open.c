/* SPDX-License-Identifier: ISC */
/* Starts HTTP/2 on a connection: the library's limits and callbacks. */
#include "h2.h"

#include <stdlib.h>

/* Options for every session; by default the library has no limits. */
static nghttp2_option *
h2_options(void)
{
	static nghttp2_option *option;

	if (option != NULL || nghttp2_option_new(&option) != 0)
		return option;
	nghttp2_option_set_no_auto_window_update(option, 1);
	/* h2_head.c is stricter, and answers 400 instead of a reset. */
	nghttp2_option_set_no_http_messaging(option, 1);
	nghttp2_option_set_no_closed_streams(option, 1);
	nghttp2_option_set_max_settings(option, 16);
	nghttp2_option_set_max_outbound_ack(option, 100);
	nghttp2_option_set_max_deflate_dynamic_table_size(option, 4096);
	return option;
}

static int
h2_settings(nghttp2_session *session)
{
	static const nghttp2_settings_entry settings[] = {
	    {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, H2_MAX_STREAMS},
	    {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, H2_STREAM_WINDOW},
	    {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, H2_MAX_LIST},
	    {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
	};

	if (nghttp2_submit_settings(
		session, NGHTTP2_FLAG_NONE, settings, nitems(settings)) != 0 ||
	    nghttp2_session_set_local_window_size(
		session, NGHTTP2_FLAG_NONE, 0, (int32_t)H2_WINDOW) != 0)
		return -1;
	return 0;
}

int
h2_open(struct agent *a)
{
	struct h2 *h;

	if (h2_callbacks() == NULL || h2_options() == NULL ||
	    (h = calloc(1, sizeof(*h))) == NULL)
		return -1;
	h->a = a;
	h2_head_init(&h->head);
	a->h2 = h;
	if (nghttp2_session_server_new2(
		&h->session, h2_callbacks(), h, h2_options()) != 0 ||
	    h2_settings(h->session) == -1)
		return -1;
	agent_enter(a, AGENT_OPEN, MITMD_HEAD_MS);
	h2_send(a);
	return 0;
}
