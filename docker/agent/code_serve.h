/* SPDX-License-Identifier: ISC */
/* One process of node that is being served; private to code mode. */
#ifndef CODE_SERVE_H
#define CODE_SERVE_H

#include "docker/agent/code_priv.h"

/* Letters of frames, as docker/node/execute.cjs sends them. */
enum code_letter {
	CODE_CALL = 'C',
	CODE_LOG = 'L',
	CODE_VALUE = 'V',
	CODE_FINAL = 'F',	/* part of the text of one of the following */
	CODE_DONE = 'D',
	CODE_ERROR = 'E',
	CODE_SYNTAX = 'X',
	CODE_STRIPPED = 'T',
};

#define CODE_FINAL_MAX (4U << 20)

struct code_serve {
	const struct code_tool *tools;
	size_t ntools;
	code_call_fn *call;
	void *arg;
	struct code_child child;
	struct buf in, out, errors, final;
	struct code_keep logs, value;
	long long deadline;	/* as code_now() counts */
	int end;		/* the letter that ended it, or 0 */
	bool timeout, closed;	/* other ends */
	bool final_cut;
	int error;		/* EBADMSG: it sent something else than frames */
};

/* Returns a clock that only goes forward, in ms. */
long long code_now(void);
/* Append a frame to `out`. */
void code_send(struct code_serve *, char letter, struct span text);
/* Serve the child until it has ended, broken the rules, or used its time. */
void code_serve(struct code_serve *);

#endif
