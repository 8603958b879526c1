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

#include "common/hidden.h"
#include "common/json/json.h"
#include "common/json/text.h"
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

/* Replace each string below `v` that is `value`. */
static void
put_name(struct value *v, struct span value, struct span named)
{
	if (v->type == VALUE_STRING && span_eq(v->text, value))
		v->text = named;
	for (struct value *c = v->child; c != NULL; c = c->next)
		put_name(c, value, named);
}

int
policy_named(const struct policy_request *r, const struct value *names,
    struct value_pool *pool, struct policy_request *out)
{
	struct value *args = value_copy(pool, r->args), *a;
	struct span argument, value, named;

	if (args == NULL)
		return -1;
	*out = *r;
	out->args = args;
	for (const struct value *v = names == NULL ? NULL : names->child;
	     v != NULL; v = v->next) {
		argument = value_str(v, "argument");
		value = value_str(v, "value");
		named = value_str(v, "named");
		if (argument.p == NULL || value.p == NULL || named.p == NULL)
			continue;
		/* The tree is this function's own copy. */
		a = (struct value *)(uintptr_t)value_getspan(args, argument);
		if (a != NULL)
			put_name(a, value, named);
	}
	return 0;
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
	if ((out->len != 0 &&
		fwrite(buf_span(out).p, out->len, 1, stdout) != 1) ||
	    fflush(stdout) == EOF) {
		warn("standard output");
		return -1;
	}
	buf_drain(out, out->len);
	return 0;
}

void
policy_visible(struct buf *out, struct span json)
{
	uint32_t c;
	size_t n;

	for (size_t i = 0; i < json.len; i += n) {
		n = text_utf8_len(json.p + i, json.p + json.len);
		if (n == 0)
			n = 1;
		c = text_utf8_code(json.p + i, n);
		/* Line ends stay: the JSON is indented. */
		if (c < 0x20 || !hidden_alone(c)) {
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
