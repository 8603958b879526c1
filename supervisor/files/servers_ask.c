/* SPDX-License-Identifier: ISC */
#include <string.h>
#include <unistd.h>

#include "files/reader.h"
#include "files/servers_pack.h"

#define ASK_MAX_LIST (2U << 20)

/* Returns true if the text has ${NAME. */
static bool
ask_refers(struct span text, const char *name, size_t len)
{
	struct span rest = text;
	const uint8_t *at;

	while ((at = span_find(rest, SPAN("${"))) != NULL) {
		rest = span_of(at + 2, rest.len - (size_t)(at + 2 - rest.p));
		if (rest.len > len && memcmp(rest.p, name, len) == 0 &&
		    (rest.p[len] == '}' || rest.p[len] == ':'))
			return true;
	}
	return false;
}

/* Add those variables of the user that the text refers to. */
static void
ask_variables(struct buf *b, struct span text)
{
	for (char **v = environ; *v != NULL; v++)
		if (ask_refers(text, *v, strcspn(*v, "=")))
			buf_add(b, *v, strlen(*v) + 1);
}

int
servers_ask(struct servers *s, const struct servers_how *how, struct span text,
    struct fault *fault)
{
	const char *secrets = how->env == NULL
				  ? ""
				  : json_object_to_json_string_ext(
					how->env, JSON_C_TO_STRING_PLAIN);
	struct buf allowed, variables, answer;
	struct span parts[READER_PARTS];
	int rv;

	memset(s, 0, sizeof(*s));
	buf_init(&allowed, ASK_MAX_LIST);
	buf_init(&variables, ASK_MAX_LIST);
	buf_init(&answer, READER_MAX_ANSWER);
	for (size_t i = 0; i < how->nunsandboxed; i++)
		buf_add(&allowed, how->unsandboxed[i],
		    strlen(how->unsandboxed[i]) + 1);
	ask_variables(&variables, text);
	parts[READER_SERVERS_FILE] = span_str(how->file);
	parts[READER_SERVERS_HOME] = span_str(how->user_home);
	parts[READER_SERVERS_TEXT] = text;
	parts[READER_SERVERS_SECRETS] =
	    span_str(secrets == NULL ? "" : secrets);
	parts[READER_SERVERS_ALLOWED] = buf_span(&allowed);
	parts[READER_SERVERS_VARIABLES] = buf_span(&variables);
	if (secrets == NULL || buf_check(&allowed) == -1 ||
	    buf_check(&variables) == -1)
		rv = fault_errno(fault, "%s", how->file);
	else
		rv = reader_read(
		    READER_SERVERS, parts, how->file, &answer, fault);
	if (rv == 0 && servers_take(s, buf_span(&answer)) == -1)
		rv = reader_bad(fault);
	buf_free(&allowed);
	buf_free(&variables);
	buf_free(&answer);
	return rv;
}
