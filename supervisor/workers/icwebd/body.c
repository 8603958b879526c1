/* SPDX-License-Identifier: ISC */
/* Reads the body of a request: one object of JSON with few members. */
#include "workers/icwebd/webd.h"

#include <stdio.h>
#include <string.h>

#include "common/json/json.h"

/* A text of a member, of at most `max` bytes. */
static int
body_text(const struct value *v, size_t max, struct span *out)
{
	if (v->type != VALUE_STRING || v->text.len > max ||
	    memchr(v->text.p, '\0', v->text.len) != NULL)
		return -1;
	*out = v->text;
	return 0;
}

static int
body_number(const struct value *v, uint64_t *out)
{
	int64_t n;

	/* Numbers of JavaScript are exact up to here. */
	if (value_int(v, 0, (1LL << 53) - 1, &n) == -1)
		return -1;
	*out = (uint64_t)n;
	return 0;
}

static int
body_verdict(const struct value *v, uint8_t *out)
{
	static const char *const names[] = {
	    [PROTO_WEB_DENY] = "deny",
	    [PROTO_WEB_APPROVE] = "approve",
	    [PROTO_WEB_FOR_SESSION] = "session",
	};

	for (uint8_t i = 0; i < nitems(names); i++) {
		*out = i;
		if (v->type == VALUE_STRING && span_is(v->text, names[i]))
			return 0;
	}
	return -1;
}

static int
body_secret(struct value_pool *pool, const struct value *v, struct span *out)
{
	uint8_t *token = value_pool_alloc(pool, 32);

	if (token == NULL || v->type != VALUE_STRING ||
	    route_token(v->text, token) == -1)
		return -1;
	*out = span_of(token, 32);
	return 0;
}

static int
body_member(struct value_pool *pool, const struct value *v,
    struct msg_WEB_REQUEST *ask)
{
	if (span_is(v->key, "secret") && ask->route == PROTO_WEB_LOGIN)
		return body_secret(pool, v, &ask->token);
	if (span_is(v->key, "session"))
		return body_text(v, 160, &ask->session);
	if (span_is(v->key, "call"))
		return body_text(v, 16, &ask->call);
	if (span_is(v->key, "digest"))
		return body_text(v, 64, &ask->digest);
	if (span_is(v->key, "grant"))
		return body_text(v, 64, &ask->grant);
	if (span_is(v->key, "text"))
		return body_text(v,
		    ask->route == PROTO_WEB_SEND ? PROTO_MAX_SAID : 512,
		    &ask->text);
	if (span_is(v->key, "verdict"))
		return body_verdict(v, &ask->verdict);
	if (span_is(v->key, "since"))
		return body_number(v, &ask->since);
	if (span_is(v->key, "page"))
		return body_number(v, &ask->page);
	return -1;
}

int
body_read(struct value_pool *pool, struct span json,
    struct msg_WEB_REQUEST *ask, char *why, size_t cap)
{
	struct json_fail fail = {JSON_OK, 0};
	const struct value *root = json_read(pool, json, &fail);

	if (root == NULL) {
		snprintf(why, cap, "the body is not JSON: %s",
		    json_strerror(fail.error));
		return -1;
	}
	if (root->type != VALUE_OBJECT) {
		snprintf(why, cap, "the body must be an object");
		return -1;
	}
	for (const struct value *v = root->child; v != NULL; v = v->next)
		if (body_member(pool, v, ask) == -1) {
			snprintf(why, cap, "the member \"%.*s\" is not "
					   "understood",
			    v->key.len > 32 ? 32 : (int)v->key.len,
			    (const char *)v->key.p);
			return -1;
		}
	return 0;
}
