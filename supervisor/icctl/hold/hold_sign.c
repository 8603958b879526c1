/* SPDX-License-Identifier: ISC */
#include "icctl/hold/hold_sign.h"

#include <sys/mman.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "common/span.h"
#include "icctl/icctl.h"

#define SIGN_HOLD_FD 3

/* Run `icctl sign` with its output in `out`. Returns its status, or -1. */
static int
sign_spawn(int in, int out)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	const char *const argv[] = {
	    "icctl", "sign", "--full", "--hold", "/proc/self/fd/3", NULL};
	char program[PATH_MAX];
	const struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .fds = {STDIN_FILENO, out, STDERR_FILENO, in},
	    .nfds = SIGN_HOLD_FD + 1,
	    .tie = SPAWN_ENDED};
	struct sigaction old;
	int status;

	if (icctl_program("icctl", program, sizeof(program)) == -1)
		return -1;
	/* An interrupt is meant for it, and not for the screen. */
	(void)sigaction(SIGINT, &ignore, &old);
	status = spawn_run(&s);
	(void)sigaction(SIGINT, &old, NULL);
	return status;
}

bool
hold_sign(json_object *hold, char entries[SIGNED_ENTRIES + 1])
{
	const int in = memfd_create("call", MFD_CLOEXEC),
		  out = memfd_create("signature", MFD_CLOEXEC);
	ssize_t n = 0;
	int status = -1;

	(void)fflush(stdout);
	if (in != -1 && out != -1 &&
	    span_write(in,
		span_str(json_object_to_json_string_ext(hold, ICCTL_JSON))) ==
		0 &&
	    (status = sign_spawn(in, out)) == 0)
		n = pread(out, entries, SIGNED_ENTRIES, 0);
	if (status == -1)
		printf("icctl sign: %s\n", strerror(errno));
	entries[n > 0 ? n : 0] = '\0';
	/* Others may have to sign as well. */
	if (n > 0)
		printf("\nYour signature, for icctl approve --signed:\n\n%s\n",
		    entries);
	if (in != -1)
		close(in);
	if (out != -1)
		close(out);
	return n > 0;
}
