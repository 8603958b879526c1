/* SPDX-License-Identifier: ISC */
/* Conversations: starting one, sending messages, and looking back. */
#ifndef ICCTL_TALK_H
#define ICCTL_TALK_H

#include "base/spawn.h"
#include "icctl/icctl.h"

/*
 * start.c of this directory: start icsupervisor with these arguments, in which
 * args[1] and args[2] are free, and wait until it takes messages. Returns the
 * exit status.
 */
int talk_start(struct icctl *, const char *program, const char **args);
/*
 * Do the same, with a `tie` of icsupervisor to this process, and print nothing.
 * On success the caller reaps `*sp`.
 */
int talk_begin(struct icctl *, const char *program, const char **args,
    enum spawn_tie tie, struct spawned *sp);
/*
 * Start icsupervisor in a session of its own. `out` is its standard output, or
 * -1 for none; `said` is its standard error. Returns 0, or -1 after a message.
 */
int talk_spawn(const char *program, const char **args, int out, int said,
    enum spawn_tie, struct spawned *);
/* Pass on what icsupervisor writes. Returns false at the end. */
bool talk_pass(int said);
/* Print why the session never began: its last words. Returns `status`. */
int talk_unready(const struct icctl *, int status);
/*
 * once.c: start icsupervisor for one task, with args[1] and args[2] free, print
 * its events as lines, and end it with us. Returns the exit status.
 */
int talk_once(struct icctl *, const char *program, const char **args);
/*
 * Follow the session's events until it takes messages, or has ended. Returns 0,
 * or -1. After talk_catch_signals(), SIGINT and SIGTERM end icsupervisor, `pid`;
 * talk_signaled() says if one came.
 */
int talk_wait(struct icctl *, pid_t pid);
int talk_catch_signals(void);
bool talk_signaled(void);
/* Print the session's id, with --json as a line with `pid`. Returns 0. */
int talk_told(const struct icctl *, pid_t pid);
/* sessions.c: Returns true if an icsupervisor holds the session's lock. */
bool talk_runs(int dirfd);
/* Returns true if the directory is that of a session of this user. */
bool talk_is(const char *dir);
/* Returns what is known of the session in `dir`, or NULL. */
json_object *talk_row(const char *dir, const char *id);
/*
 * ended.c: Show the session in ctl->dir and return true if it does not run.
 */
bool talk_ended(struct icctl *);
/*
 * Print the files that the session changed and that may run on this machine. If
 * there are none, that is said with `none` only.
 */
void talk_put_later(json_object *row, bool none);
/*
 * send.c: With --json, print an error as the session does; a person has been
 * told. Returns `status`.
 */
int talk_failed(
    const struct icctl *, int status, const char *code, const char *error);

/*
 * resume.c: The options that start.json does not keep, so that they must be
 * said again, as in a usage.
 */
extern const char resume_again[];

#endif
