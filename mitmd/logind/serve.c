/* SPDX-License-Identifier: ISC */
/*
 * mcp-logind's messages: one document after the other, each over a connection
 * of its own to the host that icctl named. No redirect is followed.
 */
#include "logind/logind.h"

#include <unistd.h>

#include "common/log.h"
#include "logind/documents.h"

static const char initialize[] =
    "{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"initialize\",\"params\":{"
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"ironcurtain\","
    "\"version\":\"" IC_VERSION
    "\"},\"protocolVersion\":\"2025-11-25\"}}";

static struct {
	bool asked;
	enum proto_meta kind;
} get;

static void
serve_tell(struct document *d)
{
	get.asked = false;
	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_META_DOC, &d->m, -1);
	document_free(d);
}

/* See token_done. */
static void
serve_answer(unsigned status, struct span body, const char *why)
{
	static struct document d;

	if (status == 0)
		document_lost(&d, get.kind, why);
	else
		document_read(&d, get.kind, status, token_answer_head(), body);
	serve_tell(&d);
}

static int
on_meta_get(struct chan *c, const struct msg_META_GET *m)
{
	static struct document d;
	const bool ask = m->kind == PROTO_META_CHALLENGE;
	struct token_how how = {0};
	const char *why;
	uint8_t *body;
	size_t cap, len = 0;

	if (get.asked)
		return chan_violation(c, "META_GET before the last answer");
	if (token_place(m->host, m->port, m->path,
		m->kind == PROTO_META_SERVER ? 1 : 0) == -1 ||
	    (body = token_room(&cap)) == NULL)
		return chan_violation(c, "META_GET is impossible");
	get.kind = (enum proto_meta)m->kind;
	get.asked = true;
	if (ask) {
		len = sizeof(initialize) - 1;
		memcpy(body, initialize, len);
		how.type = "application/json";
		how.accept = "application/json, text/event-stream";
		how.head_only = true;
	}
	if (token_send(&how, len, serve_answer, &why) == -1) {
		document_lost(&d, get.kind, why);
		serve_tell(&d);
	}
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(ROOTS,		token_on_roots),
	HANDLER(DIALED,		token_on_dialed),
	HANDLER(DIAL_FAIL,	token_on_dial_fail),
	HANDLER(META_GET,	on_meta_get),
};
/* clang-format on */

static void
serve_lost(enum role role, unsigned index)
{
	log_info("%s is gone", role_name(role));
	worker_exit(&keyd_env.w, 1);
}

void
logind_serve(void)
{
	keyd_env.w.lost = serve_lost;
	worker_serve(&keyd_env.w, serve_handlers, nitems(serve_handlers));
}
