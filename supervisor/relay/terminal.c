/* SPDX-License-Identifier: ISC */
/* Starts termd, connects its viewers, restarts it and ends it. */
#include "relay/terminal.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/sup.h"

static void terminal_start(struct loop_timer *);

void
terminal_init(void)
{
	struct terminal *t = &sup.terminal;

	*t = (struct terminal){.rows = 24, .cols = 80, .listener = -1};
}

int
terminal_open(struct fault *fault)
{
	struct terminal *t = &sup.terminal;

	if (sup.opt.runtime == RUNTIME_NONE)
		return 0;
	t->listener =
	    session_listen(sup.session.sockets, "terminal.sock", 0666);
	if (t->listener == -1)
		return fault_errno(
		    fault, "%s/sockets/terminal.sock", sup.session.dir);
	return 0;
}

/* Returns the worker that reads the agent's output. */
static enum role
terminal_role(void)
{
	return sup.opt.acp ? ROLE_ACP : ROLE_TERM;
}

/*
 * Tell acpd the workspace. An editor may name it as the user did, or by the
 * shell's name of the current directory, through links.
 */
static void
terminal_tell_acp(void)
{
	static const struct msg_LISTEN listen_msg;
	const char *named = sup.opt.workspace;
	struct msg_ACP_MODE m = {.host = span_str(sup.workspace_path),
	    .named = SPAN(""),
	    .inside = span_str(sup.inside)};

	if (named != NULL && named[0] == '/' && strlen(named) <= 4096)
		m.named = span_str(named);
	child_send(ROLE_ACP, 0, MSG_ACP_MODE, &m, -1);
	child_send(ROLE_ACP, 0, MSG_LISTEN, &listen_msg,
	    fcntl(sup.terminal.listener, F_DUPFD_CLOEXEC, 0));
}

/* Give termd the transcript, if one is wanted; without it the agent goes on. */
static void
terminal_transcript(void)
{
	struct msg_TRANSCRIPT m = {.room = 0};
	struct stat st;
	int fd;

	if (!sup.opt.transcript)
		return;
	fd = openat(sup.session.fd, "transcript.txt",
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	    0600);
	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    st.st_nlink != 1) {
		sup_warn("%s/transcript.txt cannot be written: there is no "
			 "transcript",
		    sup.session.dir);
		if (fd != -1)
			close(fd);
		return;
	}
	if ((uint64_t)st.st_size < PROTO_MAX_TRANSCRIPT)
		m.room = PROTO_MAX_TRANSCRIPT - (uint64_t)st.st_size;
	child_send(ROLE_TERM, 0, MSG_TRANSCRIPT, &m, fd);
}

/* Send everything that precedes START, also to a restarted termd. */
static void
terminal_tell(void)
{
	static const struct msg_LISTEN listen_msg;
	struct terminal *t = &sup.terminal;
	struct msg_TERM_MODE m = {.screen = t->screen,
	    .wait = t->wait,
	    .raw_out = t->raw_out,
	    .raw_err = t->raw_err,
	    .turns = (uint8_t)t->turns,
	    .rows = t->rows,
	    .cols = t->cols};

	child_send(ROLE_TERM, 0, MSG_TERM_MODE, &m, -1);
	if (t->rules != NULL)
		t->rules();
	terminal_transcript();
	child_send(ROLE_TERM, 0, MSG_LISTEN, &listen_msg,
	    fcntl(t->listener, F_DUPFD_CLOEXEC, 0));
}

/* Returns the ms until it may be started again. */
static uint64_t
terminal_pause(void)
{
	struct terminal *t = &sup.terminal;
	uint64_t now = loop_now(&sup.loop), oldest;

	oldest = t->begun[t->nbegun % TERMINAL_AGAIN];
	if (oldest == 0 || now - oldest >= TERMINAL_AGAIN_MS)
		return 0;
	return TERMINAL_AGAIN_MS - (now - oldest);
}

static void
terminal_over(void)
{
	if (sup.terminal.left != NULL)
		sup.terminal.left();
}

static bool
terminal_exited(struct child *c)
{
	struct terminal *t = &sup.terminal;
	char how[128], said[300], text[512];
	struct msg_ALARM alarm = {.kind = SPAN("terminal")};
	uint64_t pause = terminal_pause();

	if (!sup.ready)
		return false;
	if (t->leaving &&
	    (c->killed || spawn_status(c->code, c->status) == 0)) {
		terminal_over();
		return true;
	}
	spawn_describe(c->code, c->status, how, sizeof(how));
	snprintf(text, sizeof(text),
	    "termd (pid %d) %s%s; the agent continues, and its terminal is "
	    "started again%s",
	    (int)c->sp.pid, how, child_said(c, said, sizeof(said)),
	    pause != 0 ? " in a while" : "");
	alarm.text = span_str(text);
	/* While the session ends, the end of the log has it: event_end(). */
	if (!sup.ending) {
		event_worker(c);
		child_send(ROLE_AUDIT, 0, MSG_ALARM, &alarm, -1);
	}
	if (t->leaving) {
		terminal_over();
		return true;
	}
	child_forget(c);
	t->child = NULL;
	if (t->lost != NULL)
		t->lost();
	loop_timer_set(&sup.loop, &t->timer, pause, terminal_start, NULL);
	return true;
}

/* acpd stands between two parties: without it the session ends. */
static bool
terminal_acp_exited(struct child *c)
{
	if (!sup.terminal.leaving || !sup.ready)
		return false;
	if (!c->killed && spawn_status(c->code, c->status) != 0)
		return false;
	terminal_over();
	return true;
}

void
terminal_setup(void)
{
	if (sup.opt.runtime == RUNTIME_NONE)
		return;
	sup.terminal.child = child_find(terminal_role(), 0);
	if (sup.terminal.child != NULL && sup.opt.acp) {
		sup.terminal.child->exited = terminal_acp_exited;
		terminal_tell_acp();
		return;
	}
	if (sup.terminal.child != NULL)
		sup.terminal.child->exited = terminal_exited;
	terminal_tell();
}

int
terminal_viewer(bool types, bool waits, struct fault *fault)
{
	struct terminal *t = &sup.terminal;
	struct msg_VIEWER m = {
	    .id = t->viewers + 1, .types = types, .waits = waits};
	int pair[2];

	if (t->child == NULL || t->child->dead || !t->child->hello ||
	    t->leaving)
		return fault_set(fault, "the agent's terminal is being started "
					"again; try again in a moment");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1)
		return fault_errno(fault, "viewer");
	t->viewers++;
	child_send(terminal_role(), 0, MSG_VIEWER, &m, pair[0]);
	return pair[1];
}

void
terminal_stop(void)
{
	static const struct msg_STOP stop;
	struct terminal *t = &sup.terminal;

	if (t->leaving)
		return;
	t->leaving = true;
	loop_timer_clear(&sup.loop, &t->timer);
	if (t->child != NULL)
		child_send(terminal_role(), 0, MSG_STOP, &stop, -1);
}

bool
terminal_left(void)
{
	return sup.terminal.child == NULL || sup.terminal.child->dead;
}

/*
 * termd is useless without its channel: kill it; its exit starts the next one.
 */
void
terminal_closed(struct child *c, const char *why)
{
	if (why != NULL)
		sup_warn("%s (pid %d) broke the protocol: %s", c->name,
		    (int)c->sp.pid, why);
	if (!sup.terminal.leaving && c->sp.pidfd != -1)
		(void)syscall(
		    SYS_pidfd_send_signal, c->sp.pidfd, SIGKILL, NULL, 0);
}

static void
terminal_start(struct loop_timer *timer)
{
	struct terminal *t = &sup.terminal;
	struct fault fault;

	t->begun[t->nbegun++ % TERMINAL_AGAIN] = loop_now(&sup.loop);
	t->child = child_start(ROLE_TERM, 0, "again", &fault);
	if (t->child != NULL) {
		t->child->exited = terminal_exited;
		return;
	}
	sup_warn("the agent's terminal is not started again: %s", fault.text);
	loop_timer_set(
	    &sup.loop, &t->timer, TERMINAL_AGAIN_MS, terminal_start, NULL);
}

void
terminal_hello(struct child *c)
{
	static const struct msg_START start;

	terminal_tell();
	child_send(ROLE_TERM, 0, MSG_START, &start, -1);
	chan_phase(c->chan, PHASE_RUN);
	sup_note("%s runs (pid %d)", c->name, (int)c->sp.pid);
	if (sup.terminal.again != NULL)
		sup.terminal.again();
}
