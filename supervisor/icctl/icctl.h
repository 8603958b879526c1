/* SPDX-License-Identifier: ISC */
/*
 * Internals of icctl: options that all commands share, the connection to a
 * session's control socket, and the display of text from an agent.
 */
#ifndef ICCTL_H
#define ICCTL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/span.h"

/* JSON is printed on one line, with plain slashes. */
#define ICCTL_JSON (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Exit statuses, as listed in icctl.1. */
enum icctl_exit {
	ICCTL_OK = 0,
	ICCTL_FAILED = 1,     /* asked and refused, or a check failed */
	ICCTL_USAGE = 64,     /* EX_USAGE, as icsupervisor has it */
	ICCTL_NO_SESSION = 3, /* none, or more than one is running */
	ICCTL_BUSY = 75,      /* sending the message later may help */
};

struct icctl {
	bool json;
	const char *session; /* --session, or NULL */
	bool reads;          /* one that has ended will do */
	const char *waits;   /* id of a call or a grant: its session; or NULL */
	char home[4096];     /* IRONCURTAIN_HOME */
	char dir[4096];      /* the session's directory, once found */
	const char *hub;  /* the file of a hub, whose sessions count; or NULL */
	const char *code; /* why it was not, for a program, or NULL */
	char why[1024];
};

/*
 * place.c: Write the path of a program of ours, which is beside icctl. Returns
 * 0, or -1.
 */
int icctl_program(const char *name, char *dst, size_t cap);
/*
 * Name a directory for a new session,
 * IRONCURTAIN_HOME/sessions/<time>-<random>, in ctl->dir. Returns 0, or -1
 * after it said why.
 */
int icctl_new_session(struct icctl *);
/*
 * Use this directory, which is not there yet, for the new session; `unit`: a
 * unit of systemd runs it. Returns 0, or an exit status after the reason.
 */
int icctl_session_at(struct icctl *, const char *dir, bool unit);
/*
 * find.c: Find the session and set `dir`: the only one, the one that is named,
 * or the one that has `waits`. Returns 0, or an exit status after it printed
 * the reason, which it leaves in `code` and `why`.
 */
int icctl_find(struct icctl *);
/*
 * newest.c: Set `dir` to the session whose log was written last. Returns 0, or
 * -1 if there is none.
 */
int icctl_newest(struct icctl *);
/* Returns true if any session of this user runs on this machine. */
bool icctl_any_runs(const struct icctl *);
/* client.c */
/* Returns a connection to the control socket in `dir`, or -1 with errno set. */
int icctl_dial(const char *dir);
/* Do the same in an open directory; `flags` may be SOCK_NONBLOCK. */
int icctl_dial_at(int dir, int flags);
/*
 * Returns a connection to the session's control socket, or -1 after it printed
 * the reason.
 */
int icctl_connect(struct icctl *);
/* Send one request. Returns 0, or -1. Does not take the request. */
int icctl_tell(int fd, json_object *request);
/* Do the same with a descriptor, which stays open; -1: none. */
int icctl_tell_with(int fd, json_object *request, int given);
/*
 * Returns the next reply or event, or NULL with errno set at the end or on
 * failure. `rest` keeps further data: one per connection, zero at first.
 */
struct icctl_rest {
	char *p;
	size_t len, cap;
};
json_object *icctl_receive(int fd, struct icctl_rest *);
/* reply.c: Returns true if it has the shape that commands rely on. */
bool icctl_reply_ok(json_object *);
/*
 * Print why icctl_receive() returned NULL, by errno. `fd` is its socket, which
 * knows how long it waits, or -1.
 */
void icctl_lost(const struct icctl *, int fd);
/* Send one request. Returns its reply, or NULL after it printed the reason. */
json_object *icctl_ask(struct icctl *, json_object *request);
/* Do the same with a descriptor, which is taken; -1: none. */
json_object *icctl_ask_with(struct icctl *, json_object *request, int given);
/* Ask the session in `dir`. Returns its reply, or NULL if none answers. */
json_object *icctl_ask_dir(const char *dir, const char *op);
/* Print why `reply` is not ok. Returns the exit status. */
int icctl_refused(const struct icctl *, json_object *reply);
const char *icctl_text(json_object *, const char *key);
int64_t icctl_number(json_object *, const char *key);

/*
 * answer.c: Make a request; send it and return its reply, or NULL after the
 * reason was printed, with the exit status in `*status`. icctl_command() takes
 * the request.
 */
json_object *icctl_request(const char *op, const char *id);
json_object *icctl_command(struct icctl *, json_object *req, int *status);
/* Returns 0, or an exit status after it printed the usage. */
int icctl_no_arguments(int argc);
/* Take [SESSION]. Returns 0, or an exit status after it printed the usage. */
int icctl_one_session(struct icctl *, int argc, char **argv);
/*
 * Make the terminal of this process its standard streams, wherever those lead.
 * Returns 0, or -1.
 */
int icctl_on_tty(void);
/* Returns true if somebody is at the terminal, who can answer questions. */
bool icctl_person(void);
/* Ask on the terminal, or read the answer from stdin. No answer is no. */
bool icctl_confirm(const char *question);
/* The same, and ask there. */
bool icctl_confirm_on(FILE *, const char *question);

/* show.c */
/*
 * Returns the flags of visible_add() for this terminal: letters, or ASCII only.
 */
unsigned icctl_visible(void);
/* Print escaped text, at most `max` bytes of it, quoted or not. */
void icctl_put(struct span, size_t max, bool quoted);
/*
 * Print what an agent says to a person: only what could act on the terminal,
 * hide or reorder is escaped, newlines included.
 */
void icctl_put_prose(struct span);
void icctl_put_str(const char *);
#define ICCTL_POLICY 101U
/*
 * policy_name.c: Write the name of the policy whose rules are in that file, or
 * "" if it has none. Returns `dst`.
 */
const char *icctl_policy_name(const char *path, char dst[ICCTL_POLICY]);
/*
 * trust.c: Show the entry of an MCP server in "entry", and as it "was", if that
 * is known.
 */
void icctl_put_entry(json_object *server);
/*
 * pages.c: print a text that is visible already; on a terminal a page at a
 * time. Returns false if the person did not want to see all of it.
 */
bool icctl_put_pages(struct span text);
/* Write a path as people read it, with ~ for their home; returns `dst`. */
#define ICCTL_PATH 4400U
const char *icctl_path(const char *path, char dst[ICCTL_PATH]);
/* Warn with strerror(errno) and what to do about it: "PATH: reason. Do this".
 */
void icctl_warn_errno(const char *path);
/* Print a line of JSON in printable ASCII, with \uXXXX for the rest. */
void icctl_put_json(json_object *);
/* Returns true once a line was printed so. */
bool icctl_json_shown(void);
/* Do the same with the text of well-formed JSON, without a newline. */
void icctl_put_ascii(struct span);

/*
 * answer.c: Returns the call of that id in full, as `show` gives it, which the
 * caller owns; or NULL if it is gone, which is reported if `say`.
 */
json_object *icctl_hold_fetch(struct icctl *, const char *id, bool say);
/*
 * answer.c: Approve exactly this call, which the person has seen in full.
 * Returns an exit status.
 */
int icctl_approve_shown(struct icctl *, json_object *hold);
/* list.c: Print what a grant allows, and how to revoke it. */
void icctl_put_grant(json_object *);

/*
 * close.c: Close the log of a session that crashed and whose lock the caller
 * holds; correct its session.json, and remove its link and its sockets. Returns
 * 0, or -1 with the fault set if the log is broken, and only the rest was done.
 */
struct fault;
int icctl_close_locked(const struct icctl *, int dirfd, struct fault *);

/* budget.c: Print limits, counts, and a line for each model. */
void icctl_show_budget(json_object *budget);
/* Print cost, steps and tokens with their limits, without a newline. */
void icctl_show_cost(json_object *budget);
/* Print a line for each model. */
void icctl_show_usage(json_object *budget);

/* The commands: argc and argv begin with the command's name. */
int icctl_pending(struct icctl *, int argc, char **argv);
int icctl_show(struct icctl *, int argc, char **argv);
int icctl_trust(struct icctl *, int argc, char **argv);
int icctl_approve(struct icctl *, int argc, char **argv);
int icctl_answer(struct icctl *, int argc, char **argv);
int icctl_sign(struct icctl *, int argc, char **argv);
int icctl_grants(struct icctl *, int argc, char **argv);
int icctl_deny(struct icctl *, int argc, char **argv);
int icctl_revoke(struct icctl *, int argc, char **argv);
int icctl_always(struct icctl *, int argc, char **argv);
int icctl_watch(struct icctl *, int argc, char **argv);
int icctl_config(struct icctl *, int argc, char **argv);
int icctl_setup(struct icctl *, int argc, char **argv);
int icctl_web(struct icctl *, int argc, char **argv);
int icctl_hub(struct icctl *, int argc, char **argv);
int icctl_relay(struct icctl *, int argc, char **argv);
/* The command that a viewer runs as its panel: `icctl panel MODE DIR`. */
#define ICCTL_PANEL "panel"
int icctl_panel(struct icctl *, int argc, char **argv);
int icctl_status(struct icctl *, int argc, char **argv);
int icctl_stop(struct icctl *, int argc, char **argv);
int icctl_send(struct icctl *, int argc, char **argv);
int icctl_interrupt(struct icctl *, int argc, char **argv);
int icctl_ls(struct icctl *, int argc, char **argv);
int icctl_resume(struct icctl *, int argc, char **argv);
int icctl_history(struct icctl *, int argc, char **argv);
int icctl_persona(struct icctl *, int argc, char **argv);
int icctl_diagnostics(struct icctl *, int argc, char **argv);
int icctl_logs(struct icctl *, int argc, char **argv);
int icctl_diff(struct icctl *, int argc, char **argv);
int icctl_pull(struct icctl *, int argc, char **argv);
int icctl_unlock(struct icctl *, int argc, char **argv);
int icctl_budget(struct icctl *, int argc, char **argv);
int icctl_metrics(struct icctl *, int argc, char **argv);
int icctl_audit(struct icctl *, int argc, char **argv);
int icctl_usage(struct icctl *, int argc, char **argv);
int icctl_report(struct icctl *, int argc, char **argv);
int icctl_close(struct icctl *, int argc, char **argv);
int icctl_gc(struct icctl *, int argc, char **argv);
int icctl_undo(struct icctl *, int argc, char **argv);
int icctl_checkpoint(struct icctl *, int argc, char **argv);
int icctl_paste(struct icctl *, int argc, char **argv);
int icctl_image(struct icctl *, int argc, char **argv);
int icctl_home(struct icctl *, int argc, char **argv);
int icctl_start(struct icctl *, int argc, char **argv);
int icctl_driver(struct icctl *, int argc, char **argv);
int icctl_job(struct icctl *, int argc, char **argv);
int icctl_attach(struct icctl *, int argc, char **argv);
int icctl_doctor(struct icctl *, int argc, char **argv);
int icctl_agents(struct icctl *, int argc, char **argv);
int icctl_keys(struct icctl *, int argc, char **argv);
int icctl_login(struct icctl *, int argc, char **argv);
int icctl_policy(struct icctl *, int argc, char **argv);
int icctl_mcp(struct icctl *, int argc, char **argv);
int icctl_project(struct icctl *, int argc, char **argv);
int icctl_services(struct icctl *, int argc, char **argv);

/*
 * server_line.c: Write the state of a server, from its row of `status`: what it
 * offers, its revision, where it runs, and its words.
 */
#define ICCTL_SERVER_LINE 1200
void icctl_server_line(json_object *row, char *dst, size_t cap);

/* span.c: Write a duration in ms: "3 min", "2 h". Returns `dst`. */
const char *icctl_span(int64_t ms, char *dst, size_t cap);
/*
 * Returns a time of the future, as in RFC 3339, with how long that is:
 * "2026-11-25T12:00:00Z (in 5 h)"; in `dst`. Returns "" for any other text.
 */
#define ICCTL_UNTIL 64
const char *icctl_until(const char *, char dst[ICCTL_UNTIL]);
/*
 * Returns a time in RFC 3339, in UTC, as the local date and time of day, in
 * `dst`; or the text itself, shortened, if it is none.
 */
#define ICCTL_LOCAL 40
const char *icctl_local(const char *, char dst[ICCTL_LOCAL]);

#endif
