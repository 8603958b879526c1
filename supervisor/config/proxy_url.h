/* SPDX-License-Identifier: ISC */
/*
 * A corporate proxy's URL as people write it: [http://][USER:PASSWORD@]HOST
 * [:PORT][/].  What stands before the @ is pointed at, never copied.
 */
#ifndef PROXY_URL_H
#define PROXY_URL_H

#include "common/span.h"

struct proxy_url {
	char host[254];
	uint16_t port;	    /* 80 where none is said */
	struct span secret; /* as it stands in the URL, or empty */
};

/* -1 with why, constant text that holds nothing of the URL. */
int proxy_url(const char *url, struct proxy_url *, const char **why);
/* Cuts what stands before the @, in place. */
void proxy_url_wipe(char *url);

#endif
