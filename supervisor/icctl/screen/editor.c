/* SPDX-License-Identifier: ISC */
/*
 * The lines that an editor reads. acpd reads the agent's, so it may be broken;
 * an editor runs what an agent asks it to. So the lines are composed here, from
 * value trees, and there are no others than these: an update, a permission
 * request, a cancellation of one, and answers to the editor.
 */
#include "icctl/screen/viewer.h"

#include <unistd.h>

#include "common/json/json.h"
#include "common/log.h"

#define EDITOR_POOL ((size_t)32 << 20)

/*
 * Returns true if an object in the tree has a member "_meta", with which agents
 * and editors agree on more than the protocol says.
 */
static bool
editor_has_meta(const struct value *v)
{
	for (const struct value *e = v->child; e != NULL; e = e->next)
		if ((v->type == VALUE_OBJECT && span_is(e->key, "_meta")) ||
		    editor_has_meta(e))
			return true;
	return false;
}

/*
 * Returns true for ways to log in: an editor would run programs for some of
 * them. The agent has its credentials from IronCurtain.
 */
static bool
editor_has_login(const struct value *body)
{
	const struct value *v = value_get(body, "authMethods");

	return v != NULL && v->child != NULL;
}

/* Append the members that come before the body. */
static int
editor_head(struct buf *b, const struct msg_ACP_OUT *m, const struct value *id)
{
	buf_addspan(b, SPAN("{\"jsonrpc\":\"2.0\""));
	switch ((enum proto_acp)m->kind) {
	case PROTO_ACP_UPDATE:
		buf_addspan(b, SPAN(",\"method\":\"session/update\","
				    "\"params\":"));
		return id != NULL ? -1 : 0;
	case PROTO_ACP_PERMISSION:
		buf_addspan(b, SPAN(",\"id\":"));
		buf_addu64(b, m->n);
		buf_addspan(b, SPAN(",\"method\":\"session/"
				    "request_permission\",\"params\":"));
		return id != NULL ? -1 : 0;
	case PROTO_ACP_CANCEL:
		buf_addspan(b, SPAN(",\"method\":\"$/cancel_request\","
				    "\"params\":"));
		return id != NULL ? -1 : 0;
	case PROTO_ACP_RESULT:
	case PROTO_ACP_ERROR:
		break;
	}
	buf_addspan(b, SPAN(",\"id\":"));
	if (id == NULL)
		buf_addspan(b, SPAN("null"));
	else if (id->type != VALUE_NUMBER && id->type != VALUE_STRING)
		return -1;
	else
		(void)json_write(b, id);
	buf_adds(b, m->kind == PROTO_ACP_RESULT ? ",\"result\":"
						: ",\"error\":");
	return 0;
}

static int
editor_compose(struct buf *b, struct value_pool *pool,
    const struct msg_ACP_OUT *m)
{
	const struct value *root = value_decode(pool, m->tree);
	const struct value *body = value_get(root, "body");

	if (body == NULL || body->type != VALUE_OBJECT ||
	    editor_has_meta(body) || editor_has_login(body) ||
	    editor_head(b, m, value_get(root, "id")) == -1)
		return -1;
	if (m->kind == PROTO_ACP_CANCEL) {
		buf_addspan(b, SPAN("{\"requestId\":"));
		buf_addu64(b, m->n);
		buf_addc(b, '}');
	} else {
		(void)json_write(b, body);
	}
	buf_addspan(b, SPAN("}\n"));
	return buf_check(b);
}

int
editor_line(const struct msg_ACP_OUT *m)
{
	struct value_pool *pool = value_pool_new(EDITOR_POOL);
	struct buf b;
	int rv;

	if (pool == NULL)
		fatal("memory");
	/* An escaped control character is six times as long. */
	buf_init(&b, 6 * (size_t)PROTO_MAX_TREE + 1024);
	rv = editor_compose(&b, pool, m);
	if (rv == 0)
		plain_write(0, buf_span(&b));
	buf_free(&b);
	value_pool_free(pool);
	return rv;
}

int
editor_said(struct span s)
{
	char text[16384];
	struct span line;

	while (span_line(&s, &line)) {
		/* The worker has made it printable; a terminal needs proof. */
		if (isatty(STDERR_FILENO)) {
			log_vis_again(line, text, sizeof(text));
			line = span_str(text);
		}
		plain_write(1, line);
		plain_write(1, SPAN("\n"));
	}
	return 0;
}
