/* SPDX-License-Identifier: ISC */
/*
 * git prints "ORIGIN NUL KEY newline VALUE NUL" for each setting, and no newline
 * for one without a value.
 */
#include "repo/settings.h"

#include <stdlib.h>

void
repo_settings_free(struct repo_settings *s)
{
	free(s->text);
	s->text = NULL;
	s->n = 0;
}

int
repo_settings_parse(struct repo_settings *s, struct span text)
{
	char *p, *end, *key, *value;
	struct repo_setting *to;

	repo_settings_free(s);
	if (text.len == 0)
		return 0;
	if (text.p[text.len - 1] != '\0' ||
	    (s->text = malloc(text.len)) == NULL)
		return -1;
	memcpy(s->text, text.p, text.len);
	for (p = s->text, end = p + text.len; p < end;) {
		key = p + strlen(p) + 1;
		if (key >= end || s->n == REPO_MAX_SETTINGS) {
			repo_settings_free(s);
			return -1;
		}
		to = &s->list[s->n];
		to->origin = strncmp(p, "file:", 5) == 0 ? p + 5 : "";
		/* icgit itself sets these. */
		if (strncmp(p, "command line:", 13) != 0)
			s->n++;
		p = key + strlen(key) + 1;
		if ((value = strchr(key, '\n')) != NULL)
			*value++ = '\0';
		to->key = key;
		to->value = value;
	}
	return 0;
}

const struct repo_setting *
repo_settings_last(const struct repo_settings *s, const char *key)
{
	for (unsigned i = s->n; i-- > 0;)
		if (strcmp(s->list[i].key, key) == 0)
			return &s->list[i];
	return NULL;
}

bool
repo_setting_true(const struct repo_setting *s)
{
	static const char *const words[] = {"true", "yes", "on"};

	if (s == NULL)
		return false;
	if (s->value == NULL)
		return true;
	for (size_t i = 0; i < nitems(words); i++)
		if (strcasecmp(s->value, words[i]) == 0)
			return true;
	return strtol(s->value, NULL, 0) != 0;
}

struct span
repo_setting_name(const char *key, const char *section, const char *variable)
{
	const size_t n = strlen(key), a = strlen(section), z = strlen(variable);

	if (n < a + z + 3 || strncmp(key, section, a) != 0 || key[a] != '.' ||
	    key[n - z - 1] != '.' || strcmp(key + n - z, variable) != 0)
		return span_of("", 0);
	return span_of(key + a + 1, n - a - z - 2);
}
