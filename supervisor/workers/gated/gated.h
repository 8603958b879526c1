/* SPDX-License-Identifier: ISC */
/* Internals of gated. */
#ifndef GATED_H
#define GATED_H

#include "common/gate_ways.h"
#include "common/ipc/worker.h"

#define GATED_MAX_UNPROVEN 32U
/* For each listener per wake-up: fewer than are kept, in all. */
#define GATED_ACCEPTS 4U
#define GATED_PROOF_MS 3000U /* for the token to come */
#define GATED_TELL_MS 60000U /* between reports of refusals */
#define GATED_PAUSE_MS 5U    /* while icsupervisor is far behind */
#define GATED_TIMERS (GATED_MAX_UNPROVEN + 2U)

/* A connection that has not sent the whole token. */
struct unproven {
	int fd; /* -1: free */
	struct loop_io io;
	struct loop_timer late;
	enum gate_way way;
	uint64_t number; /* a later one has a higher number */
	uint8_t got[GATE_TOKEN];
	size_t len;
};

struct gated_env {
	struct worker w;
	uint8_t token[GATE_TOKEN];
	bool has_token;
	struct {
		int fd;
		struct loop_io io;
	} ways[GATE_WAYS];
	struct unproven unproven[GATED_MAX_UNPROVEN];
	uint64_t number;
	struct msg_GATE_REFUSED refused;
	struct loop_timer tell, pause;
	bool news; /* something was refused since the last report */
};

extern struct gated_env gated_env;

/* gated_proof.c: Accept what comes at all listeners. */
void proof_start(void);

void gated_serve(void) __attribute__((noreturn));

#endif
