/* SPDX-License-Identifier: ISC */
/*
 * Images in a prompt of the editor. Each becomes a file that the sandbox can
 * read, as `icctl paste` makes it, and its path follows it in the prompt: a
 * model sees an image, but the agent's tools need a file. Until all images have
 * one, the prompt waits, and with it all that the editor sends. Nothing here
 * looks into an image.
 */
#include "workers/acpd/acp_priv.h"

#include <stdio.h>
#include <string.h>

#include "common/http/base64.h"
#include "relay/inbox.h"

static bool
inbox_is_image(const struct value *v)
{
	return v->type == VALUE_OBJECT &&
	       span_is(value_str(v, "type"), "image") &&
	       value_str(v, "data").len != 0;
}

/* Returns image `n` of the prompt, or NULL. */
static const struct value *
inbox_image(const struct value *params, unsigned n)
{
	const struct value *list = value_get(params, "prompt");

	if (list == NULL || list->type != VALUE_ARRAY)
		return NULL;
	for (const struct value *v = list->child; v != NULL; v = v->next)
		if (inbox_is_image(v) && n-- == 0)
			return v;
	return NULL;
}

bool
acp_waits(const struct acp *a)
{
	return a->inbox.waits;
}

bool
acp_inbox_keep(struct acp *a, struct span line, const struct value *params)
{
	struct acp_inbox *in = &a->inbox;

	if (in->over)
		return false;
	in->n = in->all = 0;
	while (in->all < ACP_IMAGES && inbox_image(params, in->all) != NULL)
		in->all++;
	if (in->all == 0)
		return false;
	buf_addspan(&in->line, line);
	if (buf_check(&in->line) == 0)
		in->waits = true;
	else
		buf_free(&in->line);
	return in->waits;
}

/* Ask for the file of image `n`. Returns 0, or -1 if it will have none. */
static int
inbox_ask(struct acp *a, unsigned n)
{
	const struct value *v = NULL;
	struct jsonrpc m;
	struct span data;
	ssize_t len = -1;
	uint8_t *p;
	int rv = -1;

	jsonrpc_read(a->pool, buf_span(&a->inbox.line), &m);
	if (m.kind == JSONRPC_REQUEST)
		v = inbox_image(m.params, n);
	if (v != NULL) {
		data = value_str(v, "data");
		if ((p = value_pool_alloc(a->pool, data.len)) != NULL)
			len = base64_take(p, data);
		if (len > 0)
			rv = a->ops->show(a, span_of(p, (size_t)len));
	}
	value_pool_reset(a->pool);
	return rv;
}

bool
acp_inbox_ready(struct acp *a)
{
	struct acp_inbox *in = &a->inbox;

	while (in->waits && in->n < in->all) {
		if (inbox_ask(a, in->n) == 0)
			return false;
		in->names[in->n++][0] = '\0';
	}
	in->over = in->waits;
	in->waits = false;
	return in->over;
}

void
acp_inbox_sent(struct acp *a)
{
	a->inbox.over = false;
	buf_free(&a->inbox.line);
}

void
acp_inbox_shown(struct acp *a, struct span name)
{
	struct acp_inbox *in = &a->inbox;
	char *to = in->names[in->n];

	/* icctl may be broken: no other path than one of the inbox. */
	if (span_copy(name, to, sizeof(in->names[0])) == -1 ||
	    to[strspn(to, INBOX_NAME)] != '\0')
		to[0] = '\0';
	in->n++;
}

/* Make the block that names the file. */
static struct value *
inbox_block(struct acp *a, const char *name)
{
	struct value *o = value_new(a->pool, VALUE_OBJECT);
	char text[160];
	uint8_t *p;
	size_t n;

	n = (size_t)snprintf(text, sizeof(text),
	    "[IronCurtain: your tools can read this image as " INBOX_DIR
	    "%s]",
	    name);
	if (o == NULL || (p = value_pool_alloc(a->pool, n)) == NULL)
		return NULL;
	memcpy(p, text, n);
	if (acp_put(a, o, "type", SPAN("text")) == -1 ||
	    acp_put(a, o, "text", span_of(p, n)) == -1)
		return NULL;
	return o;
}

int
acp_inbox_name(struct acp *a, struct value *params)
{
	struct value *list = params->child, *next, *v;
	unsigned n = 0;
	bool named;

	while (list != NULL && !span_is(list->key, "prompt"))
		list = list->next;
	if (!a->inbox.over || list == NULL || list->type != VALUE_ARRAY)
		return 0;
	v = list->child;
	list->child = list->last = NULL;
	list->count = 0;
	for (; v != NULL; v = next) {
		next = v->next;
		named = inbox_is_image(v) && n < a->inbox.all &&
			a->inbox.names[n++][0] != '\0';
		if (value_append(list, v) == -1 ||
		    (named && value_append(list,
				  inbox_block(a, a->inbox.names[n - 1])) == -1))
			return -1;
	}
	return 0;
}
