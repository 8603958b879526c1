/* SPDX-License-Identifier: ISC */
/*
 * The help of `icctl start`, which names its options in the order of their use.
 */
#include "icctl/start_usage.h"

#include <stdio.h>

void
start_usage(void)
{
	puts(
	    "usage: icctl start [OPTION]... [AGENT] [TASK | -- COMMAND...]\n\n"
	    "Runs an agent in a new session, in the foreground, and ends with "
	    "its exit\nstatus. AGENT is claude (if none is named), codex, "
	    "gemini, goose, opencode or one\nof your own. TASK is what the agent is "
	    "asked to do; without one you work with it\nin the terminal. "
	    "COMMAND runs instead of an agent.\n\n  --workspace DIR        "
	    "what the agent works on (default: the current\n                   "
	    "      directory); none: an empty directory of the session\n  "
	    "--clone DIR|URL[#REF]  work on a clone of this repository, which "
	    "icctl pull\n                         brings back as branches\n"
	    "  --with-changes         clone what is in no commit, too\n"
	    "  --with FILE            clone this file, too\n  "
	    "--policy NAME|DIR      default, read-only, coding, record or your "
	    "own\n                         (see ironcurtain-policy(5))\n  "
	    "--policy-for-task TEXT a strict policy for this task alone, which is shown "
	    "first\n  "
	    "--persona NAME         policy, profile, agent, workspace and "
	    "budget of that\n                         name (icctl persona)\n  "
	    "--profile NAME         which \"profiles\" of config.json chooses "
	    "providers\n  --escalations deny     no one is available to "
	    "answer: calls that would wait\n                         are "
	    "denied\n  --home project         keep the agent's home for the next session on "
	    "this\n                         workspace\n  --publish [HOSTPORT:]PORT\n                         let "
	    "your browser reach this port of the sandbox\n  --agent NAME           the same as AGENT\n  --model NAME           which model it uses\n  --task TEXT "
	    "           the same as TASK, which may then begin with -\n  "
	    "--runtime docker|podman, --image NAME\n"
	    "                         run the agent in a container of this "
	    "image\n  --transport tcp        to a Docker that Unix sockets "
	    "do not reach\n  "
	    "--acp                  serve the agent to an editor (Agent Client "
	    "Protocol)\n  --session-dir DIR      keep the session there, and not in "
	    "~/.ironcurtain/sessions\n  "
	    "--detach               in the background, for messages: icctl "
	    "send\n  --systemd              the same, as a unit of your "
	    "systemd\n  --transcript           keep the agent's output as text, in "
	    "the session's\n                         transcript.txt\n  "
	    "--json                 print the events of TASK or COMMAND, one "
	    "a line (see\n                         ironcurtain-events(5))\n  "
	    "--quiet                print nothing about the session at its "
	    "start and end\n  --config FILE          instead of "
	    "~/.ironcurtain/config.json\n  --require all|NAME,... refuse to "
	    "start without these layers of confinement\n  --allow-unsandboxed "
	    "SERVER, --allow-sockets, --runtime none:\n                        "
	    " see icsupervisor(8)\n\nWhat the agent asks for is shown on this "
	    "terminal, where you approve or deny it:\nat once, or, if the "
	    "agent has the full screen, with Ctrl-] a (config.json's answerKey names\n"
	    "another key). In another terminal: icctl watch.");
}
