/* SPDX-License-Identifier: ISC */
/*
 * Looks up what an id in a request to a forge stands for, before a person is
 * shown the request. policyd asks, and auditd has recorded that. The text of
 * each lookup is fixed but for the id; its answer is read here, where the
 * forge's answers are read anyway, and only checked fields of it go on. No byte
 * of it reaches mitmd.
 */
#include "keyd/keyd.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/forge/say.h"
#include "common/log.h"
#include "provider/forge.h"

#define LOOKUP_POOL (256U << 10)
#define LOOKUP_MAX_HELD (1U << 20) /* all answers together */

struct lookup {
	LIST_ENTRY(lookup) entry;
	uint32_t stream;
	int theirs; /* the other end of its stream, which nobody reads */
	uint32_t id;
	uint8_t n;
	bool told;
	struct forge_ref ref; /* its texts are in `text` */
	char text[2][FORGE_MAX_ID + 1];
	struct reply_hold hold;
};

static LIST_HEAD(, lookup) lookups = LIST_HEAD_INITIALIZER(lookups);
static size_t lookup_held;
static uint32_t lookup_last;

static void
lookup_tell(struct lookup *l, struct span found, const char *why)
{
	struct msg_FORGE_FOUND m = {.id = l->id,
	    .n = l->n,
	    .why = span_str(why),
	    .found = found};

	if (l->told)
		return;
	l->told = true;
	worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_FORGE_FOUND, &m, -1);
}

static struct lookup *
lookup_of(const struct stream *s)
{
	struct lookup *l;

	LIST_FOREACH (l, &lookups, entry)
		if (l->stream == s->id)
			return l;
	return NULL;
}

static void
lookup_free(struct lookup *l)
{
	LIST_REMOVE(l, entry);
	if (l->theirs != -1)
		close(l->theirs);
	lookup_held -= l->hold.buf.len;
	buf_free(&l->hold.buf);
	free(l);
}

static void
lookup_begin(struct stream *s)
{
	struct lookup *l = lookup_of(s);
	struct txn *x = &s->x;

	x->counted = x->req.length;
	x->keeping = false;
	if (l == NULL)
		fatalx("bug: a lookup that is none");
	x->reply.hold = &l->hold;
	x->reply.max = l->hold.buf.max;
	if (keyd_env.now == NULL && keyd_env.provider->nkinds != 0) {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_NO_KEY, "no credential");
	} else if (keyd_env.locked) {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_LOCKED, "locked");
	} else {
		txn_go(s);
	}
}

static void
lookup_read(struct lookup *l, unsigned status)
{
	const struct forge_grant *g = keyd_env.provider->forge;
	struct value_pool *pool = value_pool_new(LOOKUP_POOL);
	struct forge_fail fail = {"there is no memory to look it up"};
	struct forge_found found;
	struct buf b;

	buf_init(&b, PROTO_MAX_FOUND);
	if (status != 200)
		lookup_tell(l, SPAN(""), "the forge does not know it");
	else if (pool == NULL ||
		 forge_lookup_read(g, pool, &l->ref, buf_span(&l->hold.buf),
		     &found, &fail) == -1)
		lookup_tell(l, SPAN(""), fail.why);
	else if (value_encode(forge_found_tree(pool, &found), &b) == -1)
		lookup_tell(l, SPAN(""), "its description is too long");
	else
		lookup_tell(l, buf_span(&b), "");
	buf_free(&b);
	value_pool_free(pool);
}

/* The answer is complete. */
static bool
lookup_done(struct stream *s, bool again)
{
	struct lookup *l = lookup_of(s);

	if (l != NULL)
		lookup_read(l, s->x.reply.status);
	txn_report(s, "");
	txn_release(s, again);
	stream_free(s);
	return true;
}

static void
lookup_release(struct stream *s)
{
	struct lookup *l = lookup_of(s);

	if (l == NULL)
		return;
	lookup_tell(l, SPAN(""), "it could not be looked up");
	lookup_free(l);
}

static const struct txn_kind lookup_kind = {
    .begin = lookup_begin,
    .answered = lookup_done,
    .release = lookup_release,
};

static int
lookup_pack(struct buf *b)
{
	return provider_pack(b, SPAN("accept"), SPAN("application/json")) ==
			   0 &&
		       provider_pack(b, SPAN("content-type"),
			   SPAN("application/json")) == 0 &&
		       provider_pack(
			   b, SPAN("user-agent"), SPAN("ironcurtain")) == 0
		   ? 0
		   : -1;
}

/* Make the request. Returns 0, or -1 if there is no memory. */
static int
lookup_request(struct request *r, const struct forge_request *f)
{
	struct span target = buf_span(&f->target);
	const uint8_t *mark = memchr(target.p, '?', target.len);
	size_t path = mark != NULL ? (size_t)(mark - target.p) : target.len;
	struct buf b;
	int rv = -1;

	*r = (struct request){.exchange = 1,
	    .kind = &lookup_kind,
	    .route = strcmp(f->method, "GET") == 0 ? FORGE_ROUTE_READ
						   : FORGE_ROUTE_GRAPHQL,
	    .length = f->body.len};
	buf_init(&b, 2U * FORGE_MAX_TARGET);
	buf_addspan(&b, target);
	if (lookup_pack(&b) == 0 && !b.failed &&
	    (r->mem = malloc(b.len + 1)) != NULL) {
		r->size = b.len;
		memcpy(r->mem, buf_span(&b).p, b.len);
		r->path = span_of(r->mem, path);
		if (mark != NULL)
			r->query = span_of(
			    r->mem + path + 1, target.len - path - 1);
		r->headers =
		    span_of(r->mem + target.len, b.len - target.len);
		rv = 0;
	}
	buf_free(&b);
	return rv;
}

/* Send the lookup. Returns NULL, or why it cannot be sent. */
static const char *
lookup_send(struct lookup *l)
{
	struct forge_request f;
	struct request r;
	struct stream *s;
	const char *why = "it cannot be asked for";

	forge_request_init(&f);
	if (forge_lookup_compose(keyd_env.provider->forge, &l->ref, &f) == -1)
		goto out;
	why = "too many requests are being sent";
	if ((l->theirs = open_stream(l->stream, &s)) == -1 || s == NULL)
		goto out;
	why = "there is no memory to look it up";
	buf_init(&s->pend, FORGE_MAX_BODY);
	buf_addspan(&s->pend, buf_span(&f.body));
	if (s->pend.failed || lookup_request(&r, &f) == -1) {
		stream_free(s);
		goto out;
	}
	why = NULL;
	txn_begin(s, &r);
out:
	forge_request_free(&f);
	return why;
}

int
keyd_forge_look(struct chan *c, const struct msg_FORGE_LOOK_GO *m)
{
	struct lookup *l;
	const char *why;

	if (keyd_env.provider == NULL || keyd_env.provider->forge == NULL ||
	    m->provider != keyd_env.index)
		return chan_violation(c, "FORGE_LOOK_GO for no forge");
	if ((l = calloc(1, sizeof(*l))) == NULL) {
		log_warn("a lookup");
		return 0;
	}
	lookup_last = (lookup_last + 1) & (PROTO_LOOKUP_STREAM - 1);
	l->stream = PROTO_LOOKUP_STREAM | lookup_last;
	l->theirs = -1;
	l->id = m->id;
	l->n = m->n;
	l->hold.total = &lookup_held;
	l->hold.max = LOOKUP_MAX_HELD;
	LIST_INSERT_HEAD(&lookups, l, entry);
	if (span_copy(m->ref, l->text[0], sizeof(l->text[0])) == -1 ||
	    span_copy(m->repository, l->text[1], sizeof(l->text[1])) == -1) {
		lookup_tell(l, SPAN(""), "its id is too long");
		lookup_free(l);
		return 0;
	}
	/* Which member has the id is not known here. */
	l->ref = (struct forge_ref){.kind = (enum forge_ref_kind)m->kind,
	    .is = m->is,
	    .role = "id",
	    .id = span_str(l->text[0]),
	    .repository = m->repository.len != 0 ? span_str(l->text[1])
						 : span_of(NULL, 0)};
	buf_init(&l->hold.buf,
	    forge_lookup_max(keyd_env.provider->forge, &l->ref));
	if ((why = lookup_send(l)) != NULL) {
		lookup_tell(l, SPAN(""), why);
		lookup_free(l);
	}
	return 0;
}
