/* SPDX-License-Identifier: ISC */
/*
 * The answer to server/discover, which tells a server of revision 2026-07-28
 * from an older one. Any answer that is not one of the newer revision's means
 * that the server is to be asked with `initialize`.
 */
#include "backd/backd.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"

#define SHOWN 400

void
discover_supported(const struct value *v, char *text, size_t cap)
{
	size_t len = strlen(text);
	char shown[40];
	unsigned n = 0;

	if (v == NULL || v->type != VALUE_ARRAY)
		return;
	for (v = v->child; v != NULL && n < 8 && len < cap; v = v->next) {
		if (v->type != VALUE_STRING)
			continue;
		len += (size_t)snprintf(text + len, cap - len, "%s%s",
		    n++ == 0 ? "It speaks revision " : ", ",
		    log_vis(v->text, shown, sizeof(shown)));
	}
	if (n != 0 && len < cap)
		snprintf(text + len, cap - len,
		    " of MCP, and IronCurtain " JSONRPC_MODERN
		    " and earlier ones");
}

uint8_t
discover_parts(const struct value *capabilities)
{
	static const struct {
		const char *name;
		uint8_t part;
	} parts[] = {
	    {"resources", PROTO_PART_RESOURCES},
	    {"prompts", PROTO_PART_PROMPTS},
	    {"completions", PROTO_PART_COMPLETION},
	    {"logging", PROTO_PART_LOGGING},
	};
	const struct value *v;
	uint8_t found = 0;

	for (size_t i = 0; i < nitems(parts); i++) {
		v = value_get(capabilities, parts[i].name);
		if (v != NULL && v->type == VALUE_OBJECT)
			found |= parts[i].part;
	}
	if (value_bool(
		value_get(capabilities, "resources"), "subscribe", false))
		found |= PROTO_PART_SUBSCRIBE;
	return found;
}

/* Returns true if the array names a revision that `known` knows. */
static bool
names(const struct value *array, bool (*known)(struct span), struct span *found)
{
	const struct value *v;

	for (v = array->child; v != NULL; v = v->next) {
		if (v->type == VALUE_STRING && known(v->text)) {
			*found = v->text;
			return true;
		}
	}
	return false;
}

static bool
is_modern(struct span version)
{
	return span_is(version, JSONRPC_MODERN);
}

/* Choose from the revisions that the server names. */
static void
choose(struct msg_DISCOVERED *out, const struct value *array, char *text,
    size_t cap)
{
	if (names(array, is_modern, &out->version)) {
		out->how = PROTO_DISCOVERED_MODERN;
		return;
	}
	if (names(array, jsonrpc_version_old, &out->version)) {
		out->how = PROTO_DISCOVERED_INITIALIZE;
		return;
	}
	out->how = PROTO_DISCOVERED_OTHER;
	strlcpy(text, "is of no use here. ", cap);
	discover_supported(array, text, cap);
}

static uint8_t
listens(const struct value *capabilities)
{
	static const struct {
		const char *name;
		uint8_t bit;
	} all[] = {
	    {"tools", PROTO_LISTEN_TOOLS},
	    {"resources", PROTO_LISTEN_RESOURCES},
	    {"prompts", PROTO_LISTEN_PROMPTS},
	};
	uint8_t found = 0;

	for (size_t i = 0; i < nitems(all); i++)
		if (value_bool(value_get(capabilities, all[i].name),
			"listChanged", false))
			found |= all[i].bit;
	return found;
}

static void
take_result(struct backd *b, const struct value *result,
    struct msg_DISCOVERED *out, char *text, size_t cap)
{
	const struct value *versions = value_get(result, "supportedVersions");
	const struct value *caps = value_get(result, "capabilities"), *tools;
	const struct span type = value_str(result, "resultType");
	struct span name;

	if (versions == NULL || versions->type != VALUE_ARRAY ||
	    versions->child == NULL ||
	    (type.p != NULL && !span_is(type, "complete")))
		return;
	choose(out, versions, text, cap);
	if (out->how != PROTO_DISCOVERED_MODERN)
		return;
	tools = value_get(caps, "tools");
	out->tools = tools != NULL && tools->type == VALUE_OBJECT;
	out->parts = discover_parts(caps);
	/* There, a subscription is a request that stays open. */
	if (b->afar != NULL)
		out->parts &= (uint8_t)~PROTO_PART_SUBSCRIBE;
	out->listen = listens(caps);
	out->instructions =
	    backd_cut(value_str(result, "instructions"), PROTO_MAX_WORDS);
	name = value_str(
	    value_get(value_get(result, "_meta"), JSONRPC_META "serverInfo"),
	    "name");
	backd_show(b, name.p != NULL ? name : SPAN(""), text, cap / 2);
}

/* Returns true if there is no use in asking the remote server otherwise. */
static bool
is_hopeless(const struct backd *b)
{
	if (b->afar == NULL)
		return false;
	switch (b->status) {
	case 400:
	case 404:
	case 405:
	case 406:
	case 415:
	case 422:
	case 500:
	case 501:
		return false;
	default:
		return b->status == 0 || b->status >= 300;
	}
}

/* It knows the request, and will not serve us. */
static void
discover_refused(struct backd *b, struct span said, struct msg_DISCOVERED *out,
    char *text, size_t cap)
{
	out->how = PROTO_DISCOVERED_OTHER;
	strlcpy(text, "refused server/discover: ", cap);
	backd_show(b, said, text + strlen(text), cap / 2);
}

static void
take_error(struct backd *b, const struct jsonrpc *m, struct msg_DISCOVERED *out,
    char *text, size_t cap)
{
	const struct value *supported = value_get(m->data, "supported");
	struct span said = m->message.p != NULL ? m->message : SPAN("");

	switch (m->error) {
	case 0: /* there is no answer that could be read */
		if (is_hopeless(b)) {
			out->how = PROTO_DISCOVERED_FAILED;
			out->tools = b->again;
			backd_show(b, said, text, cap / 2);
		}
		break;
	case JSONRPC_VERSION:
		if (supported != NULL && supported->type == VALUE_ARRAY &&
		    supported->child != NULL) {
			choose(out, supported, text, cap);
			if (out->how != PROTO_DISCOVERED_MODERN)
				break;
		}
		/*
		 * It says no to what it says that it speaks: a remote one is
		 * asked once more.
		 */
		discover_refused(b, said, out, text, cap);
		if (b->afar != NULL && out->version.len != 0 && !b->denied) {
			out->how = PROTO_DISCOVERED_FAILED;
			out->tools = b->denied = true;
		}
		break;
	case JSONRPC_HEADERS:
	case JSONRPC_CAPABILITY:
		discover_refused(b, said, out, text, cap);
		break;
	default:
		break;
	}
}

void
discover_answer(struct backd *b, const struct jsonrpc *m)
{
	struct msg_DISCOVERED out = {.how = PROTO_DISCOVERED_INITIALIZE,
	    .version = SPAN(""),
	    .instructions = SPAN("")};
	char text[SHOWN] = "";

	if (m->kind == JSONRPC_RESULT)
		take_result(b, m->result, &out, text, sizeof(text));
	else
		take_error(b, m, &out, text, sizeof(text));
	if (out.how == PROTO_DISCOVERED_MODERN)
		b->modern = !b->old;
	b->again = false;
	out.text = span_str(text);
	worker_send(&b->w, ROLE_POLICY, 0, MSG_DISCOVERED, &out, -1);
}
