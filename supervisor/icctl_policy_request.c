/* SPDX-License-Identifier: ISC */
/*
 * Requests and decisions as text.  Requests come from anywhere: a log, a
 * generator, another program.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl_policy.h"
#include "json.h"
#include "log.h"

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

void
policy_put_member(struct buf *out, const char *key, struct span text)
{
	(void)buf_printf(out, "\"%s\":", key);
	(void)json_write_string(out, text);
}

void
policy_put_decision(struct buf *out, const struct msg_EVALUATED *m)
{
	struct span roles = m->roles;

	(void)buf_adds(out, "\"decision\":\"");
	(void)buf_adds(out, policy_status(m->status));
	(void)buf_adds(out, "\",");
	policy_put_member(out, "rule", m->rule);
	(void)buf_addc(out, ',');
	policy_put_member(out, "reason", m->reason);
	if (roles.len == 0)
		return;
	(void)buf_adds(out, ",\"escalatedRoles\":[\"");
	for (size_t i = 0; i < roles.len; i++) {
		if (roles.p[i] == ',')
			(void)buf_adds(out, "\",\"");
		else
			(void)buf_addc(out, roles.p[i]);
	}
	(void)buf_adds(out, "\"]");
}

int
policy_flush(struct buf *out)
{
	struct span s;
	ssize_t n;

	if (out->failed) {
		warnx("output is too large");
		return -1;
	}
	while (out->len != 0) {
		s = buf_span(out);
		if ((n = write(STDOUT_FILENO, s.p, s.len)) == -1) {
			if (errno == EINTR)
				continue;
			warn("standard output");
			return -1;
		}
		buf_drain(out, (size_t)n);
	}
	return 0;
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
