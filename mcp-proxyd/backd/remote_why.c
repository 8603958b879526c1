/* SPDX-License-Identifier: ISC */
/*
 * Why a remote server gave no message, in words for a person and for the agent.
 * Nothing that the server wrote is shown without being escaped.
 */
#include "backd/remote.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"

#define OLD_TRANSPORT                                                          \
	"; it may speak only HTTP+SSE of 2024-11-05, which is not supported: " \
	"look for its address for streamable HTTP"

static const char *
why_status(const struct remote *r)
{
	static char login[256];

	switch (r->status) {
	case 401:
		(void)snprintf(login, sizeof(login),
		    ": it wants a credential, or does not accept the one that "
		    "it got. It needs a login: the user can run: icctl mcp "
		    "login %s. A key belongs into serverCredentials of "
		    "config.json",
		    r->b->name);
		return login;
	case 403:
		(void)snprintf(login, sizeof(login),
		    ": it does not allow this with the credential. If a login "
		    "lacks a scope, the user can run: icctl mcp login --scope "
		    "SCOPE %s",
		    r->b->name);
		return login;
	case 404:
	case 405:
	case 406:
		return r->first ? OLD_TRANSPORT : "";
	case 429:
		return ": it takes no more requests for now";
	default:
		return r->status >= 500 ? ": it is overloaded or out of order"
					: "";
	}
}

static const char *
why_redirect(const struct remote *r, char *dst, size_t cap)
{
	char shown[300];

	(void)snprintf(dst, cap,
	    "redirects (%u) to \"%s\", which is not followed; if that is its "
	    "address, the user can write it in mcp-servers.json",
	    r->status, log_vis(span_str(r->location), shown, sizeof(shown)));
	return dst;
}

const char *
remote_why(const struct remote *r, char *dst, size_t cap)
{
	char shown[128], said[300], retry[64];
	struct span words = buf_span(&r->body);

	if (r->status >= 300 && r->status < 400)
		return why_redirect(r, dst, cap);
	if (r->status < 300) {
		if (r->how == REMOTE_EVENTS)
			return "ended its event stream without an answer";
		if (r->how == REMOTE_JSON)
			return "sent a message that is no answer to the "
			       "request";
		if (r->type[0] == '\0')
			return "sent an answer without a message";
		(void)snprintf(dst, cap,
		    "sent an answer of the type \"%s\", which is neither JSON "
		    "nor an event stream",
		    log_vis(span_str(r->type), shown, sizeof(shown)));
		return dst;
	}
	backd_show(r->b, backd_cut(words, 200), said, sizeof(said));
	(void)snprintf(retry, sizeof(retry), "%s%s",
	    r->retry[0] != '\0' ? ". Retry-After: " : "", r->retry);
	(void)snprintf(dst, cap, "answered with status %u%s%s%s%s%s", r->status,
	    why_status(r), r->retry[0] != '\0' ? retry : "",
	    said[0] != '\0' ? ". It says: \"" : "", said,
	    said[0] != '\0' ? "\"" : "");
	return dst;
}

/* So keyd names a login, of a provider. */
static const char why_login[] = "icctl login";

bool
remote_why_login(struct span s)
{
	return s.len != 0 &&
	       memmem(s.p, s.len, why_login, sizeof(why_login) - 1) != NULL;
}

const char *
remote_why_failed(
    const struct remote *r, struct span payload, char *dst, size_t cap)
{
	static const char provider[] = "provider";
	bool sent = payload.len != 0 && payload.p[0] == STREAM_SENT;
	char text[600], *at;
	size_t skip;

	/* A byte that says how far it came, a status, and a space. */
	skip = payload.len < 5 ? payload.len : 5;
	log_vis(
	    span_of(payload.p + skip, payload.len - skip), text, sizeof(text));
	/* keyd speaks of the provider that it usually serves. */
	while ((at = strstr(text, provider)) != NULL) {
		memmove(at + 6, at + 8, strlen(at + 8) + 1);
		memcpy(at, "server", 6);
	}
	/* A provider has another way to log in than this server. */
	at = strstr(text, why_login);
	if (at != NULL)
		at[0] = '\0';
	(void)snprintf(dst, cap, "gave no answer: %s%s%s%s",
	    text[0] != '\0' ? text : "the connection was given up",
	    at != NULL ? "icctl mcp login " : "", at != NULL ? r->b->name : "",
	    sent ? ". It had the whole request, which may or may not have "
		   "taken effect"
		 : "");
	return dst;
}
