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

/* Some servers begin with everybody, and want a login for what follows. */
static const char list[] =
    "{\"id\":2,\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}";

static struct {
	bool asked, second;
	enum proto_meta kind;
	struct document docs[2]; /* the second answer, if there are two */
} get;

static void
serve_tell(struct document *d)
{
	get.asked = false;
	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_META_DOC, &d->m, -1);
	document_free(&get.docs[0]);
	document_free(&get.docs[1]);
}

static int serve_challenge(const char *message, size_t len, const char **why);

/* Returns true if the answer says that a login is wanted. */
static bool
serve_wants(unsigned status)
{
	return status == 401 || status == 403;
}

/* See token_done. */
static void
serve_answer(unsigned status, struct span body, const char *why)
{
	struct document *d = &get.docs[get.second];

	if (status == 0)
		document_lost(d, get.kind, why);
	else
		document_read(d, get.kind, status, token_answer_head(), body);
	if (get.kind == PROTO_META_CHALLENGE && !get.second && status != 0 &&
	    !serve_wants(status)) {
		get.second = true;
		if (serve_challenge(list, sizeof(list) - 1, &why) == 0)
			return;
	} else if (get.second && serve_wants(status)) {
		serve_tell(d);
		return;
	}
	serve_tell(&get.docs[0]);
}

/* Ask the server something, for its challenge. Returns 0, or -1 with `*why`. */
static int
serve_challenge(const char *message, size_t len, const char **why)
{
	struct token_how how = {.type = "application/json",
	    .accept = "application/json, text/event-stream",
	    .head_only = true};
	uint8_t *body;
	size_t cap;

	*why = "no memory";
	if ((body = token_room(&cap)) == NULL || len > cap)
		return -1;
	memcpy(body, message, len);
	return token_send(&how, len, serve_answer, why);
}

static int
on_meta_get(struct chan *c, const struct msg_META_GET *m)
{
	const struct token_how how = {0};
	const char *why;
	int rv;

	if (get.asked)
		return chan_violation(c, "META_GET before the last answer");
	if (token_place(m->host, m->port, m->path,
		m->kind == PROTO_META_SERVER ? 1 : 0) == -1)
		return chan_violation(c, "META_GET is impossible");
	get.kind = (enum proto_meta)m->kind;
	get.asked = true;
	get.second = false;
	rv = get.kind == PROTO_META_CHALLENGE
		 ? serve_challenge(initialize, sizeof(initialize) - 1, &why)
		 : token_send(&how, 0, serve_answer, &why);
	if (rv == -1) {
		document_lost(&get.docs[0], get.kind, why);
		serve_tell(&get.docs[0]);
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
