/* SPDX-License-Identifier: ISC */
/*
 * The question to the model, and its answer. The answer is hostile input: of the
 * provider's JSON only the model's text is taken, and that text must be exactly
 * {"decision": "approve" | "escalate", "reasoning": "..."}.
 */
#ifndef OPINION_H
#define OPINION_H

#include "common/buf.h"
#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "provider/filter_rules.h"

#define OPINION_MAX_ANSWER (256U << 10) /* bytes of the provider's answer */
#define OPINION_MAX_TEXT 4096U		/* bytes of the model's text */
#define OPINION_MAX_REASON 500U

struct opinion {
	enum proto_opinion decision;
	char reasoning[OPINION_MAX_REASON + 1];
};

/*
 * question_body.c: Write the body of the request. Returns 0, or -1 if a text is
 * no UTF-8, or too long.
 */
int question_body(struct buf *, enum filter_dialect, struct span model,
    const struct msg_CONSIDER *);

/*
 * opinion.c: Read the provider's answer. The opinion is LEAVE or APPROVE, or
 * FAILED with the reason as its reasoning.
 */
void opinion_read(struct opinion *, enum filter_dialect, struct span answer);
/* Read the model's text alone. */
void opinion_text(struct opinion *, struct span text);

#endif
