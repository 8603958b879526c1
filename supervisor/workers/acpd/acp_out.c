/* SPDX-License-Identifier: ISC */
/* Composes the lines for the agent, and answers of the relay itself. */
#include "workers/acpd/acp_priv.h"

#include <stdarg.h>
#include <stdio.h>

/* Give the composed line to its owner; without its newline, if it has one. */
static void
out_line(struct acp *a)
{
	struct span s = buf_span(&a->line);

	if (s.len != 0 && s.p[s.len - 1] == '\n')
		s.len--;
	if (buf_check(&a->line) == 0)
		a->ops->to_agent(a, s);
	else
		acp_note(a, false, "a message for the agent is too long, and "
				   "is not passed on");
	buf_reset(&a->line, ACP_KEEP);
}

void
acp_to_agent(struct acp *a, uint64_t n, struct span method,
    const struct value *params)
{
	buf_addspan(&a->line, SPAN("{\"jsonrpc\":\"2.0\""));
	if (n != 0) {
		buf_addspan(&a->line, SPAN(",\"id\":"));
		buf_addu64(&a->line, n);
	}
	buf_addspan(&a->line, SPAN(",\"method\":"));
	(void)json_write_string(&a->line, method);
	buf_addspan(&a->line, SPAN(",\"params\":"));
	(void)json_write(&a->line, params);
	buf_addc(&a->line, '}');
	out_line(a);
}

void
acp_agent_result(
    struct acp *a, const struct jsonrpc_id *id, const struct value *result)
{
	(void)jsonrpc_add_head(&a->line, id);
	(void)json_write(&a->line, result);
	(void)jsonrpc_add_tail(&a->line);
	out_line(a);
}

void
acp_agent_error(
    struct acp *a, const struct jsonrpc_id *id, int64_t code, const char *text)
{
	if (id->len == 0)
		return;
	(void)jsonrpc_add_error(&a->line, id, code, span_str(text));
	out_line(a);
}

void
acp_to_editor(struct acp *a, enum proto_acp kind, uint64_t n,
    const struct jsonrpc_id *id, struct value *tree)
{
	if (a->ops->to_editor(a, kind, n, id, tree) == 0)
		return;
	acp_note(a, true,
	    "a message for the editor is too large, and is not passed on");
	if (kind == PROTO_ACP_RESULT)
		acp_editor_error(a, id, JSONRPC_LIMIT,
		    "the agent's answer is too large");
}

void
acp_editor_error(
    struct acp *a, const struct jsonrpc_id *id, int64_t code, const char *text)
{
	struct value *e = value_new(a->pool, VALUE_OBJECT);

	if (e != NULL && acp_put_number(a, e, "code", code) == 0 &&
	    acp_put(a, e, "message", span_str(text)) == 0)
		acp_to_editor(a, PROTO_ACP_ERROR, 0, id, e);
}

void
acp_note(struct acp *a, bool agent, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	int n;

	if (a->notes[agent] >= ACP_MAX_NOTES)
		return;
	a->notes[agent]++;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(text) &&
	    a->notes[agent] == ACP_MAX_NOTES)
		(void)snprintf(text + n, sizeof(text) - (size_t)n,
		    " (further messages of this kind are not shown)");
	a->ops->note(a, text);
}
