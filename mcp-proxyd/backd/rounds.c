/* SPDX-License-Identifier: ISC */
/*
 * Results that say of which type they are, as those of revision 2026-07-28 do:
 * one that asks for input goes to policyd, which decides about each question,
 * and the call stays open.
 */
#include "backd/backd.h"

#include "common/log.h"

static const char *
send_wanted(struct backd *b, uint64_t id, const struct value *result)
{
	struct msg_INPUT_WANTED m = {.id = rounds_call(id)};
	const struct value *requests = value_get(result, "inputRequests");
	const struct value *state = value_get(result, "requestState");
	struct value *o = value_new(b->pool, VALUE_OBJECT);

	if (requests == NULL && state == NULL)
		return "it asks for input and does not say for which";
	if (id >> PROTO_ROUND_SHIFT > PROTO_MAX_ROUNDS ||
	    (requests != NULL && value_set(o, SPAN("inputRequests"),
				     value_copy(b->pool, requests)) == -1) ||
	    (state != NULL && value_set(o, SPAN("requestState"),
				  value_copy(b->pool, state)) == -1))
		return "it asks for too much input";
	m.round = (uint8_t)(id >> PROTO_ROUND_SHIFT);
	buf_reset(&b->tree, 2 * LINES_READ);
	if (value_encode(o, &b->tree) == -1)
		fatal("value_encode");
	m.tree = buf_span(&b->tree);
	if (!backd_may(b, &b->wanted))
		backd_pause(b, b->wanted.ms);
	worker_send(&b->w, ROLE_POLICY, 0, MSG_INPUT_WANTED, &m, -1);
	return NULL;
}

const char *
rounds_result(
    struct backd *b, uint64_t id, const struct value *result, bool *answer)
{
	const struct value *type = value_get(result, "resultType");

	*answer = true;
	if (type == NULL ||
	    (type->type == VALUE_STRING && span_is(type->text, "complete")))
		return NULL;
	*answer = false;
	if (type->type == VALUE_STRING && span_is(type->text, "input_required"))
		return b->modern
			   ? send_wanted(b, id, result)
			   : "it asks for input as revision " JSONRPC_MODERN
			     " does, and the server "
			     "speaks an older one";
	/* To older revisions it is a member like any other. */
	*answer = !b->modern;
	return b->modern ? "it is of a type that nobody asked for" : NULL;
}
