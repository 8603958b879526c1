/* SPDX-License-Identifier: ISC */
/*
 * Requests to a package registry. Metadata is read completely, filtered, and
 * sent to the client as rewritten here. A package's file is requested only if
 * metadata, now or within the last hour, listed its version and the rules allow
 * it; if that is unknown, this transaction fetches the metadata first. Requests
 * come from mitmd and metadata from the registry; either may lie.
 */
#include "keyd/keyd.h"

#include <openssl/rand.h>

#include <stdio.h>
#include <stdlib.h>

#include "common/http/date.h"
#include "registry/package_cache.h"

#define PACKAGE_MAX_HELD (160U << 20) /* all transactions together */

struct package {
	enum {
		PACKAGE_META,  /* the client's request for metadata */
		PACKAGE_CHECK, /* keyd's own request, before a file */
		PACKAGE_FILE,
		PACKAGE_GIVE, /* sends keyd's answer */
	} step;
	struct registry_path path; /* the client's request */
	unsigned host;
	enum registry_form form;
	bool head;
	char at[256];       /* path of the metadata */
	struct buf headers; /* request headers, packed */
	struct reply_hold hold;
	struct buf give;
	char text[REGISTRY_MAX_REASON + 8]; /* reason for a refusal */
};

/* Bytes of held metadata, of all transactions. */
static size_t package_held;
/* One document is filtered at a time. */
static struct registry_filter package_filter;

static const struct registry_rules *
package_rules(void)
{
	return keyd_env.provider->registry;
}

static void
package_log(const char *name, const char *version, bool allowed,
    const char *reason, const char *source)
{
	struct msg_PACKAGE m = {.name = span_str(name),
	    .version = span_str(version),
	    .allowed = allowed,
	    .reason = span_str(reason),
	    .source = span_str(source)};

	worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_PACKAGE, &m, -1);
}

/* Refuse the request: record it and tell the client why. */
static void
package_refuse(struct stream *s, struct registry_verdict v, const char *version)
{
	struct package *g = s->x.package;
	char reason[REGISTRY_MAX_REASON];

	registry_reason(package_rules(), v, g->path.package, version, reason,
	    sizeof(reason));
	package_log(g->path.package, version, false, reason,
	    g->path.what == REGISTRY_ARTEFACT ? "file" : "metadata");
	snprintf(g->text, sizeof(g->text), "403 %s", reason);
	s->x.state = TXN_ON;
	txn_fail(s, KEYD_FAIL_PACKAGE, "refused by the package rules");
}

/* Pack the client's User-Agent and keyd's own Accept. */
static int
package_headers(struct package *g, struct span asked, const char *accept)
{
	struct span name, value;

	buf_reset(&g->headers, PROVIDER_MAX_BLOB);
	while (provider_unpack(&asked, &name, &value) == 1) {
		if (span_is(name, "user-agent") &&
		    provider_pack(&g->headers, name, value) == -1)
			return -1;
	}
	return provider_pack(&g->headers, SPAN("accept"), span_str(accept));
}

static struct span
package_accept(struct span asked)
{
	struct span name, value;

	while (provider_unpack(&asked, &name, &value) == 1) {
		if (span_is(name, "accept"))
			return value;
	}
	return span_of(NULL, 0);
}

/* Set the request to send instead of the client's. */
static void
package_head(const struct txn *x, struct keyd_head *h)
{
	const struct package *g = x->package;

	if (g->step == PACKAGE_FILE)
		return;
	h->method = SPAN("GET");
	h->path = span_str(g->at);
	h->headers = buf_span(&g->headers);
}

/* Collect the answer here instead of passing it on. */
static void
package_hold(struct txn *x)
{
	struct package *g = x->package;

	buf_init(&g->hold.buf, REGISTRY_MAX_DOC);
	g->hold.total = &package_held;
	g->hold.max = PACKAGE_MAX_HELD;
	x->reply.hold = &g->hold;
	x->reply.nobody = false;
	x->reply.max = REGISTRY_MAX_DOC;
}

static void
package_ask(struct stream *s, const char *path)
{
	struct txn *x = &s->x;
	struct package *g = x->package;

	if (path != NULL)
		snprintf(g->at, sizeof(g->at), "%s", path);
	else if (registry_metadata_path(package_rules()->registry,
		     g->path.package, g->at, sizeof(g->at)) == -1)
		g->at[0] = '\0';
	if (g->at[0] == '\0' || package_headers(g, x->req.headers,
				    registry_form_accept(g->form)) == -1) {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_INTERNAL,
		    "the request for the package's metadata is too long");
		return;
	}
	package_hold(x);
	/* The first host has the index. */
	x->req.host = 0;
	txn_go(s);
}

static void
package_get_file(struct stream *s, struct registry_verdict v)
{
	struct package *g = s->x.package;
	char reason[REGISTRY_MAX_REASON];

	registry_reason(package_rules(), v, g->path.package, g->path.version,
	    reason, sizeof(reason));
	package_log(g->path.package, g->path.version, true, reason, "file");
	g->step = PACKAGE_FILE;
	s->x.req.host = g->host;
	txn_go(s);
}

/* Decide whether the file may be installed, if that is known. */
static void
package_file(struct stream *s)
{
	const struct registry_rules *r = package_rules();
	struct package *g = s->x.package;
	struct registry_verdict v;

	v = registry_judge_name(r, span_str(g->path.package));
	if (v.reason == REGISTRY_DENIED)
		package_refuse(s, v, g->path.version);
	else if (v.reason == REGISTRY_ON_LIST || r->days == 0 ||
		 r->registry == REGISTRY_DEBIAN)
		package_get_file(s, v);
	else if (package_cache_get(g->path.package, g->path.id,
		     loop_now(&keyd_env.w.loop), &v) == 0) {
		g->step = PACKAGE_CHECK;
		package_ask(s, NULL);
	} else if (registry_allows(v)) {
		package_get_file(s, v);
	} else {
		package_refuse(s, v, g->path.version);
	}
}

static void
package_begin(struct stream *s)
{
	const struct registry_rules *r = package_rules();
	struct txn *x = &s->x;
	struct registry_verdict v;
	struct package *g;

	if ((g = calloc(1, sizeof(*g))) == NULL ||
	    registry_path_parse(r->registry, x->req.path, &g->path) == -1) {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_INTERNAL,
		    g == NULL ? "no memory for the package's request"
			      : "a path that the registry does not have");
		free(g);
		return;
	}
	x->package = g;
	buf_init(&g->headers, PROVIDER_MAX_BLOB);
	buf_init(&g->give, REGISTRY_MAX_DOC);
	g->host = x->req.host;
	g->head = x->reply.nobody;
	g->form = registry_form(r->registry, package_accept(x->req.headers));
	v = registry_judge_name(r, span_str(g->path.package));
	switch (g->path.what) {
	case REGISTRY_ARTEFACT:
		package_file(s);
		return;
	case REGISTRY_METADATA:
		if (v.reason == REGISTRY_DENIED)
			package_refuse(s, v, "");
		else
			package_ask(s, NULL);
		return;
	case REGISTRY_INDEX:
		break;
	}
	if (r->registry == REGISTRY_CRATES) {
		g->form = REGISTRY_FORM_CRATES_CONFIG;
		package_ask(s, "/config.json");
		return;
	}
	/*
	 * Debian's indices are signed, so no version can be left out of them.
	 */
	g->step = PACKAGE_FILE;
	txn_go(s);
}

/* Frame the composed answer, as much as mitmd takes. */
static void
package_give(struct stream *s)
{
	struct package *g = s->x.package;
	uint32_t exchange = s->x.req.exchange;
	struct span part;
	struct buf *out;

	while (s->out.len < KEYD_OUT_SOFT) {
		out = stream_begin(s);
		part = buf_span(&g->give);
		if (part.len > STREAM_MAX_FRAME)
			part.len = STREAM_MAX_FRAME;
		if (reply_frame(out, exchange,
			part.len != 0 ? STREAM_BODY : STREAM_END, part) == -1) {
			(void)txn_full(s, out, "the queue of the answer");
			return;
		}
		buf_drain(&g->give, part.len);
		package_held -= part.len;
		if (txn_commit(s) == -1)
			return;
		if (part.len == 0) {
			txn_end(s);
			return;
		}
	}
}

/*
 * Begin the answer with its status and length; a HEAD gets neither length nor
 * body.
 */
static void
package_answer(struct stream *s, unsigned status, const char *type)
{
	struct txn *x = &s->x;
	struct package *g = x->package;
	uint8_t fixed[11] = {(uint8_t)status, (uint8_t)(status >> 8)};
	struct buf b, *out;

	if (g->head) {
		package_held -= g->give.len;
		buf_free(&g->give);
	} else {
		fixed[2] = 1;
		for (unsigned i = 0; i < 8; i++)
			fixed[3 + i] =
			    (uint8_t)((uint64_t)g->give.len >> (8 * i));
	}
	g->step = PACKAGE_GIVE;
	x->state = TXN_GIVE;
	x->reply.status = status;
	buf_init(&b, 512);
	buf_add(&b, fixed, sizeof(fixed));
	(void)provider_pack(&b, SPAN("content-type"), span_str(type));
	out = stream_begin(s);
	if (b.failed)
		(void)txn_full(s, &b, "the frame of the answer's head");
	else if (reply_frame(out, x->req.exchange, STREAM_HEAD, buf_span(&b)) ==
		 -1)
		(void)txn_full(s, out, "the queue of the answer");
	else if (txn_commit(s) == 0)
		package_give(s);
	buf_free(&b);
}

static void
package_log_filtered(const struct registry_filter *f)
{
	char reason[REGISTRY_MAX_REASON];

	for (unsigned i = 0; i < f->nrefused; i++) {
		registry_reason(f->rules, f->refused[i].verdict, f->package,
		    f->refused[i].version, reason, sizeof(reason));
		package_log(f->package, f->refused[i].version, false, reason,
		    "metadata");
	}
	snprintf(
	    reason, sizeof(reason), "%u listed, %u left out", f->kept, f->gone);
	package_log(f->package, "", true, reason, "metadata");
}

/*
 * Answer the client's request for metadata with the remaining versions, or a
 * refusal.
 */
static void
package_answer_filtered(struct stream *s, struct registry_filter *f)
{
	struct package *g = s->x.package;
	const struct registry_refused *last;

	if (g->form != REGISTRY_FORM_CRATES_CONFIG)
		package_log_filtered(f);
	if (f->kept == 0 && f->nrefused != 0) {
		last = &f->refused[f->nrefused - 1];
		package_refuse(s, last->verdict, last->version);
		return;
	}
	g->give = f->out;
	buf_init(&f->out, REGISTRY_MAX_DOC);
	package_held += g->give.len;
	package_answer(s, 200, registry_form_type(g->form));
}

/*
 * Metadata was filtered: remember the verdicts, then answer or go on to the
 * file.
 */
static void
package_filtered(struct stream *s, struct registry_filter *f)
{
	struct package *g = s->x.package;
	uint64_t now = loop_now(&keyd_env.w.loop);
	struct registry_verdict v = {.reason = REGISTRY_NO_INDEX};

	if (g->form != REGISTRY_FORM_CRATES_CONFIG) {
		package_cache_put(
		    g->path.package, f->entries, f->nentries, now);
		f->entries = NULL;
		f->nentries = 0;
	}
	if (g->step == PACKAGE_META) {
		package_answer_filtered(s, f);
		return;
	}
	(void)package_cache_get(g->path.package, g->path.id, now, &v);
	if (registry_allows(v))
		package_get_file(s, v);
	else
		package_refuse(s, v, g->path.version);
}

static int
package_run(struct package *g)
{
	struct registry_filter *f = &package_filter;

	f->rules = package_rules();
	f->package = g->path.package;
	f->form = g->form;
	f->now = (int64_t)(clock_wall_us() / 1000000);
	if (date_http(span_str(g->hold.modified), &f->modified) == -1)
		f->modified = 0;
	if (f->seed[0] == 0 &&
	    RAND_bytes((uint8_t *)f->seed, sizeof(f->seed)) != 1) {
		f->why = "no random bytes";
		return -1;
	}
	return registry_filter(f, buf_span(&g->hold.buf));
}

/*
 * The answer is complete. Returns true if it was for keyd and the transaction
 * goes on; if `again`, its connection may be reused.
 */
static bool
package_done(struct stream *s, bool again)
{
	struct registry_filter *f = &package_filter;
	struct txn *x = &s->x;
	struct package *g = x->package;
	struct registry_verdict none = {.reason = REGISTRY_NO_INDEX};
	unsigned status = x->reply.status;
	int good = -1;

	if (g == NULL || x->reply.hold == NULL)
		return false;
	if (g->step == PACKAGE_CHECK)
		budget_end(x->sent, x->reply.received);
	txn_reset(s, again);
	if (status == 200)
		good = package_run(g);
	package_held -= g->hold.buf.len;
	buf_free(&g->hold.buf);
	if (good == 0) {
		package_filtered(s, f);
		registry_filter_free(f);
	} else if (g->step == PACKAGE_CHECK) {
		package_refuse(s, none, g->path.version);
	} else if (status == 404 || status == 410) {
		package_answer(s, status, "application/json");
	} else {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_METADATA,
		    status == 200 ? f->why : "metadata's status is not 200");
	}
	return true;
}

static void
package_release(struct stream *s)
{
	struct txn *x = &s->x;
	struct package *g = x->package;

	if (g == NULL)
		return;
	package_held -= g->hold.buf.len + g->give.len;
	buf_free(&g->headers);
	buf_free(&g->hold.buf);
	buf_free(&g->give);
	free(g);
	x->package = NULL;
}

static const char *
package_refusal(const struct stream *s)
{
	const struct package *g = s->x.package;

	return g != NULL ? g->text : "";
}

const struct txn_kind package_kind = {
    .begin = package_begin,
    .head = package_head,
    .answered = package_done,
    .writable = package_give,
    .refusal = package_refusal,
    .release = package_release,
};
