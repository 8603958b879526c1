/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy`: asks a policyd of its own, which is started and confined as
 * in a session, but alone: it decides, and nothing happens.
 */
#ifndef ICCTL_POLICY_H
#define ICCTL_POLICY_H

#include "base/fault.h"
#include "common/buf.h"
#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "icctl/icctl.h"

#define POLICY_MAX_LIST 256U /* for each option that may be repeated */

/* Options that the tools share, and the remaining arguments. */
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
	/*
	 * Take from the policy what a session's settings do: policy.deny and
	 * policy.ask of config.json and of the project's file.
	 */
	bool narrowed;
	char *args[POLICY_MAX_LIST];
	unsigned nargs;
};

/* files.c: the three policy files as text. */
struct policy_file {
	char *path; /* NULL: there is none */
	char *text;
	size_t len;
};

struct policy_set {
	struct policy_file files[PROTO_RULES_LAST + 1];
};

/*
 * Read the files that the options name; without --policy, those of a session.
 * Returns 0, or -1 with the fault set.
 */
int policy_set_load(const struct icctl *, const struct policy_opts *,
    struct policy_set *, struct fault *);
/*
 * Read another policy: a file, a name, or a directory with all three files.
 * Missing ones are copied from `base`.
 */
int policy_set_other(const struct icctl *, const struct policy_set *base,
    const char *what, struct policy_set *, struct fault *);
void policy_set_free(struct policy_set *);
/* Read a whole file. Returns 0, or -1 with the fault set. */
int policy_file_read(struct policy_file *, const char *path, struct fault *);
/*
 * Returns the line, counted from 1, of a place such as "rules[3].if"; 0 if it
 * is unknown.
 */
unsigned policy_line(const struct policy_file *, const char *place);
/*
 * Parse a file into a pool of its own, which the caller frees. Returns NULL if
 * it is malformed.
 */
const struct value *policy_tree(
    const struct policy_file *, struct value_pool **);
/*
 * Write the path of `tail` below our installation's prefix. Returns 0, or -1
 * with errno set.
 */
int policy_own_path(const char *tail, char *dst, size_t cap);

/* worker.c: one policyd. */
struct policyd;
typedef void policyd_fn(void *arg, const struct msg_EVALUATED *);

/*
 * The reason why none was started. `files` has the fault of each file, or "".
 */
struct policyd_bad {
	struct fault fault;
	struct fault files[PROTO_RULES_LAST + 1];
};

/*
 * Start a policyd. If `session`, it protects what a session protects. Returns
 * NULL with `*bad` set.
 */
struct policyd *policyd_start(const struct icctl *, const struct policy_opts *,
    const struct policy_set *, bool session, struct policyd_bad *bad);
/* Returns the warnings of loading, separated by newlines. */
const char *policyd_warnings(const struct policyd *);
void policyd_answer(struct policyd *, policyd_fn *, void *arg);
/*
 * Ask a question; answers come in the order of the questions. Returns 0, or -1
 * if policyd is gone, which was reported.
 */
int policyd_ask(struct policyd *, const struct msg_EVAL *);
unsigned policyd_asked(const struct policyd *); /* without an answer yet */
size_t policyd_asked_bytes(const struct policyd *);
/*
 * Wait for policyd, or for `fd` if that is not -1. Returns -1 if policyd is
 * gone.
 */
int policyd_turn(struct policyd *, int fd, bool *readable);
/* Wait until at most `n` questions are open. */
int policyd_wait(struct policyd *, unsigned n);
void policyd_end(struct policyd *);

/* Ask about one tree, and wait for the answer. */
int policyd_ask_tree(
    struct policyd *, struct msg_EVAL *, const struct value *args);

/* decide.c: a decision that is stored. */
struct policy_decided {
	unsigned status;
	char rule[257];
	char reason[2049];
};
struct policy_request;
int policy_decide(struct policyd *, const struct policy_request *, bool whole,
    struct policy_decided *);
/*
 * Call `fn` for each call in a log, in order, until it returns -1. Returns 0,
 * or -1 after an error was reported.
 */
struct policy_call;
typedef int policy_call_fn(void *arg, const struct policy_call *);
int policy_calls(const char *path, policy_call_fn *, void *arg);
/*
 * Returns the session's workspace if the log names it and it still exists,
 * which the caller frees; or NULL.
 */
char *policy_calls_workspace(const char *path);

/* request.c: {"serverName","toolName","arguments"}. */
struct policy_request {
	struct span server, tool;
	const struct value *args;
};
struct policy_call {
	const char *file;
	size_t line;
	struct policy_request request;
	struct policy_request named; /* with the names of paths to which
					links led */
	const struct value *links;   /* those names; NULL: there are none */
	struct span status, rule; /* as recorded */
	struct span held; /* escalationResult; p == NULL: it was not held */
	bool granted;     /* by an approval for the session */
	bool redacted;    /* the log does not have all that rules judge */
	bool judged;      /* by the policy, not by the session's state */
	bool narrowed;    /* by what the settings took from the policy */
	/*
	 * Not 0: so many refused calls that the log only counts. They have no
	 * arguments (request.args is NULL) and are not judged.
	 */
	unsigned counted;
};
/* Print a call, or add it or a decision to JSON. */
void policy_print_call(const struct policy_call *);
void policy_put_call(struct buf *, const struct policy_call *);
void policy_put_decided(
    struct buf *, const char *key, const struct policy_decided *);

/* Parse a request. Returns NULL, or the reason why it is malformed. */
const char *policy_request(
    const struct value *, struct value_pool *, struct policy_request *);
/*
 * Copy the request, with the paths in it as the agent named them: `names` is an
 * array of {"argument","named","value"}, or NULL. Returns 0, or -1 if memory ran
 * out.
 */
int policy_named(const struct policy_request *, const struct value *names,
    struct value_pool *, struct policy_request *out);
const char *policy_status(unsigned status);
/* Returns true if the decision is `expected`, which may be "not-allow", too. */
bool policy_expects(struct span expected, unsigned status);
/* Add "decision":...,"rule":...,"reason":...[,"escalatedRoles":[...]]. */
void policy_put_decision(struct buf *, const struct msg_EVALUATED *);
void policy_put_member(struct buf *, const char *key, struct span text);
/*
 * Write everything to standard output. Returns 0, or -1 after an error was
 * reported.
 */
int policy_flush(struct buf *);
/*
 * Add JSON text, with characters that a terminal acts on or that are invisible
 * as \uXXXX. Letters of any language stay.
 */
void policy_visible(struct buf *out, struct span json);
/* Print text from files and calls, made printable. */
void policy_print(const char *before, struct span, const char *after);

/* diff.c: Print how the rules, lists and annotations differ. */
void policy_diff_rules(
    const struct policy_set *old, const struct policy_set *new);

/*
 * The calls of one log under two policies. At most POLICY_RECORDED_CALLS of a
 * log are decided, and POLICY_RECORDED_SHOWN of all are printed.
 */
#define POLICY_RECORDED_CALLS 2000U
#define POLICY_RECORDED_SHOWN 20U
struct policy_recorded {
	const char *log;  /* a file, or the directory of a session */
	const char *name; /* printed before each call */
	unsigned calls, differ, left, shown; /* in all logs so far */
	bool cut, anycut; /* the log, or an earlier one, has more calls */
};
/*
 * Print the calls that are decided differently, and count them. Returns 0, or
 * -1 after an error was reported or with the fault set.
 */
int policy_diff_calls(const struct icctl *, const struct policy_set *old,
    const struct policy_set *new, struct policy_recorded *, struct fault *);

/* The tools. */
int icctl_policy_eval(struct icctl *, struct policy_opts *);
int icctl_policy_explain(struct icctl *, struct policy_opts *);
int icctl_policy_check(struct icctl *, struct policy_opts *);
/* Count its findings without printing them. */
void policy_count(const struct icctl *, const struct policy_opts *,
    unsigned *errors, unsigned *warnings);
/*
 * Decide the scenarios of a file as a session would, without printing them.
 * Returns 0, or -1 after it said why.
 */
int policy_test_count(struct icctl *, struct policy_opts *, const char *file,
    unsigned *passed, unsigned *failed);
int icctl_policy_test(struct icctl *, struct policy_opts *);
int icctl_policy_replay(struct icctl *, struct policy_opts *);
int icctl_policy_diff(struct icctl *, struct policy_opts *);
int icctl_policy_reload(struct icctl *, struct policy_opts *);
int icctl_policy_learn(struct icctl *, struct policy_opts *);
int icctl_policy_propose(struct icctl *, struct policy_opts *);

#endif
