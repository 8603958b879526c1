/* SPDX-License-Identifier: ISC */
/*
 * Shows definitions of tools. A server writes them and may be hostile: it may
 * tell the model to read secrets, to hide something from the person, or how to
 * use the tools of other servers. What is found here proves nothing; it tells a
 * person which definitions to read. Everything is printed escaped.
 */
#include "icctl/mcp/suspect.h"

#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "common/buf.h"
#include "common/span.h"
#include "common/visible.h"
#include "icctl/icctl.h"

#define SUSPECT_MAX 6U    /* findings in one definition that are named */
#define SUSPECT_WORD 100U /* bytes of the name of another server's tool */
#define SUSPECT_TEXT (16U << 20)

/* Parts of texts, whatever their case. */
static const char *const suspect_signs[] = {
    /* files with secrets, and the settings of agents */
    ".ssh", "id_rsa", "id_ed25519", ".aws/", ".netrc", ".gnupg", ".kube/",
    ".docker/config", "/etc/passwd", "/etc/shadow", "mcp.json",
    "claude_desktop_config", ".ironcurtain", "private key",
    /* orders about other tools */
    "any other tool", "all other tools", "other tools first",
    "every other tool", "any tool call", "before any tool",
    /* orders about the person, and about other orders */
    "do not tell", "don't tell", "do not mention", "don't mention",
    "do not inform", "without telling", "without informing", "ignore previous",
    "ignore all previous", "ignore any previous", "system prompt",
    "<important>", "<system>"};

static void
suspect_add(struct json_object **found, const char *text, size_t len)
{
	const char *s;
	size_t n;

	if (*found == NULL)
		*found = json_object_new_array();
	n = json_object_array_length(*found);
	for (size_t i = 0; i < n; i++) {
		s = json_object_get_string(
		    json_object_array_get_idx(*found, i));
		if (strlen(s) == len && memcmp(s, text, len) == 0)
			return;
	}
	if (n < SUSPECT_MAX)
		json_object_array_add(
		    *found, json_object_new_string_len(text, (int)len));
}

/* Find names of tools of other servers, as SERVER__TOOL. */
static void
suspect_tools(struct json_object **found, const char *s, const char *server)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM"
				      "NOPQRSTUVWXYZ0123456789_-.";
	const char *at;
	size_t n;

	for (; *s != '\0'; s += n) {
		s += strcspn(s, letters);
		n = strspn(s, letters);
		at = n < SUSPECT_WORD ? memmem(s, n, "__", 2) : NULL;
		if (at == NULL || at == s || at + 2 == s + n || s[0] == '_' ||
		    (strncmp(s, server, strlen(server)) == 0 &&
			at == s + strlen(server)))
			continue;
		suspect_add(found, s, n - (s[n - 1] == '.'));
	}
}

static void
suspect_text(struct json_object **found, const char *s, const char *server)
{
	static const char hidden[] = "characters that nobody sees";

	for (size_t i = 0; i < nitems(suspect_signs); i++)
		if (strcasestr(s, suspect_signs[i]) != NULL)
			suspect_add(
			    found, suspect_signs[i], strlen(suspect_signs[i]));
	/* The agent gets them so. */
	if (strstr(s, "\\u{") != NULL || strstr(s, "\\x1b") != NULL)
		suspect_add(found, hidden, sizeof(hidden) - 1);
	suspect_tools(found, s, server);
}

static void
suspect_walk(
    struct json_object **found, struct json_object *o, const char *server)
{
	if (json_object_is_type(o, json_type_string)) {
		suspect_text(found, json_object_get_string(o), server);
	} else if (json_object_is_type(o, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(o); i++)
			suspect_walk(
			    found, json_object_array_get_idx(o, i), server);
	} else if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, name, v)
		{
			suspect_text(found, name, server);
			suspect_walk(found, v, server);
		}
	}
}

const char *
suspect_name(struct json_object *tool, const char *server)
{
	const char *full = icctl_text(tool, "name");

	return strlen(full) > strlen(server) + 2 ? full + strlen(server) + 2
						 : "";
}

struct json_object *
suspect_find(struct json_object *tool, const char *server)
{
	struct json_object *found = NULL;

	suspect_walk(&found, tool, server);
	return found;
}

void
suspect_put(struct json_object *found, const char *tool, const char *server)
{
	for (size_t i = 0; i < json_object_array_length(found); i++) {
		fputs(i == 0 ? "mentions " : ", ", stdout);
		icctl_put_str(json_object_get_string(
		    json_object_array_get_idx(found, i)));
	}
	fputs(". To read its definition: icctl mcp test ", stdout);
	icctl_put_str(server);
	fputs(" --show ", stdout);
	icctl_put_str(tool);
	putchar('\n');
}

/* Write each line of the text on a line of its own. */
static void
suspect_lines(struct buf *b, const char *s)
{
	struct span text = span_str(s), line;

	while (span_line(&text, &line)) {
		buf_adds(b, "    ");
		(void)visible_add(b, line, icctl_visible() | VISIBLE_AGAIN);
		buf_addc(b, '\n');
	}
}

bool
suspect_show(struct json_object *tool)
{
	struct buf b;
	bool whole;

	buf_init(&b, SUSPECT_TEXT);
	json_object_object_foreach(tool, name, v)
	{
		buf_adds(&b, "  ");
		(void)visible_add(&b, span_str(name), icctl_visible());
		buf_addc(&b, '\n');
		suspect_lines(
		    &b, json_object_is_type(v, json_type_string)
			    ? json_object_get_string(v)
			    : json_object_to_json_string_ext(
				  v, JSON_C_TO_STRING_PRETTY |
					 JSON_C_TO_STRING_NOSLASHESCAPE));
	}
	whole = !b.failed && icctl_put_pages(buf_span(&b));
	buf_free(&b);
	return whole;
}
