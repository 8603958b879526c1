/* SPDX-License-Identifier: ISC */
#include "repo/clone.h"

#include <stdio.h>
#include <string.h>

#define ORIGIN_MAX 2000U

/* Copy the host and the rest, without what stands before the last @ of it. */
static bool
origin_url(const char *url, size_t scheme, char *dst, size_t cap)
{
	const char *host = url + scheme;
	size_t authority = strcspn(host, "/?#");
	const char *at = memrchr(host, '@', authority);
	int n;

	if (at != NULL) {
		authority -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	if (authority == 0 || host[0] == '-' || strpbrk(host, "?#") != NULL)
		return false;
	n = snprintf(dst, cap, "%.*s%s", (int)scheme, url, host);
	return n > 0 && (size_t)n < cap;
}

bool
repo_origin(struct span s, char *dst, size_t cap)
{
	static const char *const schemes[] = {
	    "https://", "http://", "ssh://", "git+ssh://", "git://"};
	char url[ORIGIN_MAX + 1];
	const char *colon, *at;
	int n;

	if (s.len == 0 || s.len > ORIGIN_MAX ||
	    span_copy(s, url, sizeof(url)) == -1)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f)
			return false;
	for (size_t i = 0; i < nitems(schemes); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
			return origin_url(url, strlen(schemes[i]), dst, cap);
	/* [user@]host:path, as ssh has it; not "helper::address". */
	colon = strchr(url, ':');
	if (colon == NULL || colon == url || colon[1] == ':' ||
	    colon[1] == '\0' || memchr(url, '/', (size_t)(colon - url)) != NULL)
		return false;
	at = memrchr(url, '@', (size_t)(colon - url));
	/* The password-less name that all forges use is no secret. */
	if (at != NULL && (size_t)(at - url) == 3 &&
	    strncmp(url, "git@", 4) == 0)
		at = NULL;
	at = at == NULL ? url : at + 1;
	if (at[0] == '-' || at == colon)
		return false;
	n = snprintf(dst, cap, "%s", at);
	return n > 0 && (size_t)n < cap;
}

bool
repo_is_url(const char *source)
{
	char ignored[ORIGIN_MAX + 1];

	return strstr(source, "://") != NULL ||
	       (source[0] != '/' && source[0] != '.' &&
		   repo_origin(span_str(source), ignored, sizeof(ignored)));
}
