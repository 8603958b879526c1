/* SPDX-License-Identifier: ISC */
/*
 * keyd's check of a git push: the command list at the front of the body must be
 * the one that a person approved. Until it was read completely, no byte of the
 * body is passed on; mitmd's word about the list is not trusted.
 */
#include "keyd/keyd.h"

#include "wire/git_push.h"

/*
 * Returns true for the empty request with which git probes authentication; it
 * changes nothing.
 */
static bool
push_is_probe(const struct msg_REQUEST_GO *m)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];

	SHA256((const uint8_t *)GIT_PUSH_PROBE, sizeof(GIT_PUSH_PROBE) - 1,
	    digest);
	return m->length == sizeof(GIT_PUSH_PROBE) - 1 &&
	       span_eq(m->body, span_of(digest, sizeof(digest)));
}

const char *
push_check(const struct provider_route *r, const struct msg_REQUEST_GO *m)
{
	if (m->refs.len != 0 && !r->push)
		return "refs on a route that has none";
	if (!r->push)
		return m->asked != (r->ask ? 1 : 0)
			   ? "approved or not, against its route"
			   : NULL;
	if (m->asked != 0)
		return m->refs.len == 0 ? "a push that names no ref" : NULL;
	return push_is_probe(m) && m->refs.len == 0
		   ? NULL
		   : "a push that nobody approved";
}

void
push_begin(struct txn *x)
{
	x->listing = x->req.refs.len != 0;
	buf_init(&x->list, GIT_PUSH_MAX_LIST + STREAM_MAX_FRAME);
}

int
push_take(struct stream *s, struct span in, const char **why)
{
	struct txn *x = &s->x;
	struct git_push_list list = {0};
	bool same;

	*why = NULL;
	buf_addspan(&x->list, in);
	if (x->list.failed)
		return txn_full(s, &x->list, "the command list of the push");
	buf_init(&list.refs, PROTO_MAX_REFS);
	switch (git_push_read(buf_span(&x->list),
	    x->counted + in.len == x->req.length, &list, why)) {
	case GIT_PUSH_MORE:
		buf_free(&list.refs);
		return 0;
	case GIT_PUSH_OK:
		break;
	case GIT_PUSH_BAD:
		buf_free(&list.refs);
		return -1;
	}
	same = span_eq(buf_span(&list.refs), x->req.refs);
	buf_free(&list.refs);
	*why = "a push of other refs than those approved";
	if (!same)
		return -1;
	x->listing = false;
	*why = NULL;
	buf_addspan(&s->pend, buf_span(&x->list));
	if (s->pend.failed)
		return txn_full(s, &s->pend, TXN_PEND);
	buf_free(&x->list);
	return 0;
}
