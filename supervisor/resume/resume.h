/* SPDX-License-Identifier: ISC */
/*
 * Goes on with a session that ran before. Whenever icsupervisor starts in the
 * directory of an earlier run, what that run spent and what was locked carries
 * on. With --resume, the session must also be the same one: its workspace, its
 * machine, its agent; and a death that is evidence needs a person's word.
 */
#ifndef RESUME_H
#define RESUME_H

#include <stdbool.h>

#include "base/fault.h"
#include "resume/carry.h"
#include "resume/record.h"

/*
 * Read what earlier runs left, once the session directory is open. Returns 0,
 * or -1 with the fault set.
 */
int resume_load(struct fault *);
/* --resume: check that the workspace is the same. */
int resume_workspace(struct fault *);
/* --resume: check that the agent is the same, and can go on. */
int resume_agent(struct fault *);
/* Returns what earlier runs left; all zero without one. */
const struct carry *resume_carry(void);
/* Returns session.json of the last run; all zero without --resume. */
const struct record *resume_record(void);
/* After the first record: end or restore what was approved. */
void resume_grants(void);
/* After that: tell the log and the person what carries on. */
void resume_tell(void);
/* After START: lock what was locked. */
void resume_locks(void);
/* The session has ended, or could not start. */
void resume_end(void);

#endif
