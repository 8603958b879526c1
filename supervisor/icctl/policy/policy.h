/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy`: questions to a policyd of our own, started and confined as
 * in a session but alone: it decides, and nothing happens.
 */
#ifndef ICCTL_POLICY_H
#define ICCTL_POLICY_H

#include "common/buf.h"
#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "config/fault.h"
#include "icctl/icctl.h"

#define POLICY_MAX_LIST 256U /* of each option that may come again */

/* Options that the commands share, and what is left of the command line. */
struct policy_opts {
	const char *files[PROTO_RULES_LAST + 1];
	const char *sandbox;
	const char *protect[POLICY_MAX_LIST];
	unsigned nprotect;
	const char *trust[POLICY_MAX_LIST];
	unsigned ntrust;
	const char *domains[POLICY_MAX_LIST]; /* SERVER=HOST,HOST */
	unsigned ndomains;
	const char *audit[POLICY_MAX_LIST];
	unsigned naudit;
	const char *into;
	char *args[POLICY_MAX_LIST];
	unsigned nargs;
};

/* icctl/policy/files.c: the three files, whole. */
struct policy_file {
	char *path; /* NULL: there is none */
	char *text;
	size_t len;
};

struct policy_set {
	struct policy_file files[PROTO_RULES_LAST + 1];
};

/*
 * As the options say; without --policy those that a session would use.  -1:
 * one cannot be read, *fault says which.
 */
int policy_set_load(const struct icctl *, const struct policy_opts *,
    struct policy_set *, struct fault *);
/* Another policy: a file, a name, or a directory of all three. */
int policy_set_other(const struct icctl *, const struct policy_set *base,
    const char *what, struct policy_set *, struct fault *);
void policy_set_free(struct policy_set *);
/* The whole of a file in fresh memory. -1 with *fault. */
int policy_file_read(struct policy_file *, const char *path, struct fault *);
/* Line, from 1, at which a place such as "rules[3].if" stands; 0: unknown. */
unsigned policy_line(const struct policy_file *, const char *place);
/* The tree of a file, in a pool of its own; NULL: it cannot be read. */
const struct value *policy_tree(
    const struct policy_file *, struct value_pool **);
/* dir/../tail of our own binary, in dst. -1 with errno. */
int policy_own_path(const char *tail, char *dst, size_t cap);

/* icctl/policy/worker.c: one policyd. */
struct policyd;
typedef void policyd_fn(void *arg, const struct msg_EVALUATED *);

/* Why none was started; files: what is wrong with each, or empty. */
struct policyd_bad {
	struct fault fault;
	struct fault files[PROTO_RULES_LAST + 1];
};

/* NULL with *bad. session: protects what a session protects, too. */
struct policyd *policyd_start(const struct icctl *, const struct policy_opts *,
    const struct policy_set *, bool session, struct policyd_bad *bad);
/* Newline-separated; what loading warned of. */
const char *policyd_warnings(const struct policyd *);
void policyd_answer(struct policyd *, policyd_fn *, void *arg);
/* Asks; answers come in the order of questions. -1: it is gone (said why). */
int policyd_ask(struct policyd *, const struct msg_EVAL *);
unsigned policyd_asked(const struct policyd *); /* and not yet answered */
size_t policyd_asked_bytes(const struct policyd *);
/* Until it, or fd if that is not -1, has something. -1: it is gone. */
int policyd_turn(struct policyd *, int fd, bool *readable);
/* Until at most n questions are open. */
int policyd_wait(struct policyd *, unsigned n);
void policyd_end(struct policyd *);

/* A question about one tree: encoded, asked, the answer waited for. */
int policyd_ask_tree(
    struct policyd *, struct msg_EVAL *, const struct value *args);

/* icctl/policy/decide.c: a decision that is kept. */
struct policy_decided {
	unsigned status;
	char rule[257];
	char reason[2049];
};
struct policy_request;
int policy_decide(struct policyd *, const struct policy_request *, bool whole,
    struct policy_decided *);
/* The calls of a log, in order. fn: -1 ends it. -1 also: said why. */
struct policy_call;
typedef int policy_call_fn(void *arg, const struct policy_call *);
int policy_calls(const char *path, policy_call_fn *, void *arg);
/* Where the session worked, if the log says and it is there still. */
char *policy_calls_workspace(const char *path);

/* icctl/policy/request.c: {"serverName","toolName","arguments"}. */
struct policy_request {
	struct span server, tool;
	const struct value *args;
};
struct policy_call {
	const char *file;
	size_t line;
	struct policy_request request;
	struct span status, rule; /* as recorded */
	struct span held; /* escalationResult; p == NULL: was not held */
	bool granted;     /* by an approval for the session */
	bool redacted;    /* arguments are not what they were */
	bool judged;      /* by the policy, not by what ran then */
};
/* One decision beside another, for people and for programs. */
void policy_print_call(const struct policy_call *);
void policy_put_call(struct buf *, const struct policy_call *);
void policy_put_decided(
    struct buf *, const char *key, const struct policy_decided *);

/* From a tree; NULL, or what is wrong with it. */
const char *policy_request(
    const struct value *, struct value_pool *, struct policy_request *);
const char *policy_status(unsigned status);
/* "decision":…,"rule":…,"reason":…[,"escalatedRoles":[…]] */
void policy_put_decision(struct buf *, const struct msg_EVALUATED *);
void policy_put_member(struct buf *, const char *key, struct span text);
/* Writes all of it to standard output, at once. -1: said why. */
int policy_flush(struct buf *);
/*
 * JSON text with what a terminal acts on or nobody sees as \uXXXX; letters of
 * any language stay.
 */
void policy_visible(struct buf *out, struct span json);
/* Text of files and calls, printable, on standard output. */
void policy_print(const char *before, struct span, const char *after);

/* One tool each. */
int icctl_policy_eval(struct icctl *, struct policy_opts *);
int icctl_policy_explain(struct icctl *, struct policy_opts *);
int icctl_policy_check(struct icctl *, struct policy_opts *);
int icctl_policy_test(struct icctl *, struct policy_opts *);
int icctl_policy_replay(struct icctl *, struct policy_opts *);
int icctl_policy_diff(struct icctl *, struct policy_opts *);
int icctl_policy_reload(struct icctl *, struct policy_opts *);
int icctl_policy_learn(struct icctl *, struct policy_opts *);

#endif
