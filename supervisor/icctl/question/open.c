/* SPDX-License-Identifier: ISC */
/*
 * Opens an address of a server in the user's browser. The address is one
 * argument of a program with a fixed path, and no shell's; it was checked by
 * policyd, and is checked again here.
 */
#include "icctl/question/question.h"

#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "asks/address.h"
#include "base/spawn.h"

int
question_open(const char *url)
{
	static char program[] = "/usr/bin/xdg-open";
	char host[HOSTNAME_MAX + 1], *text = strdup(url);
	char *argv[] = {program, text, NULL};
	struct spawn s = {.path = program,
	    .argv = argv,
	    .envp = environ,
	    .fds = {-1, -1, -1},
	    .nfds = 3,
	    .session = true,
	    .tie = SPAWN_APART};
	struct spawned sp = SPAWNED_INIT;
	const char *why;
	bool foreign;
	int r = -1;

	if ((why = address_check(span_str(url), host, &foreign)) != NULL)
		warnx("the address is not opened: it %s", why);
	else if (text == NULL || spawn_start(&s, &sp) == -1 ||
		 spawn_check(&sp) == -1)
		warn("%s: open the address yourself, and then answer with "
		     "--opened",
		    program);
	else
		r = 0;
	if (sp.pidfd != -1)
		close(sp.pidfd);
	free(text);
	return r;
}
