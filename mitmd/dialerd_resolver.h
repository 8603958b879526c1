/* SPDX-License-Identifier: ISC */
/*
 * Between dialerd and its resolver child, which are one binary: a question
 * with a name declares it, once for each index, one without asks for it.
 */
#ifndef DIALERD_RESOLVER_H
#define DIALERD_RESOLVER_H

#include "dialerd.h"

struct resolver_ask {
	uint32_t index;
	char name[254];		/* NUL-terminated */
};

struct resolver_answer {
	uint32_t index;
	uint32_t n;
	uint16_t family[DIALERD_MAX_ADDRS];
	uint8_t addr[DIALERD_MAX_ADDRS][16];
};

/* The child's life. fd: blocking. */
void resolver_run(int fd) __attribute__((noreturn));

#endif
