/* SPDX-License-Identifier: ISC */
/* Runs other commands of icctl below a panel, on the same terminal. */
#include "icctl/watch/panel.h"

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/spawn.h"
#include "icctl/hold/hold_sign.h"
#include "icctl/icctl.h"

/* Print what came before, and let the terminal read lines. */
static void
panel_lines(struct watch_panel *p, const struct termios *lines)
{
	panel_end(p);
	/* Keys that were typed before are not meant for the question. */
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, lines);
}

static void
panel_keys(struct watch_panel *p, const struct termios *keys)
{
	(void)tcsetattr(STDIN_FILENO, TCSANOW, keys);
	panel_begin(p);
}

/* Run the command about the session, with an operand or NULL. */
static void
panel_icctl(struct watch_panel *p, const struct icctl *ctl, const char *command,
    const char *operand, const struct termios *lines)
{
	char program[PATH_MAX];
	struct termios keys;

	if (icctl_program("icctl", program, sizeof(program)) == -1 ||
	    tcgetattr(STDIN_FILENO, &keys) == -1)
		return;
	const char *const argv[] = {
	    program, "--session", ctl->dir, command, operand, NULL};
	const struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
	    .nfds = 3};

	panel_lines(p, lines);
	if (spawn_run(&s) == -1)
		warn("icctl %s", command);
	panel_keys(p, &keys);
}

bool
panel_sign(struct watch_panel *p, json_object *hold,
    char entries[SIGNED_ENTRIES + 1], const struct termios *lines)
{
	struct termios keys;
	bool rv;

	if (tcgetattr(STDIN_FILENO, &keys) == -1)
		return false;
	panel_lines(p, lines);
	rv = hold_sign(hold, entries);
	panel_keys(p, &keys);
	return rv;
}

void
panel_always(struct watch_panel *p, const struct icctl *ctl, const char *id,
    const struct termios *lines)
{
	panel_icctl(p, ctl, "always", id, lines);
}

void
panel_undo(
    struct watch_panel *p, const struct icctl *ctl, const struct termios *lines)
{
	panel_icctl(p, ctl, "undo", NULL, lines);
}
