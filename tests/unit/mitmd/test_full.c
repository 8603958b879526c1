/* SPDX-License-Identifier: ISC */
/*
 * mitmd with few descriptors: connections that it cannot accept wait, mitmd
 * sleeps meanwhile, and they are served once others have left. Those that it
 * has accepted do not use up what a stream of keyd needs, which would otherwise
 * be lost with its message, and end the session.
 */
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "unit/mitmd/rig.h"

#define FEW 48
#define MANY 80

/*
 * Returns mitmd's CPU time in microseconds, as counted by the scheduler:
 * sampling at clock ticks could miss a short life.
 */
static int64_t
cpu_us(void)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(rig.pid, &clock) != 0 ||
	    clock_gettime(clock, &t) == -1)
		return 0;
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* A spinning process would use 300 ms here. */
#define SLEEPS_US 10000

static bool
sleeps(void)
{
	int64_t before;

	for (int i = 0; i < 20; i++) {
		before = cpu_us();
		rig_turn(300);
		if (cpu_us() - before < SLEEPS_US)
			return true;
	}
	return false;
}

int
main(int argc, char **argv)
{
	int fds[MANY];
	SSL *ssl;

	if (argc != 2)
		return 2;
	rig_nofile = FEW;
	rig_start(argv[1]);
	ssl = rig_tls(RIG_HOST, NULL);
	for (int n = 0; n < MANY; n++) {
		fds[n] = rig_dial();
		rig_turn(1);
	}
	ok(cpu_us() != 0, "it has run");
	ok(sleeps(), "it sleeps while nobody can be accepted");
	ok(rig_alive(), "and lives");
	SAY(ssl, POST "content-length: 2\r\n\r\n{}");
	ok(rig_requested(1) && rig_alive(),
	    "the stream of a request has a descriptor (%s)", rig.why);
	rig_close(ssl);
	for (int n = 0; n < MANY - 1; n++)
		close(fds[n]);
	rig_send(fds[MANY - 1], "CONNECT nowhere.test:443 HTTP/1.1\r\n\r\n");
	ok(strstr(rig_read_until(fds[MANY - 1], "\n(none)"),
	    "HTTP/1.1 403 ") != NULL, "then the last one is answered");
	close(fds[MANY - 1]);
	rig_stop();
	return tap_done();
}
