/* SPDX-License-Identifier: ISC */
/* Answers words that a person knows from another program. */
#include "icctl/start_word.h"

#include <sys/stat.h>

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "icctl/newest.h"

#define WORD_SHOWN 256U

/* Returns true after it has said what to write for a file or a directory. */
static bool
start_file_word(const char *word, const char *shown)
{
	struct stat st;

	if (stat(word, &st) == -1 ||
	    (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return false;
	if (S_ISDIR(st.st_mode))
		warnx("%s is a directory. To run an agent there: icctl start "
		      "--workspace %s; without it an agent works in the "
		      "current one",
		    shown, shown);
	else
		warnx("%s is a file. If it has the task: icctl start --task "
		      "\"$(cat %s)\"; to run it in the sandbox: icctl start "
		      "-- ./%s",
		    shown, shown, shown);
	return true;
}

bool
start_program(const char *word, bool only)
{
	char shown[WORD_SHOWN];
	struct stat st;

	log_vis(span_str(word), shown, sizeof(shown));
	if (word[0] == '-') {
		warnx("%s: after -- comes a program that is run in the "
		      "sandbox, and this is an option. Options of an agent's "
		      "own are not passed on; it takes TASK and --model",
		    shown);
		return false;
	}
	if (!only || strchr(word, ' ') == NULL || stat(word, &st) == 0)
		return true;
	warnx("%s: this is one word, and so the name of one program. Without "
	      "quotes: icctl start -- %s; as a line of a shell: icctl start "
	      "-- sh -c '%s'",
	    shown, shown, shown);
	return false;
}

bool
start_word(const char *word, bool ask, const char *known)
{
	char shown[WORD_SHOWN], question[2 * WORD_SHOWN];

	if (strpbrk(word, " \t\n") != NULL)
		return true;
	log_vis(span_str(word), shown, sizeof(shown));
	if (start_file_word(word, shown))
		return false;
	snprintf(question, sizeof(question),
	    "%s is one word and no agent's name. Is it the task?", shown);
	if (ask && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	    icctl_confirm(question))
		return true;
	warnx("%s: no agent has this name (%s). If it is the task: icctl "
	      "start --task %s; to run this program in the sandbox: icctl "
	      "start -- %s",
	    shown, known, shown, shown);
	return false;
}

bool
start_go_on(const struct icctl *ctl, const char *option)
{
	static const char *const options[] = {
	    "--continue", "-c", "--resume", "-r"};
	char id[NEWEST_ID] = "";
	bool is = false;

	for (size_t i = 0; i < nitems(options); i++)
		is = is ||
		     (strncmp(option, options[i], strlen(options[i])) == 0 &&
			 strchr("=", option[strlen(options[i])]) != NULL);
	if (!is)
		return false;
	if (newest_find(ctl, NEWEST_HERE, id))
		warnx("%s: to go on with the newest session of this directory: "
		      "icctl resume %s (icctl ls lists them all)",
		    option, id);
	else
		warnx("%s: to go on with a session: icctl resume SESSION "
		      "(icctl ls lists them; none is of this directory)",
		    option);
	return true;
}
