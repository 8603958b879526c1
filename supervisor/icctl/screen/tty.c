/* SPDX-License-Identifier: ISC */
/*
 * The person's terminal: its settings before the viewer, and a constant string
 * that undoes everything that a viewer may have set.
 */
#include "icctl/screen/viewer.h"

#include <sys/ioctl.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Resets attributes, mouse, focus, pastes, keys, scroll region, wrapping, the
 * form of the cursor and the title.
 */
const char tty_reset[] =
    "\033[0m\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?1004l"
    "\033[?2004l\033[?1l\033>\0337\033[r\0338\033[?7h\033[0 q\033[?25h"
    "\033[23;0t";
#define TTY_MAIN "\033[?1049l"
/* On the main screen, erase the bottom line for the shell's prompt. */
#define TTY_BOTTOM "\033[999;1H\033[K"

static struct termios tty_saved;

int
tty_save(void)
{
	return tcgetattr(STDIN_FILENO, &tty_saved);
}

int
tty_raw(void)
{
	struct termios t = tty_saved;

	cfmakeraw(&t);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &t);
}

int
tty_cooked(void)
{
	return tcsetattr(STDIN_FILENO, TCSADRAIN, &tty_saved);
}

static void
tty_put(const char *s)
{
	size_t n = strlen(s);
	ssize_t w;

	while (n != 0) {
		w = write(STDOUT_FILENO, s, n);
		if (w == -1 && errno != EINTR)
			return;
		if (w > 0) {
			s += w;
			n -= (size_t)w;
		}
	}
}

void
tty_restore(struct viewer_state *state)
{
	sigset_t ttou, old;
	int save = errno;

	/*
	 * Work even in the background, where the kernel would stop this
	 * process.
	 */
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	(void)sigprocmask(SIG_BLOCK, &ttou, &old);
	if (state->drawn) {
		if (state->keys)
			tty_put(TTY_KEYS_OFF);
		tty_put(tty_reset);
		tty_put(state->alternate ? TTY_MAIN : TTY_BOTTOM);
		state->drawn = state->alternate = state->keys = false;
	}
	if (state->raw) {
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &tty_saved);
		state->raw = false;
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	errno = save;
}

bool
tty_size(unsigned *rows, unsigned *cols)
{
	struct winsize ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == -1 || ws.ws_row == 0 ||
	    ws.ws_col == 0)
		return false;
	*rows = ws.ws_row;
	*cols = ws.ws_col;
	return true;
}
