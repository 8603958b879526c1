/* SPDX-License-Identifier: ISC */
#include "files/roots.h"

#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "common/span.h"

char *
roots_system(const char *more, size_t nmore, size_t *len)
{
	static const char *const places[] = {
	    "/etc/ssl/certs/ca-certificates.crt",
	    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	    "/etc/ssl/cert.pem"};
	struct fault fault;
	struct stat st;
	char *text = NULL, *both;

	for (size_t i = 0; text == NULL && i < nitems(places); i++)
		text = jsonfile_text(places[i], len, &st, &fault);
	if (text == NULL)
		*len = 0;
	if (more == NULL)
		return text;
	if ((both = realloc(text, *len + nmore + 2)) == NULL) {
		free(text);
		return NULL;
	}
	both[(*len)++] = '\n';
	memcpy(both + *len, more, nmore);
	*len += nmore;
	both[*len] = '\0';
	return both;
}
