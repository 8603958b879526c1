/* SPDX-License-Identifier: ISC */
/*
 * Counts an agent's messages on a WebSocket: each is a turn, like a POST. They
 * are counted by the heads of their frames, since keyd trusts no other
 * process's count; their content is not inspected. mitmd sends each as one
 * masked frame; anything else can only come from a compromised mitmd.
 */
#include "keyd/keyd.h"

/* A frame begins: check that its message is within the budget, and count it. */
static int
message_begin(struct stream *s, const struct ws_parser *w)
{
	struct keyd_env *e = &keyd_env;
	const struct provider_route *r = &e->provider->routes[s->x.req.route];

	if (w->control)
		return 0;
	if (!w->fin)
		return txn_violation(s, "a message in pieces");
	if ((e->budget.why = budget_refusal(r)) != NULL) {
		txn_fail(s, KEYD_FAIL_BUDGET, "budget used up");
		return -1;
	}
	if (r->turn && share_message(s, w->left) == -1) {
		txn_fail(s, KEYD_FAIL_RESERVED, "budget reserved");
		return -1;
	}
	budget_message(r);
	return 0;
}

int
message_count(struct stream *s, uint8_t *p, size_t len)
{
	struct ws_parser *w = &s->x.said;
	struct span data;

	if (s->x.req.length != UINT64_MAX || s->x.state != TXN_ON)
		return 0;
	for (;;) {
		switch (ws_next(w, &p, &len, &data)) {
		case WS_MORE:
			return 0;
		case WS_HEAD:
			if (message_begin(s, w) == -1)
				return -1;
			break;
		case WS_DATA:
		case WS_END:
			break;
		case WS_BAD:
			return txn_violation(s, w->bad);
		}
	}
}
