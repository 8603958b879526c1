/* SPDX-License-Identifier: ISC */
/* Messages of a PostgreSQL server; see message.h. They may be hostile. */
#include "pgkeyd/message.h"

#include <stdio.h>

#include "common/log.h"
#include "wire/pg.h"

size_t
message_size(const uint8_t head[MESSAGE_HEAD])
{
	/* Before the login, of it, and of the answer about roles. */
	static const char types[] = "RENSKZTDC";
	const uint32_t len = pg_u32(head + 1);

	if (head[0] == 0 || strchr(types, head[0]) == NULL || len < 4 ||
	    len > MESSAGE_MAX - 1)
		return 0;
	return len + 1;
}

int
message_auth(struct span body, uint32_t *auth, struct span *rest)
{
	if (body.len < 4)
		return -1;
	*auth = pg_u32(body.p);
	*rest = span_of(body.p + 4, body.len - 4);
	return 0;
}

bool
message_has_mechanism(struct span list, const char *name)
{
	struct span one;
	bool has = false;

	while (pg_take_text(&list, &one) && one.len != 0)
		has = has || span_is(one, name);
	return has;
}

/* Returns the field of this kind of an ErrorResponse, or an empty span. */
static struct span
message_field(struct span body, uint8_t kind)
{
	struct span text;
	uint8_t type;

	while (body.len > 1 && body.p[0] != 0) {
		type = body.p[0];
		body = span_of(body.p + 1, body.len - 1);
		if (!pg_take_text(&body, &text))
			break;
		if (type == kind)
			return text;
	}
	return span_of(NULL, 0);
}

const char *
message_error(struct span body, char dst[MESSAGE_TEXT])
{
	char text[240], code[24];

	log_vis(message_field(body, 'M'), text, sizeof(text));
	log_vis(message_field(body, 'C'), code, sizeof(code));
	snprintf(dst, MESSAGE_TEXT, "%s (%s)",
	    text[0] != '\0' ? text : "an error without a text", code);
	return dst;
}

bool
message_has_code(struct span body, const char *code)
{
	return span_is(message_field(body, 'C'), code);
}

int
message_parameter(struct span body, struct span *name, struct span *value)
{
	return pg_take_text(&body, name) && pg_take_text(&body, value) &&
		       body.len == 0 && name->len != 0
		   ? 0
		   : -1;
}

int
message_column(struct span body, struct span *text)
{
	uint32_t len;

	if (body.len < 6 || body.p[0] != 0 || body.p[1] != 1)
		return -1;
	len = pg_u32(body.p + 2);
	if (len != body.len - 6)
		return -1;
	*text = span_of(body.p + 6, len);
	return 0;
}
