/* SPDX-License-Identifier: ISC */
/*
 * The part of a server's output that concerns its session, which policyd
 * drives: answers to "initialize" (id "i"), to "server/discover" (id "d"), to
 * "tools/list" (id "t" and a number) and, from icgit, to "remotes" (id "r" and
 * a number); the end of a subscription (id "n" and a number); requests of the
 * server; and notifications that its list changed.  The last two are
 * rate-limited here, because each makes work for others.
 */
#include "backd/backd.h"

#include <stdio.h>

#include "common/log.h"

#define SHOWN 400
#define MAX_URLS ((size_t)32768)

static void
init_result(struct backd *b, const struct jsonrpc *m)
{
	struct msg_INIT_RESULT out = {
	    .version = SPAN(""), .instructions = SPAN("")};
	struct span version, name = m->message;
	const struct value *tools, *capabilities;
	char text[SHOWN];

	if (m->kind == JSONRPC_RESULT) {
		version = value_str(m->result, "protocolVersion");
		capabilities = value_get(m->result, "capabilities");
		tools = value_get(capabilities, "tools");
		name = value_str(value_get(m->result, "serverInfo"), "name");
		if (version.p == NULL || version.len > 32 ||
		    memchr(version.p, '\0', version.len) != NULL) {
			name = SPAN("its answer names no protocolVersion");
		} else {
			out.good = 1;
			out.tools =
			    tools != NULL && tools->type == VALUE_OBJECT;
			out.parts = discover_parts(capabilities);
			out.version = version;
			out.instructions =
			    backd_cut(value_str(m->result, "instructions"),
				PROTO_MAX_WORDS);
		}
	}
	if (!out.good)
		out.tools = b->again;
	else
		b->old = !b->modern;
	b->again = false;
	if (name.p == NULL)
		name = SPAN("");
	backd_show(b, name, text, SHOWN / 2);
	if (value_get(m->data, "supported") != NULL) {
		strlcat(text, ". ", sizeof(text));
		discover_supported(
		    value_get(m->data, "supported"), text, sizeof(text));
	}
	out.text = span_str(text);
	worker_send(&b->w, ROLE_POLICY, 0, MSG_INIT_RESULT, &out, -1);
}

/*
 * Read a page of the list `name` into b->tree, and where it goes on.  Returns
 * NULL, or the error.
 */
static const char *
read_page(struct backd *b, const struct jsonrpc *m, const char *name,
    struct span *cursor)
{
	const struct span type = value_str(m->result, "resultType");
	const struct value *array, *next;

	if (m->kind != JSONRPC_RESULT)
		return "the server answers with an error";
	if (type.p != NULL && !span_is(type, "complete"))
		return "the server asks a question instead";
	array = value_get(m->result, name);
	next = value_get(m->result, "nextCursor");
	if (array == NULL || array->type != VALUE_ARRAY)
		return "the list is no array";
	if (next != NULL && next->type != VALUE_NULL) {
		if (next->type != VALUE_STRING || next->text.len > 4096 ||
		    memchr(next->text.p, '\0', next->text.len) != NULL)
			return "nextCursor is no string of at most 4096 bytes";
		*cursor = next->text;
	}
	if (value_encode(array, &b->tree) == -1)
		return "it is too large";
	return NULL;
}

/* Returns the time for which the server vouches for a list, in ms. */
static uint32_t
page_ttl(const struct jsonrpc *m)
{
	int64_t ms;

	if (value_int(value_get(m->result, "ttlMs"), 0, INT64_MAX, &ms) == -1)
		return 0;
	return ms < PROTO_MAX_TTL ? (uint32_t)ms : PROTO_MAX_TTL;
}

/* Read a page as read_page() does; an empty one if it is refused. */
static bool
list_page(struct backd *b, const struct jsonrpc *m, const char *name,
    struct span *cursor)
{
	const char *why;

	buf_reset(&b->tree, 2 * LINES_READ);
	if ((why = read_page(b, m, name, cursor)) == NULL)
		return true;
	log_info("list of %s: refused, %s", name, why);
	buf_reset(&b->tree, 2 * LINES_READ);
	*cursor = SPAN("");
	if (value_encode(value_new(b->pool, VALUE_ARRAY), &b->tree) == -1)
		fatal("value_encode");
	return false;
}

static void
tools_page(struct backd *b, const struct jsonrpc *m, uint32_t seq)
{
	struct msg_TOOLS_PAGE out = {.seq = seq, .cursor = SPAN("")};

	out.good = list_page(b, m, "tools", &out.cursor);
	out.ttl = page_ttl(m);
	out.tree = buf_span(&b->tree);
	worker_send(&b->w, ROLE_POLICY, 0, MSG_TOOLS_PAGE, &out, -1);
}

/* A page of another list: the letter of its id says of which. */
static void
parts_page(
    struct backd *b, const struct jsonrpc *m, uint8_t letter, uint32_t seq)
{
	struct msg_PARTS_PAGE out = {.seq = seq, .cursor = SPAN("")};

	out.list = letter == 's'   ? PROTO_LIST_RESOURCES
		   : letter == 'm' ? PROTO_LIST_TEMPLATES
				   : PROTO_LIST_PROMPTS;
	out.good = list_page(b, m,
	    letter == 's'   ? "resources"
	    : letter == 'm' ? "resourceTemplates"
			    : "prompts",
	    &out.cursor);
	out.ttl = page_ttl(m);
	out.tree = buf_span(&b->tree);
	worker_send(&b->w, ROLE_POLICY, 0, MSG_PARTS_PAGE, &out, -1);
}

/* Read the URLs into b->tree, one per line.  Returns NULL, or the error. */
static const char *
read_urls(struct backd *b, const struct jsonrpc *m)
{
	const struct value *urls, *v;

	if (m->kind != JSONRPC_RESULT)
		return "an error instead of an answer";
	urls = value_get(value_get(m->result, "structuredContent"), "urls");
	if (urls == NULL || urls->type != VALUE_ARRAY)
		return "no URLs are named";
	for (v = urls->child; v != NULL; v = v->next) {
		if (v->type != VALUE_STRING || v->text.len == 0)
			return "a URL is no text";
		for (size_t i = 0; i < v->text.len; i++) {
			if (v->text.p[i] < 0x20 || v->text.p[i] == 0x7f)
				return "a URL holds a control character";
		}
		if (b->tree.len + v->text.len >= MAX_URLS)
			return "URLs are too long";
		buf_addspan(&b->tree, v->text);
		buf_addc(&b->tree, '\n');
	}
	return b->tree.len == 0 ? "no URLs are named" : NULL;
}

static void
remotes(struct backd *b, const struct jsonrpc *m, uint32_t seq)
{
	const struct value *content = value_get(m->result, "content");
	struct msg_REMOTES out = {.seq = seq, .urls = SPAN("")};
	char text[SHOWN];
	struct span said;
	const char *why;

	buf_reset(&b->tree, 2 * LINES_READ);
	why = read_urls(b, m);
	out.good = why == NULL;
	out.text = span_str(why == NULL ? "" : why);
	if (out.good) {
		out.urls = buf_span(&b->tree);
	} else if (content != NULL && content->type == VALUE_ARRAY &&
		   content->child != NULL) {
		said = value_str(content->child, "text");
		if (said.p != NULL && said.len <= 256)
			out.text = span_str(backd_show(b, said, text, 256));
	}
	worker_send(&b->w, ROLE_POLICY, 0, MSG_REMOTES, &out, -1);
}

static void
listen_end(struct backd *b, uint32_t seq, uint64_t call)
{
	const struct msg_LISTEN_END out = {.seq = seq, .call = call};

	worker_send(&b->w, ROLE_POLICY, 0, MSG_LISTEN_END, &out, -1);
}

bool
session_ended(struct backd *b, uint64_t id)
{
	for (unsigned i = 0; i < BACKD_OPEN; i++) {
		if (b->open[i] != id)
			continue;
		b->open[i] = 0;
		listen_end(b, 0, id);
		return true;
	}
	return false;
}

void
session_cancelled(struct backd *b, const struct jsonrpc *m)
{
	const struct value *id = value_get(m->params, "requestId");
	uint64_t seq;
	int64_t n;

	if (value_int(id, 1, INT64_MAX, &n) == 0 &&
	    session_ended(b, (uint64_t)n))
		return;
	if (id != NULL && id->type == VALUE_STRING && id->text.len > 1 &&
	    id->text.p[0] == 'n' &&
	    span_u64(span_of(id->text.p + 1, id->text.len - 1), UINT32_MAX,
		&seq) == 0 &&
	    backd_may(b, &b->answers))
		listen_end(b, (uint32_t)seq, 0);
	else
		backd_drop(b, "a cancellation of nothing that is open");
}

void
session_answer(struct backd *b, const struct jsonrpc *m)
{
	struct span id = m->rid->text;
	uint64_t seq = 0;
	uint8_t letter = id.len > 1 ? id.p[0] : 0;

	if (letter != 0 &&
	    span_u64(span_of(id.p + 1, id.len - 1), UINT32_MAX, &seq) == -1)
		letter = 0;

	/*
	 * policyd knows how many answers it expects, but each one costs it
	 * time.
	 */
	if (!backd_may(b, &b->answers))
		backd_pause(b, b->answers.ms);
	if (span_is(id, "i"))
		init_result(b, m);
	else if (span_is(id, "d"))
		discover_answer(b, m);
	else if (letter == 'n' && m->kind == JSONRPC_ERROR && m->error != 0)
		backd_drop(b, "a refusal to tell of changes");
	else if (letter == 'n')
		listen_end(b, (uint32_t)seq, 0);
	else if (letter == 't')
		tools_page(b, m, (uint32_t)seq);
	else if (letter == 'r')
		remotes(b, m, (uint32_t)seq);
	else if (letter == 's' || letter == 'm' || letter == 'p')
		parts_page(b, m, letter, (uint32_t)seq);
	else if (!span_is(id, "l") && !span_is(id, "u"))
		/* Nobody waits for logging/setLevel and resources/subscribe. */
		backd_drop(b, "an answer to nothing we asked");
}

void
session_request(struct backd *b, const struct jsonrpc *m)
{
	struct msg_SERVER_REQUEST out;

	out.string = m->rid->type == VALUE_STRING;
	out.rid = m->rid->text;
	out.method = m->method;
	if (out.rid.len > 256 || m->method.len > 128 ||
	    memchr(out.rid.p, '\0', out.rid.len) != NULL ||
	    memchr(out.method.p, '\0', out.method.len) != NULL)
		backd_drop(b, "a request with an odd id or method");
	else if (!backd_may(b, &b->requests))
		backd_drop(b, "a request, too often");
	else if (!b->modern && span_is(m->method, "elicitation/create"))
		backd_ask_request(b, m);
	else
		worker_send(
		    &b->w, ROLE_POLICY, 0, MSG_SERVER_REQUEST, &out, -1);
}

/* A resource has changed, says the server. One that is dropped comes again. */
void
session_updated(struct backd *b, const struct jsonrpc *m)
{
	struct msg_UPDATED out = {.uri = value_str(m->params, "uri")};

	if (out.uri.p == NULL || out.uri.len == 0 || out.uri.len > 2048 ||
	    memchr(out.uri.p, '\0', out.uri.len) != NULL)
		backd_drop(b, "an update of a resource without an address");
	else if (!backd_may(b, &b->updates))
		backd_drop(b, "updates of resources, too often");
	else
		worker_send(&b->w, ROLE_PROXY, 0, MSG_UPDATED, &out, -1);
}

static void
relist(struct loop_timer *t)
{
	struct backd *b = t->arg;
	uint8_t changed = b->changed;

	b->changed = 0;
	for (unsigned i = 0; i <= PROTO_CHANGED_LAST; i++)
		if ((changed & 1U << i) != 0)
			session_changed(b, (enum proto_changed)i);
}

/*
 * If lists change too often, report the last change later: it must not be lost.
 */
void
session_changed(struct backd *b, enum proto_changed what)
{
	const struct msg_LIST_CHANGED m = {.what = (uint8_t)what};

	if (b->relist.at == 0 && backd_may(b, &b->changes)) {
		worker_send(&b->w, ROLE_POLICY, 0, MSG_LIST_CHANGED, &m, -1);
		return;
	}
	b->changed |= (uint8_t)(1U << what);
	if (b->relist.at == 0)
		loop_timer_set(
		    &b->w.loop, &b->relist, b->changes.ms, relist, b);
}
