/* SPDX-License-Identifier: ISC */
/*
 * Requests and decisions as text. Requests come from anywhere: a log, a
 * generator, another program.
 */
#include "icctl/policy/policy.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"
#include "common/log.h"

static const char *
take_name(const struct value *v, const char *key, struct span *out)
{
	*out = value_str(v, key);
	if (out->p == NULL)
		return "serverName and toolName must be strings";
	if (out->len > 256)
		return "serverName and toolName take at most 256 bytes";
	if (out->len != 0 && memchr(out->p, '\0', out->len) != NULL)
		return "serverName and toolName must hold no NUL";
	return NULL;
}

const char *
policy_request(
    const struct value *v, struct value_pool *pool, struct policy_request *out)
{
	const char *why;

	if (v->type != VALUE_OBJECT)
		return "a request is an object with serverName, toolName and "
		       "arguments";
	if ((why = take_name(v, "serverName", &out->server)) != NULL ||
	    (why = take_name(v, "toolName", &out->tool)) != NULL)
		return why;
	out->args = value_get(v, "arguments");
	if (out->args == NULL &&
	    (out->args = value_new(pool, VALUE_OBJECT)) == NULL)
		return "out of memory";
	return out->args->type == VALUE_OBJECT ? NULL
					       : "arguments must be an object";
}

const char *
policy_status(unsigned status)
{
	static const char *const names[] = {
	    [PROTO_ALLOW] = "allow",
	    [PROTO_DENY] = "deny",
	    [PROTO_ESCALATE] = "escalate",
	};

	return names[status];
}

bool
policy_expects(struct span expected, unsigned status)
{
	if (span_is(expected, "not-allow"))
		return status != PROTO_ALLOW;
	return span_is(expected, policy_status(status));
}

void
policy_put_member(struct buf *out, const char *key, struct span text)
{
	buf_printf(out, "\"%s\":", key);
	(void)json_write_string(out, text);
}

void
policy_put_decision(struct buf *out, const struct msg_EVALUATED *m)
{
	struct span roles = m->roles;

	buf_adds(out, "\"decision\":\"");
	buf_adds(out, policy_status(m->status));
	buf_adds(out, "\",");
	policy_put_member(out, "rule", m->rule);
	buf_addc(out, ',');
	policy_put_member(out, "reason", m->reason);
	if (roles.len == 0)
		return;
	buf_adds(out, ",\"escalatedRoles\":[\"");
	for (size_t i = 0; i < roles.len; i++) {
		if (roles.p[i] == ',')
			buf_adds(out, "\",\"");
		else
			buf_addc(out, roles.p[i]);
	}
	buf_adds(out, "\"]");
}

int
policy_flush(struct buf *out)
{
	if (out->failed) {
		warnx("output is too large");
		return -1;
	}
	if (span_write(STDOUT_FILENO, buf_span(out)) == -1) {
		warn("standard output");
		return -1;
	}
	buf_drain(out, out->len);
	return 0;
}

/*
 * Returns true for characters that a terminal acts on, or that are invisible.
 */
static bool
unseen(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} table[] = {{0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c},
	    {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
	    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
	    {0x3164, 0x3164}, {0xd800, 0xf8ff}, {0xfe00, 0xfe0f},
	    {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xffff},
	    {0xe0000, 0x10ffff}};

	for (size_t i = 0; i < nitems(table); i++) {
		if (c >= table[i].from && c <= table[i].to)
			return true;
	}
	return false;
}

/*
 * Decode one character of UTF-8 that was validated before. Returns its length.
 */
static size_t
decode(const uint8_t *p, size_t left, uint32_t *c)
{
	size_t n = p[0] < 0xc0 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (n > left || n == 1) {
		*c = p[0];
		return 1;
	}
	*c = p[0] & (0x7fU >> n);
	for (size_t i = 1; i < n; i++)
		*c = *c << 6 | (p[i] & 0x3fU);
	return n;
}

void
policy_visible(struct buf *out, struct span json)
{
	uint32_t c;
	size_t n;

	for (size_t i = 0; i < json.len; i += n) {
		n = decode(json.p + i, json.len - i, &c);
		if (!unseen(c)) {
			buf_add(out, json.p + i, n);
		} else if (c < 0x10000) {
			buf_printf(out, "\\u%04x", c);
		} else {
			buf_printf(out, "\\u%04x\\u%04x",
			    0xd800 + ((c - 0x10000) >> 10),
			    0xdc00 + (c & 0x3ff));
		}
	}
}

void
policy_print(const char *before, struct span s, const char *after)
{
	char *text;

	if ((text = malloc(4 * s.len + 8)) == NULL)
		return;
	printf("%s%s%s", before, log_vis(s, text, 4 * s.len + 8), after);
	free(text);
}
