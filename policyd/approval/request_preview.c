/* SPDX-License-Identifier: ISC */
/*
 * Converts a request that mitmd asks about to the form that is shown and
 * approved.
 */
#include "approval/request_holds.h"

struct approved
ask_request(const struct msg_REQUEST_ASK *m)
{
	return (struct approved){.name = m->name,
	    .host = m->host_name,
	    .method = m->method,
	    .path = m->path,
	    .query = m->query,
	    .headers = m->headers,
	    .length = m->length,
	    .body = m->body,
	    .refs = m->refs};
}

const char *
ask_check(const struct msg_REQUEST_ASK *m)
{
	const struct approved r = ask_request(m);

	if (m->id == 0 || m->stream == 0 || m->exchange == 0)
		return "numbers";
	if (m->asked != 0)
		return "approved already";
	return approved_check(&r);
}

int
ask_preview(const struct msg_REQUEST_ASK *m, struct buf *b)
{
	const struct approved r = ask_request(m);

	return approved_write(&r, b);
}
