/* SPDX-License-Identifier: ISC */
/*
 * The part of a server's output that concerns its session, which policyd
 * drives: answers to "initialize" (id "i"), to "tools/list" (id "t" and a
 * number) and, from icgit, to "remotes" (id "r" and a number); requests of the
 * server; and notifications that its list changed.  The last two are
 * rate-limited here, because each makes work for others.
 */
#include "backd/backd.h"

#include "common/log.h"

#define SHOWN 400
#define MAX_URLS ((size_t)32768)

static void
init_result(struct backd *b, const struct jsonrpc *m)
{
	struct msg_INIT_RESULT out = {.version = SPAN("")};
	struct span version, name = m->message;
	const struct value *tools;
	char text[SHOWN];

	if (m->kind == JSONRPC_RESULT) {
		version = value_str(m->result, "protocolVersion");
		tools =
		    value_get(value_get(m->result, "capabilities"), "tools");
		name = value_str(value_get(m->result, "serverInfo"), "name");
		if (version.p == NULL || version.len > 32 ||
		    memchr(version.p, '\0', version.len) != NULL) {
			name = SPAN("its answer names no protocolVersion");
		} else {
			out.good = 1;
			out.tools =
			    tools != NULL && tools->type == VALUE_OBJECT;
			out.version = version;
		}
	}
	if (name.p == NULL)
		name = SPAN("");
	out.text = span_str(log_vis(name, text, sizeof(text)));
	worker_send(&b->w, ROLE_POLICY, 0, MSG_INIT_RESULT, &out, -1);
}

/* Read a page of tools into b->tree and `out`.  Returns NULL, or the error. */
static const char *
read_page(struct backd *b, const struct jsonrpc *m, struct msg_TOOLS_PAGE *out)
{
	const struct value *tools, *cursor;

	if (m->kind != JSONRPC_RESULT)
		return "the server answers with an error";
	tools = value_get(m->result, "tools");
	cursor = value_get(m->result, "nextCursor");
	if (tools == NULL || tools->type != VALUE_ARRAY)
		return "tools is no array";
	if (cursor != NULL && cursor->type != VALUE_NULL) {
		if (cursor->type != VALUE_STRING || cursor->text.len > 4096 ||
		    memchr(cursor->text.p, '\0', cursor->text.len) != NULL)
			return "nextCursor is no string of at most 4096 bytes";
		out->cursor = cursor->text;
	}
	if (value_encode(tools, &b->tree) == -1)
		return "it is too large";
	return NULL;
}

static void
tools_page(struct backd *b, const struct jsonrpc *m, uint32_t seq)
{
	struct msg_TOOLS_PAGE out = {.seq = seq, .cursor = SPAN("")};
	const char *why;

	buf_reset(&b->tree, 2 * LINES_READ);
	if ((why = read_page(b, m, &out)) == NULL) {
		out.good = 1;
	} else {
		log_info("tools/list: refused, %s", why);
		buf_reset(&b->tree, 2 * LINES_READ);
		out.cursor = SPAN("");
		if (value_encode(value_new(b->pool, VALUE_ARRAY), &b->tree) ==
		    -1)
			fatal("value_encode");
	}
	out.tree = buf_span(&b->tree);
	worker_send(&b->w, ROLE_POLICY, 0, MSG_TOOLS_PAGE, &out, -1);
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
			out.text = span_str(log_vis(said, text, 256));
	}
	worker_send(&b->w, ROLE_POLICY, 0, MSG_REMOTES, &out, -1);
}

void
session_answer(struct backd *b, const struct jsonrpc *m)
{
	struct span id = m->rid->text;
	uint64_t seq;

	/*
	 * policyd knows how many answers it expects, but each one costs it
	 * time.
	 */
	if (!backd_may(b, &b->answers))
		backd_pause(b, b->answers.ms);
	if (span_is(id, "i"))
		init_result(b, m);
	else if (id.len > 1 && id.p[0] == 't' &&
		 span_u64(span_of(id.p + 1, id.len - 1), UINT32_MAX, &seq) == 0)
		tools_page(b, m, (uint32_t)seq);
	else if (id.len > 1 && id.p[0] == 'r' &&
		 span_u64(span_of(id.p + 1, id.len - 1), UINT32_MAX, &seq) == 0)
		remotes(b, m, (uint32_t)seq);
	else
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
	else
		worker_send(
		    &b->w, ROLE_POLICY, 0, MSG_SERVER_REQUEST, &out, -1);
}

static void
relist(struct loop_timer *t)
{
	session_changed(t->arg);
}

/*
 * If it changes too often, report the last change later: it must not be lost.
 */
void
session_changed(struct backd *b)
{
	const struct msg_LIST_CHANGED m = {0};

	if (b->relist.at != 0)
		return;
	if (backd_may(b, &b->changes))
		worker_send(&b->w, ROLE_POLICY, 0, MSG_LIST_CHANGED, &m, -1);
	else
		loop_timer_set(
		    &b->w.loop, &b->relist, b->changes.ms, relist, b);
}
