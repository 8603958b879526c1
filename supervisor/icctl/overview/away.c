/* SPDX-License-Identifier: ISC */
/* Runs commands of icctl on the terminal, in place of the screen. */
#include "icctl/overview/priv.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/spawn.h"
#include "common/wordlist.h"
#include "icctl/hold/hold_sign.h"

static void
away_leave(void)
{
	(void)def_prog_mode();
	(void)endwin();
	/* Keys that were typed before are not meant for the question. */
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
}

/* Read a line of at most `cap` - 1 bytes. Returns false at the end of input. */
static bool
away_line(char *dst, size_t cap)
{
	size_t n = 0;
	int c;

	(void)fflush(stdout);
	while ((c = getchar()) != '\n' && c != '\r' && c != EOF)
		if (n + 1 < cap)
			dst[n++] = (char)c;
	dst[n] = '\0';
	return c != EOF;
}

static void
away_back(struct overview *o)
{
	char line[2];

	fputs("\n-- Enter goes back --", stdout);
	(void)away_line(line, sizeof(line));
	(void)reset_prog_mode();
	(void)clearok(curscr, TRUE);
	overview_say(o, "%s", "");
}

/*
 * Run icctl with these arguments. An interrupt is meant for it, and not for the
 * screen.
 */
static void
away_run(const char *const *argv)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	char program[PATH_MAX];
	const struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
	    .nfds = 3,
	    .tie = SPAWN_ENDED};
	struct sigaction old;

	if (icctl_program("icctl", program, sizeof(program)) == -1) {
		puts("icctl cannot be found");
		return;
	}
	(void)sigaction(SIGINT, &ignore, &old);
	if (spawn_run(&s) == -1)
		printf("icctl: %s\n", strerror(errno));
	(void)sigaction(SIGINT, &old, NULL);
}

void
draw_new(struct overview *o)
{
	char here[PATH_MAX], shown[ICCTL_PATH], agent[64], task[2048];
	const char *list[8];
	struct wordlist words = WORDLIST_IN(list);

	wordlist_add(&words, "icctl");
	wordlist_add(&words, "start");
	if (getcwd(here, sizeof(here)) == NULL) {
		overview_say(o, "the current directory is gone");
		return;
	}
	away_leave();
	printf("A new session in %s\n\nAgent (Enter: the usual one; builtin, "
	       "claude, codex ...; q: none): ",
	    icctl_path(here, shown));
	if (away_line(agent, sizeof(agent)) && strcmp(agent, "q") != 0) {
		if (agent[0] != '\0')
			wordlist_add(&words, agent);
		fputs("Task (Enter: none, you talk to it here): ", stdout);
		if (away_line(task, sizeof(task)) && task[0] != '\0') {
			wordlist_add(&words, "--task");
			wordlist_add(&words, task);
		}
		if (wordlist_end(&words) != NULL)
			away_run(list);
	}
	away_back(o);
}

void
draw_undo(struct overview *o)
{
	struct overview_row row = rows_chosen(o);

	if (row.session == NULL) {
		overview_say(o, "choose a session first");
		return;
	}
	if (row.session->far != NULL) {
		overview_say(o, "files are put back where the session runs: "
				"icctl undo there");
		return;
	}
	const char *argv[] = {
	    "icctl", "--session", row.session->dir, "undo", NULL};

	away_leave();
	away_run(argv);
	away_back(o);
}

void
draw_away(struct overview *o)
{
	struct overview_row row = rows_chosen(o);

	if (o->view != VIEW_CHOSEN || row.hold == NULL) {
		overview_say(o, "choose a call that waits first (n)");
		return;
	}
	if (row.session->far != NULL) {
		overview_say(o,
		    "a rule is made where the session runs: icctl always %s "
		    "there",
		    row.hold->id);
		return;
	}
	const char *argv[] = {"icctl", "--session", row.session->dir, "always",
	    row.hold->id, NULL};

	away_leave();
	away_run(argv);
	away_back(o);
}

void
draw_sign(struct overview *o)
{
	json_object *hold = json_object_get(answer_signable(o));
	char entries[SIGNED_ENTRIES + 1];
	bool signs;

	if (hold == NULL)
		return;
	away_leave();
	signs = hold_sign(hold, entries);
	away_back(o);
	json_object_put(hold);
	if (signs)
		answer_signed(o, entries);
}
