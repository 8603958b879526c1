/* SPDX-License-Identifier: ISC */
/*
 * Checks requests to forges and says what they do. The tree comes from a mitmd
 * that an agent may have broken, and what was found from a forge that may lie
 * about itself.
 */
#include "approval/forge_holds.h"

#include <stdlib.h>

#include "approval/request_holds.h"
#include "common/json/json.h"
#include "common/sha256.h"
#include "common/visible.h"
#include "policyd.h"

#define FORGE_FILE_POOL (256U << 10)
#define FORGE_ASK_POOL (2U << 20)
#define FORGE_SENDS (6U * FORGE_MAX_BODY) /* every byte as an escape */

int
forge_dest_take(
    struct policyd_env *env, const struct msg_PROVIDER *m, const char **why)
{
	static struct forge_fail fail;
	struct forge_dest *d;
	const struct value *file;
	struct json_fail bad;

	*why = "twice, or no memory";
	if (env->forges[m->index] != NULL ||
	    (d = calloc(1, sizeof(*d))) == NULL)
		return -1;
	env->forges[m->index] = d;
	if ((d->pool = value_pool_new(FORGE_FILE_POOL)) == NULL)
		return -1;
	*why = "not JSON";
	if ((file = json_read(d->pool, m->json, &bad)) == NULL)
		return -1;
	*why = fail.why;
	return forge_settings_read(d->pool, file, &d->settings, &fail);
}

void
forge_dests_free(struct policyd_env *env)
{
	for (unsigned i = 0; i < PROTO_MAX_PROVIDERS; i++) {
		if (env->forges[i] == NULL)
			continue;
		value_pool_free(env->forges[i]->pool);
		free(env->forges[i]);
		env->forges[i] = NULL;
	}
}

void
forge_ask_free(struct ask *k)
{
	if (k->forge == NULL)
		return;
	value_pool_free(k->forge->pool);
	free(k->forge);
	k->forge = NULL;
}

/* Returns true if path and query are exactly the composed target. */
static bool
forge_same_target(const struct msg_REQUEST_ASK *m, struct span target)
{
	if (m->query.len == 0)
		return span_eq(m->path, target);
	return target.len == m->path.len + 1 + m->query.len &&
	       span_starts(target, m->path) && target.p[m->path.len] == '?' &&
	       span_eq(
		   span_of(target.p + m->path.len + 1, m->query.len), m->query);
}

/* Compare mitmd's request with the one that its tree makes. */
static const char *
forge_compare(const struct forge_dest *d, const struct msg_REQUEST_ASK *m,
    const struct forge_request *r)
{
	uint8_t digest[SHA256_SIZE];

	if (!span_eq(m->name, d->settings.name) ||
	    !span_eq(m->host_name, d->settings.host))
		return "a request to another destination than its number says";
	if (!span_is(m->method, r->method) ||
	    !forge_same_target(m, buf_span(&r->target)))
		return "a target that its tree does not make";
	sha256_span(buf_span(&r->body), digest);
	if (m->length != r->body.len ||
	    !span_eq(m->body, span_of(digest, sizeof(digest))))
		return "a body that its tree does not make";
	return NULL;
}

/* Make {"request": ..., "sends": text} of the preview. */
static int
forge_preview(struct ask *k, struct span body)
{
	struct buf b;

	buf_init(&b, k->preview.max + FORGE_SENDS);
	buf_adds(&b, "{\"request\":");
	buf_addspan(&b, buf_span(&k->preview));
	buf_adds(&b, ",\"sends\":");
	(void)json_write_string(&b, body);
	buf_addc(&b, '}');
	buf_free(&k->preview);
	k->preview = b;
	return b.failed ? -1 : 0;
}

int
forge_ask_make(struct policyd_env *env, struct ask *k, const char **why)
{
	const struct forge_dest *d = env->forges[k->msg.provider];
	const struct value *tree;
	struct forge_request out;
	struct forge_fail fail;
	struct forge_ask *f;

	*why = "no memory";
	if ((f = k->forge = calloc(1, sizeof(*f))) == NULL ||
	    (f->pool = value_pool_new(FORGE_ASK_POOL)) == NULL)
		return -1;
	*why = "a tree that is none";
	if ((tree = value_decode(f->pool, buf_span(&k->tree))) == NULL)
		return -1;
	*why = "a call that is not permitted";
	if (forge_check(&d->settings.grant, tree, &f->call, &fail) == -1 ||
	    d->settings.grant.word[f->call.class] == FORGE_DENY)
		return -1;
	forge_request_init(&out);
	*why = "a call that cannot be composed";
	if (forge_compose(&f->call, &out) == 0 &&
	    (*why = forge_compare(d, &k->msg, &out)) == NULL &&
	    forge_preview(k, buf_span(&out.body)) == -1)
		*why = "a call that cannot be shown";
	forge_request_free(&out);
	return *why == NULL ? 0 : -1;
}

bool
forge_ask_known(struct policyd_env *env, struct ask *k)
{
	const struct forge_ask *f = k->forge;

	for (size_t i = 0; i < f->call.nrefs; i++) {
		const struct forge_ref *r = &f->call.refs[i];
		struct msg_FORGE_LOOK m = {.provider = k->msg.provider,
		    .id = k->msg.id,
		    .n = (uint8_t)i,
		    .kind = (uint8_t)r->kind,
		    .is = r->is,
		    .ref = r->id,
		    .repository = r->repository};

		if (!f->known[i])
			env->send(env, ROLE_AUDIT, MSG_FORGE_LOOK, &m);
	}
	return f->nfound == f->call.nrefs;
}

int
forge_ask_found(
    struct ask *k, const struct msg_FORGE_FOUND_GO *m, const char **why)
{
	struct forge_ask *f = k->forge;
	const struct value *v;

	*why = "what was found is none of its references";
	if (f == NULL || m->n >= f->call.nrefs || f->known[m->n])
		return -1;
	*why = "it may not be used";
	if (m->found.len == 0)
		return -1;
	*why = "what was found makes no sense";
	/* The message is gone when its handler returns. */
	if ((v = value_decode(f->pool, m->found)) == NULL ||
	    (v = value_copy(f->pool, v)) == NULL ||
	    forge_found_read(
		f->call.grant, &f->call.refs[m->n], v, &f->found[m->n]) == -1)
		return -1;
	f->known[m->n] = true;
	f->nfound++;
	*why = NULL;
	return 0;
}

enum forge_word
forge_ask_word(const struct ask *k)
{
	return k->forge->call.grant->word[k->forge->call.class];
}

static void
forge_resource(
    struct buf *b, const char *argument, const char *role, struct span value)
{
	buf_adds(b, b->p[b->off + b->len - 1] == '[' ? "" : ",");
	buf_adds(b, "{\"argument\":");
	(void)json_write_string(b, span_str(argument));
	buf_adds(b, ",\"role\":");
	(void)json_write_string(b, span_str(role));
	buf_adds(b, ",\"value\":");
	(void)json_write_string(b, value);
	buf_addc(b, '}');
}

/* Add one resource for each line. */
static void
forge_lines(struct buf *b, const char *role, struct span text)
{
	const uint8_t *nl;
	struct span line;

	while (text.len != 0) {
		nl = memchr(text.p, '\n', text.len);
		line = span_of(
		    text.p, nl != NULL ? (size_t)(nl - text.p) : text.len);
		if (line.len != 0)
			forge_resource(b, role, role, line);
		if (nl == NULL)
			break;
		text = span_of(nl + 1, text.len - line.len - 1);
	}
}

int
forge_ask_details(struct details *d, const struct ask *k)
{
	const struct forge_call *c = &k->forge->call;
	struct span sentence, whole;
	struct forge_said said;
	int rv = -1;

	forge_said_init(&said);
	buf_init(&d->text, PROTO_MAX_HELD);
	if (forge_say(c, c->nrefs != 0 ? k->forge->found : NULL, &said) == -1)
		goto out;
	sentence = whole = buf_span(&said.sentence);
	if (whole.len >= sizeof(d->effect))
		sentence.len = visible_cut(whole, sizeof(d->effect) - 1);
	if (span_copy(sentence, d->effect, sizeof(d->effect)) == -1)
		goto out;
	d->args = k->preview.len;
	buf_addspan(&d->text, buf_span(&k->preview));
	buf_adds(&d->text, "{\"asks\":[],\"resources\":[");
	if (whole.len != sentence.len)
		forge_resource(&d->text, "sentence", "note", whole);
	forge_lines(&d->text, "note", buf_span(&said.notes));
	forge_lines(&d->text, "text", buf_span(&said.text));
	if (c->repository.p != NULL)
		forge_resource(
		    &d->text, "repository", "repository", c->repository);
	forge_resource(&d->text, "request", "url", span_str(k->tool));
	buf_adds(&d->text, "]}");
	rv = buf_check(&d->text);
out:
	if (rv == -1)
		buf_free(&d->text);
	forge_said_free(&said);
	return rv;
}
