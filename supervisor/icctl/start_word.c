/* SPDX-License-Identifier: ISC */
/* Answers words that a person knows from another program. */
#include "icctl/start_word.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "icctl/newest.h"

#define WORD_SHOWN 256U

bool
start_word(const char *word, bool ask, const char *known)
{
	char shown[WORD_SHOWN], question[2 * WORD_SHOWN];

	if (strpbrk(word, " \t\n") != NULL)
		return true;
	log_vis(span_str(word), shown, sizeof(shown));
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
