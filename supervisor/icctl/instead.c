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

static const struct {
	const char *command, *word, *text;
} instead_rows[] = {
    {"", "info", "icctl status"},
    {"", "top", "icctl watch"},
    {"", "monitor", "icctl watch"},
    {"", "open", "icctl web --open"},
    {"", "new", "icctl start"},
    {"", "create", "icctl start"},
    {"", "sessions", "icctl ls"},
    {"", "clean", "icctl gc"},
    {"", "prune", "icctl gc"},
    {"", "allow", "icctl approve ID; icctl pending lists the calls"},
    {"", "accept", "icctl approve ID; icctl pending lists the calls"},
    {"", "reject", "icctl deny ID; icctl pending lists the calls"},
    {"", "ask", "icctl send \"MESSAGE\""},
    {"", "message", "icctl send \"MESSAGE\""},
    {"", "connect", "icctl attach"},
    {"", "enter", "icctl attach"},
    {"", "restart", "icctl stop, and then icctl resume SESSION"},
    {"", "cost", "icctl usage, or icctl budget for one session"},
    {"", "model", "icctl start --model NAME"},
    {"", "models", "icctl start --model NAME"},
    {"", "providers", "icctl login"},
    {"", "key", "icctl login, or icctl keys of a running session"},
    {"", "servers", "icctl mcp ls"},
    {"", "tools", "icctl mcp ls, and icctl status of a running session"},
    {"", "rules", "icctl policy"},
    {"", "rollback", "icctl undo"},
    {"", "restore", "icctl undo"},
    {"", "merge", "icctl pull, and then git merge"},
    {"", "install", "icctl mcp add for a server, icctl setup to begin"},
    {"", "upgrade", "the package manager that installed icctl"},
    {"", "uninstall",
	"the package manager that installed icctl; your settings and "
	"sessions stay in ~/.ironcurtain"},
    {"", "bash", "icctl start -- bash"},
    {"", "sh", "icctl start -- sh"},
    {"", "ssh", "icctl start -- bash"},
    {"", "server", "icctl mcp"},
    {"", "plugin", INSTEAD_OWN},
    {"", "plugins", INSTEAD_OWN},
    {"", "skill", INSTEAD_OWN},
    {"", "skills", INSTEAD_OWN},
    {"", "hooks", INSTEAD_OWN},
    {"", "memory", INSTEAD_OWN},
    {"", "man", INSTEAD_PAGES},
    {"", "docs", INSTEAD_PAGES},
    {"", "tutorial", INSTEAD_PAGES},
    {"", "whoami", "icctl login, and icctl doctor"},
    {"", "account", "icctl login, and icctl doctor"},
    {"", "billing", INSTEAD_SPENT},
    {"", "limits", INSTEAD_SPENT},
    {"", "quota", INSTEAD_SPENT},
    {"", "tokens", INSTEAD_SPENT},
    {"", "ui", INSTEAD_SCREEN},
    {"", "gui", INSTEAD_SCREEN},
    {"", "tail", "icctl logs -f"},
    {"", "events", "icctl --json watch"},
    {"", "trace", "icctl audit show"},
    {"", "redo", "icctl undo --list, and icctl undo --to CHECKPOINT"},
    {"", "revert", "icctl undo"},
    {"", "push", "icctl pull for the work of a clone, and git push"},
    {"", "commit", "git commit, here or by the agent"},
    {"", "cleanup", "icctl gc"},
    {"", "search", "icctl audit search WORD"},
    {"", "grep", "icctl audit search WORD"},
    {"", "find", "icctl audit search WORD"},
    {"", "env", "icctl config; \"env\" in config.json is for agents"},
    {"", "export", "icctl report, or icctl audit export"},
    {"", "systemd", "icctl start --systemd"},
    {"", "unit", "icctl start --systemd"},
    {"", "notify", "icctl config set notify '[\"notify-send\"]'"},
    {"", "question", "icctl pending, and icctl answer ID"},
    {"", "yes", "icctl approve ID; icctl pending lists the calls"},
    {"", "y", "icctl approve ID; icctl pending lists the calls"},
    {"", "no", "icctl deny ID; icctl pending lists the calls"},
    {"", "n", "icctl deny ID; icctl pending lists the calls"},
    {"", "build", "icctl image build"},
    {"", "up", "icctl start"},
    {"", "down", "icctl stop"},
    {"", "sandbox", "icctl start"},
    {"", "compose", "icctl services import FILE"},
    {"", "pull-request", "icctl pull, and then git push"},
    {"", "pr", "icctl pull, and then git push"},
    {"", "apply", "icctl pull, and then git merge"},
    {"", "clone", "icctl start --clone DIR"},
    {"", "worktree", "icctl start --clone ."},
    {"", "checkout", INSTEAD_GIT},
    {"", "branch", INSTEAD_GIT},
    {"", "stash", INSTEAD_GIT},
    {"", "rebase", INSTEAD_GIT},
    {"", "add", INSTEAD_GIT},
    {"", "fetch", INSTEAD_GIT},
    {"", "remote", INSTEAD_GIT},
    {"", "tag", INSTEAD_GIT},
    {"", "blame", INSTEAD_GIT},
    {"", "reset", "icctl undo"},
    {"", "cp", "the files of a session are those of its workspace; "
	       "icctl pull for a clone"},
    {"", "inspect", "icctl status"},
    {"", "session", "icctl ls"},
    {"", "volume", INSTEAD_MOUNT},
    {"", "network", INSTEAD_NET},
    {"", "hosts", INSTEAD_HOSTS},
    {"", "domains", INSTEAD_HOSTS},
    {"", "destinations", INSTEAD_HOSTS},
    {"", "firewall", INSTEAD_HOSTS},
    {"", "unblock", INSTEAD_HOSTS},
    {"", "block", INSTEAD_HOSTS},
    {"", "proxy", "\"proxy\" in config.json"},
    {"", "port", "icctl start --publish PORT"},
    {"", "ports", "icctl start --publish PORT"},
    {"", "system", "icctl doctor, and icctl gc"},
    {"", "stats", INSTEAD_SPENT},
    {"", "pause", INSTEAD_PAUSE},
    {"", "suspend", INSTEAD_PAUSE},
    {"", "unpause", "icctl resume SESSION"},
    {"", "continue", "icctl resume SESSION"},
    {"", "pkill", "icctl stop"},
    {"", "quit", INSTEAD_LEAVE},
    {"", "exit", INSTEAD_LEAVE},
    {"", "q", INSTEAD_LEAVE},
    {"", "sudo", INSTEAD_ROOT},
    {"", "?", INSTEAD_PAGES},
    {"", "h", INSTEAD_PAGES},
    {"", "secrets", INSTEAD_SECRETS},
    {"", "secret", INSTEAD_SECRETS},
    {"", "credentials", INSTEAD_SECRETS},
    {"", "vault", INSTEAD_SECRETS},
    {"", "profile", "icctl start --profile NAME"},
    {"", "profiles", "icctl start --profile NAME"},
    {"", "workspace", "icctl start --workspace DIR"},
    {"", "workspaces", "icctl start --workspace DIR"},
    {"", "schedule", "icctl job add NAME"},
    {"", "cron", "icctl job add NAME"},
    {"", "propose", "icctl policy propose"},
    {"", "settings", "icctl config, or icctl setup"},
    {"", "preferences", "icctl config, or icctl setup"},
    {"", "edit", "icctl config edit"},
    {"", "feedback", "icctl diagnostics"},
    {"", "bug", "icctl diagnostics"},
    {"", "support", "icctl diagnostics"},
    {"", "theme", "nothing: the colours are those of your terminal"},
    {"", "themes", "nothing: the colours are those of your terminal"},
    {"", "--model", "icctl start --model NAME"},
    {"", "-m", "icctl start --model NAME"},
    {"", "--full-auto", INSTEAD_YES},
    {"", "--sandbox", "nothing: every agent has one"},
    {"start", "--search",
	"\"filter\" of the provider in config.json permits the search of the "
	"model's own service"},
    {"start", "--oss", "\"providers\" in config.json, for a model of your own"},
    {"start", "--local", "\"providers\" in config.json, for a model of your own"},
    {"start", "--ask-for-approval", INSTEAD_DECIDES},
    {"start", "--permission-mode", INSTEAD_DECIDES},
    {"start", "--allowedTools", INSTEAD_DECIDES},
    {"start", "--allowed-tools", INSTEAD_DECIDES},
    {"start", "--disallowedTools", INSTEAD_DECIDES},
    {"start", "--disallowed-tools", INSTEAD_DECIDES},
    {"start", "--mcp-config", "icctl mcp import FILE"},
    {"start", "--settings", INSTEAD_OWN},
    {"start", "--plugin-dir", INSTEAD_OWN},
    {"start", "--ide", "--acp, with which an editor starts a session"},
    {"start", "--entrypoint", "icctl start -- COMMAND"},
    {"start", "--privileged", INSTEAD_ROOT},
    {"start", "--cap-add", INSTEAD_ROOT},
    {"start", "--device", "there is none in a sandbox"},
    {"start", "--restart", "icctl start --systemd, or icctl job"},
    {"start", "--env-file", "\"env\" in config.json sets variables of the agent"},
    {"start", "-n",
	"--session-dir DIR; a session is found by the time "
	"and the letters of its id as well: icctl ls"},
    {"start", "-d", "--detach"},
    {"start", "--background", "--detach"},
    {"start", "-i", "icctl start AGENT, which has your terminal anyway"},
    {"start", "-t", "icctl start AGENT, which has your terminal anyway"},
    {"start", "-it", "icctl start AGENT, which has your terminal anyway"},
    {"start", "--interactive",
	"icctl start AGENT, which has your terminal anyway"},
    {"start", "--prompt", "--task TEXT, or just \"TEXT\" at the end"},
    {"start", "--message", "--task TEXT, or just \"TEXT\" at the end"},
    {"start", "-y", INSTEAD_YES},
    {"start", "--yes", INSTEAD_YES},
    {"start", "--allow-all", INSTEAD_YES},
    {"start", "--auto-approve", INSTEAD_YES},
    {"start", "--full-auto", INSTEAD_YES},
    {"start", "--budget", INSTEAD_LIMITS},
    {"start", "--max-cost", INSTEAD_LIMITS},
    {"start", "--max-budget-usd", INSTEAD_LIMITS},
    {"start", "--max-turns", INSTEAD_LIMITS},
    {"start", "--timeout", INSTEAD_LIMITS},
    {"start", "--no-sandbox", "run the agent by itself, without icctl"},
    {"start", "--sandbox", "nothing: every agent has one"},
    {"start", "--network", INSTEAD_NET},
    {"start", "--net", INSTEAD_NET},
    {"start", "--allow-net", INSTEAD_NET},
    {"start", "-e", "\"env\" in config.json sets variables of the agent"},
    {"start", "--env", "\"env\" in config.json sets variables of the agent"},
    {"start", "-v", INSTEAD_MOUNT},
    {"start", "--volume", INSTEAD_MOUNT},
    {"start", "--mount", INSTEAD_MOUNT},
    {"start", "--add-dir", INSTEAD_MOUNT},
    {"start", "--port", "--publish PORT"},
    {"start", "--branch", "--clone DIR#BRANCH"},
    {"start", "--worktree", "--clone ."},
    {"start", "--name",
	"--session-dir DIR; a session is found by the time "
	"and the letters of its id as well: icctl ls"},
    {"start", "--session", "icctl resume SESSION"},
    {"start", "--rm", "nothing: icctl gc removes old sessions"},
    {"start", "--cwd", "--workspace DIR"},
    {"start", "--dir", "--workspace DIR"},
    {"start", "-C", "--workspace DIR"},
    {"start", "--read-only", "--policy read-only"},
    {"start", "--readonly", "--policy read-only"},
    {"start", "--api-key", INSTEAD_KEY},
    {"start", "--key", INSTEAD_KEY},
    {"start", "--provider",
	"the agent's name and --model; a provider is chosen by the keys that "
	"you have: icctl login"},
    {"start", "--allow", INSTEAD_NET},
    {"start", "--allow-host", INSTEAD_NET},
    {"start", "--host", INSTEAD_NET},
    {"start", "--domain", INSTEAD_NET},
    {"start", "--internet", INSTEAD_NET},
    {"start", "--docker", INSTEAD_RUNTIME},
    {"start", "--podman", INSTEAD_RUNTIME},
    {"start", "--container", INSTEAD_RUNTIME},
    {"start", "--root", INSTEAD_ROOT},
    {"start", "--sudo", INSTEAD_ROOT},
    {"start", "--user", INSTEAD_ROOT},
    {"start", "--memory", INSTEAD_RESOURCES},
    {"start", "--cpus", INSTEAD_RESOURCES},
    {"start", "--gpu", "there is none in a sandbox"},
    {"start", "--gpus", "there is none in a sandbox"},
    {"start", "--file", INSTEAD_FILE},
    {"start", "-f", INSTEAD_FILE},
    {"start", "--task-file", INSTEAD_FILE},
    {"start", "--stdin", "--task \"$(cat)\""},
    {"start", "-", "--task \"$(cat)\""},
    {"start", "--output-format", "--json"},
    {"start", "--format", "--json"},
    {"start", "--system-prompt", INSTEAD_WORDS},
    {"start", "--append-system-prompt", INSTEAD_WORDS},
    {"start", "--debug", "icctl logs and icctl audit show, afterwards"},
    {"start", "--log-level", "icctl logs and icctl audit show, afterwards"},
    {"start", "--trace", "icctl logs and icctl audit show, afterwards"},
    {"start", "--dry-run", "icctl doctor, which starts a session on trial"},
    {"start", "--new", "nothing: every start is a new session"},
    {"start", "--fork", "icctl resume SESSION"},
    {"start", "--ephemeral", "--home session, and --clone . for the files"},
    {"start", "--plan", "--policy read-only"},
    {"logs", "-n", "icctl logs | tail -n N"},
    {"logs", "--tail", "icctl logs | tail -n N"},
    {"logs", "--lines", "icctl logs | tail -n N"},
    {"logs", "--follow", "-f"},
    {"logs", "--level", "icctl logs | grep WORD"},
    {"history", "-n", "icctl history | tail -n N"},
    {"status", "-s", "icctl ls"},
    {"status", "--short", "icctl ls"},
    {"status", "--watch", "icctl watch"},
    {"status", "-w", "icctl watch"},
    {"stop", "all", "icctl --session SESSION stop, for each of icctl ls"},
    {"stop", "--all", "icctl --session SESSION stop, for each of icctl ls"},
    {"stop", "-f", "nothing: a session that does not end is killed"},
    {"ls", "-a", "--all"},
    {"ls", "--running", "nothing: each row of icctl ls has the state"},
    {"ls", "-q", "--json"},
    {"ls", "--format", "--json"},
    {"ls", "-l", "icctl ls --all, or icctl ls --json"},
    {"deny", "-m", "--because TEXT"},
    {"deny", "--reason", "--because TEXT"},
    {"deny", "--message", "--because TEXT"},
    {"approve", "all", "--all-shown, after icctl pending has shown them"},
    {"approve", "--all", "--all-shown, after icctl pending has shown them"},
    {"approve", "--always", "icctl always ID"},
    {"resume", "last", "icctl ls, and then icctl resume SESSION"},
    {"resume", "latest", "icctl ls, and then icctl resume SESSION"},
    {"resume", "--last", "icctl ls, and then icctl resume SESSION"},
    {"config", "path", "it is ~/.ironcurtain/config.json"},
    {"config", "add", "icctl config set KEY VALUE"},
    {"config", "rm", "icctl config unset KEY"},
    {"config", "delete", "icctl config unset KEY"},
    {"config", "init", "icctl setup"},
    {"config", "validate", "icctl doctor"},
    {"config", "check", "icctl doctor"},
    {"budget", "show", "icctl budget"},
    {"budget", "raise", "icctl budget set KEY VALUE"},
    {"usage", "--today", "--since 1d"},
    {"usage", "today", "--since 1d"},
    {"usage", "--month", "--since 30d"},
    {"usage", "month", "--since 30d"},
    {"logs", "last", "icctl logs, which takes the newest session"},
    {"report", "last", "icctl report, which takes the newest session"},
    {"diff", "HEAD", "icctl diff for a clone; git diff for the files here"},
    {"job add", "--at", "--schedule \"MINUTE HOUR * * *\""},
    {"approve", "--yes", "icctl approve ID"},
    {"gc", "--days", "--older-than 7d"},
    {"pull", "--force", "git merge, or git reset, with the branch of icctl pull"},
    {"config", "reset", "icctl config unset KEY, for each of icctl config"},
    {"keys", "add", "icctl setup, or icctl login for all ways"},
    {"keys", "set", "icctl setup, or icctl login for all ways"},
    {"keys", "rm", "icctl keys forget PROVIDER"},
    {"login", "max", INSTEAD_SUBSCRIPTION},
    {"login", "pro", INSTEAD_SUBSCRIPTION},
    {"login", "claude-max", INSTEAD_SUBSCRIPTION},
    {"login", "claude-pro", INSTEAD_SUBSCRIPTION},
    {"login", "subscription", INSTEAD_SUBSCRIPTION},
    {"login", "--key", "icctl setup, which asks for the key unseen"},
    {"login", "--api-key", "icctl setup, which asks for the key unseen"},
    {"doctor", "--fix",
	"nothing is changed by doctor: each line says what "
	"helps"},
    {"mcp", "install", "icctl mcp add NAME -- COMMAND"},
    {"mcp", "get", "icctl mcp test NAME"},
    {"mcp", "show", "icctl mcp test NAME"},
    {"mcp", "serve", "icctl start, which gives the agent your servers"},
    {"mcp", "add-json", "icctl mcp import FILE"},
    {"mcp", "enable", "icctl mcp add NAME"},
    {"mcp", "disable", "icctl mcp rm NAME"},
    {"mcp add", "-s", "nothing: servers belong to all sessions of yours"},
    {"mcp add", "-y", "icctl mcp add NAME -- npx -y PACKAGE"},
    {"mcp add", "-e", "--env NAME=VALUE"},
    {"mcp add", "--transport",
	"icctl mcp add NAME URL, or NAME -- COMMAND for one of this machine"},
    {"policy", "ls", INSTEAD_POLICY},
    {"policy", "list", INSTEAD_POLICY},
    {"policy", "show", INSTEAD_POLICY},
    {"policy", "set", INSTEAD_POLICY},
    {"policy", "use", INSTEAD_POLICY},
    {"policy", "edit",
	"icctl policy customize, or ironcurtain-policy(5) for "
	"the files"},
    {"policy", "add", "icctl policy customize, or icctl always ID"},
    {"policy", "allow", "icctl always ID"},
    {"persona", "add", "icctl persona new NAME"},
    {"persona", "create", "icctl persona new NAME"},
    {"persona", "use", "icctl start --persona NAME"},
    {"persona", "edit", "icctl policy customize --persona NAME"},
    {"image", "pull",
	"icctl start --image NAME takes one that the engine "
	"has"},
    {"audit", "log", INSTEAD_AUDIT},
    {"audit", "tail", INSTEAD_AUDIT},
    {"audit", "ls", INSTEAD_AUDIT},
    {"pull", "origin", "icctl pull SESSION, and then git merge the branch"},
    {"gc", "--all", "icctl gc --keep N; --dry-run only says which"},
    {"gc", "-n", "--dry-run"},
    {"gc", "--force", "nothing: icctl gc asks nothing; --dry-run only says which"},
    {"usage", "--week", "--since 7d"},
    {"approve", "-y", "icctl approve ID"},
    {"approve", "--reason", "nothing: a denial has one, icctl deny ID --because TEXT"},
    {"audit", "grep", "icctl audit search WORD"},
    {"audit", "--csv", "icctl audit export --format csv"},
    {"report", "--html", "nothing: a report is HTML; -o FILE"},
    {"report", "--pdf", "-o FILE.html, which a browser prints"},
    {"job", "list", "icctl job ls"},
    {"job", "create", "icctl job add NAME"},
    {"job", "start", "icctl job run NAME"},
    {"services", "ls", "\"services\" in config.json; icctl status of a session"},
    {"services", "list", "\"services\" in config.json; icctl status of a session"},
    {"undo", "--hard", "icctl undo, which shows first what it would do"},
    {"login", "--with-api-key", INSTEAD_KEY},
    {"login", "--force", "icctl login NAME, which begins a new one"},
    {"mcp", "start", "icctl mcp test NAME; a session starts its servers"},
    {"mcp", "add-from-claude-desktop", "icctl mcp import"},
    {"config", "-g", INSTEAD_PERSONS},
    {"config", "--global", INSTEAD_PERSONS},
    {"agents", "ls", "icctl agents"},
    {"agents", "list", "icctl agents"},
    {"agents", "add",
	"a JSON file in ~/.ironcurtain/agents; "
	"ironcurtain-config(5) has the format"},
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
