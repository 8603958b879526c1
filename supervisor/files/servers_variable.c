/* SPDX-License-Identifier: ISC */
/*
 * References in mcp-servers.json, so that people can share a file of servers
 * and keep their keys in the environment. The environment is the user's own. A
 * variable that is not set is an error, because a server would otherwise start
 * with an empty key.
 */
#include "files/servers_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"

#define SERVERS_MAX_TEXT (1U << 20)

/* Returns the value of a variable in a list of NAME=VALUE, or NULL. */
static const char *
variable_own(const char *const *list, const char *name, size_t len)
{
	for (size_t i = 0; list != NULL && list[i] != NULL; i++)
		if (strncmp(list[i], name, len) == 0 && list[i][len] == '=')
			return list[i] + len + 1;
	return NULL;
}

size_t
servers_variable_name(const char *s)
{
	if (s[0] >= '0' && s[0] <= '9')
		return 0;
	return strspn(s, "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/*
 * Returns the value of the reference whose text after "${" is `s`, or NULL, and
 * sets `*next` to the text after its "}". If it has a default, sets `*dflt`. If
 * this is not a reference, `*next` is `s`; if the variable is not set and has
 * no default, `*next` is NULL.
 */
static const char *
variable_value(const char *const *own, const char *const *users, const char *s,
    const char **next, const char **dflt, size_t *dflt_len)
{
	size_t n = servers_variable_name(s);
	const char *end = strchr(s, '}'), *value;
	char name[256];

	*next = s;
	*dflt = NULL;
	if (n == 0 || n >= sizeof(name) || end == NULL)
		return NULL;
	if (s[n] == ':' && s[n + 1] == '-') {
		*dflt = s + n + 2;
		*dflt_len = (size_t)(end - *dflt);
	} else if (s + n != end) {
		return NULL;
	}
	memcpy(name, s, n);
	name[n] = '\0';
	if ((value = variable_own(own, name, n)) == NULL)
		value = variable_own(users, name, n);
	*next = value != NULL || *dflt != NULL ? end + 1 : NULL;
	return value;
}

int
servers_variables(struct servers_entry *e, const char *where, const char *key,
    char *const *own, const char *text, char **out)
{
	const char *const *users = e->how->variables != NULL
				       ? e->how->variables
				       : (const char *const *)environ;
	const char *s = text, *open, *next, *value, *dflt;
	size_t len = 0;
	struct buf b;

	buf_init(&b, SERVERS_MAX_TEXT);
	while ((open = strstr(s, "${")) != NULL) {
		e->def->secret = true;
		buf_add(&b, s, (size_t)(open - s));
		value = variable_value((const char *const *)own, users,
		    open + 2, &next, &dflt, &len);
		if (next == NULL) {
			buf_free(&b);
			len = servers_variable_name(open + 2);
			return jsonfile_bad(&e->j, where, key,
			    "${%.*s} is not set in your environment: export "
			    "%.*s=..., or write ${%.*s:-} if it may be empty",
			    (int)len, open + 2, (int)len, open + 2, (int)len,
			    open + 2);
		}
		if (value != NULL)
			buf_adds(&b, value);
		else if (dflt != NULL)
			buf_add(&b, dflt, len);
		else
			buf_adds(&b, "${");
		s = next;
	}
	buf_adds(&b, s);
	*out = NULL;
	if (!b.failed)
		*out = b.len == 0 ? strdup("")
				  : strndup((const char *)b.p + b.off, b.len);
	buf_free(&b);
	if (*out == NULL)
		return fault_errno(e->j.fault, "%s", e->j.file);
	return 0;
}
