/* SPDX-License-Identifier: ISC */
/*
 * Reads what mostly a project's file brings: calls that the policy must not
 * allow, and words to the agent.
 */
#include "files/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/narrow.h"

/* Add the texts of one list, each behind the list's name. Returns 0, or -1. */
static int
narrow_list(struct config *cfg, const struct jsonfile *j, struct json_object *o,
    const char *key, unsigned max, size_t *n)
{
	char **list = NULL;
	struct narrow one;
	int rv = jsonfile_strings(j, o, "policy", key, max, &list);

	for (size_t i = 0; rv != -1 && list != NULL && list[i] != NULL; i++) {
		if (narrow_parse(span_str(list[i]), &one) == -1)
			rv = jsonfile_bad(j, "policy", key,
			    "\"%s\": must be " NARROW_FORMS, list[i]);
		else if (asprintf(&cfg->narrow[*n], "%s %s", key, list[i]) ==
			 -1) {
			cfg->narrow[*n] = NULL;
			rv = fault_errno(j->fault, "%s", j->file);
		} else {
			(*n)++;
		}
	}
	jsonfile_strings_free(list);
	return rv == -1 ? -1 : 0;
}

int
config_narrow(struct config *cfg, const struct jsonfile *j,
    struct json_object *o, bool merged)
{
	const unsigned max = merged ? NARROW_ALL : NARROW_MAX;
	size_t n = 0;

	cfg->narrow = calloc(2 * NARROW_ALL + 1, sizeof(*cfg->narrow));
	if (cfg->narrow == NULL)
		return fault_errno(j->fault, "%s", j->file);
	return narrow_list(cfg, j, o, "deny", max, &n) == -1 ||
		       narrow_list(cfg, j, o, "ask", max, &n) == -1
		   ? -1
		   : 0;
}

/* Quote the lines: they are not the user's. Returns 0, or -1. */
static int
told_quote(struct config *cfg, const struct jsonfile *j, char *const *lines)
{
	struct buf b;

	buf_init(&b, 2 * CONFIG_TOLD);
	buf_adds(&b, "\nThe file .ironcurtain.json of the project says to "
		     "agents, in its "
		     "own words, which allow nothing:\n");
	for (; *lines != NULL; lines++) {
		for (const char *s = *lines; *s != '\0'; s++)
			if (*s < ' ' || *s > '~')
				b.failed = true;
		buf_printf(&b, "> %s\n", *lines);
	}
	if (!b.failed && b.len <= CONFIG_TOLD + 300U)
		cfg->told = span_dup(buf_span(&b));
	buf_free(&b);
	return cfg->told != NULL
		   ? 0
		   : jsonfile_bad(j, "", "projectInstructions",
			 "must be lines of printable ASCII, at most %u bytes",
			 CONFIG_TOLD);
}

int
config_told(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	char **lines = NULL;
	int rv;

	rv = jsonfile_strings(
	    j, root, "", "projectInstructions", CONFIG_MAX_TOLD, &lines);
	if (rv != -1 && lines != NULL && lines[0] != NULL)
		rv = told_quote(cfg, j, lines);
	jsonfile_strings_free(lines);
	return rv == -1 ? -1 : 0;
}
