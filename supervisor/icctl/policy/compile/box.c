/* SPDX-License-Identifier: ISC */
/*
 * The session in which ic-compile asks the model. It is an ordinary
 * conversation: sandboxed, with a placeholder key, audited, and with a budget
 * of its own ("policyBudget"). It dies with this process.
 */
#include "icctl/policy/compile/compile.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "common/wordlist.h"
#include "icctl/doctor/doctor.h"
#include "icctl/talk/talk.h"

#define BOX_READY_MS 120000
#define BOX_STEP_S 900
#define BOX_STOP_MS 20000

struct compile_box {
	struct icctl ctl; /* with the session's directory */
	struct spawned sup;
	int said; /* memfd: icsupervisor's messages */
};

/* Set the fault to the last thing that icsupervisor said. */
static int
box_why(struct compile_box *b, const char *instead, struct fault *fault)
{
	char text[16384];
	ssize_t n = b->said == -1 ? 0 : pread(b->said, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (n > 0)
		return fault_set(fault, "%s", doctor_last_said(text));
	return fault_set(fault, "%s", instead);
}

/* Wait for the line on `fd` that says that the session is up. */
static bool
box_line(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char text[4096];
	ssize_t n;

	for (;;) {
		if (poll(&p, 1, BOX_READY_MS) != 1)
			return false;
		n = read(fd, text, sizeof(text));
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		if (memchr(text, '\n', (size_t)n) != NULL)
			return true;
	}
}

static int
box_spawn(struct compile_box *b, const struct compile *c, const char *policy,
    struct fault *fault)
{
	char program[PATH_MAX];
	const char *const first[] = {"icsupervisor", "--conversation",
	    "--print-ready", "--quiet", "--session-dir", b->ctl.dir, "--agent",
	    "policy-compiler", "--policy",
	    policy != NULL ? policy : "read-only", "--runtime", "bwrap",
	    "--escalations", "deny", "--policy-work",
	    policy != NULL ? "servers" : "alone", NULL};
	const char *list[24];
	struct wordlist argv = WORDLIST_IN(list);
	struct spawn s = {.path = program, .envp = environ, .nfds = 3};
	int out[2], rv = -1;

	wordlist_all(&argv, first);
	if (c->o.model != NULL)
		wordlist_all(
		    &argv, (const char *const[]){"--model", c->o.model, NULL});
	if ((s.argv = wordlist_end(&argv)) == NULL || spawn_init() == -1 ||
	    icctl_program("icsupervisor", program, sizeof(program)) == -1 ||
	    pipe2(out, O_CLOEXEC) == -1)
		return fault_errno(fault, "icsupervisor");
	s.fds[0] = -1;
	s.fds[1] = out[1];
	s.fds[2] = b->said;
	if (spawn_start(&s, &b->sup) == -1 || spawn_check(&b->sup) == -1)
		fault_errno(fault, "%s", program);
	else
		rv = 0;
	close(out[1]);
	if (rv == 0 && !box_line(out[0]))
		rv = box_why(b, "the compiler's session did not start", fault);
	close(out[0]);
	return rv;
}

struct compile_box *
box_start(const struct compile *c, const char *policy, struct fault *fault)
{
	struct compile_box *b = calloc(1, sizeof(*b));

	if (b == NULL) {
		fault_errno(fault, "session");
		return NULL;
	}
	b->ctl = *c->ctl;
	b->ctl.json = false;
	b->sup = (struct spawned)SPAWNED_INIT;
	b->said = memfd_create("said", MFD_CLOEXEC);
	if (b->said == -1 || icctl_new_session(&b->ctl) == -1) {
		fault_errno(fault, "session");
	} else if (box_spawn(b, c, policy, fault) == 0) {
		if (talk_wait(&b->ctl, b->sup.pid) == 0)
			return b;
		box_why(b, "the compiler's session ended at once", fault);
	}
	box_end(b);
	return NULL;
}

/* The state of one turn. */
struct box_turn {
	struct buf *reply;
	char error[1024], trouble[32], code[64];
	bool begun, over, bad;
};

static void
box_event(struct box_turn *t, json_object *o)
{
	const char *event = icctl_text(o, "event");
	json_object *v;

	if (json_object_object_get_ex(o, "ok", &v)) {
		t->begun = json_object_get_boolean(v);
		if (t->begun)
			return;
		t->over = t->bad = true;
		(void)strlcpy(t->error, icctl_text(o, "error"), sizeof(t->error));
		(void)strlcpy(t->code, icctl_text(o, "code"), sizeof(t->code));
	} else if (strcmp(event, "agent_text") == 0) {
		buf_adds(t->reply, icctl_text(o, "text"));
	} else if (strcmp(event, "error") == 0) {
		/* The first one is the program's own. */
		if (t->error[0] == '\0')
			(void)strlcpy(
			    t->error, icctl_text(o, "text"), sizeof(t->error));
	} else if (strcmp(event, "result") == 0) {
		if (json_object_object_get_ex(o, "is_error", &v))
			t->bad = json_object_get_boolean(v);
		(void)strlcpy(
		    t->trouble, icctl_text(o, "trouble"), sizeof(t->trouble));
		(void)strlcpy(t->code, icctl_text(o, "code"), sizeof(t->code));
	} else if (strcmp(event, "turn_end") == 0) {
		t->over = true;
	}
}

/* Say what happened, and what can be done about it. */
static int
box_failed(const struct box_turn *t, struct fault *fault)
{
	const char *what = t->error[0] != '\0' ? t->error : "no reason given";

	if (strcmp(t->code, "BUDGET_EXHAUSTED") == 0)
		return fault_set(fault,
		    "the budget of compiling is used up (%s). Raise it with "
		    "icctl config set policyBudget.maxTotalTokens N, and "
		    "run this again: what was done is kept", what);
	if (strcmp(t->trouble, "authentication") == 0)
		return fault_set(fault,
		    "the model gave no reply: %s. See icctl login and icctl "
		    "doctor --check-api", what);
	return fault_set(fault,
	    "the model gave no reply: %s. Run this again to go on from here",
	    what);
}

static int
box_message(struct span text)
{
	int fd = memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd != -1 &&
	    (write(fd, text.p, text.len) != (ssize_t)text.len ||
		fcntl(fd, F_ADD_SEALS,
		    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == -1)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int
box_ask(struct compile_box *b, struct span message, struct buf *reply,
    struct fault *fault)
{
	const struct timeval limit = {BOX_STEP_S, 0};
	struct icctl_rest rest = {NULL, 0, 0};
	struct box_turn t = {.reply = reply};
	json_object *req, *o;
	int mfd, fd;

	if ((mfd = box_message(message)) == -1)
		return fault_errno(fault, "message");
	if ((fd = icctl_dial(b->ctl.dir)) == -1) {
		close(mfd);
		return fault_set(fault, "the compiler's session has ended");
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	req = icctl_request("send", NULL);
	(void)icctl_tell_with(fd, req, mfd);
	json_object_put(req);
	close(mfd);
	while (!t.over && (o = icctl_receive(fd, &rest)) != NULL) {
		box_event(&t, o);
		json_object_put(o);
	}
	free(rest.p);
	close(fd);
	if (!t.over)
		return fault_set(fault,
		    "the compiler's session %s. Run this again to go on from "
		    "here; its log is in %s", errno == EAGAIN
			? "takes too long" : "ended", b->ctl.dir);
	if (t.bad || t.error[0] != '\0')
		return box_failed(&t, fault);
	if (reply->failed)
		return fault_set(fault, "the model's reply is too large");
	return 0;
}

void
box_end(struct compile_box *b)
{
	if (b == NULL)
		return;
	spawn_stop(&b->sup, BOX_STOP_MS);
	if (b->said != -1)
		close(b->said);
	free(b);
}
