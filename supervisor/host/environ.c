/* SPDX-License-Identifier: ISC */
/*
 * Cleans environments. PATH and LD_LIBRARY_PATH are only the two best known
 * variables by which a program finds code (there are also PYTHONPATH,
 * LD_PRELOAD, BASH_ENV, NODE_OPTIONS=--require=FILE, ...), so most are not
 * recognised by name: every path in every value is judged by where it leads.
 */
#include "host/environ.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/jsonfile.h"

/* Lists in which an empty or relative element means the current directory. */
static const char *const lists[] = {"PATH", "LD_LIBRARY_PATH"};

char *
host_list_clean(const struct places *places, const char *list,
    void (*told)(const char *element, const char *place))
{
	char *copy = strdup(list), *out = calloc(1, strlen(list) + 1);
	char *rest = copy, *item;
	const char *place;

	if (copy == NULL || out == NULL) {
		free(copy);
		free(out);
		return NULL;
	}
	while ((item = strsep(&rest, ":")) != NULL) {
		if (item[0] != '/')
			continue;
		if ((place = places_of(places, item, NULL)) != NULL) {
			if (told != NULL)
				told(item, place);
			continue;
		}
		if (out[0] != '\0')
			strlcat(out, ":", strlen(list) + 1);
		strlcat(out, item, strlen(list) + 1);
	}
	free(copy);
	return out;
}

/*
 * Returns true if any path in `value` leads to a place that the agent can
 * write. `stops` are the characters that separate paths.
 */
static bool
value_leads(const struct places *places, const char *value, const char *stops)
{
	char *copy, *rest, *item, *slash;
	bool leads = false;

	if (strchr(value, '/') == NULL)
		return false;
	if ((copy = strdup(value)) == NULL)
		return true;
	rest = copy;
	while (!leads && (item = strsep(&rest, stops)) != NULL) {
		/* Also find the path in -I/path and --require=/path. */
		if ((slash = strchr(item, '/')) == NULL ||
		    (slash != item && item[0] != '-'))
			continue;
		leads = places_of(places, slash, NULL) != NULL;
	}
	free(copy);
	return leads;
}

/*
 * Returns the entry as a child may have it, "" if the child may not have it, or
 * NULL with errno set. The caller frees it.
 */
static char *
entry_clean(const struct places *places, const char *entry)
{
	const char *eq = strchr(entry, '=');
	char *list, *out = NULL;
	bool known = false;
	size_t n;

	if (eq == NULL || strncmp(entry, "PWD=", 4) == 0 ||
	    strncmp(entry, "OLDPWD=", 7) == 0)
		return strdup("");
	n = (size_t)(eq - entry);
	for (size_t i = 0; i < nitems(lists); i++)
		if (strlen(lists[i]) == n && strncmp(entry, lists[i], n) == 0)
			known = true;
	if (!known && !value_leads(places, eq + 1, ": \t;,="))
		return strdup(entry);
	/*
	 * A list of plain paths can lose some of them; any other value goes
	 * entirely.
	 */
	if (!known && (eq[1] != '/' || strpbrk(eq + 1, " \t;,=") != NULL))
		return strdup("");
	if ((list = host_list_clean(places, eq + 1, NULL)) == NULL)
		return NULL;
	if (list[0] == '\0')
		out = strdup("");
	else if (asprintf(&out, "%.*s=%s", (int)n, entry, list) == -1)
		out = NULL;
	free(list);
	return out;
}

char **
host_environ(const struct places *places, char *const *from)
{
	size_t n = 0, k = 0;
	char **out;

	while (from != NULL && from[n] != NULL)
		n++;
	if ((out = calloc(n + 1, sizeof(*out))) == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if ((out[k] = entry_clean(places, from[i])) == NULL) {
			jsonfile_strings_free(out);
			errno = ENOMEM;
			return NULL;
		}
		if (out[k][0] != '\0') {
			k++;
			continue;
		}
		free(out[k]);
		out[k] = NULL;
	}
	return out;
}
