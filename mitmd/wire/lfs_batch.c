/* SPDX-License-Identifier: ISC */
/*
 * Reads a batch of git-lfs strictly, and composes another one. The bytes come
 * from a server that knows the credential of its own host, and of no other.
 */
#include "wire/lfs_batch.h"

#include "common/json/json.h"

#define LFS_POOL ((size_t)8 << 20)
#define LFS_ID 64U
#define LFS_MAX_TIME 40U

static bool
lfs_each(struct span s, const char *letters)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\0' || strchr(letters, s.p[i]) == NULL)
			return false;
	return s.len != 0;
}

/* Returns true for https://HOST/..., of printable ASCII, without a user. */
static bool
lfs_is_href(struct span s)
{
	const struct span scheme = SPAN("https://");
	size_t i;

	if (s.len > LFS_MAX_HREF || !span_starts(s, scheme))
		return false;
	for (i = scheme.len; i < s.len; i++)
		if (s.p[i] <= 0x20 || s.p[i] > 0x7e ||
		    strchr("\"<>\\^`{|}", s.p[i]) != NULL)
			return false;
	for (i = scheme.len; i < s.len && s.p[i] != '/' && s.p[i] != '?'; i++)
		if (s.p[i] == '@')
			return false;
	return i > scheme.len;
}

static void
lfs_refuse(struct buf *out, int64_t code, struct span text)
{
	buf_printf(
	    out, ",\"error\":{\"code\":%lld,\"message\":", (long long)code);
	(void)json_write_string(out, text);
	buf_addc(out, '}');
}

/* Repeat the server's own reason, as far as it is short. */
static void
lfs_error(struct buf *out, const struct value *error)
{
	struct span text = value_str(error, "message");
	int64_t code;

	if (value_int(value_get(error, "code"), 400, 599, &code) == -1)
		code = 422;
	if (text.p == NULL || text.len > LFS_MAX_SAID)
		text = SPAN("the server does not give this object");
	lfs_refuse(out, code, text);
}

static void
lfs_download(struct buf *out, const struct value *d)
{
	const struct span href = value_str(d, "href"),
			  at = value_str(d, "expires_at");
	int64_t in;

	if (href.p == NULL || !lfs_is_href(href)) {
		lfs_refuse(out, 422,
		    SPAN("IronCurtain: the server names an address for this "
			 "object that does not begin with https://, or has a "
			 "user in it. Do not retry."));
		return;
	}
	buf_adds(out, ",\"actions\":{\"download\":{\"href\":");
	(void)json_write_string(out, href);
	if (value_int(value_get(d, "expires_in"), 0, INT32_MAX, &in) == 0)
		buf_printf(out, ",\"expires_in\":%lld", (long long)in);
	if (at.p != NULL && at.len <= LFS_MAX_TIME &&
	    lfs_each(at, "0123456789TZtz:+.-"))
		buf_printf(out, ",\"expires_at\":\"%.*s\"", (int)at.len,
		    (const char *)at.p);
	buf_adds(out, "}}");
}

static int
lfs_object(struct buf *out, const struct value *o, const char **why)
{
	const struct value *actions = value_get(o, "actions"),
			   *download = value_get(actions, "download"),
			   *error = value_get(o, "error");
	const struct span id = value_str(o, "oid");
	int64_t size;

	*why = "an object without a name or a size";
	if (id.len != LFS_ID || !lfs_each(id, "0123456789abcdef") ||
	    value_int(value_get(o, "size"), 0, INT64_MAX, &size) == -1)
		return -1;
	buf_printf(out,
	    "{\"oid\":\"%.*s\",\"size\":%lld,\"authenticated\":true",
	    (int)id.len, (const char *)id.p, (long long)size);
	if (error != NULL)
		lfs_error(out, error);
	else if (download != NULL)
		lfs_download(out, download);
	else if (actions != NULL && actions->count != 0)
		lfs_refuse(out, 403,
		    SPAN("IronCurtain: objects of git-lfs can be fetched from "
			 "the sandbox, and not sent. Do not retry. The user "
			 "can push this branch outside, after icctl pull or "
			 "from the workspace."));
	buf_addc(out, '}');
	return 0;
}

static int
lfs_compose(const struct value *root, struct buf *out, const char **why)
{
	const struct value *objects = value_get(root, "objects");
	const struct span transfer = value_str(root, "transfer"),
			  hash = value_str(root, "hash_algo");

	*why = "a way of transfer other than basic";
	if (transfer.p != NULL && !span_is(transfer, "basic"))
		return -1;
	*why = "names by another hash than SHA-256";
	if (hash.p != NULL && !span_is(hash, "sha256"))
		return -1;
	*why = "no list of at most 1000 objects";
	if (objects == NULL || objects->type != VALUE_ARRAY ||
	    objects->count > LFS_MAX_OBJECTS)
		return -1;
	buf_adds(out, "{\"transfer\":\"basic\",\"objects\":[");
	for (const struct value *o = objects->child; o != NULL; o = o->next) {
		if (o != objects->child)
			buf_addc(out, ',');
		if (lfs_object(out, o, why) == -1)
			return -1;
	}
	buf_adds(out, "]}\n");
	*why = "addresses that are too long";
	return out->failed ? -1 : 0;
}

int
lfs_batch(struct span answer, struct buf *out, const char **why)
{
	struct value_pool *pool = value_pool_new(LFS_POOL);
	const struct value *root;
	struct json_fail fail;
	int rv = -1;

	*why = "no memory";
	if (pool == NULL)
		return -1;
	*why = "not JSON";
	if ((root = json_read(pool, answer, &fail)) != NULL)
		rv = lfs_compose(root, out, why);
	value_pool_free(pool);
	return rv;
}
