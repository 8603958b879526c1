/* SPDX-License-Identifier: ISC */
/*
 * The data of the errors that MCP defines: which resource is missing, which
 * addresses a person has to visit, and which capabilities of the client a call
 * needs. Nothing is fetched or opened here, and other
 * members and other errors' data reach nobody.
 */
#include "proxy.h"

#include "common/json/json.h"

#define DATA_URI 2048U
#define DATA_TEXT 1024U
#define DATA_ADDRESSES 8U

/* Returns true for visible ASCII that can be within quotes. */
static bool
is_plain(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f || s.p[i] == '"' ||
		    s.p[i] == '\\')
			return false;
	return s.len != 0 && s.len <= DATA_URI;
}

static void
put_resource(struct buf *b, const struct call *c, const struct value *data)
{
	struct span uri = value_str(data, "uri");

	if (c->server == PROTO_NO_SERVER || !is_plain(uri))
		return;
	buf_printf(b, "{\"uri\":\"icmcp://%s/",
	    c->agent->p->servers[c->server].name_text);
	buf_addspan(b, uri);
	buf_adds(b, "\"}");
}

/* Write one address if it is https, has no user, and is not hidden. */
static bool
put_address(struct buf *b, const struct value *v, const char *before)
{
	static const char *const texts[] = {"elicitationId", "message"};
	struct span url = value_str(v, "url"), text;
	const uint8_t *slash;

	if (!is_plain(url) || !span_starts(url, SPAN("https://")))
		return false;
	slash = memchr(url.p + 8, '/', url.len - 8);
	if (memchr(url.p + 8, '@',
		slash != NULL ? (size_t)(slash - url.p - 8) : url.len - 8) !=
	    NULL)
		return false;
	buf_printf(b, "%s{", before);
	for (size_t i = 0; i < nitems(texts); i++) {
		text = value_str(v, texts[i]);
		if (text.p == NULL || text.len > DATA_TEXT)
			continue;
		buf_printf(b, "\"%s\":", texts[i]);
		(void)json_write_string(b, text);
		buf_addc(b, ',');
	}
	buf_adds(b, "\"mode\":\"url\",\"url\":\"");
	buf_addspan(b, url);
	buf_adds(b, "\"}");
	return true;
}

static void
put_addresses(struct buf *b, const struct value *data)
{
	const struct value *list = value_get(data, "elicitations"), *v;
	unsigned n = 0;

	if (list == NULL || list->type != VALUE_ARRAY)
		return;
	buf_adds(b, "{\"elicitations\":[");
	for (v = list->child; v != NULL && n < DATA_ADDRESSES; v = v->next)
		n += put_address(b, v, n != 0 ? "," : "");
	buf_adds(b, "]}");
}

static const struct {
	const char *name;
	uint8_t bit;
} declarable[] = {
    {"elicitation", PROXY_CLIENT_ELICITATION},
    {"roots", PROXY_CLIENT_ROOTS},
    {"sampling", PROXY_CLIENT_SAMPLING},
};

uint8_t
error_declared(const struct value *v)
{
	const struct value *one;
	uint8_t found = 0;

	for (size_t i = 0; i < nitems(declarable); i++) {
		one = value_get(v, declarable[i].name);
		if (one != NULL && one->type == VALUE_OBJECT)
			found |= declarable[i].bit;
	}
	return found;
}

static void
put_declared(struct buf *b, uint8_t bits)
{
	const char *before = "";

	buf_addc(b, '{');
	for (size_t i = 0; i < nitems(declarable); i++) {
		if ((bits & declarable[i].bit) == 0)
			continue;
		buf_printf(b, "%s\"%s\":{}", before, declarable[i].name);
		before = ",";
	}
	buf_addc(b, '}');
}

/* Write what the server requires and this request did not declare. */
static void
put_required(struct buf *b, uint8_t lacks)
{
	buf_adds(b, "{\"requiredCapabilities\":");
	put_declared(b, lacks);
	buf_addc(b, '}');
}

uint8_t
error_lacks(const struct call *c, const struct value *data)
{
	return error_declared(value_get(data, "requiredCapabilities")) &
	       (uint8_t)~c->declares;
}

void
error_data(
    struct buf *b, const struct call *c, int64_t code, const struct value *data)
{
	if (data == NULL || data->type != VALUE_OBJECT)
		return;
	if (code == JSONRPC_PARAMS || code == JSONRPC_NO_RESOURCE)
		put_resource(b, c, data);
	else if (code == JSONRPC_URL_WANTED)
		put_addresses(b, data);
	else if (code == JSONRPC_CAPABILITY && c->modern &&
		 error_lacks(c, data) != 0)
		put_required(b, error_lacks(c, data));
}
