/* SPDX-License-Identifier: ISC */
/*
 * Decides which requests are taken, and from which page. Loopback is open to
 * every page of a browser: the host in the request tells another name for
 * 127.0.0.1 from ours (DNS rebinding), and Origin and Sec-Fetch-Site tell other
 * pages from ours. Requests that act also need a token in a head, which no form
 * and no other page can send.
 */
#include "workers/icwebd/webd.h"

#include <string.h>

#include "common/span.h"

static const struct {
	const char *path;
	enum proto_web route;
} route_paths[] = {
    {"/api/login", PROTO_WEB_LOGIN},
    {"/api/logout", PROTO_WEB_LOGOUT},
    {"/api/state", PROTO_WEB_STATE},
    {"/api/call", PROTO_WEB_CALL},
    {"/api/answer", PROTO_WEB_ANSWER},
    {"/api/revoke", PROTO_WEB_REVOKE},
    {"/api/audit", PROTO_WEB_AUDIT},
    {"/api/policy", PROTO_WEB_POLICY},
    {"/api/always", PROTO_WEB_ALWAYS},
    {"/api/send", PROTO_WEB_SEND},
    {"/api/interrupt", PROTO_WEB_INTERRUPT},
    {"/api/stop", PROTO_WEB_STOP},
    {"/api/undo", PROTO_WEB_UNDO},
};

unsigned
route_find(const char *method, const char *path, struct web_route *to,
    const char **why)
{
	*to = (struct web_route){.file = NULL};
	for (size_t i = 0; i < web_nfiles; i++)
		if (strcmp(web_files[i].path, path) == 0)
			to->file = &web_files[i];
	if (to->file != NULL) {
		*why = "this address can only be read";
		return strcmp(method, "GET") == 0 ? 0 : 405;
	}
	for (size_t i = 0; i < nitems(route_paths); i++) {
		if (strcmp(route_paths[i].path, path) != 0)
			continue;
		to->route = route_paths[i].route;
		*why = "this address takes POST only";
		return strcmp(method, "POST") == 0 ? 0 : 405;
	}
	*why = "there is nothing at this address";
	return 404;
}

/* Returns true if `host` is a line of `hosts`. */
static bool
route_is_host(const char *host, const char *hosts)
{
	size_t len = strlen(host);

	for (const char *end; (end = strchr(hosts, '\n')) != NULL;
	     hosts = end + 1)
		if ((size_t)(end - hosts) == len &&
		    strncasecmp(hosts, host, len) == 0)
			return true;
	return false;
}

enum proto_from
route_from(const char *site)
{
	if (site == NULL)
		return PROTO_FROM_UNSAID;
	if (strcmp(site, "none") == 0)
		return PROTO_FROM_NONE;
	return strcmp(site, "same-origin") == 0 ? PROTO_FROM_SELF
						: PROTO_FROM_OTHER;
}

unsigned
route_check(const struct web_route *to, const struct web_head *h,
    const char *hosts, const char **why)
{
	enum proto_from from = route_from(h->site);

	*why = "a header is there more than once";
	if (h->twice)
		return 400;
	*why = "this page has another name: use the link of icctl web";
	if (h->host == NULL || !route_is_host(h->host, hosts))
		return 421;
	*why = "another page asked for this";
	if (from == PROTO_FROM_OTHER)
		return 403;
	if (to->file != NULL)
		return 0;
	if (from == PROTO_FROM_NONE || h->origin == NULL ||
	    strncmp(h->origin, "http://", 7) != 0 ||
	    strcasecmp(h->origin + 7, h->host) != 0)
		return 403;
	*why = "the body must be application/json";
	if (h->type == NULL || strcmp(h->type, "application/json") != 0)
		return 415;
	return 0;
}

int
route_token(struct span hex, uint8_t token[32])
{
	static const char digits[] = "0123456789abcdef";
	const char *hi, *lo;

	if (hex.len != 64)
		return -1;
	for (size_t i = 0; i < 32; i++) {
		hi = memchr(digits, hex.p[2 * i], 16);
		lo = memchr(digits, hex.p[2 * i + 1], 16);
		if (hi == NULL || lo == NULL)
			return -1;
		token[i] = (uint8_t)((hi - digits) << 4 | (lo - digits));
	}
	return 0;
}
