/* SPDX-License-Identifier: ISC */
/* The tables are generous: see the header. */
#include "base/secret.h"

#include <string.h>
#include <strings.h>

#include "common/span.h"

/* Parts of the name of a variable or an option. */
static const char *const names[] = {"key", "token", "secret", "passw", "pwd",
    "credential", "auth", "bearer", "cookie", "dsn", "private", "session",
    "signature", "webhook"};

/* Prefixes that vendors give their keys. */
static const char *const values[] = {"sk-", "sk_", "pk_live_", "rk_live_",
    "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
    "xapp-", "ntn_", "secret_", "AKIA", "ASIA", "AIza", "ya29.", "eyJ", "hf_",
    "npm_", "pypi-", "lin_api_", "BSA", "figd_", "dop_v1_", "SG.", "Bearer ",
    "Basic ", "-----BEGIN "};

/* Parts of names that resemble a secret's but are harmless. */
static const char *const harmless[] = {"keyboard", "monkey", "author",
    "tokenizer", "max_tokens", "keys_path", "key_path", "keyfile", "key_file",
    "token_file", "auth_url", "auth_type"};

static bool
contains(const char *text, const char *part)
{
	size_t n = strlen(part);

	for (; *text != '\0'; text++)
		if (strncasecmp(text, part, n) == 0)
			return true;
	return false;
}

/* Returns true for a URL with a user name and password. */
static bool
has_userinfo(const char *value)
{
	const char *at, *colon, *slash, *start = strstr(value, "://");

	if (start == NULL)
		return false;
	start += 3;
	at = strchr(start, '@');
	colon = strchr(start, ':');
	slash = strchr(start, '/');
	return at != NULL && colon != NULL && colon < at &&
	       (slash == NULL || at < slash);
}

bool
secret_like(const char *name, const char *value)
{
	if (*value == '\0')
		return false;
	for (size_t i = 0; i < nitems(values); i++)
		if (strncmp(value, values[i], strlen(values[i])) == 0 &&
		    strlen(value) >= 12)
			return true;
	if (has_userinfo(value))
		return true;
	for (size_t i = 0; i < nitems(harmless); i++)
		if (contains(name, harmless[i]))
			return false;
	/*
	 * A path or a plain address is a place, and a short word is a choice.
	 */
	if (value[0] == '/' || value[0] == '~' || strlen(value) < 8 ||
	    strncmp(value, "http://", 7) == 0 ||
	    strncmp(value, "https://", 8) == 0)
		return false;
	for (size_t i = 0; i < nitems(names); i++)
		if (contains(name, names[i]))
			return true;
	return false;
}

bool
secret_like_argument(const char *before, const char *arg, const char **value)
{
	const char *eq = arg[0] == '-' ? strchr(arg, '=') : NULL;

	*value = eq != NULL ? eq + 1 : arg;
	return eq != NULL ? secret_like(arg, eq + 1)
			  : secret_like(before[0] == '-' ? before : "", arg);
}
