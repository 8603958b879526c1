/* SPDX-License-Identifier: ISC */
/* Recognises a target whose host is an address and needs no resolver. */
#include "dialerd/dialerd.h"

#include <arpa/inet.h>

bool
target_literal(struct target *t)
{
	t->addr = (union addr){.in6 = {0}};
	if (inet_pton(AF_INET, t->host, &t->addr.in.sin_addr) == 1) {
		t->addr.sa.sa_family = AF_INET;
		t->addr.in.sin_port = htons(t->port);
		return true;
	}
	if (inet_pton(AF_INET6, t->host, &t->addr.in6.sin6_addr) == 1) {
		t->addr.sa.sa_family = AF_INET6;
		t->addr.in6.sin6_port = htons(t->port);
		return true;
	}
	return false;
}
