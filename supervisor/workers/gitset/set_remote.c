/* SPDX-License-Identifier: ISC */
/*
 * Remotes by ssh. A sandbox has neither ssh's network nor a key: addresses of a
 * host with a git destination become https, and every other one ends in one
 * sentence.
 */
#include "workers/gitset/gitset.h"

#include <stdio.h>
#include <string.h>

#include "base/secretive.h"
#include "repo/user.h"

#define REMOTE_HOST 256U
#define REMOTE_URL 2048U

/* A host of ssh, and how an address may begin that means it. */
static const char *const remote_forms[] = {"git@%s:", "%s:", "ssh://git@%s/",
    "ssh://%s/", "ssh://git@%s:22/", "git+ssh://git@%s/", "ssh+git://git@%s/",
    "git@%s:/", "%s:/", "ssh://%s:22/"};

/* Find the host of an address that git reaches by ssh. */
static bool
remote_host(const char *url, char host[REMOTE_HOST])
{
	static const char *const schemes[] = {
	    "ssh://", "git+ssh://", "ssh+git://"};
	const char *from = NULL, *at;
	size_t n;

	for (size_t i = 0; i < nitems(schemes); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
			from = url + strlen(schemes[i]);
	n = from == NULL ? strcspn(url, ":/") : strcspn(from, "/");
	/* [user@]host:path; "helper::address" and paths are something else. */
	if (from == NULL &&
	    (url[n] != ':' || url[n + 1] == ':' || strstr(url, "://") != NULL))
		return false;
	if (from == NULL)
		from = url;
	if ((at = memrchr(from, '@', n)) != NULL) {
		n -= (size_t)(at + 1 - from);
		from = at + 1;
	}
	if (from != url && (at = memchr(from, ':', n)) != NULL)
		n = (size_t)(at - from);
	if (n < 2 || n >= REMOTE_HOST)
		return false;
	memcpy(host, from, n);
	host[n] = '\0';
	for (const char *p = host; *p != '\0'; p++)
		if (strchr(
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			"0123456789.-_",
			*p) == NULL)
			return false;
	return true;
}

/*
 * Returns the length of what stands before the path in an address by ssh: a
 * user or a port may stand there that is in none of the forms.
 */
static size_t
remote_before(const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *from = scheme != NULL ? scheme + 3 : url;
	size_t n =
	    (size_t)(from - url) + strcspn(from, scheme != NULL ? "/" : ":");

	n += url[n] != '\0';
	return n + strspn(url + n, "/");
}

/*
 * Find what an address means to the user's git: the longest beginning of it
 * that has another one in its place counts. Writes the whole address.
 */
static const char *
remote_meant(const char *url, char dst[REMOTE_URL])
{
	const struct repo_settings *all[] = {&set.user, &set.own};
	const char *value;
	struct span base = span_of("", 0), name;
	size_t longest = 0;

	for (size_t a = 0; a < nitems(all); a++)
		for (unsigned i = 0; i < all[a]->n; i++) {
			value = all[a]->list[i].value;
			name = repo_setting_name(
			    all[a]->list[i].key, "url", "insteadof");
			if (name.len == 0 || value == NULL ||
			    strlen(value) <= longest ||
			    strncmp(url, value, strlen(value)) != 0)
				continue;
			longest = strlen(value);
			base = name;
		}
	if (longest == 0)
		return url;
	snprintf(dst, REMOTE_URL, "%.*s%s", (int)base.len, (const char *)base.p,
	    url + longest);
	return dst;
}

/* Write what stands before the paths of the repository's own remotes. */
static void
remote_own(struct buf *b)
{
	char host[REMOTE_HOST], text[REMOTE_HOST + 32], whole[REMOTE_URL];
	const char *url;

	for (unsigned i = 0; i < set.own.n; i++) {
		url = set.own.list[i].value;
		if (url == NULL || url != remote_meant(url, whole) ||
		    (repo_setting_name(set.own.list[i].key, "remote", "url")
				.len == 0 &&
			repo_setting_name(
			    set.own.list[i].key, "remote", "pushurl")
				.len == 0) ||
		    !remote_host(url, host) || !set_listed(span_str(host)))
			continue;
		snprintf(text, sizeof(text), "https://%s/", host);
		repo_section_put(b, "url", span_str(text));
		repo_value_put(
		    b, "insteadOf", span_of(url, remote_before(url)));
	}
}

/* Find the host of an address by https. */
static bool
remote_https(const char *url, char host[REMOTE_HOST])
{
	const char *at;
	size_t n;

	if (strncasecmp(url, "https://", 8) != 0)
		return false;
	n = strcspn(url + 8, "/");
	at = memrchr(url + 8, '@', n);
	if (at != NULL)
		n -= (size_t)(at + 1 - (url + 8));
	return span_copy(span_of(at != NULL ? at + 1 : url + 8, n), host,
		   REMOTE_HOST) == 0;
}

/*
 * Write the user's own beginnings of addresses, such as "work:", if they lead
 * to a git destination. Neither a key nor a user's name comes along.
 */
static void
remote_short(const struct repo_settings *s, struct buf *b)
{
	static const char *const forms[][2] = {
	    {"insteadof", "insteadOf"}, {"pushinsteadof", "pushInsteadOf"}};
	char base[REMOTE_URL], text[REMOTE_HOST + REMOTE_URL],
	    host[REMOTE_HOST];
	const char *value;

	for (unsigned i = 0; i < s->n; i++) {
		for (size_t f = 0; f < nitems(forms); f++) {
			value = s->list[i].value;
			if (span_copy(repo_setting_name(
					  s->list[i].key, "url", forms[f][0]),
				base, sizeof(base)) == -1 ||
			    base[0] == '\0' || value == NULL ||
			    value[0] == '\0' ||
			    secretive_text(span_str(value)) != NULL ||
			    secretive_setting(span_str(value)) != NULL ||
			    (!remote_host(base, host) &&
				!remote_https(base, host)) ||
			    !set_listed(span_str(host)))
				continue;
			snprintf(text, sizeof(text), "https://%s/%s", host,
			    base + remote_before(base));
			repo_section_put(b, "url", span_str(text));
			repo_value_put(b, forms[f][1], span_str(value));
		}
	}
}

/* Name the first remote that the agent cannot reach. */
static void
remote_say(void)
{
	char host[REMOTE_HOST], whole[REMOTE_URL];
	struct span name;

	for (unsigned i = 0; i < set.own.n; i++) {
		name = repo_setting_name(set.own.list[i].key, "remote", "url");
		if (name.len == 0 || set.own.list[i].value == NULL ||
		    !remote_host(
			remote_meant(set.own.list[i].value, whole), host) ||
		    set_listed(span_str(host)))
			continue;
		set_warn("the remote %.*s is on %s, by ssh, which a sandbox "
			 "does not have: the agent cannot fetch or push. A "
			 "destination of the kind git for %s in config.json "
			 "lets it (ironcurtain-config(5), destinations)",
		    (int)(name.len > 64 ? 64 : name.len), (const char *)name.p,
		    host, host);
		return;
	}
}

void
set_remote(struct buf *b)
{
	char text[REMOTE_HOST + 32];

	for (size_t i = 0; i < set.destinations.n; i++) {
		const char *host = set.destinations.list[i];

		if (strlen(host) >= REMOTE_HOST)
			continue;
		snprintf(text, sizeof(text), "https://%s/", host);
		repo_section_put(b, "url", span_str(text));
		for (size_t f = 0; f < nitems(remote_forms); f++) {
			const char *at = strstr(remote_forms[f], "%s");

			snprintf(text, sizeof(text), "%.*s%s%s",
			    (int)(at - remote_forms[f]), remote_forms[f], host,
			    at + 2);
			repo_value_put(b, "insteadOf", span_str(text));
		}
	}
	remote_own(b);
	remote_short(&set.user, b);
	remote_short(&set.own, b);
	repo_section_put(b, "core", span_of("", 0));
	repo_value_put(b, "sshCommand",
	    SPAN("sh -c \"echo 'There is no git over ssh in this sandbox: the "
		 "user can add a destination of the kind git for this host to "
		 "config.json. Do not retry.' >&2; exit 1\" --"));
	repo_section_put(b, "ssh", span_of("", 0));
	repo_value_put(b, "variant", SPAN("ssh"));
	remote_say();
}
