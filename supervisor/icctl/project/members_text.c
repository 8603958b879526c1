/* SPDX-License-Identifier: ISC */
/* Texts and names of a project's file: what was shown is what is in force. */
#include "icctl/project/members.h"

#include <string.h>

bool
member_plain(const char *s, size_t max)
{
	const size_t n = strlen(s);

	if (n == 0 || n > max)
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] < ' ' || s[i] > '~')
			return false;
	return true;
}

bool
member_name_ok(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_-.") == strlen(s);
}

int
member_text(const struct jsonfile *j, const char *where, json_object *v,
    size_t max, const char **out)
{
	if (!json_object_is_type(v, json_type_string))
		return jsonfile_bad(
		    j, where, NULL, "must be a text, not %s", jsonfile_kind(v));
	*out = json_object_get_string(v);
	if (member_plain(*out, max) &&
	    strlen(*out) == (size_t)json_object_get_string_len(v))
		return 0;
	return jsonfile_bad(j, where, NULL,
	    "must be a text of 1 to %zu printable ASCII characters", max);
}
