/* SPDX-License-Identifier: ISC */
/*
 * icctl's inside: options that all commands share, the connection to a
 * session's control socket, and how text from an agent is shown.
 */
#ifndef ICCTL_H
#define ICCTL_H

#include <json-c/json.h>
#include <stdbool.h>

#include "common/span.h"

/* How JSON is printed: on one line, paths as they are. */
#define ICCTL_JSON (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Exit statuses, as icctl.1 lists them. */
enum icctl_exit {
	ICCTL_OK = 0,
	ICCTL_FAILED = 1,	/* asked and refused, or found wanting */
	ICCTL_USAGE = 2,
	ICCTL_NO_SESSION = 3,	/* none, or more than one is running */
};

struct icctl {
	bool json;
	const char *session;	/* --session, or NULL */
	char home[4096];	/* IRONCURTAIN_HOME */
	char dir[4096];		/* of the session, once found */
};

/* icctl/start.c: the path of a program of ours, which stands beside icctl. */
int icctl_program(const char *name, char *dst, size_t cap);
/* icctl/client.c */
/* Finds the session and fills dir. 0, or an exit status: it said why. */
int icctl_find(struct icctl *, bool must_run);
/* Connected control socket of the session found, or -1: it said why. */
int icctl_connect(struct icctl *);
/* Sends one request. 0, or -1. Takes no ownership. */
int icctl_send(int fd, json_object *request);
/*
 * The next reply or event, or NULL at the end or on failure. `rest` keeps
 * what came behind it: one per connection, zeroed at first.
 */
struct icctl_rest {
	char *p;
	size_t len, cap;
};
json_object *icctl_receive(int fd, struct icctl_rest *);
/* reply.c: has it the shape that commands rely on? */
bool icctl_reply_ok(json_object *);
/* Say on standard error why icctl_receive() returned NULL: errno. */
void icctl_lost(const struct icctl *);
/* One request and its reply, NULL if that failed (said why). */
json_object *icctl_ask(struct icctl *, json_object *request);
/* The same with a descriptor, which is taken; -1: none. */
json_object *icctl_ask_with(struct icctl *, json_object *request, int given);
/* Print why `reply` is not ok. Returns the exit status for it. */
int icctl_refused(const struct icctl *, json_object *reply);
const char *icctl_text(json_object *, const char *key);
int64_t icctl_number(json_object *, const char *key);
/* "s", but for one. */
const char *icctl_plural(int64_t);

/*
 * icctl/answer.c: a request; and its reply if that is good, else NULL: it said
 * why and *status is what to exit with. Takes the request.
 */
json_object *icctl_request(const char *op, const char *id);
json_object *icctl_command(struct icctl *, json_object *req, int *status);
/* Asks on the terminal, or of what stands on stdin; no answer is no. */
bool icctl_confirm(const char *question);

/* icctl/show.c */
/* Flags of visible_add for this terminal: letters, or ASCII alone. */
unsigned icctl_visible(void);
/* Escaped, at most `max` source bytes, quoted or not. */
void icctl_put(struct span, size_t max, bool quoted);
void icctl_put_str(const char *);
/* One line of JSON in printable ASCII: the rest stands as \uXXXX. */
void icctl_put_json(json_object *);

/*
 * icctl/answer.c: the hold of that id as `show` gives it, whole; NULL: it is
 * gone, and with `say` that was said.  The caller owns it.
 */
json_object *icctl_hold_fetch(struct icctl *, const char *id, bool say);

/* icctl/budget.c: limits, counts, a line for each model. */
void icctl_show_budget(json_object *budget);
/* One line for each model. */
void icctl_show_usage(json_object *budget);

/* One command each: argc and argv begin with the command's name. */
int icctl_pending(struct icctl *, int argc, char **argv);
int icctl_show(struct icctl *, int argc, char **argv);
int icctl_trust(struct icctl *, int argc, char **argv);
int icctl_approve(struct icctl *, int argc, char **argv);
int icctl_deny(struct icctl *, int argc, char **argv);
int icctl_watch(struct icctl *, int argc, char **argv);
int icctl_status(struct icctl *, int argc, char **argv);
int icctl_stop(struct icctl *, int argc, char **argv);
int icctl_unlock(struct icctl *, int argc, char **argv);
int icctl_budget(struct icctl *, int argc, char **argv);
int icctl_metrics(struct icctl *, int argc, char **argv);
int icctl_audit(struct icctl *, int argc, char **argv);
int icctl_close(struct icctl *, int argc, char **argv);
int icctl_start(struct icctl *, int argc, char **argv);
int icctl_attach(struct icctl *, int argc, char **argv);
int icctl_doctor(struct icctl *, int argc, char **argv);
int icctl_keys(struct icctl *, int argc, char **argv);
int icctl_login(struct icctl *, int argc, char **argv);
int icctl_policy(struct icctl *, int argc, char **argv);
int icctl_mcp(struct icctl *, int argc, char **argv);

/* keys.c: "3 min", "2 h", of milliseconds. */
const char *icctl_span(int64_t ms, char *dst, size_t cap);

#endif
