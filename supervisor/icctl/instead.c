/* SPDX-License-Identifier: ISC */
/*
 * The words of other programs. Options come with their dashes; what the
 * TypeScript IronCurtain had is in files/founding.c.
 */
#include "icctl/instead.h"

#include <err.h>
#include <string.h>

#include "common/span.h"

/* clang-format off */
#define INSTEAD_LIMITS							\
	"limits belong to all sessions (\"resourceBudget\" in config.json) " \
	"or to a persona; in a running one: icctl budget set KEY VALUE"
#define INSTEAD_NET                                                            \
	"the sandbox has no network. Hosts that it may read are "              \
	"\"destinations\" in config.json, and on a terminal you are asked "    \
	"about others when the agent needs them"
#define INSTEAD_MOUNT                                                          \
	"an agent sees its workspace. Further directories, read-only: "        \
	"\"agentView\" in config.json"
#define INSTEAD_POLICY                                                         \
	"default, coding, read-only and record are shipped, your own are in "  \
	"~/.ironcurtain/policies, and icctl start --policy NAME takes one. "	\
	"To make one of English sentences: icctl policy customize"
#define INSTEAD_AUDIT                                                          \
	"icctl audit show; icctl logs is for people"
#define INSTEAD_YES                                                            \
	"nobody answers for you: icctl start --policy coding asks less, and "  \
	"icctl always makes a rule of a call"
#define INSTEAD_SUBSCRIPTION "icctl setup, which asks about subscriptions"
#define INSTEAD_KEY							\
	"icctl setup, which asks for the key unseen; a command line can be "	\
	"read by others"
#define INSTEAD_RUNTIME							\
	"--runtime docker or podman, with an image of icctl image build"
#define INSTEAD_ROOT							\
	"nothing: an agent is never root. What it installs goes to its own "	\
	"home, and packages of the system into an image: icctl image build"
#define INSTEAD_RESOURCES						\
	"\"limits\" in config.json, and for containers \"dockerResources\""
#define INSTEAD_FILE							\
	"--task \"$(cat FILE)\", or name the file in the task"
#define INSTEAD_WORDS							\
	"instructions and skills of yours are copied from your home "		\
	"(\"homeFiles\" of the agent); others belong to the task"
#define INSTEAD_OWN							\
	"skills, commands and instructions of your agent come along by "	\
	"themselves, and the start names what does not"
#define INSTEAD_PAGES							\
	"man ironcurtain, icctl --help, and icctl COMMAND --help"
#define INSTEAD_SPENT							\
	"icctl usage for what was spent, icctl budget for the limits of a "	\
	"session"
#define INSTEAD_GIT							\
	"git itself, here or by the agent; the work of a clone comes back "	\
	"with icctl pull"
#define INSTEAD_HOSTS							\
	"\"destinations\" in config.json are the hosts that agents reach; on "	\
	"a terminal you are asked about others, and icctl revoke closes them"
#define INSTEAD_SECRETS							\
	"icctl login for an agent's key, icctl keys of a running session, "	\
	"and icctl mcp add for what a server needs"
#define INSTEAD_LEAVE							\
	"icctl stop ends a session; Ctrl-] d leaves its screen"
#define INSTEAD_PAUSE							\
	"icctl interrupt ends what the agent does now; Ctrl-] z leaves its "	\
	"screen for the shell"
#define INSTEAD_DECIDES							\
	"the policy decides what is allowed and asked: icctl start "		\
	"--policy NAME"
#define INSTEAD_PERSONS							\
	"nothing: the file is yours alone, and that of a project is "		\
	".ironcurtain.json (icctl project)"
#define INSTEAD_SCREEN							\
	"icctl watch on a terminal, or icctl web for the browser"
#define INSTEAD_LEAVES "Ctrl-] d leaves the screen of a session that goes on"
#define INSTEAD_STOP							\
	"icctl stop SESSION ends one that runs; icctl gc removes "		\
	"those that ended long ago"
#define INSTEAD_UNITS							\
	"icctl start --systemd makes a unit of a session, icctl job a timer"
#define INSTEAD_WEB							\
	"nothing: the page listens on this machine alone. From another one: "	\
	"ssh -L PORT:127.0.0.1:PORT, with --port PORT"
#define INSTEAD_SHELL							\
	"nothing: they are installed with icctl, for bash, zsh and fish"

static const struct {
	const char *command, *word, *text;
} instead_rows[] = {
#define INSTEAD(command, word, text) {command, word, text},
#include "icctl/instead_commands.h"
#include "icctl/instead_words.h"
};
/* clang-format on */

const char *
instead_of(const char *command, const char *word)
{
	for (size_t i = 0; i < nitems(instead_rows); i++)
		if (strcmp(command, instead_rows[i].command) == 0 &&
		    strcmp(word, instead_rows[i].word) == 0)
			return instead_rows[i].text;
	return NULL;
}

bool
instead_say(const char *command, const char *word)
{
	const char *text = instead_of(command, word);

	if (text == NULL)
		return false;
	warnx("%s%s%s: this is no %s here. Instead: %s", command,
	    command[0] != '\0' ? " " : "", word,
	    word[0] == '-'	 ? "option"
	    : command[0] == '\0' ? "command"
				 : "word of the command",
	    text);
	return true;
}
