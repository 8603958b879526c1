/* SPDX-License-Identifier: ISC */
#include "repo/names.h"

#include <string.h>

/* Returns why a component of a branch's name is refused, or NULL. */
static const char *
component_wrong(struct span c)
{
	if (c.len == 0)
		return "an empty part between slashes";
	if (c.p[0] == '-')
		return "a part that begins with -";
	if (c.p[0] == '.')
		return "a part that begins with a dot";
	if (c.p[c.len - 1] == '.')
		return "a part that ends with a dot";
	if (c.len >= 5 && span_is(span_of(c.p + c.len - 5, 5), ".lock"))
		return "a part that ends with .lock";
	if (span_ieq(c, SPAN("HEAD")))
		return "a part that is HEAD";
	return NULL;
}

const char *
repo_name_wrong(struct span name)
{
	const uint8_t *slash;
	const char *why;
	struct span c;
	uint8_t ch;

	if (name.len == 0 || name.len >= REPO_NAME)
		return "not between 1 and 200 bytes";
	for (size_t i = 0; i < name.len; i++) {
		ch = name.p[i];
		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			(ch >= '0' && ch <= '9') || ch == '.' || ch == '_' ||
			ch == '/' || ch == '-'))
			return "characters other than letters, digits and "
			       "._/-";
		if (ch == '.' && i + 1 < name.len && name.p[i + 1] == '.')
			return "two dots in a row";
	}
	for (;;) {
		slash = memchr(name.p, '/', name.len);
		c = span_of(name.p,
		    slash == NULL ? name.len : (size_t)(slash - name.p));
		if ((why = component_wrong(c)) != NULL)
			return why;
		if (slash == NULL)
			return NULL;
		name = span_of(slash + 1, name.len - c.len - 1);
	}
}

bool
repo_oid_ok(struct span s)
{
	if (s.len != 40 && s.len != 64)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!((s.p[i] >= '0' && s.p[i] <= '9') ||
			(s.p[i] >= 'a' && s.p[i] <= 'f')))
			return false;
	return true;
}
