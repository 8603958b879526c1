/* SPDX-License-Identifier: ISC */
/*
 * The names of services lead to the sandbox's own 127.0.0.1, where ic-bridge
 * listens: no name of them is resolved outside.
 */
#include "box/system/hosts.h"

#include <stdio.h>

#include "common/buf.h"
#include "core/sup.h"

#define HOSTS_MAX 4096U

char *
hosts_text(const char *first)
{
	struct buf b;
	char *text;

	buf_init(&b, HOSTS_MAX);
	buf_adds(&b, first);
	for (unsigned i = 0; sup.services && i < sup.config.nservices; i++)
		buf_printf(&b, "127.0.0.1 %s\n", sup.config.services[i].name);
	text = b.failed ? NULL : span_dup(buf_span(&b));
	buf_free(&b);
	return text;
}

const char *
hosts_ports(char text[HOSTS_PORTS_TEXT])
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < sup.config.nservices; i++)
		n += (size_t)snprintf(text + n, HOSTS_PORTS_TEXT - n, "%s%u",
		    i == 0 ? "" : ",", sup.config.services[i].port);
	return text;
}
