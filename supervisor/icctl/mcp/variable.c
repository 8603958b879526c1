/* SPDX-License-Identifier: ISC */
/*
 * Claude Code and Gemini write ${NAME}; VS Code writes ${env:NAME}, ${input:ID}
 * and ${workspaceFolder}; Gemini also allows a bare $NAME as a whole value.
 */
#include "icctl/mcp/variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "files/servers.h"

#define VARIABLE_MAX_TEXT 65536U

static void
variable_list(struct mcp_entry *e, const char *name, size_t len)
{
	struct json_object *v;

	for (size_t i = 0; i < json_object_array_length(e->variables); i++) {
		v = json_object_array_get_idx(e->variables, i);
		if (strlen(json_object_get_string(v)) == len &&
		    memcmp(json_object_get_string(v), name, len) == 0)
			return;
	}
	if (len < 256)
		json_object_array_add(
		    e->variables, json_object_new_string_len(name, (int)len));
}

/* Returns true if `name` is a secret that this import itself has moved. */
static bool
variable_ours(struct mcp_entry *e, const char *name, size_t len)
{
	char text[160];

	if (len >= sizeof(text))
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	return json_object_object_get_ex(e->secrets, text, NULL);
}

/*
 * Turn an input's id into a variable: letters and digits in upper case, else _.
 */
static void
variable_input(struct mcp_entry *e, struct buf *b, const char *id, size_t len)
{
	char name[128], text[256];
	size_t n = 0;

	for (; n < len && n < sizeof(name); n++) {
		name[n] = id[n];
		if (id[n] >= 'a' && id[n] <= 'z')
			name[n] = (char)(id[n] - 'a' + 'A');
		else if (!(id[n] >= 'A' && id[n] <= 'Z') &&
			 !(n != 0 && id[n] >= '0' && id[n] <= '9'))
			name[n] = '_';
	}
	snprintf(text, sizeof(text),
	    "the editor asks for a value here: export it as %.*s", (int)n,
	    name);
	json_object_array_add(e->notes, json_object_new_string(text));
	buf_adds(b, "${");
	buf_add(b, name, n);
	buf_addc(b, '}');
	variable_list(e, name, n);
}

/* Write the replacement of the reference `in`, which is without ${ and }. */
static void
variable_put(struct mcp_entry *e, struct buf *b, const char *in, size_t len,
    const char *user_home)
{
	static const char *const folders[] = {"workspaceFolder",
	    "workspaceRoot", "workspaceFolderBasename", "cwd"};
	size_t n;

	for (size_t i = 0; i < nitems(folders); i++) {
		if (strlen(folders[i]) != len ||
		    memcmp(folders[i], in, len) != 0)
			continue;
		buf_adds(b, i == 2 ? "workspace" : "/workspace");
		return;
	}
	if ((len == 8 && memcmp(in, "userHome", 8) == 0) ||
	    (len == 4 && memcmp(in, "HOME", 4) == 0)) {
		buf_adds(b, user_home);
		return;
	}
	if (len > 6 && memcmp(in, "input:", 6) == 0) {
		variable_input(e, b, in + 6, len - 6);
		return;
	} else if (len > 4 && memcmp(in, "env:", 4) == 0) {
		in += 4;
		len -= 4;
	}
	buf_adds(b, "${");
	buf_add(b, in, len);
	buf_addc(b, '}');
	n = servers_variable_name(in);
	if (n != 0 && !variable_ours(e, in, n))
		variable_list(e, in, n);
}

/*
 * Returns the text with its references in our form, or NULL if memory ran out.
 */
static struct json_object *
variable_text(struct mcp_entry *e, const char *s, const char *user_home)
{
	struct json_object *out = NULL;
	const char *open, *end;
	struct buf b;

	buf_init(&b, VARIABLE_MAX_TEXT);
	if (s[0] == '$' && s[1] != '{' && servers_variable_name(s + 1) != 0 &&
	    s[1 + servers_variable_name(s + 1)] == '\0') {
		variable_put(e, &b, s + 1, strlen(s + 1), user_home);
		s = "";
	}
	while ((open = strstr(s, "${")) != NULL &&
	       (end = strchr(open, '}')) != NULL) {
		buf_add(&b, s, (size_t)(open - s));
		variable_put(
		    e, &b, open + 2, (size_t)(end - open - 2), user_home);
		s = end + 1;
	}
	buf_adds(&b, s);
	if (!b.failed)
		out = json_object_new_string_len(
		    (const char *)b.p + b.off, (int)b.len);
	buf_free(&b);
	return out;
}

void
mcp_variables(struct mcp_entry *e, const char *user_home)
{
	struct json_object *args = NULL, *env = NULL, *out, *v;

	json_object_object_get_ex(e->entry, "args", &args);
	for (size_t i = 0; i < json_object_array_length(args); i++) {
		v = json_object_array_get_idx(args, i);
		v = variable_text(e, json_object_get_string(v), user_home);
		if (v != NULL)
			json_object_array_put_idx(args, i, v);
	}
	if (!json_object_object_get_ex(e->entry, "env", &env))
		return;
	out = json_object_new_object();
	json_object_object_foreach(env, name, val)
	{
		v = variable_text(e, json_object_get_string(val), user_home);
		json_object_object_add(out, name, v);
	}
	json_object_object_add(e->entry, "env", out);
}
