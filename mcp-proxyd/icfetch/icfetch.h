/* SPDX-License-Identifier: ISC */
/*
 * icfetch: the built-in MCP fetch server.  Its one tool, http_fetch, gets a URL
 * through the only way out of its sandbox, the proxy in HTTPS_PROXY.  egressd
 * decides which hosts can be reached, and policyd which URLs may be requested.
 * For that reason a redirect to another origin is not followed but reported:
 * the agent makes another call, and the new URL is decided like any other.
 */
#ifndef ICFETCH_H
#define ICFETCH_H

#include "common/http/http1.h"
#include "mcp/mcp_stdio.h"

#define ICFETCH_MAX_URL 4096U
#define ICFETCH_MAX_BODY ((size_t)10 << 20)
/* the most characters that a call may request */
#define ICFETCH_MAX_TEXT 1000000U
#define ICFETCH_MAX_HEADERS 32U
#define ICFETCH_MAX_REDIRECTS 5U
#define ICFETCH_DFLT_TEXT 5000U
#define ICFETCH_DFLT_MS 30000U

struct url {
	bool tls;
	char host[254]; /* lower-case; IPv6 without brackets */
	uint16_t port;
	char path[ICFETCH_MAX_URL]; /* with the query; begins with / */
};

/*
 * Parse an absolute http(s) URL; the fragment is dropped.  Returns 0, or -1
 * with a constant text in `*why`.
 */
int fetch_url_parse(struct span, struct url *, const char **why);
/* Resolve a Location header against `base`. */
int url_join(
    const struct url *base, struct span, struct url *, const char **why);
bool url_same_origin(const struct url *, const struct url *);
/*
 * Write "host" or "host:port", as in Host headers and messages; IPv6 in
 * brackets.
 */
void url_authority(const struct url *, bool always_port, char *dst, size_t cap);

struct fetch {
	uint64_t deadline;  /* clock_mono_us */
	struct buf request; /* headers of the caller, each with CRLF */
	unsigned status;
	char type[128]; /* Content-Type, as received */
	char location[ICFETCH_MAX_URL];
	struct buf body;
	bool cut; /* the body exceeded ICFETCH_MAX_BODY */
	char why[256];
};

/*
 * icfetch/http.c: call before the first request and before the lock.  Returns
 * NULL, or a text that says what is missing.
 */
const char *fetch_prepare(const char *proxy);
/* Make one request.  Returns 0, or -1 with f->why set. */
int fetch_get(struct fetch *, const struct url *);

/*
 * icfetch/pool.c: serve stdin, several calls at a time.  `lock` is called in
 * each process.
 */
void pool_serve(struct mcp *, void (*lock)(void)) __attribute__((noreturn));

/* icfetch/text.c: convert HTML in UTF-8 to plain text or Markdown. */
void text_html(struct buf *out, struct span html, bool markdown);
/*
 * Convert to UTF-8; input that is not valid UTF-8 is taken for Latin-1.
 * Returns 0, or -1 if it does not fit.
 */
int text_utf8(struct buf *out, struct span in);

#endif
