/* SPDX-License-Identifier: ISC */
#include "files/founding.h"

#include <string.h>

#include "common/span.h"

struct founding_row {
	const char *name, *instead;
};

#define FOUNDING_DAEMON                                                        \
	"icctl job add makes a job, which a timer of systemd starts, or "      \
	"icctl "                                                               \
	"job daemon; icctl start --detach starts a session in the background"
#define FOUNDING_KEYS                                                          \
	"keys belong to providers here: put the key into a file of its own "   \
	"(chmod 600) and write {\"credentials\":{\"anthropic\":"               \
	"{\"file\":\"~/keys/anthropic\"}}}"

static const struct founding_row founding_commands[] = {
    {"mux", "icctl watch answers the calls of all sessions, and icctl start "
	    "shows one"},
    {"escalation-listener", "icctl watch"}, {"daemon", FOUNDING_DAEMON},
    {"add-job", "icctl job add NAME"}, {"edit-job", "icctl job edit NAME"},
    {"list-jobs", "icctl job ls"}, {"run-job", "icctl job run NAME"},
    {"remove-job", "icctl job rm NAME"},
    {"enable-job", "icctl job enable NAME"},
    {"disable-job", "icctl job disable NAME"},
    {"recompile-job", "icctl job recompile NAME"},
    {"bot", "there is none; icctl start --detach and icctl send make a "
	    "conversation for programs"},
    {"setup-signal", "\"notify\" in config.json runs a command of yours"},
    {"auth", "icctl login"}, {"observe", "icctl watch, or icctl web"},
    {"statistics", "icctl audit and icctl metrics"},
    {"workflow", "there is none; icctl driver runs the requests of a program, "
		 "and icctl start --json one task for a script"},
    {"rm", "icctl gc removes sessions that ended long ago (--dry-run only "
	   "says which), icctl image rm and icctl home rm the rest"},
    {"tui", "icctl watch, or icctl alone on a terminal"},
    {"dashboard", "icctl watch, or icctl web"},
    {"exec", "icctl start -- COMMAND"}, {"shell", "icctl start -- bash"},
    {"chat", "icctl start"},
    {"continue", "icctl resume SESSION; icctl ls lists them"},
    {"logout", "icctl keys forget PROVIDER"}, {"init", "icctl setup"},
    {"update", "there is none; the package manager that installed icctl "
	       "updates it"},
    {NULL, NULL}};

static const struct founding_row founding_options[] = {
    {"--list-agents", "icctl agents"},
    {"--pty", "an agent without a TASK has your terminal anyway"},
    {"--provider-profile", "--profile NAME"},
    {"--capture-traces", "icctl logs, and the records of the audit log"},
    {"-r", "icctl resume SESSION"}, {"--resume", "icctl resume SESSION"},
    {"-c", "icctl resume SESSION"}, {"--continue", "icctl resume SESSION"},
    {"--print", "icctl start AGENT TASK"},
    {"--dangerously-skip-permissions",
	"nothing: agents have it in the "
	"sandbox already, and the policy decides"},
    {"--yolo", "nothing: agents have it in the sandbox already, and the "
	       "policy decides"},
    {"-a", "--agent NAME"}, {"-w", "--workspace DIR"}, {"-p", "--persona NAME, or --task TEXT"},
    {"-m", "--model NAME"}, {NULL, NULL}};

static const struct founding_row founding_keys[] = {
    {"dockerAgent",
	"its members have places of their own here: resources is "
	"\"dockerResources\", maxConcurrentSessions stands beside it, "
	"defaultAgent is the AGENT of icctl start or a persona's \"agent\", "
	"and agentApiKeys are \"credentials\""},
    {"agentApiKeys", FOUNDING_KEYS},
    {"resources", "write {\"dockerResources\":{\"memoryMb\":8192,\"cpus\":4}} "
		  "instead"},
    {"defaultAgent", "name the AGENT with icctl start, or as \"agent\" of a "
		     "persona"},
    {NULL, NULL}};

static const struct founding_row founding_unused[] = {
    {"agentModelId", "icctl start --model NAME"},
    {"policyModelId", "--model NAME of icctl policy compile"},
    {"prefilterModelId", "\"autoApprove\""},
    {"autoCompact", "agents do it themselves"},
    {"memory", "a server of yours: icctl mcp add"},
    {"webSearch", "\"destinations\", or a server that searches: icctl mcp add"},
    {"modelProviders", "\"providers\""}, {"signal", "\"notify\""},
    {"gooseProvider", "icctl start goose --model NAME"},
    {"gooseModel", "icctl start goose --model NAME"},
    {"preferredDockerAgent", "icctl start AGENT"},
    {"preferredMode", "\"runtime\", or icctl start --runtime NAME"},
    {"capture", "\"modelBodies\""}, {"statistics", "icctl usage"},
    {"snapshot", "icctl undo"},
    {"dockerWorkload", "\"image\" and \"dockerResources\""}, {NULL, NULL}};

static const struct founding_row founding_variables[] = {
    {"ALLOWED_DIRECTORY", "the workspace is the current directory, or "
			  "--workspace DIR"},
    {"AUDIT_LOG_PATH", "the log is audit.jsonl in the session's directory, "
		       "which --session-dir DIR names"},
    {"PROXY_SOCKET_PATH", "it is sockets/proxy.sock in the session's "
			  "directory"},
    {"PROXY_TCP_PORT", "write --transport tcp for a container that needs it"},
    {"PROXY_TRANSPORT", "write --transport unix or tcp"},
    {"MCP_SERVERS_CONFIG", "servers are in mcp-servers.json of "
			   "IRONCURTAIN_HOME"},
    {"GENERATED_DIR", "write --policy DIR"},
    {"PROTECTED_PATHS", "rules of the policy deny paths"},
    {"SANDBOX_POLICY", "write \"sandboxPolicy\" in config.json"},
    {"SERVER_CREDENTIALS", "write \"serverCredentials\" in config.json"},
    {NULL, NULL}};

static const char *
founding_find(const struct founding_row *rows, const char *name, size_t len)
{
	for (; rows->name != NULL; rows++)
		if (strlen(rows->name) == len &&
		    memcmp(rows->name, name, len) == 0)
			return rows->instead;
	return NULL;
}

const char *
founding_command(const char *name)
{
	return founding_find(founding_commands, name, strlen(name));
}

const char *
founding_option(const char *name)
{
	return founding_find(founding_options, name, strcspn(name, "="));
}

const char *
founding_key(const char *name)
{
	return founding_find(founding_keys, name, strlen(name));
}

const char *
founding_unused_key(const char *name)
{
	return founding_find(founding_unused, name, strlen(name));
}

const char *
founding_variable(size_t i, const char **instead)
{
	if (i >= nitems(founding_variables))
		return NULL;
	*instead = founding_variables[i].instead;
	return founding_variables[i].name;
}
