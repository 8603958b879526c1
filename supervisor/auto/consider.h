/* SPDX-License-Identifier: ISC */
/*
 * The approver in icsupervisor: which pending calls it is asked about, and what
 * becomes of its opinion. The person sees the call meanwhile; the first answer
 * wins. icsupervisor has ic-mention compare the call with the person's message
 * (compare.h), and acts on that, never on the approver's word that there was
 * one.
 */
#ifndef CONSIDER_H
#define CONSIDER_H

#include "base/fault.h"
#include "common/ipc/proto.h"
#include "hub/hold.h"

struct json_object;

#define CONSIDER_MS 20000U

/*
 * Find the provider and the route that config.json asks for. Returns 0, or -1
 * with the fault set.
 */
int consider_prepare(struct fault *);
/* Configure the approver, before START. */
void consider_setup(void);
/* A call is pending, or waits for another reason now. */
void consider_hold(struct hold *);
/* A call is no longer pending. */
void consider_gone(uint64_t id);
/* The approver's opinion. Returns -1 if it was not asked. */
int consider_opinion(const struct msg_OPINION_SHOW *);
/*
 * Returns the state for `icctl status`, or NULL if there is no approver:
 * {"model", "provider","approved","left","failed"}.
 */
struct json_object *consider_json(void);

#endif
