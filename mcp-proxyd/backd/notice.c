/* SPDX-License-Identifier: ISC */
/*
 * Messages that an MCP server logs (notifications/message): each is a line of
 * session.log, and goes to the agents that want it. Those that come too often
 * are counted.
 */
#include "backd/backd.h"

#include <stdio.h>

#include "common/json/json.h"
#include "common/log.h"

#define NOTICE_SHOWN 1024U /* bytes of a message that are in session.log */

struct span
backd_cut(struct span s, size_t max)
{
	if (s.p == NULL || memchr(s.p, '\0', s.len) != NULL)
		return SPAN("");
	if (s.len > max) {
		s.len = max;
		while (s.len != 0 && (s.p[s.len] & 0xc0) == 0x80)
			s.len--;
	}
	return s;
}

void
notice_take(struct backd *b, const struct jsonrpc *m)
{
	const struct value *data = value_get(m->params, "data");
	const int level = proto_level_find(value_str(m->params, "level"));
	/* One that MCP does not have is info. */
	struct msg_NOTICE out = {.level = level == -1 ? 1 : (uint8_t)level};
	char text[2 * NOTICE_SHOWN], logger[160];
	struct buf json;

	if (data == NULL || !backd_may(b, &b->notices)) {
		backd_drop(b, "a message for the log, too often or empty");
		return;
	}
	buf_init(&json, PROTO_MAX_LINE);
	if (data->type != VALUE_STRING)
		(void)json_write(&json, data);
	out.text =
	    backd_cut(data->type == VALUE_STRING ? data->text : buf_span(&json),
		PROTO_MAX_NOTICE);
	out.logger = backd_cut(value_str(m->params, "logger"), 128);
	backd_show(b, out.logger, logger, sizeof(logger));
	log_info("log: %s%s%s: %s", proto_level_name(out.level),
	    logger[0] != '\0' ? " of " : "", logger,
	    backd_show(
		b, backd_cut(out.text, NOTICE_SHOWN), text, sizeof(text)));
	/* An agent may miss one: calls come first. */
	if (b->w.peers[ROLE_PROXY][0] == NULL ||
	    chan_queued(b->w.peers[ROLE_PROXY][0]) == 0)
		worker_send(&b->w, ROLE_PROXY, 0, MSG_NOTICE, &out, -1);
	buf_free(&json);
}
