/* SPDX-License-Identifier: ISC */
/*
 * The instructions in the result of `initialize`: a text of icsupervisor's
 * about the session, and policyd's about its tools.
 */
#include "proxy.h"

#include "common/json/json.h"

static void
compose(struct proxy *p)
{
	struct buf b;

	buf_reset(&p->instructions, PROXY_MAX_INSTRUCTIONS);
	if (!p->oriented)
		return;
	buf_init(&b, PROTO_MAX_ORIENT + PROTO_MAX_TOLD + 1);
	buf_addspan(&b, buf_span(&p->orientation));
	if (b.len != 0 && p->told.len != 0)
		buf_addc(&b, '\n');
	buf_addspan(&b, buf_span(&p->told));
	if (b.len != 0)
		(void)json_write_string(&p->instructions, buf_span(&b));
	if (b.failed || p->instructions.failed)
		buf_reset(&p->instructions, 0);
	buf_free(&b);
}

int
instructions_set(struct proxy *p, struct span text)
{
	if (p->oriented || !utf8_valid(text))
		return -1;
	p->oriented = true;
	buf_addspan(&p->orientation, text);
	compose(p);
	return 0;
}

int
instructions_tools(struct proxy *p, struct span text)
{
	if (!utf8_valid(text))
		return -1;
	buf_reset(&p->told, PROTO_MAX_TOLD);
	buf_addspan(&p->told, text);
	compose(p);
	return 0;
}
