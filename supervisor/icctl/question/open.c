/* SPDX-License-Identifier: ISC */
/*
 * Opens an address of a server in the user's browser. It was checked by
 * policyd, and is checked again here.
 */
#include "icctl/question/question.h"

#include <err.h>

#include "asks/address.h"
#include "icctl/browse.h"

int
question_open(const char *url)
{
	char host[HOSTNAME_MAX + 1];
	const char *why;
	bool foreign;

	if ((why = address_check(span_str(url), host, &foreign)) != NULL) {
		warnx("the address is not opened: it %s", why);
		return -1;
	}
	if (browse(url) == -1) {
		warn(BROWSE_PROGRAM ": open the address yourself, and then "
				    "answer with --opened");
		return -1;
	}
	return 0;
}
