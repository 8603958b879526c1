/* SPDX-License-Identifier: ISC */
/*
 * A corporate proxy's URL as people write it: [http://][USER:PASSWORD@]HOST
 * [:PORT][/]. The user name and password are referred to, but never copied.
 */
#ifndef PROXY_URL_H
#define PROXY_URL_H

#include "common/span.h"

struct proxy_url {
	char host[254];
	uint16_t port;	    /* 80 if the URL has none */
	struct span secret; /* USER:PASSWORD in the URL itself, or empty */
};

/*
 * Parse a URL. Returns 0, or -1 with a constant text in `*why` that contains
 * nothing of the URL.
 */
int proxy_url(const char *url, struct proxy_url *, const char **why);
/* Remove user name and password, in place. */
void proxy_url_wipe(char *url);

#endif
