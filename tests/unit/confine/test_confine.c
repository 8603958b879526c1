/* SPDX-License-Identifier: ISC */
/*
 * Confinement, layer by layer: each attempt runs in a child of its own, first
 * bare (so that a refusal means something), then under Landlock alone, seccomp
 * alone and all layers.  It runs as the user who started the test, and if that
 * is root, also as an ordinary one.
 */
#include "common/confine/confine.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <netinet/in.h>

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seccomp.h>

#include "common/confine/unveil.h"
#include "tap.h"
#include "unit/confine/attempts.h"

#define E attempt_env
#define NOBODY 65534

static const char *const layer_names[] = {
    "bare", "Landlock alone", "seccomp alone", "all"};

static const enum pledge_promise just_stdio[] = {PLEDGE_STDIO};
static const struct confine_limits limits = {64, 1 << 20, 1 << 28, 0};

static bool as_user;
static const char *who;

void
attempt_must(bool good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

void
attempt_become(void)
{
	if (!as_user)
		return;
	attempt_must(setgroups(0, NULL) == 0 &&
			 setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
			 setresuid(NOBODY, NOBODY, NOBODY) == 0,
	    "become nobody");
	/* The state after exec. */
	attempt_must(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0, "dumpable");
}

int
attempt_outcome(pid_t pid)
{
	int status;

	attempt_must(waitpid(pid, &status, 0) == pid, "waitpid");
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? KILLED
						  : 1000 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

static void
layer_apply(enum layer layer, const struct confine *c)
{
	struct confine_state st;

	switch (layer) {
	case BARE:
		return;
	case LANDLOCK:
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
		    unveil_apply(NULL, 0) == -1)
			_exit(200);
		return;
	case SECCOMP:
		if (pledge_apply(&c->pledge) == -1)
			_exit(201);
		return;
	case ALL:
		confine_early();
		if (confine_apply(c, &st) == -1)
			_exit(202);
		return;
	}
}

int
attempt_run(enum layer layer, const struct confine *c, int (*fn)(void))
{
	pid_t pid;
	int r, fd;

	fixture_reset(as_user);
	attempt_must((pid = fork()) != -1, "fork");
	if (pid == 0) {
		attempt_become();
		fixture_open();
		layer_apply(layer, c);
		/*
		 * Call exit_group directly: no exit handler, no buffer of the
		 * parent.
		 */
		r = fn();
		syscall(SYS_exit_group, r);
	}
	r = attempt_outcome(pid);
	close(E.file);
	while ((fd = accept(E.listener, NULL, NULL)) != -1)
		close(fd);
	return r;
}

static void
judge(int got, int want, const char *name, const char *layer)
{
	int abi = unveil_abi();

	if (want == PORT)
		want = abi >= 4 ? EACCES : DONE;
	if (want == SCOPE)
		want = abi >= 6 ? EPERM : DONE;
	if (want == ALIVE)
		ok(got >= 0 && got < 200, "%s: %s, %s: lives (%d)", who, name,
		    layer, got);
	else
		is_int(got, want, "%s: %s, %s", who, name, layer);
}

static void
test_attempts(void)
{
	const struct confine c = {0, limits, {just_stdio, 1, NULL, 0}};
	const struct attempt *a;
	int got[4];

	for (size_t i = 0; i < nattempts; i++) {
		a = &attempts[i];
		for (enum layer l = BARE; l <= ALL; l++)
			got[l] = attempt_run(l, &c, a->fn);
		/*
		 * The kernel has no 32-bit table: a fault, with or without a
		 * filter.
		 */
		if (got[BARE] == 1000 + SIGSEGV) {
			is_int(got[ALL], got[BARE], "%s: %s: no such entry",
			    who, a->name);
			continue;
		}
		judge(got[BARE], a->bare, a->name, layer_names[BARE]);
		judge(
		    got[LANDLOCK], a->landlock, a->name, layer_names[LANDLOCK]);
		judge(got[SECCOMP], a->seccomp, a->name, layer_names[SECCOMP]);
		judge(got[ALL], a->all, a->name, layer_names[ALL]);
	}
}

static void
test_promises(void)
{
	const struct confine bare = {0, limits, {just_stdio, 1, NULL, 0}};
	enum pledge_promise both[2] = {PLEDGE_STDIO};
	struct confine c = {0, limits, {both, 2, NULL, 0}};
	const struct promised *p;
	int got;

	for (size_t i = 0; i < npromised; i++) {
		p = &promised[i];
		both[1] = p->promise;
		judge(attempt_run(BARE, &bare, p->fn),
		    p->want == KILLED ? ALIVE : p->want, p->name, "bare");
		judge(attempt_run(SECCOMP, &bare, p->fn), KILLED, p->name,
		    "stdio alone");
		got = attempt_run(SECCOMP, &c, p->fn);
		judge(got, p->want, p->name, pledge_name(p->promise));
	}
}

static void
test_reached(void)
{
	const struct confine c = {0, limits, {just_stdio, 1, NULL, 0}};

	for (size_t i = 0; i < nreached; i++) {
		E.reach = reached[i].nr;
		judge(attempt_run(BARE, &c, attempt_reach), ALIVE,
		    reached[i].name, "bare");
		judge(attempt_run(SECCOMP, &c, attempt_reach), KILLED,
		    reached[i].name, "seccomp alone");
		judge(attempt_run(ALL, &c, attempt_reach), KILLED,
		    reached[i].name, "all");
	}
}

static int
just_connect(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = E.port};

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return attempt_result(
	    connect(E.tcp, (struct sockaddr *)&sin, sizeof(sin)));
}

static int
just_bind(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return attempt_result(
	    bind(E.tcp, (struct sockaddr *)&sin, sizeof(sin)));
}

/* Rows of a worker's own table: an extra call, and one that fails softly. */
static void
test_rules(void)
{
	static const struct pledge_rule rules[] = {
	    {SCMP_SYS(bind), 0, {{0}}, "test", 0},
	    {SCMP_SYS(connect), 0, {{0}}, "test", 0},
	    {SCMP_SYS(openat), 0, {{0}}, "test", EUCLEAN},
	};
	static const struct pledge_rule bad[] = {
	    {SCMP_SYS(bind), 4, {{0}}, "test", 0}};
	struct confine c = {
	    CONFINE_KEEP_NET, limits, {just_stdio, 1, rules, 3}};
	enum pledge_promise none[] = {PLEDGE_COUNT};
	int port = unveil_abi() >= 4 ? EACCES : 0;

	is_int(attempt_run(SECCOMP, &c, attempt_open_path), EUCLEAN,
	    "%s: a soft refusal", who);
	is_int(attempt_run(ALL, &c, just_connect), 0,
	    "%s: who keeps the network may connect", who);
	is_int(attempt_run(ALL, &c, just_bind), port,
	    "%s: who keeps the network may not bind", who);
	c.pledge.rules = bad;
	c.pledge.nrules = 1;
	is_int(attempt_run(SECCOMP, &c, just_bind), 201,
	    "%s: a rule with too many arguments is no filter", who);
	c.pledge = (struct pledge){none, 1, NULL, 0};
	is_int(attempt_run(SECCOMP, &c, just_bind), 201,
	    "%s: an unknown promise is no filter", who);
}

static void
suite(bool user)
{
	as_user = user;
	who = user || geteuid() != 0 ? "user" : "root";
	fixture_start(as_user);
	test_attempts();
	test_reached();
	test_promises();
	test_rules();
	state_tests(who, geteuid() == 0 && !user);
	fixture_stop();
}

int
main(void)
{
	if (!pledge_enforced()) {
		printf("1..0 # SKIP sanitized: no filter to test\n");
		return 0;
	}
	suite(false);
	if (geteuid() == 0)
		suite(true);
	return tap_done();
}
