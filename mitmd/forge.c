/* SPDX-License-Identifier: ISC */
/*
 * Requests to a forge: each is read into a tree, checked, and composed again,
 * and what is composed takes the place of what the agent sent. policyd gets the
 * tree and composes it once more; the digest of the body that it arrives at is
 * the one that keyd sends. The agent's bytes are parsed by common/forge.
 */
#include "mitmd.h"

#include <stdio.h>

#include "provider/forge.h"

/* One request is checked, and refused, at a time. */
static struct forge_fail forge_why;
static struct buf forge_spelled = {.max = FORGE_MAX_TARGET};

static const struct provider *
forge_provider(const struct exchange *x)
{
	return mitmd_env.providers[x->a->provider].p;
}

static void
forge_split(struct span target, struct span *path, struct span *query)
{
	const uint8_t *mark;

	*path = target;
	*query = span_of(NULL, 0);
	if (target.len == 0 ||
	    (mark = memchr(target.p, '?', target.len)) == NULL)
		return;
	path->len = (size_t)(mark - target.p);
	*query = span_of(mark + 1, target.len - path->len - 1);
}

/* Returns the reason for a class that the settings deny. */
static const char *
forge_denied(const struct provider *p, enum forge_class class)
{
	const char *name = forge_class_name(class);

	if (class == FORGE_NEVER)
		snprintf(forge_why.why, sizeof(forge_why.why),
		    "no session may do this through the API, whatever its "
		    "settings are; do not try again");
	else
		snprintf(forge_why.why, sizeof(forge_why.why),
		    "destinations.%.*s.%s in config.json denies it; the user "
		    "can change it, for the next session; do not try again",
		    (int)p->name.len, (const char *)p->name.p, name);
	return forge_why.why;
}

void
forge_respell(
    const struct provider *p, struct span method, struct request *r)
{
	struct forge_checked c;
	struct buf target;

	buf_init(&target, FORGE_MAX_TARGET);
	buf_addspan(&target, r->path);
	if (r->query.p != NULL) {
		buf_addc(&target, '?');
		buf_addspan(&target, r->query);
	}
	r->why = forge_why.why;
	(void)snprintf(forge_why.why, sizeof(forge_why.why),
	    "its path and query are longer than %u bytes; do not try again", FORGE_MAX_TARGET);
	c = (struct forge_checked){.pool = NULL};
	if (!target.failed &&
	    forge_checked_make(&c, p, method, buf_span(&target),
		span_of(NULL, 0), &forge_why) == 0) {
		if (p->forge->word[c.call.class] == FORGE_DENY) {
			r->why = forge_denied(p, c.call.class);
		} else {
			r->why = NULL;
			buf_reset(&forge_spelled, FORGE_MAX_TARGET);
			buf_addspan(&forge_spelled, buf_span(&c.out.target));
			forge_split(
			    buf_span(&forge_spelled), &r->path, &r->query);
		}
	}
	if (!target.failed)
		forge_checked_free(&c);
	buf_free(&target);
}

/* Replace path and query of a request that was kept. Returns 0, or -1. */
static int
forge_keep(struct exchange *x, struct span path, struct span query)
{
	struct span *spans[] = {&x->req.path, &x->req.query, &x->req.headers};
	const struct span texts[] = {path, query, x->req.headers};
	const uint8_t *p;
	struct buf b;

	buf_init(&b, 2 * PROVIDER_MAX_BLOB);
	for (size_t i = 0; i < nitems(texts); i++)
		buf_addspan(&b, texts[i]);
	if (b.failed || (b.len > x->kept.len &&
			    b.len - x->kept.len >
				MITMD_MAX_KEPT - mitmd_env.kept)) {
		buf_free(&b);
		return -1;
	}
	mitmd_env.kept += b.len - x->kept.len;
	buf_free(&x->kept);
	x->kept = b;
	p = buf_span(&x->kept).p;
	for (size_t i = 0; i < nitems(texts); i++) {
		*spans[i] = texts[i].p == NULL ? texts[i]
					       : span_of(p, texts[i].len);
		p += texts[i].len;
	}
	return 0;
}

/* Keep what is sent in place of the agent's own request. */
static enum refusal
forge_take(struct exchange *x, const struct forge_checked *c)
{
	struct span path, query;

	forge_split(buf_span(&c->out.target), &path, &query);
	buf_free(&x->tree);
	buf_init(&x->tree, PROTO_MAX_FORGE_TREE);
	if (value_encode(c->call.tree, &x->tree) == -1 ||
	    forge_keep(x, path, query) == -1)
		return REFUSE_HELD;
	return REFUSE_NONE;
}

enum refusal
forge_look(struct exchange *x, struct span body,
    enum refusal (*compose)(struct exchange *, struct span))
{
	const struct provider *p = forge_provider(x);
	enum refusal no = REFUSE_FORGE;
	struct forge_checked c;
	struct buf target;

	buf_init(&target, 2 * FORGE_MAX_TARGET);
	buf_addspan(&target, x->req.path);
	if (x->req.query.len != 0) {
		buf_addc(&target, '?');
		buf_addspan(&target, x->req.query);
	}
	x->req.why = forge_why.why;
	if (forge_checked_make(&c, p, p->routes[x->req.route].method,
		buf_span(&target), body, &forge_why) == 0) {
		if (p->forge->word[c.call.class] == FORGE_DENY)
			x->req.why = forge_denied(p, c.call.class);
		else if ((no = forge_take(x, &c)) == REFUSE_NONE)
			no = compose(x, buf_span(&c.out.body));
	}
	forge_checked_free(&c);
	buf_free(&target);
	return no;
}
