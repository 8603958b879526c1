/* SPDX-License-Identifier: ISC */
/*
 * `icctl watch` without its screen (overview/): prints events of a session as
 * they come, and answers calls by single keys on a terminal. With --json, or
 * without a terminal, it only prints. As a viewer's panel it asks about pending
 * calls, and ends when there is none.
 */
#include "icctl/watch/watch.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/ipc/proto.h"
#include "common/plural.h"
#include "icctl/hold/hold_answer.h"
#include "icctl/hold/hold_view.h"
#include "icctl/job/trouble.h"
#include "icctl/overview/overview.h"
#include "icctl/question/question.h"
#include "icctl/watch/news.h"
#include "icctl/watch/panel.h"
#include "icctl/watch/reason.h"
#include "icctl/words.h"

#define WATCH_MAX 256

static struct {
	struct icctl *ctl;
	json_object *holds[WATCH_MAX]; /* oldest first */
	size_t nholds;
	bool keys;  /* a terminal in single-key mode */
	bool begun; /* false: read the first reply before anything else */
	bool heard; /* the session took the request */
	bool ended; /* the session said that it ends */
	bool here;  /* a panel, which ends once no call is pending */
	bool alone; /* a panel on a screen of its own: ^C is a key */
	struct watch_panel panel;
	struct watch_reason reason;
	struct termios saved;
} watch_env;

static void
terminal_back(void)
{
	if (watch_env.keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &watch_env.saved);
}

static void
on_signal(int sig)
{
	terminal_back();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void
terminal_keys(void)
{
	struct termios t;

	if (watch_env.keys || watch_env.ctl->json || !isatty(STDIN_FILENO) ||
	    !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &watch_env.saved) == -1)
		return;
	t = watch_env.saved;
	t.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	/* The job of the shell is the viewer's, which waits for us. */
	if (watch_env.here)
		t.c_cc[VSUSP] = _POSIX_VDISABLE;
	if (watch_env.alone)
		t.c_lflag &= (tcflag_t)~ISIG;
	watch_env.keys = tcsetattr(STDIN_FILENO, TCSANOW, &t) == 0;
	atexit(terminal_back);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGHUP, on_signal);
}

/* Print the keys for the first call, below everything printed before. */
static void
prompt(void)
{
	const struct watch_panel *p = &watch_env.panel;

	if (!watch_env.keys || watch_env.nholds == 0 ||
	    watch_env.reason.id[0] != '\0')
		return;
	if (!p->complete && !p->full && !panel_more(p)) {
		printf("%s: [f] for what was left out  [d]eny  [n]ext  [q]uit  "
		       "(%zu pending)\n",
		    icctl_text(watch_env.holds[0], "id"), watch_env.nholds);
		return;
	}
	if (panel_more(p)) {
		printf("%s: [space] for the rest of it  [d]eny  [n]ext  [q]uit "
		       "  (%zu pending)\n",
		    icctl_text(watch_env.holds[0], "id"), watch_env.nholds);
		return;
	}
	printf("%s: %s[d]eny  [n]ext  [q]uit  (%zu pending)\n",
	    icctl_text(watch_env.holds[0], "id"),
	    hold_is_signed(watch_env.holds[0]) ? "[S]ign  "
	    : *icctl_text(watch_env.holds[0], "sessionDigest") != '\0'
		? "[a]pprove  for [s]ession  [A]lways  "
		: "[a]pprove  [A]lways  ",
	    watch_env.nholds);
}

/*
 * Draw the first call again, as the session now describes it; if `full`, with
 * nothing left out.
 */
static void
ask_about(bool full)
{
	json_object *whole;

	if (watch_env.nholds == 0 && watch_env.here) {
		/* A reason that is still typed is not for what comes then. */
		watch_env.ended = watch_env.reason.id[0] == '\0';
		return;
	}
	if (watch_env.nholds == 0) {
		panel_clear(&watch_env.panel);
		puts(watch_env.keys ? "-- no pending calls; q quits --"
				    : "-- no pending calls --");
		return;
	}
	putchar('\n');
	whole = icctl_hold_fetch(
	    watch_env.ctl, icctl_text(watch_env.holds[0], "id"), false);
	if (whole != NULL) {
		json_object_put(watch_env.holds[0]);
		watch_env.holds[0] = whole;
	}
	panel_draw(&watch_env.panel, watch_env.holds[0], watch_env.keys, full);
	prompt();
	fflush(stdout);
}

static void
ask_for_key(void)
{
	ask_about(false);
}

static void
drop_hold(const char *id)
{
	for (size_t i = 0; i < watch_env.nholds; i++) {
		if (strcmp(icctl_text(watch_env.holds[i], "id"), id) != 0)
			continue;
		json_object_put(watch_env.holds[i]);
		memmove(watch_env.holds + i, watch_env.holds + i + 1,
		    (watch_env.nholds - i - 1) * sizeof(watch_env.holds[0]));
		watch_env.nholds--;
		return;
	}
}

static void
add_hold(json_object *hold)
{
	if (hold == NULL || watch_env.nholds == WATCH_MAX)
		return;
	/* The call is pending for another reason, because the rules changed. */
	for (size_t i = 0; i < watch_env.nholds; i++) {
		if (strcmp(icctl_text(watch_env.holds[i], "id"),
			icctl_text(hold, "id")) != 0)
			continue;
		json_object_put(watch_env.holds[i]);
		watch_env.holds[i] = json_object_get(hold);
		if (i == 0)
			ask_for_key();
		return;
	}
	watch_env.holds[watch_env.nholds++] = json_object_get(hold);
	if (watch_env.nholds == 1) {
		ask_for_key();
		return;
	}
	/* The call on the screen stays; announce the new one in a line. */
	hold_view_line(stdout, "", hold, icctl_visible());
	prompt();
}

static void
show_event(json_object *event)
{
	const char *kind = icctl_text(event, "event");
	json_object *o = NULL;

	if (json_object_object_get_ex(event, "holds", &o)) {
		for (size_t i = 0; i < json_object_array_length(o); i++)
			add_hold(json_object_array_get_idx(o, i));
		if (json_object_array_length(o) == 0)
			ask_for_key();
	} else if (strcmp(kind, "hold") == 0) {
		json_object_object_get_ex(event, "hold", &o);
		add_hold(o);
	} else if (strcmp(kind, "holdEnd") == 0) {
		bool shown = watch_env.nholds != 0 &&
			     strcmp(icctl_text(watch_env.holds[0], "id"),
				 icctl_text(event, "id")) == 0;

		printf("%s %s\n", icctl_text(event, "id"),
		    icctl_text(event, "state"));
		drop_hold(icctl_text(event, "id"));
		if (shown)
			ask_for_key();
		else
			prompt();
	} else if (watch_env.here) {
		return; /* it would scroll the call away */
	} else if (strcmp(kind, "usage") == 0) {
		if (json_object_object_get_ex(event, "budget", &o))
			icctl_show_usage(o);
	} else if (strcmp(kind, "budget") == 0) {
		puts("BUDGET:");
		icctl_put_str(icctl_text(event, "text"));
		putchar('\n');
		if (json_object_object_get_ex(event, "budget", &o))
			icctl_show_budget(o);
		prompt();
	} else {
		watch_news(kind, event);
		prompt();
	}
}

static void
on_event(json_object *event)
{
	if (watch_env.ctl->json) {
		icctl_put_json(event);
		fflush(stdout);
		return;
	}
	panel_begin(&watch_env.panel);
	if (watch_env.reason.id[0] != '\0')
		putchar('\n');
	show_event(event);
	if (watch_env.reason.id[0] != '\0')
		reason_show(&watch_env.reason);
	panel_end(&watch_env.panel);
}

/* Answer the first pending call, on a connection of its own. */
static void
answer_now(const char *op, bool session, const char *because,
    struct span answer, const char *entries)
{
	json_object *req, *reply, *hold = watch_env.holds[0];

	req = icctl_request(op, icctl_text(hold, "id"));
	put_str(req, "digest", icctl_text(hold, "digest"));
	if (session)
		put_str(req, "session", icctl_text(hold, "sessionDigest"));
	if (because != NULL)
		put_str(req, "because", because);
	if (entries != NULL)
		put_str(req, "signed", entries);
	if (answer.len != 0)
		json_object_object_add(req, "answer",
		    json_object_new_string_len(
			(const char *)answer.p, (int)answer.len));
	reply = icctl_ask(watch_env.ctl, req);
	json_object_put(req);
	if (reply == NULL)
		return;
	if (!get_true(reply, "ok"))
		icctl_refused(watch_env.ctl, reply);
	json_object_put(reply);
}

/*
 * Returns true if the first call may be answered now; otherwise says why not.
 */
static bool
may_answer(bool approve)
{
	struct watch_panel *p = &watch_env.panel;

	if (approve && !p->complete && !p->full) {
		printf("-- parts of it were left out: press f for all of it, "
		       "or icctl show %s --full --\n",
		    icctl_text(watch_env.holds[0], "id"));
	} else if (approve && !p->complete) {
		puts("-- it cannot be approved here: not everything of it "
		     "could be shown --");
	} else if (approve && panel_more(p)) {
		puts("-- there is more of it: press space --");
	} else if (approve && !panel_visible(p)) {
		puts("-- it was no longer on the screen --");
		ask_about(p->full);
		return false;
	} else if (!panel_stood(p)) {
		puts("-- this is a different call: check it, then press the "
		     "key again --");
	} else {
		return true;
	}
	prompt();
	return false;
}

/* A question: its form is filled in, or its address opened with a second key.
 */
static void
arm_question(json_object *hold)
{
	const char *id = icctl_text(hold, "id");
	char form[160];

	if (!may_answer(true))
		return;
	if (hold_address(hold) == NULL) {
		reason_answer(&watch_env.reason, id,
		    hold_answer_form(hold, form, sizeof(form)));
		return;
	}
	watch_env.panel.armed = 'o';
	printf("-- %s: press %c to open the address in your browser, any other "
	       "key not to --\n",
	    id, id[0]);
}

/* Send the answer that was typed, or say what is wrong with it. */
static void
answer_question(struct watch_reason *r)
{
	char why[HOLD_ANSWER_WHY], id[sizeof(r->id)];
	struct buf b;

	buf_init(&b, PROTO_MAX_ANSWER);
	(void)strlcpy(id, icctl_text(watch_env.holds[0], "id"), sizeof(id));
	if (hold_answer(watch_env.holds[0], span_str(r->text), &b, why) == 0) {
		answer_now("approve", false, NULL, buf_span(&b), NULL);
	} else {
		printf("-- %s --\n", why);
		reason_answer(r, id, r->form);
	}
	buf_free(&b);
}

/* Handle the first of two keys; the second is the first letter of the id. */
static void
arm(char how)
{
	const char *id = icctl_text(watch_env.holds[0], "id");

	if (how == 'a' && hold_is_question(watch_env.holds[0])) {
		arm_question(watch_env.holds[0]);
		return;
	}
	if (how == 's' &&
	    *icctl_text(watch_env.holds[0], "sessionDigest") == '\0') {
		puts("-- this call cannot be allowed for the session --");
		prompt();
		return;
	}
	if (hold_is_signed(watch_env.holds[0])) {
		puts("-- signatures approve this call: press S to sign it --");
		prompt();
		return;
	}
	if (!may_answer(true))
		return;
	watch_env.panel.armed = how;
	printf("-- %s: press %c to approve %s%s, any other key not to --\n", id,
	    id[0], id, how == 's' ? " for the session" : "");
}

static void
second_key(char key)
{
	char how = watch_env.panel.armed;

	watch_env.panel.armed = '\0';
	if (key != icctl_text(watch_env.holds[0], "id")[0]) {
		puts(how == 'o' ? "-- not opened --" : "-- not approved --");
		prompt();
	} else if (may_answer(true) &&
		   (how != 'o' ||
		       question_open(hold_address(watch_env.holds[0])) == 0)) {
		answer_now("approve", how == 's', NULL, SPAN(""), NULL);
	}
}

/* Have the person sign the first call, and approve it with the signature. */
static void
sign_hold(void)
{
	char entries[SIGNED_ENTRIES + 1];

	if (!hold_is_signed(watch_env.holds[0])) {
		puts("-- this call is approved without signatures --");
		prompt();
	} else if (may_answer(true)) {
		if (panel_sign(&watch_env.panel, watch_env.holds[0], entries,
			&watch_env.saved))
			answer_now(
			    "approve", false, NULL, SPAN(""), entries);
		ask_for_key();
	}
}

/* A key of the reason for which a call is denied. */
static void
reason_typed(char key)
{
	struct watch_reason *r = &watch_env.reason;
	enum watch_reason_end end = reason_key(r, key);
	bool same = watch_env.nholds != 0 &&
		    strcmp(icctl_text(watch_env.holds[0], "id"), r->id) == 0;

	if (end == REASON_MORE)
		return;
	r->id[0] = '\0';
	if (end == REASON_DONE && same && r->answer) {
		answer_question(r);
		return;
	}
	if (end == REASON_DONE && same) {
		answer_now("deny", false, r->text, SPAN(""), NULL);
		return;
	}
	puts(end == REASON_DONE ? "-- it has ended meanwhile --"
	     : r->answer        ? "-- not answered --"
				: "-- not denied --");
	ask_for_key();
}

static void
next_hold(void)
{
	json_object *first = watch_env.holds[0];

	if (watch_env.nholds > 1) {
		memmove(watch_env.holds, watch_env.holds + 1,
		    (watch_env.nholds - 1) * sizeof(first));
		watch_env.holds[watch_env.nholds - 1] = first;
	}
	ask_for_key();
}

static void
key_for_hold(char key)
{
	switch (key) {
	case 'a':
	case 's':
		arm(key);
		break;
	case 'd':
		if (may_answer(false))
			reason_begin(&watch_env.reason,
			    icctl_text(watch_env.holds[0], "id"));
		break;
	case 'A':
		if (!may_answer(true))
			break;
		panel_always(&watch_env.panel, watch_env.ctl,
		    icctl_text(watch_env.holds[0], "id"), &watch_env.saved);
		ask_for_key();
		break;
	case 'S':
		sign_hold();
		break;
	case 'u':
		panel_undo(&watch_env.panel, watch_env.ctl, &watch_env.saved);
		ask_for_key();
		break;
	case 'f':
		ask_about(true);
		break;
	case 'n':
		next_hold();
		break;
	case ' ':
		panel_page(&watch_env.panel);
		prompt();
		break;
	default:
		puts("a: approve, or answer a question, s: approve for the "
		     "session, A: always, S: sign, d: "
		     "deny, with a reason, f: in full, n: next, u: undo the "
		     "last "
		     "turn, q: quit");
		break;
	}
}

/* Handle a key. Returns false if the user wants to leave. */
static bool
on_key(void)
{
	char key;

	if (read(STDIN_FILENO, &key, 1) != 1)
		return false;
	panel_begin(&watch_env.panel);
	if (watch_env.reason.id[0] != '\0')
		reason_typed(key);
	else if (watch_env.panel.armed != '\0' && watch_env.nholds != 0)
		second_key(key);
	else if (key == 'q' || (watch_env.alone && key == 0x03))
		watch_env.panel.armed = 'q';
	else if (watch_env.nholds != 0 || strchr("asASdfn ", key) == NULL)
		key_for_hold(key);
	panel_end(&watch_env.panel);
	return watch_env.panel.armed != 'q' && !watch_env.ended;
}

/* Handle one reply or event; NULL if the connection broke. */
static int
watch_take(json_object *event)
{
	json_object *ok = NULL;

	if (event == NULL) {
		icctl_lost(watch_env.ctl, -1);
		return ICCTL_NO_SESSION;
	}
	/* The reply to "watch" itself; events have no "ok". */
	if (json_object_object_get_ex(event, "ok", &ok) &&
	    !json_object_get_boolean(ok))
		return icctl_refused(watch_env.ctl, event);
	watch_env.heard = true;
	on_event(event);
	if (strcmp(icctl_text(event, "event"), "end") != 0)
		return ICCTL_OK;
	watch_env.ended = true;
	if (!watch_env.ctl->json && !watch_env.here)
		puts("The session ended.");
	return ICCTL_OK;
}

static int
watch_loop(int fd)
{
	struct icctl_rest rest = {NULL, 0, 0};
	struct pollfd p[2] = {
	    {.fd = fd, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
	json_object *event;
	int n, r = ICCTL_OK;

	if (watch_env.keys)
		p[1].fd = STDIN_FILENO;
	for (;;) {
		if (!watch_env.begun)
			n = 0;
		else if ((n = poll(p, 2, -1)) == -1) {
			if (errno == EINTR)
				continue;
			r = ICCTL_FAILED;
			break;
		}
		if (n != 0 && p[1].revents != 0 && !on_key())
			break;
		if (n != 0 && p[0].revents == 0)
			continue;
		/* icctl_receive() limits the time of the first answer. */
		watch_env.begun = true;
		/* Take at least one line; more may have come with it. */
		do {
			event = icctl_receive(fd, &rest);
			r = watch_take(event);
			json_object_put(event);
			if (r != ICCTL_OK || watch_env.ended) {
				free(rest.p);
				return r;
			}
		} while (
		    rest.len != 0 && memchr(rest.p, '\n', rest.len) != NULL);
	}
	free(rest.p);
	return r;
}

/* Connects and listens to the session that was found. */
static int
watch_run(struct icctl *ctl)
{
	json_object *req;
	int fd, r;

	watch_env.ctl = ctl;
	if ((fd = icctl_connect(ctl)) == -1)
		return ICCTL_NO_SESSION;
	req = icctl_request("watch", NULL);
	(void)icctl_tell(fd, req);
	json_object_put(req);
	terminal_keys();
	r = watch_loop(fd);
	close(fd);
	return r;
}

/* Forget the session that ended, for the next one. */
static void
watch_reset(void)
{
	while (watch_env.nholds != 0)
		json_object_put(watch_env.holds[--watch_env.nholds]);
	panel_clear(&watch_env.panel);
	watch_env.reason.id[0] = '\0';
	watch_env.begun = watch_env.heard = watch_env.ended = false;
}

/* Print which jobs failed, were skipped or are overdue. */
static void
watch_jobs(const struct icctl *ctl)
{
	json_object *all = job_troubles(ctl), *o;

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		o = json_object_array_get_idx(all, i);
		fputs("job ", stdout);
		icctl_put_str(icctl_text(o, "name"));
		printf(": %s", icctl_text(o, "state"));
		if (icctl_text(o, "why")[0] != '\0') {
			fputs(": ", stdout);
			icctl_put(span_str(icctl_text(o, "why")), 200, false);
		}
		printf(" (icctl job logs %s)\n", icctl_text(o, "name"));
	}
	fflush(stdout);
	json_object_put(all);
}

/* Watch the only session, and then the next, until the person leaves. */
static int
watch_each(struct icctl *ctl)
{
	bool again = false, gone = false;
	int r;

	watch_jobs(ctl);
	for (;;) {
		if (gone || !icctl_any_runs(ctl)) {
			fflush(stdout);
			warnx("no session is running; waiting for one to start"
			      "%s",
			    watch_env.keys ? " (q quits)" : "");
			if (!watch_wait(ctl, watch_env.keys))
				return ICCTL_OK;
		} else if ((r = icctl_find(ctl)) != 0) {
			/* It may have ended between the two looks. */
			if (r == ICCTL_NO_SESSION && !icctl_any_runs(ctl))
				continue;
			return r;
		}
		r = watch_run(ctl);
		if (!watch_env.ended &&
		    (r != ICCTL_NO_SESSION || (!watch_env.heard && !again)))
			return r;
		/* The one before may take a moment more to end. */
		gone = !watch_env.ended && !watch_env.heard;
		again = true;
		watch_reset();
	}
}

int
icctl_watch(struct icctl *ctl, int argc, char **argv)
{
	bool plain = words_given("--plain"), all = words_given("--all");
	int r;

	if (argc != 1 || (plain && all))
		return words_usage();
	plain = plain || ctl->json || !overview_can();
	if (all && plain && !ctl->json) {
		warnx("--all shows all sessions on a terminal's screen, and "
		      "this is none; icctl --json watch prints their events");
		return ICCTL_USAGE;
	}
	if (all)
		ctl->session = NULL;
	if (ctl->session == NULL)
		return ctl->json ? watch_all_json(ctl)
		       : plain   ? watch_each(ctl)
				 : overview_run(ctl);
	if ((r = icctl_find(ctl)) != 0)
		return r;
	return plain ? watch_run(ctl) : overview_run(ctl);
}

/* The calls that were left alone, and how they are answered later. */
static void
panel_left(void)
{
	if (watch_env.alone || watch_env.nholds == 0)
		return;
	printf(">>> %zu pending call%s not answered yet: icctl watch, or icctl "
	       "approve %s\n",
	    watch_env.nholds, plural(watch_env.nholds),
	    icctl_text(watch_env.holds[0], "id"));
}

int
icctl_panel(struct icctl *ctl, int argc, char **argv)
{
	int r;

	if (argc != 3 || icctl_on_tty() == -1)
		return ICCTL_USAGE;
	watch_env.here = true;
	watch_env.alone = strcmp(argv[1], "screen") == 0;
	(void)strlcpy(ctl->dir, argv[2], sizeof(ctl->dir));
	puts(">>> icctl: the agent waits for your answer (q: later)");
	r = watch_run(ctl);
	panel_left();
	return r;
}
