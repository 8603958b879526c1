/* SPDX-License-Identifier: ISC */
/* icctl's half of an offer. */
#include "unit/offer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

static int
offer_put(int fd, const char *s, size_t len)
{
	ssize_t n;

	while (len != 0) {
		n = write(fd, s, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		s += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Write a string of this kind; '\0' is none. */
static int
offer_put_string(int fd, char kind, const char *s)
{
	if (kind != '\0' && offer_put(fd, &kind, 1) == -1)
		return -1;
	return offer_put(fd, s, strlen(s) + 1);
}

int
offer_write(int fd, const char *dir, const char *const *args, char **env)
{
	size_t bytes =
		   sizeof(OFFER_VERSION) + sizeof(OFFER_END) + 2 + strlen(dir),
	       nargs = 0, nenv = 0;

	for (; args[nargs] != NULL; nargs++)
		bytes += strlen(args[nargs]) + 2;
	for (; env[nenv] != NULL; nenv++)
		bytes += strlen(env[nenv]) + 2;
	if (bytes > OFFER_BYTES || nargs > OFFER_STRINGS ||
	    nenv > OFFER_STRINGS) {
		errno = E2BIG;
		return -1;
	}
	if (offer_put_string(fd, '\0', OFFER_VERSION) == -1 ||
	    offer_put_string(fd, 'd', dir) == -1)
		return -1;
	for (size_t i = 0; i < nargs; i++)
		if (offer_put_string(fd, 'a', args[i]) == -1)
			return -1;
	for (size_t i = 0; i < nenv; i++)
		if (offer_put_string(fd, 'e', env[i]) == -1)
			return -1;
	return offer_put_string(fd, '\0', OFFER_END);
}
