/* SPDX-License-Identifier: ISC */
#include "auto/said.h"

#include <string.h>

#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "core/sup.h"

static struct {
	uint8_t text[PROTO_MAX_SAID];
	size_t len; /* 0: there is no message */
	uint64_t at;
} said;

bool
said_plain(struct span s)
{
	/* Only newline and tab. */
	for (size_t i = 0; i < s.len; i++)
		if ((s.p[i] < 0x20 && s.p[i] != '\n' && s.p[i] != '\t') ||
		    s.p[i] == 0x7f)
			return false;
	return utf8_valid(s);
}

void
said_take(struct span s, bool typed)
{
	explicit_bzero(&said, sizeof(said));
	if (!typed || s.len == 0 || s.len > sizeof(said.text) ||
	    !said_plain(s))
		return;
	memcpy(said.text, s.p, s.len);
	said.len = s.len;
	said.at = loop_now(&sup.loop);
}

struct span
said_now(void)
{
	if (said.len == 0 || loop_now(&sup.loop) - said.at > SAID_MS)
		return span_of(NULL, 0);
	return span_of(said.text, said.len);
}
