/* SPDX-License-Identifier: ISC */
/*
 * Questions of an MCP server to the person: requests, and the addresses that an
 * error of a call has (-32042). policyd decides whether they are shown. On the
 * stream of a remote server's answer they belong to the call of that stream; on
 * a pipe nothing says to which call.
 */
#include "backd/remote.h"

#include "common/log.h"

#define ASK_WANTED 3U /* addresses in one error */

static void
ask_send(struct backd *b, struct msg_ASKED *m, const struct value *params)
{
	const struct value *tree = params;

	buf_reset(&b->tree, 2 * LINES_READ);
	if (tree == NULL)
		tree = value_new(b->pool, VALUE_OBJECT);
	/* policyd refuses an empty one. */
	if (value_encode(tree, &b->tree) == -1 ||
	    b->tree.len > PROTO_MAX_QUESTION)
		buf_reset(&b->tree, 2 * LINES_READ);
	m->done = span_of(b->answered, sizeof(b->answered));
	m->tree = buf_span(&b->tree);
	worker_send(&b->w, ROLE_POLICY, 0, MSG_ASKED, m, -1);
}

/* Returns the call whose answer is being read, or 0. */
static uint64_t
ask_call(const struct backd *b)
{
	uint64_t id;

	if (b->from == NULL || b->from->id.len == 0 ||
	    idscan_number(&b->from->id, &id) == -1)
		return 0;
	return rounds_call(id);
}

void
backd_ask_request(struct backd *b, const struct jsonrpc *m)
{
	struct msg_ASKED out = {.kind = PROTO_ASKED_REQUEST,
	    .call = ask_call(b),
	    .string = m->rid->type == VALUE_STRING,
	    .rid = m->rid->text};

	ask_send(b, &out, m->params);
}

void
backd_ask_wanted(struct backd *b, uint64_t call, const struct value *data)
{
	const struct value *list = value_get(data, "elicitations"), *v;
	struct msg_ASKED out = {.kind = PROTO_ASKED_WANTED,
	    .call = call,
	    .string = 1,
	    .rid = SPAN("")};
	unsigned n = 0;

	if (list == NULL || list->type != VALUE_ARRAY)
		return;
	for (v = list->child; v != NULL && n < ASK_WANTED; v = v->next, n++)
		if (v->type == VALUE_OBJECT)
			ask_send(b, &out, v);
}
