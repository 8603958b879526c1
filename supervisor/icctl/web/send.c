/* SPDX-License-Identifier: ISC */
/* Messages to icwebd, while it serves. */
#include "icctl/web/priv.h"

#include <unistd.h>

#include "base/json_put.h"

void
send_conn(struct web *w, int fd)
{
	static const struct msg_WEB_CONN conn;

	if (!w->ready)
		close(fd);
	else
		(void)chan_send(w->webd, MSG_WEB_CONN, &conn, fd);
}

bool
send_answer(struct web *w, uint64_t n, unsigned status, json_object *o)
{
	struct msg_WEB_ANSWER m = {.n = n, .status = (uint16_t)status};
	bool whole;

	m.json = span_str(json_object_to_json_string_ext(o, ICCTL_JSON));
	whole = m.json.len <= PROTO_MAX_PAGE;
	if (!whole) {
		m.status = 507;
		m.json = SPAN("{\"error\":\"it is too long for this page\"}");
	}
	if (w->ready)
		(void)chan_send(w->webd, MSG_WEB_ANSWER, &m, -1);
	json_object_put(o);
	return whole;
}

void
send_refuse(struct web *w, uint64_t n, unsigned status, const char *why)
{
	json_object *o = json_object_new_object();

	put_str(o, "error", why);
	(void)send_answer(w, n, status, o);
}
