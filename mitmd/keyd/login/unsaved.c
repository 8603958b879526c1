/* SPDX-License-Identifier: ISC */
/*
 * The file of a login that began in the sandbox, in secret memory until it is
 * written, and the request with which the login began.
 */
#include "keyd/keyd.h"

#include <errno.h>
#include <stdio.h>

static struct unsaved {
	struct secret *text; /* NULL: nothing is kept */
	size_t len;
	char route[128];
} unsaved;

void
unsaved_begin(struct span host, struct span path)
{
	snprintf(unsaved.route, sizeof(unsaved.route), "POST %.*s%.*s",
	    (int)host.len, (const char *)host.p, (int)path.len,
	    (const char *)path.p);
}

struct secret *
unsaved_take(size_t *len)
{
	struct secret *text = unsaved.text;

	*len = unsaved.len;
	unsaved.text = NULL;
	unsaved.len = 0;
	return text;
}

void
unsaved_forget(void)
{
	secret_free(unsaved.text);
	unsaved.text = NULL;
	unsaved.len = 0;
}

void
unsaved_keep(struct secret *text, size_t len)
{
	unsaved_forget();
	unsaved.text = text;
	unsaved.len = len;
}

int
unsaved_write(int fd)
{
	const uint8_t *p;
	size_t cap;

	if (unsaved.text == NULL) {
		errno = ENODATA;
		return -1;
	}
	p = secret_bytes(unsaved.text, &cap);
	if (span_write(fd, span_of(p, unsaved.len)) == -1)
		return -1;
	unsaved_forget();
	return 0;
}

const char *
unsaved_route(void)
{
	return unsaved.route;
}
