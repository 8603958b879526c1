/* SPDX-License-Identifier: ISC */
/*
 * mitmd without a descriptor left: whom it cannot accept waits, it sleeps
 * meanwhile, and they are served once one of the others has left.
 */
#include <stdio.h>
#include <unistd.h>

#include "mitm_rig.h"
#include "tap.h"

#define FEW 48
#define MANY 80

/* Clock ticks that it has run, all in all. */
static unsigned long
ticks(void)
{
	unsigned long user = 0, system = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", rig.pid);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	/* Its name has no space in it. */
	if (fscanf(f, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	    "%lu %lu", &user, &system) != 2)
		user = system = 0;
	fclose(f);
	return user + system;
}

static bool
sleeps(void)
{
	unsigned long before;

	for (int i = 0; i < 20; i++) {
		before = ticks();
		rig_turn(300);
		if (ticks() == before)
			return true;
	}
	return false;
}

int
main(int argc, char **argv)
{
	int fds[MANY];

	if (argc != 2)
		return 2;
	rig_nofile = FEW;
	rig_start(argv[1]);
	for (int n = 0; n < MANY; n++) {
		fds[n] = rig_dial();
		rig_turn(1);
	}
	ok(ticks() != 0, "it has run");
	ok(sleeps(), "it sleeps while nobody can be accepted");
	ok(rig_alive(), "and lives");
	for (int n = 0; n < FEW; n++)
		close(fds[n]);
	rig_send(fds[MANY - 1], "CONNECT nowhere.test:443 HTTP/1.1\r\n\r\n");
	ok(strstr(rig_read_until(fds[MANY - 1], "\n(none)"),
	    "HTTP/1.1 403 ") != NULL, "then the last one is answered");
	for (int n = FEW; n < MANY; n++)
		close(fds[n]);
	rig_stop();
	return tap_done();
}
