/* SPDX-License-Identifier: ISC */
/*
 * Addresses that a document of a server names: https, with the name of a
 * public host, and nothing that a program which opens them could read in
 * another way. An accepted address has one meaning only.
 */
#ifndef HTTPS_URL_H
#define HTTPS_URL_H

#include "common/http/hostname.h"

#define HTTPS_URL_MAX 2048U

struct https_url {
	char host[HOSTNAME_MAX + 1]; /* lower case */
	uint16_t port;
	struct span origin; /* up to the path, as written */
	struct span path;   /* up to a query; may be empty */
	struct span query;  /* behind the question mark; p NULL: there is none */
	struct span target; /* path and query; may be empty */
};

/*
 * Take an address apart. Its parts point into `in`. Returns 0, or -1 with
 * `*why` set to a constant text that continues a message after the address
 * ("must begin with https://").
 */
int https_url_read(struct span in, struct https_url *, const char **why);

#endif
