/* SPDX-License-Identifier: ISC */
/* Applies the rules for an agent's error messages. */
#include "files/adapter/errors.h"

#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	enum adapter_trouble kind;
} kinds[] = {{"quota", TROUBLE_QUOTA}, {"transient", TROUBLE_TRANSIENT},
    {"authentication", TROUBLE_AUTHENTICATION}, {"hard", TROUBLE_HARD}};

const char *
adapter_trouble_name(enum adapter_trouble kind)
{
	for (size_t i = 0; i < nitems(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].name;
	return "";
}

void
adapter_errors_free(struct adapter_errors *es)
{
	for (unsigned i = 0; i < es->n; i++) {
		jsonfile_strings_free(es->list[i].contains);
		jsonfile_strings_free(es->list[i].reset);
	}
	memset(es, 0, sizeof(*es));
}

/* Returns the text behind the first `word` in `s`, or one without bytes. */
static struct span
errors_behind(struct span s, const char *word)
{
	size_t n = strlen(word);

	for (; s.len >= n; s.p++, s.len--)
		if (strncasecmp((const char *)s.p, word, n) == 0)
			return span_of(s.p + n, s.len - n);
	return span_of(NULL, 0);
}

static int64_t
errors_reset(const struct adapter_error *e, struct span text, int64_t now)
{
	struct span rest;
	int64_t when;

	for (char **p = e->reset; p != NULL && *p != NULL; p++)
		for (rest = errors_behind(text, *p); rest.p != NULL;
		     rest = errors_behind(rest, *p))
			if (reset_time(rest, now, &when) == 0)
				return when;
	return 0;
}

enum adapter_trouble
adapter_errors_find(const struct adapter_errors *es, struct span text,
    int64_t now, int64_t *reset)
{
	const struct adapter_error *e;

	*reset = 0;
	for (unsigned i = 0; i < es->n; i++) {
		e = &es->list[i];
		for (char **p = e->contains; *p != NULL; p++) {
			if (errors_behind(text, *p).p == NULL)
				continue;
			*reset = errors_reset(e, text, now);
			return e->kind;
		}
	}
	return TROUBLE_NONE;
}
