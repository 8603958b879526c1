/* SPDX-License-Identifier: ISC */
/*
 * icfetch: the built-in MCP fetch server.  One tool, http_fetch: GET of a URL,
 * through the only way out of its sandbox, the proxy that HTTPS_PROXY names.
 * What hosts there are, egressd decides; what URLs may be asked for, policyd.
 * That is why a redirect to another origin is not followed but reported: the
 * agent asks again, and the new URL is judged like any.
 */
#ifndef ICFETCH_H
#define ICFETCH_H

#include "common/http/http1.h"
#include "mcp/mcp_stdio.h"

#define ICFETCH_MAX_URL 4096U
#define ICFETCH_MAX_BODY ((size_t)10 << 20)
#define ICFETCH_MAX_TEXT 1000000U /* characters that a call may ask for */
#define ICFETCH_MAX_HEADERS 32U
#define ICFETCH_MAX_REDIRECTS 5U
#define ICFETCH_DFLT_TEXT 5000U
#define ICFETCH_DFLT_MS 30000U

struct url {
	bool tls;
	char host[254]; /* lower-case; v6 without brackets */
	uint16_t port;
	char path[ICFETCH_MAX_URL]; /* and query; begins with / */
};

/* An absolute http(s) URL; the fragment is dropped. *why is constant. */
int url_parse(struct span, struct url *, const char **why);
/* What a Location means, seen from `base`. */
int url_join(
    const struct url *base, struct span, struct url *, const char **why);
bool url_same_origin(const struct url *, const struct url *);
/* "host" or "host:port", as Host and in texts; "[v6]" in brackets. */
void url_authority(const struct url *, bool always_port, char *dst, size_t cap);

struct fetch {
	uint64_t deadline;  /* clock_mono_us */
	struct buf request; /* headers of the caller, each with its CRLF */
	unsigned status;
	char type[128]; /* Content-Type, as received */
	char location[ICFETCH_MAX_URL];
	struct buf body;
	bool cut; /* more than ICFETCH_MAX_BODY */
	char why[256];
};

/* icfetch/http.c: before anything is asked. NULL, or what is missing. */
const char *fetch_prepare(const char *proxy);
/* One request; -1: f->why. */
int fetch_get(struct fetch *, const struct url *);

/* icfetch/pool.c: serves stdin, some calls at once. lock: in each process. */
void pool_serve(struct mcp *, void (*lock)(void)) __attribute__((noreturn));

/* icfetch/text.c: HTML as plain text or Markdown, UTF-8. */
void text_html(struct buf *out, struct span html, bool markdown);
/* What is no UTF-8 is taken for Latin-1. */
int text_utf8(struct buf *out, struct span in);

#endif
