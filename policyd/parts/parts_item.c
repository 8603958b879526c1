/* SPDX-License-Identifier: ISC */
/*
 * One resource, template or prompt of a server, on its way to the agent. Its
 * address is the server's own, below a name of ours, so that it can be taken
 * for nobody else's and for no file of the sandbox.
 */
#include "policyd.h"

#include "common/json/json.h"
#include "common/tool_name.h"
#include "define/define.h"
#include "define/fit.h"

#define ITEM_URI 2048U
#define ITEM_ARGUMENTS 32U
#define ITEM_TEXT 4096U /* bytes of a text that is for people */

struct item {
	struct buf *b;
	struct fit *fit;
	const char *before;
};

static void
put_key(struct item *i, const char *key)
{
	buf_printf(i->b, "%s\"%s\":", i->before, key);
	i->before = ",";
}

/*
 * Write a text that is for people, if the item has it. Returns 0, or -1 with
 * the reason, as all functions here do.
 */
static int
put_text(struct item *i, const struct value *v, const char *key)
{
	struct span text = value_str(v, key);

	if (text.p == NULL)
		return 0;
	if (text.len > ITEM_TEXT)
		return fit_bad(
		    i->fit, "its %s has more than %u bytes", key, ITEM_TEXT);
	if ((text = fit_text(i->fit, text)).p == NULL)
		return -1;
	put_key(i, key);
	return json_write_string(i->b, text);
}

bool
parts_uri(struct span uri)
{
	size_t n = 0;

	for (size_t i = 0; i < uri.len; i++)
		if (uri.p[i] <= ' ' || uri.p[i] >= 0x7f || uri.p[i] == '"' ||
		    uri.p[i] == '<' || uri.p[i] == '>' || uri.p[i] == '\\')
			return false;
	while (n < uri.len &&
	       ((uri.p[n] >= 'a' && uri.p[n] <= 'z') ||
		   (uri.p[n] >= 'A' && uri.p[n] <= 'Z') ||
		   (n != 0 && ((uri.p[n] >= '0' && uri.p[n] <= '9') ||
				  uri.p[n] == '+' || uri.p[n] == '-' ||
				  uri.p[n] == '.'))))
		n++;
	return n != 0 && n < uri.len && uri.p[n] == ':' &&
	       uri.len <= ITEM_URI &&
	       !(n == 2 && span_ieq(span_of(uri.p, 2), SPAN("ui")));
}

static int
put_uri(
    struct item *i, struct span server, const struct value *v, const char *key)
{
	struct span uri = value_str(v, key);

	if (uri.p == NULL || !parts_uri(uri))
		return fit_bad(i->fit,
		    "its %s needs a scheme, which is not ui:, and at most %u "
		    "bytes of visible ASCII",
		    key, ITEM_URI);
	put_key(i, key);
	buf_adds(i->b, "\"icmcp://");
	buf_addspan(i->b, server);
	buf_addc(i->b, '/');
	/* It has neither quotes nor backslashes. */
	buf_addspan(i->b, uri);
	buf_addc(i->b, '"');
	return 0;
}

static int
put_resource(struct item *i, enum proto_list list, struct span server,
    const struct value *v)
{
	const struct value *size = value_get(v, "size");
	struct span name = value_str(v, "name");
	int64_t n;

	if (name.len == 0)
		return fit_bad(i->fit, "it has no name");
	if (put_text(i, v, "description") == -1 ||
	    put_text(i, v, "mimeType") == -1 || put_text(i, v, "name") == -1)
		return -1;
	if (value_int(size, 0, INT64_MAX, &n) == 0) {
		put_key(i, "size");
		buf_addspan(i->b, size->text);
	}
	if (put_text(i, v, "title") == -1)
		return -1;
	return put_uri(
	    i, server, v, list == PROTO_LIST_TEMPLATES ? "uriTemplate" : "uri");
}

static int
put_arguments(struct item *i, const struct value *list)
{
	const struct value *v;
	const char *before = "";

	if (list == NULL)
		return 0;
	if (list->type != VALUE_ARRAY || list->count > ITEM_ARGUMENTS)
		return fit_bad(i->fit,
		    "its arguments are no list of at most %u", ITEM_ARGUMENTS);
	put_key(i, "arguments");
	buf_addc(i->b, '[');
	for (v = list->child; v != NULL; v = v->next) {
		struct span name = value_str(v, "name");

		if (name.len == 0 || name.len > 128)
			return fit_bad(i->fit,
			    "an argument has no name, or one "
			    "of more than 128 bytes");
		if (fit_plain(i->fit, name) == -1)
			return -1;
		buf_adds(i->b, before);
		i->before = "{";
		if (put_text(i, v, "description") == -1)
			return -1;
		put_key(i, "name");
		(void)json_write_string(i->b, name);
		put_key(i, "required");
		buf_adds(
		    i->b, value_bool(v, "required", false) ? "true" : "false");
		buf_addc(i->b, '}');
		before = ",";
	}
	buf_addc(i->b, ']');
	i->before = ",";
	return 0;
}

/* A prompt whose name agents do not take as it is, is left out. */
static int
put_prompt(struct item *i, struct span server, const struct value *v)
{
	struct span name = value_str(v, "name");
	const char *bad = define_name(value_get(v, "name"));
	char full[TOOL_NAME_SHOWN + 1];
	size_t shown;

	if (bad != NULL)
		return fit_bad(i->fit, "%s", bad);
	shown = tool_name_show(server, name, full);
	if (!span_eq(span_str(full + shown), name))
		return fit_bad(
		    i->fit, "its name has a dot, or is too long for agents");
	if (put_arguments(i, value_get(v, "arguments")) == -1 ||
	    put_text(i, v, "description") == -1)
		return -1;
	put_key(i, "name");
	(void)json_write_string(i->b, span_str(full));
	return put_text(i, v, "title");
}

int
parts_item(struct buf *b, enum proto_list list, struct span server,
    const struct value *v, struct fit *fit)
{
	struct item i = {.b = b, .fit = fit, .before = "{"};
	int r;

	if (v->type != VALUE_OBJECT)
		return fit_bad(fit, "it is %s", value_type_name(v->type));
	r = list == PROTO_LIST_PROMPTS ? put_prompt(&i, server, v)
				       : put_resource(&i, list, server, v);
	buf_addc(b, '}');
	/* The first reason stays. */
	if (r == -1 || b->failed || fit->why[0] != '\0')
		return fit_bad(fit, "it is too large");
	return 0;
}
