/* SPDX-License-Identifier: ISC */
/*
 * Starts a policyd as icsupervisor does (child.c, setup.c): with four
 * descriptors, an empty environment, and confined before it says HELLO. It has
 * no peers, so messages for other processes go nowhere.
 */
#include <sys/socket.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/topology.h"
#include "icctl/policy/priv.h"

#define HELLO_MS 10000

static int
on_hello(struct chan *c, const struct msg_HELLO *m)
{
	struct policyd *p = chan_arg(c);
	uint32_t want = topology_find(ROLE_POLICY)->required;

	if (m->proto != proto_id())
		return chan_violation(c, "it is of another version");
	if ((m->flags & want) != want)
		return chan_violation(c, "it is not confined");
	p->hello = true;
	return 0;
}

static int
on_rules_ok(struct chan *c, const struct msg_RULES_OK *m)
{
	struct policyd *p = chan_arg(c);
	struct span w = m->warnings;
	size_t had = p->warnings == NULL ? 0 : strlen(p->warnings);
	char *more;

	if (p->rules_open == 0)
		return chan_violation(c, "RULES_OK of nothing");
	p->rules_open--;
	if (w.len == 0 ||
	    (more = realloc(p->warnings, had + w.len + 2)) == NULL)
		return 0;
	p->warnings = more;
	if (had != 0)
		more[had++] = '\n';
	memcpy(more + had, w.p, w.len);
	more[had + w.len] = '\0';
	return 0;
}

static int
on_rules_bad(struct chan *c, const struct msg_RULES_BAD *m)
{
	struct policyd *p = chan_arg(c);
	struct span t = m->text;

	if (p->rules_open == 0)
		return chan_violation(c, "RULES_BAD of nothing");
	p->rules_open--;
	if (p->bad == NULL)
		return 0;
	fault_set(
	    &p->bad->files[m->kind], "%.*s", (int)t.len, (const char *)t.p);
	if (!p->refused)
		fault_set(
		    &p->bad->fault, "%.*s", (int)t.len, (const char *)t.p);
	p->refused = true;
	return 0;
}

static int
on_evaluated(struct chan *c, const struct msg_EVALUATED *m)
{
	struct policyd *p = chan_arg(c);
	const size_t n = nitems(p->bytes);

	if (p->asked == 0 || m->id != p->first)
		return chan_violation(c, "EVALUATED out of order");
	p->asked_bytes -= p->bytes[p->first % n];
	p->first++;
	p->asked--;
	p->answer(p->arg, m);
	return 0;
}

/* There is no agent to be told. */
static int
on_tools_told(struct chan *c, const struct msg_TOOLS_TOLD *m)
{
	(void)c;
	(void)m;
	return 0;
}

static void
on_closed(struct chan *c, const char *why)
{
	struct policyd *p = chan_arg(c);

	if (why != NULL)
		warnx("policyd: %s", why);
	p->gone = true;
	chan_free(p->chan);
	p->chan = NULL;
}

static int
spawn_policyd(struct policyd *p, struct fault *fault)
{
	/* clang-format off */
	static const struct chan_handler handlers[] = {
		HANDLER(HELLO,		on_hello),
		HANDLER(RULES_OK,	on_rules_ok),
		HANDLER(RULES_BAD,	on_rules_bad),
		HANDLER(EVALUATED,	on_evaluated),
		HANDLER(TOOLS_TOLD,	on_tools_told),
	};
	/* clang-format on */
	static const struct chan_ops ops = {
	    handlers, nitems(handlers), on_closed};
	char *const argv[] = {(char *)(uintptr_t) "policyd", NULL};
	char *const envp[] = {NULL};
	struct spawn s = {
	    .argv = argv, .envp = envp, .nfds = 4, .session = true};
	int logpipe[2], pair[2];
	char path[PATH_MAX];

	if (policy_own_path(
		"libexec/ironcurtain/policyd", path, sizeof(path)) == -1 ||
	    spawn_init() == -1 || pipe2(logpipe, O_CLOEXEC | O_NONBLOCK) == -1)
		return fault_errno(fault, "policyd");
	p->log = logpipe[0];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1) {
		close(logpipe[1]);
		return fault_errno(fault, "policyd");
	}
	s.path = path;
	s.fds[0] = -1;
	s.fds[1] = s.fds[2] = logpipe[1];
	s.fds[3] = pair[1];
	if ((p->chan = chan_new(&p->loop, pair[0], ROLE_SUP, ROLE_POLICY, 0,
		 &ops, p)) == NULL ||
	    spawn_start(&s, &p->sp) == -1 || spawn_check(&p->sp) == -1)
		fault_errno(fault, "%s", path);
	else if (chan_open(p->chan) == -1)
		fault_errno(fault, "policyd");
	else
		fault->text[0] = '\0';
	close(logpipe[1]);
	close(pair[1]);
	return fault->text[0] == '\0' ? 0 : -1;
}

static int
wait_hello(struct policyd *p, struct fault *fault)
{
	uint64_t until = clock_mono_us() / 1000 + HELLO_MS, now;

	while (!p->hello && !p->gone) {
		now = clock_mono_us() / 1000;
		if (now >= until ||
		    loop_once(&p->loop, (int)(until - now)) == -1)
			break;
	}
	if (p->hello)
		return 0;
	policyd_tell_log(p);
	return fault_set(fault, "policyd did not say HELLO; `icctl doctor` "
				"says what this machine lacks");
}

struct policyd *
policyd_start(const struct icctl *ctl, const struct policy_opts *o,
    const struct policy_set *set, bool session, struct policyd_bad *bad)
{
	struct msg_START start = {0};
	struct fault *fault = &bad->fault;
	struct policyd *p;

	*bad = (struct policyd_bad){.fault = {""}};
	(void)signal(SIGPIPE, SIG_IGN);
	if ((p = calloc(1, sizeof(*p))) == NULL ||
	    loop_init(&p->loop, 4) == -1) {
		fault_errno(fault, "policyd");
		free(p);
		return NULL;
	}
	p->sp = (struct spawned)SPAWNED_INIT;
	p->log = -1;
	if (spawn_policyd(p, fault) == -1 || wait_hello(p, fault) == -1 ||
	    policyd_configure(p, ctl, o, set, session, bad) == -1) {
		policyd_end(p);
		return NULL;
	}
	policyd_send(p, MSG_START, &start, -1);
	if (p->chan != NULL)
		chan_phase(p->chan, PHASE_RUN);
	return p;
}

const char *
policyd_warnings(const struct policyd *p)
{
	return p->warnings == NULL ? "" : p->warnings;
}

void
policyd_answer(struct policyd *p, policyd_fn *fn, void *arg)
{
	p->answer = fn;
	p->arg = arg;
}

unsigned
policyd_asked(const struct policyd *p)
{
	return p->asked;
}

size_t
policyd_asked_bytes(const struct policyd *p)
{
	return p->asked_bytes;
}

int
policyd_ask(struct policyd *p, const struct msg_EVAL *m)
{
	const size_t n = nitems(p->bytes);
	struct msg_EVAL q = *m;

	while (p->asked == n)
		if (policyd_turn(p, -1, NULL) == -1)
			return -1;
	if (p->gone)
		return -1;
	q.id = p->next++;
	p->bytes[q.id % n] = (uint32_t)q.args.len;
	p->asked++;
	p->asked_bytes += q.args.len;
	if (chan_send(p->chan, MSG_EVAL, &q, -1) == 0)
		return 0;
	warn("policyd takes no more questions");
	return -1;
}

int
policyd_wait(struct policyd *p, unsigned n)
{
	while (p->asked > n)
		if (policyd_turn(p, -1, NULL) == -1)
			return -1;
	return 0;
}

int
policyd_ask_tree(
    struct policyd *p, struct msg_EVAL *m, const struct value *args)
{
	struct buf wire;
	int r = -1;

	buf_init(&wire, PROTO_MAX_TREE);
	if (value_encode(args, &wire) == -1) {
		warnx("arguments are too large");
	} else {
		m->args = buf_span(&wire);
		r = policyd_ask(p, m);
	}
	if (r == 0)
		r = policyd_wait(p, 0);
	buf_free(&wire);
	return r;
}

void
policyd_end(struct policyd *p)
{
	int code, status;

	if (p == NULL)
		return;
	/* policyd exits when its channel closes. */
	chan_free(p->chan);
	if (p->sp.pidfd != -1) {
		(void)spawn_reap(p->sp.pidfd, true, &code, &status);
		close(p->sp.pidfd);
	}
	if (p->sp.status != -1)
		close(p->sp.status);
	if (p->log != -1)
		close(p->log);
	if (p->temp[0] != '\0')
		(void)rmdir(p->temp);
	for (unsigned i = 0; i < p->nservers; i++)
		free(p->names[i]);
	loop_free(&p->loop);
	free(p->warnings);
	free(p);
}
