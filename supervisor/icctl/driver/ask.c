/* SPDX-License-Identifier: ISC */
/*
 * Reads a request. Its line is read strictly first, so that json-c, which is
 * more lenient, builds the tree of exactly what was checked.
 */
#include "icctl/driver/priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "common/bridge_frames.h"
#include "common/json/json.h"
#include "common/log.h"

#define ASK_POOL (256U << 20)
#define ASK_NODES 1000000U
#define ASK_ASKED 70000U /* bytes that a schema may add to the message */

static enum ask_kind __attribute__((format(printf, 2, 3)))
ask_bad(char why[DRIVER_WHY], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, DRIVER_WHY, fmt, ap);
	va_end(ap);
	return ASK_BAD;
}

void
ask_free(struct ask *a)
{
	json_object_put(a->id);
	free(a->message);
	free(a->model);
	free(a->cwd);
	free(a->workflow);
	for (size_t i = 0; i < a->ntools; i++)
		free(a->tools[i]);
	wanted_free(a->wanted);
	memset(a, 0, sizeof(*a));
}

/* Read the line. Returns NULL with the reason. */
static json_object *
ask_parse(struct span line, enum fail *fail, char why[DRIVER_WHY])
{
	struct value_pool *pool = value_pool_new(ASK_POOL);
	struct json_tokener *tok = json_tokener_new_ex(VALUE_MAX_DEPTH + 1);
	struct json_fail bad = {JSON_LIMIT, 0};
	json_object *o = NULL;

	*fail = FAIL_MALFORMED;
	if (pool == NULL || tok == NULL) {
		(void)ask_bad(why, "no memory");
	} else if (json_read_large(pool, line, ASK_NODES, DRIVER_LINE, &bad) ==
		   NULL) {
		if (bad.error == JSON_LIMIT)
			*fail = FAIL_TOO_LONG;
		(void)ask_bad(why, "byte %zu of the line: %s", bad.at,
		    json_strerror(bad.error));
	} else {
		o = json_tokener_parse_ex(
		    tok, (const char *)line.p, (int)line.len);
		if (o == NULL)
			(void)ask_bad(why, "this line is not understood");
	}
	if (tok != NULL)
		json_tokener_free(tok);
	value_pool_free(pool);
	if (o != NULL && !json_object_is_type(o, json_type_object)) {
		*fail = FAIL_BAD_REQUEST;
		(void)ask_bad(why, "a request is an object");
		json_object_put(o);
		o = NULL;
	}
	return o;
}

/* Take an id. Returns NULL if it is none; the caller owns it. */
static json_object *
ask_id(json_object *v)
{
	if ((json_object_is_type(v, json_type_string) &&
		json_object_get_string_len(v) > 0 &&
		json_object_get_string_len(v) <= (int)DRIVER_ID) ||
	    json_object_is_type(v, json_type_int))
		return json_object_get(v);
	return NULL;
}

/* Returns true for a name that may be part of a path. */
static bool
ask_is_name(const char *s)
{
	static const char may[] = "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return s[0] != '\0' && s[0] != '.' && s[0] != '-' && strlen(s) <= 40 &&
	       s[strspn(s, may)] == '\0';
}

/*
 * Copy a text, which may be absent, to `*out`. Returns false with the reason.
 */
static bool
ask_text(json_object *o, const char *key, char **out, char why[DRIVER_WHY])
{
	json_object *v = get_member(o, key);
	const char *s;

	if (v == NULL)
		return true;
	if (!json_object_is_type(v, json_type_string)) {
		(void)ask_bad(why, "%s: must be a string", key);
		return false;
	}
	s = json_object_get_string(v);
	if (strlen(s) != (size_t)json_object_get_string_len(v)) {
		(void)ask_bad(why, "%s: contains a NUL byte", key);
		return false;
	}
	if ((*out = strdup(s)) == NULL)
		(void)ask_bad(why, "%s: no memory", key);
	return *out != NULL;
}

static bool
ask_tools(json_object *o, struct ask *a, char why[DRIVER_WHY])
{
	json_object *v = get_member(o, "allowed_tools"), *name;

	/* An answer needs no tool, unless the request names some. */
	a->narrow = v != NULL || a->generate;
	if (v == NULL)
		return true;
	if (!json_object_is_type(v, json_type_array) ||
	    json_object_array_length(v) > DRIVER_TOOLS) {
		(void)ask_bad(why,
		    "allowed_tools: must be a list of at most %u names",
		    DRIVER_TOOLS);
		return false;
	}
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		name = json_object_array_get_idx(v, i);
		if (!json_object_is_type(name, json_type_string)) {
			(void)ask_bad(
			    why, "allowed_tools[%zu]: must be a string", i);
			return false;
		}
		a->tools[a->ntools] = strdup(json_object_get_string(name));
		if (a->tools[a->ntools++] == NULL)
			return false;
	}
	return true;
}

static bool
ask_schema(json_object *o, struct ask *a, char why[DRIVER_WHY])
{
	json_object *v = get_member(o, "schema");
	char bad[WANTED_WHY];
	const char *text;

	if (v == NULL)
		return true;
	text = json_object_to_json_string_ext(v, ICCTL_JSON);
	a->wanted = wanted_of(span_str(text), "schema", bad);
	if (a->wanted == NULL)
		(void)ask_bad(why, "%.1000s", bad);
	return a->wanted != NULL;
}

/* Compose the message: the instructions, and then the prompt. */
static bool
ask_message(const struct driver *d, json_object *o, struct ask *a,
    enum fail *fail, char why[DRIVER_WHY])
{
	char *prompt = NULL, *file = NULL, *first = NULL;
	size_t max = BRIDGE_MAX_MESSAGE, len;
	bool ok = false;

	if (!ask_text(o, "prompt", &prompt, why) ||
	    !ask_text(o, "prompt_file", &file, why) ||
	    !ask_text(o, "instructions", &first, why))
		goto out;
	if ((prompt == NULL) == (file == NULL)) {
		(void)ask_bad(why, "needs a prompt, or else a prompt_file");
		goto out;
	}
	if (file != NULL && (prompt = plain_read(d, file, max, why)) == NULL)
		goto out;
	if (prompt[strspn(prompt, " \t\r\n\v\f")] == '\0') {
		*fail = FAIL_EMPTY_PROMPT;
		(void)ask_bad(why, "the prompt is empty");
		goto out;
	}
	len = strlen(prompt) + (first == NULL ? 0 : strlen(first) + 2);
	if (a->wanted != NULL)
		len += strlen(wanted_ask(a->wanted));
	if (len > max) {
		*fail = FAIL_TOO_LONG;
		(void)ask_bad(why,
		    "the prompt, with its instructions and schema, may have at "
		    "most 1 MiB. Put long texts in files of the workspace, and "
		    "name them in the prompt");
		goto out;
	}
	/* A worker of the orchestrator's own is asked once. */
	ok =
	    asprintf(&a->message, "%s%s%s%s", first == NULL ? "" : first,
		first == NULL ? "" : "\n\n", prompt,
		worker_lines_are(d) && a->wanted != NULL ? wanted_ask(a->wanted)
							 : "") != -1;
	if (!ok) {
		a->message = NULL;
		(void)ask_bad(why, "no memory");
	}
out:
	free(prompt);
	free(file);
	free(first);
	return ok;
}

/* Refuse members that mean nothing. */
static bool
ask_known(json_object *o, const char *const *known, char why[DRIVER_WHY])
{
	char shown[256];
	bool listed;

	json_object_object_foreach(o, key, v)
	{
		(void)v;
		listed = false;
		for (const char *const *k = known; *k != NULL; k++)
			listed = listed || strcmp(*k, key) == 0;
		if (!listed) {
			(void)ask_bad(why, "%s: no such member of a request",
			    log_vis(span_str(key), shown, sizeof(shown)));
			return false;
		}
	}
	return true;
}

static enum ask_kind
ask_request(const struct driver *d, json_object *o, struct ask *a,
    enum fail *fail, char why[DRIVER_WHY])
{
	static const char *const known[] = {"id", "mode", "prompt",
	    "prompt_file", "model", "cwd", "instructions", "schema",
	    "allowed_tools", "workflow_id", "continue", NULL};
	const char *mode = get_str(o, "mode", "");
	json_object *again = get_member(o, "continue");

	a->generate = strcmp(mode, "generate") == 0;
	if (!ask_known(o, known, why))
		return ASK_BAD;
	if (!a->generate && strcmp(mode, "agentic") != 0)
		return ask_bad(why, "mode: must be agentic or generate");
	if (again != NULL && !json_object_is_type(again, json_type_boolean))
		return ask_bad(why, "continue: must be true or false");
	a->again = json_object_get_boolean(again);
	if (!ask_text(o, "model", &a->model, why) ||
	    !ask_text(o, "workflow_id", &a->workflow, why) ||
	    !ask_text(o, "cwd", &a->cwd, why) || !ask_tools(o, a, why) ||
	    !ask_schema(o, a, why))
		return ASK_BAD;
	if (a->model != NULL && (a->model[0] == '\0' || a->model[0] == '-'))
		return ask_bad(why, "model: is no name of a model");
	if (a->workflow != NULL && !ask_is_name(a->workflow))
		return ask_bad(why,
		    "workflow_id: has 1 to 40 letters, digits, '.', '_' and "
		    "'-', and begins with a letter or digit");
	if (a->workflow != NULL && driver_option(d, "--clone") == NULL)
		return ask_bad(why,
		    "workflow_id: a workflow has a clone, so that the driver "
		    "needs --clone SOURCE");
	if (a->again && a->workflow == NULL)
		return ask_bad(why, "continue: needs a workflow_id");
	return ask_message(d, o, a, fail, why) ? ASK_REQUEST : ASK_BAD;
}

enum ask_kind
ask_read(const struct driver *d, struct span line, struct ask *a,
    enum fail *fail, char why[DRIVER_WHY])
{
	static const char *const cancel[] = {"cancel", NULL},
				 *const teardown[] = {"teardown", NULL};
	json_object *o = ask_parse(line, fail, why);
	enum ask_kind kind = ASK_BAD;

	memset(a, 0, sizeof(*a));
	if (o == NULL)
		return ASK_BAD;
	*fail = FAIL_BAD_REQUEST;
	if (get_member(o, "cancel") != NULL) {
		a->id = ask_id(get_member(o, "cancel"));
		kind = ASK_CANCEL;
		if (a->id == NULL || !ask_known(o, cancel, why))
			kind =
			    ask_bad(why, "cancel: names the id of a request, "
					 "and stands alone");
	} else if (get_member(o, "teardown") != NULL) {
		kind = ASK_TEARDOWN;
		if (!ask_text(o, "teardown", &a->workflow, why) ||
		    !ask_is_name(a->workflow) || !ask_known(o, teardown, why))
			kind = ask_bad(why,
			    "teardown: names a workflow, and stands alone");
	} else if ((a->id = ask_id(get_member(o, "id"))) == NULL) {
		kind = ask_bad(why,
		    "id: must be a string of 1 to %u bytes, or a whole number",
		    DRIVER_ID);
	} else {
		kind = ask_request(d, o, a, fail, why);
	}
	json_object_put(o);
	return kind;
}
