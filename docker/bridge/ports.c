/* SPDX-License-Identifier: ISC */
/* Reads the lists of ports of ic-bridge's command line. */
#include "bridge.h"

#include <stdlib.h>

bool
ports_read(const char *text, uint16_t *ports, unsigned max, unsigned *n)
{
	char *end;
	long port;

	do {
		port = strtol(text, &end, 10);
		if (end == text || port < 1 || port > 65535 ||
		    (*end != '\0' && *end != ',') || *n == max)
			return false;
		ports[(*n)++] = (uint16_t)port;
		text = end + 1;
	} while (*end == ',');
	return true;
}
