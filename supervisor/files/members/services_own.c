/* SPDX-License-Identifier: ISC */
/*
 * Checks the entry of a service that the session starts for itself: a program
 * of this machine in a sandbox like that of an MCP server, or an image in a
 * container. An image is named by its digest, so that what runs is what the
 * user chose; there are no mounts, no network, and nothing of the host to name.
 */
#include "files/parse.h"

#include <stdio.h>
#include <string.h>

#define OWN_WORDS 64U
#define OWN_TEXT 4096U
#define OWN_VARIABLES 64
#define OWN_DIRECTORIES 8U

/* Returns true for "sha256:" and 64 hexadecimal digits. */
static bool
own_digest(const char *s)
{
	return strncmp(s, "sha256:", 7) == 0 && strlen(s) == 7 + 64 &&
	       strspn(s + 7, "0123456789abcdef") == 64;
}

static int
own_image(const struct jsonfile *j, const char *where, struct json_object *o)
{
	const char *s = NULL, *at;

	if (jsonfile_str(j, o, where, "image", &s) == -1)
		return -1;
	if (s == NULL)
		return 0;
	at = strchr(s, '@');
	if (config_is_image(s) && strlen(s) < 256 &&
	    own_digest(at != NULL ? at + 1 : s))
		return 0;
	return jsonfile_bad(j, where, "image",
	    "must have a digest, as \"postgres@sha256:...\" or the engine's own "
	    "\"sha256:...\": a tag may be another image tomorrow. "
	    "docker image inspect --format '{{.RepoDigests}} {{.Id}}' IMAGE "
	    "shows them");
}

/* Check an array of at most `max` texts. */
static int
own_words(const struct jsonfile *j, struct json_object *o, const char *where,
    const char *key, size_t max)
{
	struct json_object *list = NULL, *v;

	if (!json_object_object_get_ex(o, key, &list))
		return 0;
	if (!json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) == 0 ||
	    json_object_array_length(list) > max)
		return jsonfile_bad(j, where, key,
		    "must be an array of 1 to %zu texts, as [\"postgres\"]",
		    max);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		v = json_object_array_get_idx(list, i);
		if (!json_object_is_type(v, json_type_string) ||
		    (size_t)json_object_get_string_len(v) !=
			strlen(json_object_get_string(v)) ||
		    strlen(json_object_get_string(v)) > OWN_TEXT)
			return jsonfile_bad(j, where, key,
			    "must be an array of texts of at most %u bytes",
			    OWN_TEXT);
	}
	return 0;
}

static int
own_env(const struct jsonfile *j, const char *where, struct json_object *o)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	struct json_object *all = NULL;
	const char *s;
	size_t n;

	if (jsonfile_object(j, o, where, "env", &all) == -1)
		return -1;
	if (all == NULL)
		return 0;
	if (json_object_object_length(all) > OWN_VARIABLES)
		return jsonfile_bad(j, where, "env",
		    "at most %d variables are allowed", OWN_VARIABLES);
	json_object_object_foreach(all, name, val)
	{
		n = strspn(name, first);
		n += n == 0 ? 0 : strspn(name + n, "0123456789");
		while (n != 0 && name[n] != '\0' &&
		       (strchr(first, name[n]) != NULL ||
			   strchr("0123456789", name[n]) != NULL))
			n++;
		if (n == 0 || n > 64 || name[n] != '\0' ||
		    strncmp(name, "LD_", 3) == 0)
			return jsonfile_bad(j, where, "env",
			    "has a name that no variable of a service can have");
		if (jsonfile_text_of(j, val, where, "env", &s) == -1)
			return -1;
		if (strlen(s) > OWN_TEXT || strpbrk(s, "\r\n") != NULL)
			return jsonfile_bad(j, where, "env",
			    "%s must be one line of at most %u bytes", name,
			    OWN_TEXT);
	}
	return 0;
}

/* Directories of the image that are writable, in memory. */
static int
own_tmpfs(const struct jsonfile *j, const char *where, struct json_object *o)
{
	struct json_object *list = NULL;
	const char *s;

	if (own_words(j, o, where, "tmpfs", OWN_DIRECTORIES) == -1)
		return -1;
	if (!json_object_object_get_ex(o, "tmpfs", &list))
		return 0;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		s = json_object_get_string(json_object_array_get_idx(list, i));
		if (s[0] != '/' || s[1] == '\0' || strlen(s) > 255 ||
		    strstr(s, "/..") != NULL || strstr(s, "//") != NULL ||
		    strpbrk(s, ":,\"\\\r\n") != NULL)
			return jsonfile_bad(j, where, "tmpfs",
			    "must list absolute paths of directories in the "
			    "image, without . and ..");
	}
	return 0;
}

int
services_own(
    const struct jsonfile *j, const char *where, struct json_object *o)
{
	static const char *const keys[] = {"port", "command", "image", "env",
	    "tmpfs", "health", NULL};

	if (json_object_object_get_ex(o, "to", NULL))
		return jsonfile_bad(j, where, "to",
		    "is for a service of this machine: remove it, or "
		    "\"command\" and \"image\"");
	if (jsonfile_known(j, o, where, keys) == -1 ||
	    own_image(j, where, o) == -1 ||
	    own_words(j, o, where, "command", OWN_WORDS) == -1 ||
	    own_words(j, o, where, "health", OWN_WORDS) == -1 ||
	    own_env(j, where, o) == -1 || own_tmpfs(j, where, o) == -1)
		return -1;
	if (json_object_object_get_ex(o, "tmpfs", NULL) &&
	    !json_object_object_get_ex(o, "image", NULL))
		return jsonfile_bad(j, where, "tmpfs",
		    "is for images: a program has /data and /tmp");
	return 0;
}
