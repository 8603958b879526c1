/* SPDX-License-Identifier: ISC */
/* Reads what an adapter says about conversations. */
#include "files/adapter/talk.h"

#include <string.h>

#define TALK_MAX_ARGS 64U

/* Conditions are PATH=VALUE, and a path has names joined by dots. */
static bool
talk_conditions_ok(const char *s)
{
	const char *eq;
	size_t n;

	for (; *s != '\0'; s += n + (s[n] == ',')) {
		n = strcspn(s, ",");
		if ((eq = memchr(s, '=', n)) == NULL || eq == s)
			return false;
	}
	return true;
}

static int
talk_rule(struct adapter_talk *t, const struct jsonfile *j, const char *where,
    struct json_object *o)
{
	static const char *const keys[] = {
	    "each", "event", "part", "text", "when", "whole", NULL};
	static const struct {
		const char *name;
		enum proto_turn kind;
	} events[] = {{"agent_text", PROTO_TURN_TEXT},
	    {"thinking", PROTO_TURN_THINKING}, {"tool_call", PROTO_TURN_TOOL},
	    {"result", PROTO_TURN_RESULT}, {"error", PROTO_TURN_ERROR}};
	struct adapter_rule *r = &t->rules[t->nrules++];
	const char *event = NULL;
	const char *text;
	char **texts[] = {&r->when, &r->each, &r->part, &r->text};
	static const char *const names[] = {"when", "each", "part", "text"};

	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, where, NULL, "must be an object");
	if (jsonfile_known(j, o, where, keys) == -1 ||
	    jsonfile_str(j, o, where, "event", &event) == -1 ||
	    jsonfile_bool(j, o, where, "whole", &r->whole) == -1)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		text = "";
		if (jsonfile_str(j, o, where, names[i], &text) == -1)
			return -1;
		if (strlen(text) > PROTO_MAX_MATCH)
			return jsonfile_bad(j, where, names[i],
			    "is longer than %u bytes", PROTO_MAX_MATCH);
		if ((*texts[i] = strdup(text)) == NULL)
			return fault_errno(j->fault, "%s", j->file);
	}
	if (!talk_conditions_ok(r->when) || !talk_conditions_ok(r->part))
		return jsonfile_bad(j, where, NULL,
		    "when and part must be PATH=VALUE, joined by commas");
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (event == NULL || strcmp(event, events[i].name) != 0)
			continue;
		r->kind = events[i].kind;
		return 0;
	}
	return jsonfile_bad(j, where, "event",
	    "must be agent_text, thinking, tool_call, result or error");
}

static int
talk_output(
    struct adapter_talk *t, const struct jsonfile *j, struct json_object *o)
{
	static const char *const keys[] = {"events", "format", NULL};
	struct json_object *list;
	const char *format = "lines";
	char where[48];

	if (jsonfile_known(j, o, "output", keys) == -1 ||
	    jsonfile_str(j, o, "output", "format", &format) == -1)
		return -1;
	t->format = PROTO_TURNS_LINES;
	if (strcmp(format, "json-lines") == 0)
		t->format = PROTO_TURNS_JSON;
	else if (strcmp(format, "lines") != 0)
		return jsonfile_bad(
		    j, "output", "format", "must be lines or json-lines");
	if (!json_object_object_get_ex(o, "events", &list))
		return 0;
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > PROTO_MAX_TURN_RULES)
		return jsonfile_bad(j, "output", "events",
		    "must be an array of at most %u", PROTO_MAX_TURN_RULES);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		snprintf(where, sizeof(where), "output.events[%zu]", i);
		if (talk_rule(
			t, j, where, json_object_array_get_idx(list, i)) == -1)
			return -1;
	}
	return 0;
}

int
adapter_talk_read(
    struct adapter_talk *t, const struct jsonfile *j, struct json_object *root)
{
	struct json_object *o = NULL;
	const char *message = "stdin";

	t->format = PROTO_TURNS_LINES;
	if (jsonfile_strings(j, root, "", "turn", TALK_MAX_ARGS, &t->turn) ==
		-1 ||
	    jsonfile_strings(
		j, root, "", "resume", TALK_MAX_ARGS, &t->resume) == -1 ||
	    jsonfile_strings(j, root, "", "continue", TALK_MAX_ARGS, &t->on) ==
		-1 ||
	    jsonfile_str(j, root, "", "message", &message) == -1 ||
	    jsonfile_bool(j, root, "", "background", &t->background) == -1 ||
	    jsonfile_object(j, root, "", "output", &o) == -1)
		return -1;
	t->argument = strcmp(message, "argument") == 0;
	if (!t->argument && strcmp(message, "stdin") != 0)
		return jsonfile_bad(
		    j, "", "message", "must be argument or stdin");
	if (t->resume != NULL && t->turn == NULL)
		return jsonfile_bad(j, "", "resume", "needs turn");
	return o == NULL ? 0 : talk_output(t, j, o);
}
