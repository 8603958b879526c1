/* SPDX-License-Identifier: ISC */
/*
 * Reads what a forge says about a token: its scopes, in a header or an object,
 * and the repositories of a list, with what the permissions of each include:
 * GitHub and Gitea have a member for each right, GitLab has numbers of roles.
 * Everything in the answer is hostile: nothing but names of plain letters leaves
 * this file.
 */
#include "workers/asker/list.h"

#include <string.h>

#include "common/http/http1.h"
#include "common/json/json.h"

#define LIST_POOL (24U << 20)

/* Returns true for a text of the letters that scopes and names have. */
static bool
list_plain(struct span s, const char *more)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\0' ||
		    (strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.",
			 s.p[i]) == NULL &&
			strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", s.p[i]) == NULL &&
			strchr(more, s.p[i]) == NULL))
			return false;
	return true;
}

/* Returns the role in one member of GitLab's permissions, or -1. */
static int64_t
list_level(const struct value *may, const char *whose)
{
	int64_t level;

	return value_int(value_get(value_get(may, whose), "access_level"), 0,
		   100, &level) == 0
		   ? level
		   : -1;
}

/* Returns the right that permissions of GitLab give. */
static const char *
list_role(const struct value *may)
{
	int64_t level = list_level(may, "project_access"),
		group = list_level(may, "group_access");

	if (group > level)
		level = group;
	if (level == -1)
		return "unknown";
	return level >= 50   ? "admin"
	       : level >= 40 ? "maintain"
	       : level >= 30 ? "write"
			     : "read";
}

/* Returns the right that a repository's permissions give. */
static const char *
list_right(const struct value *may)
{
	static const char *const rights[][2] = {
	    {"admin", "admin"}, {"maintain", "maintain"}, {"push", "write"}};
	const struct value *v;

	if (value_get(may, "project_access") != NULL ||
	    value_get(may, "group_access") != NULL)
		return list_role(may);
	/* GitHub and Gitea always say whether a push is permitted. */
	v = value_get(may, "push");
	if (v == NULL || (v->type != VALUE_TRUE && v->type != VALUE_FALSE))
		return "unknown";
	for (size_t i = 0; i < nitems(rights); i++)
		if (value_bool(may, rights[i][0], false))
			return rights[i][1];
	return "read";
}

/* Say one repository, and what its permissions include. */
static void
list_one(struct buf *out, const struct value *v)
{
	struct span name = value_str(v, "full_name");

	if (name.p == NULL)
		name = value_str(v, "path_with_namespace");
	if (name.p == NULL || name.len == 0 || name.len > LIST_MAX_NAME ||
	    !list_plain(name, "/")) {
		buf_adds(out, "unread\n");
		return;
	}
	buf_printf(out, "repository %.*s %s%s\n", (int)name.len,
	    (const char *)name.p, list_right(value_get(v, "permissions")),
	    value_str(v, "runners_token").p != NULL ? " runners" : "");
}

static void
list_scopes(struct buf *out, struct span text)
{
	if (text.len <= LIST_MAX_SCOPES && list_plain(text, ":, "))
		buf_printf(out, "scopes %.*s\n", text.len == 0 ? 1 : (int)text.len,
		    text.len == 0 ? "-" : (const char *)text.p);
	else
		buf_adds(out, "unread\n");
}

/* Say the scopes of GitLab's object about a token. Returns 0, or -1. */
static int
list_token(struct buf *out, const struct value *root)
{
	const struct value *all = value_get(root, "scopes");
	struct buf text;

	if (all == NULL || all->type != VALUE_ARRAY)
		return -1;
	buf_init(&text, LIST_MAX_SCOPES + 1);
	for (const struct value *v = all->child; v != NULL; v = v->next) {
		if (v->type != VALUE_STRING)
			continue;
		if (text.len != 0)
			buf_adds(&text, ", ");
		buf_addspan(&text, v->text);
	}
	if (buf_check(&text) == 0)
		list_scopes(out, buf_span(&text));
	else
		buf_adds(out, "unread\n");
	buf_free(&text);
	return 0;
}

/* Read what headers say about other pages: GitLab's, and Gitea's. */
static void
list_follows(const struct http1_head *head, struct list_page *page)
{
	struct span s;
	uint64_t n;

	page->more = http1_header(head, "x-next-page", &s) == 1 && s.len != 0;
	if (http1_header(head, "x-total-count", &s) == 1 &&
	    span_u64(s, UINT32_MAX, &n) == 0)
		page->total = (unsigned)n;
}

/* Decode the body that follows the head. Returns 0, or -1. */
static int
list_body(struct span rest, struct http1_body *body, struct buf *to)
{
	struct span data;
	size_t used;

	while (!body->done && rest.len != 0) {
		if (http1_body_next(body, rest, &data, &used) == HTTP1_BAD)
			return -1;
		buf_addspan(to, data);
		rest = span_of(rest.p + used, rest.len - used);
	}
	return body->done || http1_body_eof(body) == HTTP1_OK ? buf_check(to)
							      : -1;
}

bool
list_complete(struct span answer)
{
	struct http1_head head;
	struct http1_body body;
	struct buf text;

	if (http1_response(answer, &head) != HTTP1_OK)
		return false;
	if (http1_response_body(&head, false, &body) != HTTP1_OK)
		return true;
	answer = span_of(answer.p + head.size, answer.len - head.size);
	if (body.framing == HTTP1_LENGTH)
		return answer.len >= body.length;
	buf_init(&text, LIST_MAX_ANSWER);
	(void)list_body(answer, &body, &text);
	buf_free(&text);
	return body.done;
}

int
list_read(struct span answer, struct buf *out, struct list_page *page)
{
	struct http1_head head;
	struct http1_body body;
	const struct value *root;
	struct value_pool *pool = NULL;
	struct span scopes;
	struct buf text;
	int rv = -1;

	*page = (struct list_page){.n = 0};
	buf_init(&text, LIST_MAX_ANSWER);
	if (http1_response(answer, &head) != HTTP1_OK ||
	    http1_response_body(&head, false, &body) != HTTP1_OK)
		goto done;
	if (list_body(span_of(answer.p + head.size, answer.len - head.size),
		&body, &text) == -1 ||
	    (pool = value_pool_new(LIST_POOL)) == NULL ||
	    (root = json_read(pool, buf_span(&text), NULL)) == NULL)
		goto done;
	if (root->type != VALUE_ARRAY) {
		rv = list_token(out, root);
		goto done;
	}
	if (http1_header(&head, "x-oauth-scopes", &scopes) == 1)
		list_scopes(out, scopes);
	for (const struct value *v = root->child;
	     v != NULL && page->n < LIST_MAX_NAMES; v = v->next, page->n++)
		list_one(out, v);
	list_follows(&head, page);
	page->more = page->more || root->count > page->n;
	rv = buf_check(out);
done:
	value_pool_free(pool);
	buf_free(&text);
	return rv;
}
