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

/*
 * Returns true after it has said what to write for a file or a directory, whose
 * name may have spaces.
 */
static bool
start_file_word(const char *word, const char *shown)
{
	const char *mark = strpbrk(word, " ()&;*?$`\"") != NULL ? "'" : "";
	const char *here = strchr(word, '/') == NULL ? "./" : "";
	struct stat st;

	if (stat(word, &st) == -1 ||
	    (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return false;
	if (S_ISDIR(st.st_mode))
		warnx("%s is a directory. To run an agent there: icctl start "
		      "--workspace %s%s%s; without it an agent works in the "
		      "current one",
		    shown, mark, shown, mark);
	else
		warnx("%s is a file. If it has the task: icctl start --task "
		      "\"$(cat %s%s%s)\"; to run it in the sandbox: icctl "
		      "start -- %s%s%s%s",
		    shown, mark, shown, mark, mark, here, shown, mark);
	return true;
}

bool
start_program(const char *word, bool only)
{
	char shown[WORD_SHOWN];
	struct stat st;

	log_vis(span_str(word), shown, sizeof(shown));
	if (word[strspn(word, " \t\n")] == '\0') {
		warnx("the name of the program after -- is empty");
		return false;
	}
	/* A plain name is looked for in PATH, and not in the current directory. */
	if ((strchr(word, '/') != NULL || strcmp(word, ".") == 0 ||
		strcmp(word, "..") == 0) &&
	    stat(word, &st) == 0 && S_ISDIR(st.st_mode)) {
		warnx("%s is a directory, and after -- comes a program", shown);
		return false;
	}
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

	log_vis(span_str(word), shown, sizeof(shown));
	if (start_file_word(word, shown))
		return false;
	if (strpbrk(word, " \t\n") != NULL)
		return true;
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
