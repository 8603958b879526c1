/* SPDX-License-Identifier: ISC */
/* One request over libcurl; private to the model library. */
#ifndef MODEL_HTTP_H
#define MODEL_HTTP_H

#include "docker/model/model_priv.h"

struct http;

struct http_reply {
	bool no_retry;		/* x-should-retry: false */
	unsigned retry_ms;	/* Retry-After, or 0 */
};

/* `o` is copied as far as it is needed. */
struct http *http_new(const struct dialect *, const struct model_options *o,
    char why[MODEL_WHY_MAX]);
void http_free(struct http *);
/* Returns true if the requests go to `base`. */
bool http_is_base(const struct http *, const char *base);
/*
 * Send `body` to `path` and feed the answer to the stream, whose answer has the
 * error afterwards, if there is one.  Returns as stream_end().
 */
int http_post(struct http *, const char *path, struct span body, struct stream *,
    struct http_reply *);
/*
 * Wait.  Returns false if cancel_fd ended the wait.
 */
bool http_wait(const struct http *, unsigned ms);

#endif
