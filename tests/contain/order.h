/* SPDX-License-Identifier: ISC */
/*
 * The order for a hostile build. run.py finds the magic in a copy of the binary
 * and writes the rest after it, so that no argument, environment or descriptor
 * of the real process has to change.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdint.h>

#define ORDER_MAGIC "IC-CONTAIN-ORDER"
#define ORDER_QUIET (-1)

/* clang-format off */
struct order {
	char magic[16];
	int32_t attempt;	/* row, or ORDER_QUIET */
	uint32_t arg;		/* index of the channel */
	uint32_t layers;	/* LAYER_ bits; bare builds only */
	int32_t victim;		/* pid; 0: every process near this one */
	uint64_t address;	/* an address in the victim */
	uint32_t port;		/* port of a listener, network order */
	char abstract_name[36];
	char session[256], home[256], libexec[256];
};
/* clang-format on */

#define LAYER_LANDLOCK 1U
#define LAYER_SECCOMP 2U
/* not dumpable, namespaces, empty root, capabilities, limits */
#define LAYER_PRIVATE 4U
/* no confinement at all, in a program that does one job (short.c) */
#define LAYER_NONE 8U

#define PROBE_EXIT 42 /* the attempt is over, the process lives */
#define PROBE_RAN 43  /* a program that should not run did */

extern const volatile struct order probe_order;

#endif
