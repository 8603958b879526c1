/* SPDX-License-Identifier: ISC */
/*
 * `icctl send` and `icctl interrupt`. What the agent says is printed as it
 * comes, with everything made visible that would act on a terminal. With
 * --schema it is collected instead, and the answer is printed if it fits.
 */
#include "icctl/talk/send.h"

#include "icctl/talk/talk.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/buf.h"
#include "common/log.h"
#include "icctl/talk/behind.h"
#include "icctl/talk/call_text.h"
#include "icctl/talk/held.h"
#include "icctl/talk/message.h"
#include "icctl/talk/wanted.h"
#include "icctl/words.h"

#define SEND_ANSWER (4U << 20)

static volatile sig_atomic_t send_interrupted;
/* The message is a word of the command line. */
static bool send_typed;
/* With --schema: what the agent said in this turn. */
static struct buf *send_said;
/* The text that the agent said last. */
static char send_last[1024];
/* The turn; and the events that have come since its first one. */
static int64_t send_number;
static uint64_t send_seen;

static void
send_signaled(int sig)
{
	(void)sig;
	send_interrupted++;
}

/* Print a text: newlines stay, other control characters are escaped. */
static void
put_text(const char *s, bool *fresh)
{
	size_t n;

	for (; *s != '\0'; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		icctl_put_prose(span_of(s, n));
		*fresh = s[n] == '\n';
		if (*fresh)
			putchar('\n');
	}
	fflush(stdout);
}

static void
put_line(const char *before, const char *s, bool *fresh)
{
	char vis[2048];

	/* Standard output is for the answer alone. */
	if (send_said != NULL) {
		fprintf(stderr, "%s%s\n", before,
		    log_vis(span_str(s), vis, sizeof(vis)));
		return;
	}
	if (!*fresh)
		putchar('\n');
	*fresh = true;
	fputs(before, stdout);
	icctl_put_str(s);
	putchar('\n');
	fflush(stdout);
}

/* Print an error, unless the agent has just said the same as its text. */
static void
put_error(const char *text, bool *fresh)
{
	size_t n = strlen(text);

	if (send_said != NULL) {
		put_line("! ", text, fresh);
		return;
	}
	if (n != 0 && strncmp(send_last, text, n) == 0 &&
	    strspn(send_last + n, "\n") == strlen(send_last + n))
		return;
	if (!*fresh)
		putchar('\n');
	*fresh = true;
	fputs("! ", stdout);
	icctl_put_prose(span_str(text));
	putchar('\n');
	fflush(stdout);
}

static void
put_held(json_object *o, bool *fresh)
{
	const char *id = icctl_text(o, "id");
	char text[512];

	snprintf(text, sizeof(text),
	    "waiting for you: %.64s %.128s. See it: icctl show %.32s; answer "
	    "it: icctl approve %.32s, or icctl deny %.32s",
	    icctl_text(o, "server"), icctl_text(o, "tool"), id, id, id);
	put_line("* ", text, fresh);
}

static void
put_call(json_object *o, bool *fresh)
{
	char text[CALL_TEXT];

	put_line(CALL_MARK, call_text(o, text), fresh);
}

/* Print an event. Returns the exit status once it is known, else -1. */
static int
send_event(const struct icctl *ctl, json_object *o)
{
	static bool fresh = true;
	static int status = ICCTL_OK;
	const char *event = icctl_text(o, "event");

	if (send_number == 0)
		send_number = icctl_number(o, "turn");
	send_seen += send_number != 0;
	if (strcmp(event, "result") == 0 && get_true(o, "is_error"))
		status =
		    strcmp(icctl_text(o, "trouble"), "quota") == 0 ||
			    strcmp(icctl_text(o, "trouble"), "transient") == 0
			? ICCTL_BUSY
			: ICCTL_FAILED;
	if (send_said != NULL && strcmp(event, "agent_text") == 0)
		buf_adds(send_said, icctl_text(o, "text"));
	if (ctl->json) {
		icctl_put_json(o);
		fflush(stdout);
	} else if (strcmp(event, "agent_text") == 0) {
		(void)strlcpy(
		    send_last, icctl_text(o, "text"), sizeof(send_last));
		if (send_said == NULL)
			put_text(icctl_text(o, "text"), &fresh);
	} else if (strcmp(event, "tool_call") == 0) {
		put_call(o, &fresh);
	} else if (strcmp(event, "error") == 0) {
		put_error(icctl_text(o, "text"), &fresh);
	} else if (strcmp(event, "escalation") == 0) {
		if (!held_may(ctl))
			put_held(o, &fresh);
		else if (!fresh)
			putchar('\n');
		fflush(stdout);
		fresh = true;
	} else if (strcmp(event, "turn_end") == 0 && !fresh) {
		putchar('\n');
	}
	return strcmp(event, "turn_end") == 0 ? status : -1;
}

/*
 * Returns the next event, from those that came while a question was open, or
 * else NULL.
 */
static json_object *
send_later(json_object *later)
{
	json_object *o;

	if (json_object_array_length(later) == 0)
		return NULL;
	o = json_object_get(json_object_array_get_idx(later, 0));
	(void)json_object_array_del_idx(later, 0, 1);
	return o;
}

/* Ask about a call that waits, unless it has ended meanwhile. */
static void
send_held(struct icctl *ctl, int fd, struct icctl_rest *rest, json_object *o,
    json_object *later)
{
	if (strcmp(icctl_text(o, "event"), "escalation") == 0 &&
	    held_may(ctl) && !held_ended(later, icctl_text(o, "id")))
		held_run(ctl, fd, rest, later);
}

static bool
send_buffered(const struct icctl_rest *rest)
{
	return rest->len != 0 && memchr(rest->p, '\n', rest->len) != NULL;
}

/* Wait for an event, and pass on Ctrl-C meanwhile. Returns false to give up. */
static bool
send_wait(struct icctl *ctl, int fd)
{
	static sig_atomic_t told;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	json_object *req, *reply;

	for (;;) {
		if (send_interrupted > 2)
			return false;
		if (told < send_interrupted) {
			told++;
			req = icctl_request("interrupt", NULL);
			reply = icctl_ask(ctl, req);
			json_object_put(req);
			json_object_put(reply);
			if (!ctl->json)
				warnx("interrupting the turn; the "
				      "conversation goes on");
		}
		if (poll(&p, 1, -1) != -1)
			return true;
		if (errno != EINTR)
			return false;
	}
}

int
talk_failed(
    const struct icctl *ctl, int status, const char *code, const char *error)
{
	json_object *o;

	if (!ctl->json)
		return status;
	o = json_object_new_object();
	json_object_object_add(o, "ok", json_object_new_boolean(false));
	json_object_object_add(o, "code", json_object_new_string(code));
	json_object_object_add(o, "error", json_object_new_string(error));
	icctl_put_json(o);
	json_object_put(o);
	return status;
}

/*
 * The connection broke before the turn's end: because the session has ended, or
 * because its events were read too slowly. Returns the exit status.
 */
static int
send_lost(struct icctl *ctl)
{
	bool busy = errno == EAGAIN;
	int status = -1;

	if (!busy && send_seen != 0)
		status = behind_follow(ctl, send_number, send_seen, send_event);
	if (status != -1)
		return status;

	icctl_lost(ctl, -1);
	return talk_failed(ctl, ICCTL_NO_SESSION,
	    busy ? "SESSION_NOT_READY" : "SESSION_CLOSED",
	    busy ? "the session does not answer"
		 : "the session closed the connection");
}

/* Print the turn's events until its end. Returns the exit status. */
static int
send_follow(struct icctl *ctl, int fd, struct icctl_rest *rest)
{
	const struct timeval none = {0, 0};
	json_object *o, *later = json_object_new_array();
	int status = -1;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
	while (status == -1) {
		o = send_later(later);
		if (o == NULL && !send_buffered(rest) && !send_wait(ctl, fd))
			status = ICCTL_FAILED;
		else if (o == NULL && (o = icctl_receive(fd, rest)) == NULL)
			status = send_lost(ctl);
		else {
			status = send_event(ctl, o);
			send_held(ctl, fd, rest, o, later);
		}
		json_object_put(o);
	}
	json_object_put(later);
	return status;
}

static bool
is_reply(json_object *o)
{
	return json_object_object_get_ex(o, "ok", NULL);
}

/* The message was refused. Returns the exit status. */
static int
send_refused(const struct icctl *ctl, json_object *o)
{
	const char *code = icctl_text(o, "code");
	bool starting = strcmp(code, "starting") == 0 ||
			strcmp(code, "SESSION_NOT_READY") == 0;
	bool busy = strcmp(code, "busy") == 0;
	bool closed = strcmp(code, "SESSION_CLOSED") == 0;

	if (starting)
		json_object_object_add(
		    o, "code", json_object_new_string("SESSION_NOT_READY"));
	(void)icctl_refused(ctl, o);
	return busy                 ? ICCTL_BUSY
	       : starting || closed ? ICCTL_NO_SESSION
				    : ICCTL_FAILED;
}

/*
 * Send the message. The turn's first events may come before the reply: they
 * are printed as well. Returns the exit status.
 */
static int
send_message(struct icctl *ctl, int fd, int message)
{
	json_object *req = icctl_request("send", NULL), *o;
	struct icctl_rest rest = {NULL, 0, 0};
	bool begun = false;
	int status = -1;

	if (send_typed)
		put_str(req, "typed", "yes");
	(void)icctl_tell_with(fd, req, message);
	json_object_put(req);
	while (status == -1 && !begun) {
		if ((o = icctl_receive(fd, &rest)) == NULL) {
			status = send_lost(ctl);
			break;
		}
		if (!is_reply(o)) {
			status = send_event(ctl, o);
		} else if (!get_true(o, "ok")) {
			status = send_refused(ctl, o);
		} else {
			begun = true;
		}
		json_object_put(o);
	}
	if (status == -1)
		status = send_follow(ctl, fd, &rest);
	free(rest.p);
	return status;
}

/* Connect, and run one turn. Returns the exit status. */
static int
send_turn(struct icctl *ctl, int message)
{
	int status, fd;

	send_number = 0;
	send_seen = 0;
	if ((fd = icctl_connect(ctl)) == -1)
		return talk_failed(ctl, ICCTL_NO_SESSION, "SESSION_CLOSED",
		    "the session has ended");
	status = send_message(ctl, fd, message);
	close(fd);
	return status;
}

/* Ask for an answer that fits the schema; once more, if it does not. */
static int
send_wanted(struct icctl *ctl, int message, struct wanted *w)
{
	struct buf said;
	bool fits = false;
	int status = ICCTL_OK, with;

	buf_init(&said, SEND_ANSWER);
	send_said = &said;
	for (unsigned i = 0; i < 2 && !fits && status == ICCTL_OK; i++) {
		with = i == 0 ? message_with(message, wanted_ask(w))
			      : message_text(wanted_again(w));
		if (with == -1) {
			status = ICCTL_FAILED;
			break;
		}
		buf_reset(&said, 0);
		if (i != 0 && !ctl->json)
			warnx("the answer does not fit: %s. The agent is asked "
			      "to repair it",
			    wanted_why(w));
		if ((status = send_turn(ctl, with)) == ICCTL_OK)
			fits = wanted_take(w, &said);
		close(with);
	}
	send_said = NULL;
	/* The answer points into what was said. */
	if (status == ICCTL_OK)
		status = fits ? wanted_put(ctl, w) : wanted_failed(ctl, w);
	buf_free(&said);
	return status;
}

int
send_one(struct icctl *ctl, int message, struct wanted *w)
{
	return w != NULL ? send_wanted(ctl, message, w)
			 : send_turn(ctl, message);
}

int
icctl_send(struct icctl *ctl, int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = send_signaled};
	const char *schema = words_option("--schema");
	char why[WANTED_WHY] = "";
	struct wanted *w = NULL;
	int status, message;

	if ((message = message_find(ctl, argc, argv, &status)) == -1)
		return status;
	if (schema != NULL && (w = wanted_read(ctl, schema, why)) == NULL) {
		warnx("%s", why);
		return talk_failed(ctl, ICCTL_FAILED, "bad-request", why);
	}
	if ((status = icctl_find(ctl)) != 0)
		return talk_failed(ctl, status, ctl->code, ctl->why);
	/* With a schema, the message is no longer only what was typed. */
	send_typed = !words_given("--file") && w == NULL;
	(void)sigaction(SIGINT, &sa, NULL);
	status = send_one(ctl, message, w);
	close(message);
	wanted_free(w);
	return status;
}

int
icctl_interrupt(struct icctl *ctl, int argc, char **argv)
{
	json_object *reply;
	int status;

	if ((status = icctl_one_session(ctl, argc, argv)) != 0)
		return status;
	reply = icctl_command(ctl, icctl_request("interrupt", NULL), &status);
	if (reply == NULL)
		return status;
	if (ctl->json)
		icctl_put_json(reply);
	else
		puts("the turn is being interrupted; the conversation goes "
		     "on");
	json_object_put(reply);
	return ICCTL_OK;
}
