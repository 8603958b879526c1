/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp add`: takes one MCP server that a person names on the command
 * line, by its command or by its address. The entry goes the same way as one that is imported.
 */
#include "icctl/mcp/mcp.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json_put.h"
#include "icctl/icctl.h"
#include "icctl/mcp/take.h"
#include "icctl/words.h"

#define ADD_ENV 64U

static int
usage(void)
{
	puts("usage: icctl mcp add [--env NAME=VALUE]... [--dry-run] [--yes] "
	     "[--no-start]\n                     NAME -- COMMAND "
	     "[ARGUMENT...]\n"
	     "       icctl mcp add [--header 'NAME: VALUE']... [--dry-run] "
	     "[--yes] NAME URL\n\n"
	     "Adds an MCP server to mcp-servers.json: the program COMMAND with "
	     "its arguments.\nIt is checked as the start of a session would, "
	     "and shown before anything is\nwritten. A value that looks like a "
	     "secret goes to serverCredentials in\nconfig.json; '${NAME}' "
	     "stays a reference to your environment.\n\n"
	     "With a URL, it is a server on another machine, which speaks "
	     "streamable HTTP. A\nheader with a secret goes to a file of its "
	     "own, which only the server's keyd\nreads.\n\n"
	     "  --header 'NAME: VALUE'\n"
	     "                    a header for a URL, such as "
	     "'Authorization: Bearer ${TOKEN}';\n"
	     "                    may be repeated\n"
	     "  --env NAME=VALUE  a variable of the server; may be repeated\n"
	     "  --dry-run         show what would be written, and write "
	     "nothing\n"
	     "  --yes             do not ask\n"
	     "  --no-start        do not start the server once to list its "
	     "tools\n\n"
	     "For example: icctl mcp add memory -- npx -y "
	     "@modelcontextprotocol/server-memory\n"
	     "             icctl mcp add docs https://mcp.example.com/mcp");
	return ICCTL_OK;
}

/* Returns the variables of the command line, or NULL after the reason. */
static struct json_object *
add_env(void)
{
	struct json_object *env = json_object_new_object();
	const char *list[ADD_ENV], *equals;
	size_t n = words_list("--env", list, ADD_ENV);
	char name[128];

	if (n > ADD_ENV) {
		warnx("mcp add: more than %u variables", ADD_ENV);
		json_object_put(env);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		equals = strchr(list[i], '=');
		if (equals == NULL || equals == list[i] ||
		    (size_t)(equals - list[i]) >= sizeof(name)) {
			warnx("mcp add: --env takes NAME=VALUE; for a variable "
			      "of your environment: --env 'NAME=${NAME}'");
			json_object_put(env);
			return NULL;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(equals - list[i]),
		    list[i]);
		put_str(env, name, equals + 1);
	}
	return env;
}

/* Returns the entry as another program would have it. Takes `env`. */
static struct json_object *
add_entry(struct json_object *env, int argc, char **argv)
{
	struct json_object *entry = json_object_new_object(),
			   *args = json_object_new_array();

	put_str(entry, "command", argv[0]);
	for (int i = 1; i < argc; i++)
		json_object_array_add(args, json_object_new_string(argv[i]));
	json_object_object_add(entry, "args", args);
	json_object_object_add(entry, "env", env);
	return entry;
}

/* Returns true if the words name the address of a remote server. */
static bool
add_is_url(int argc, char **argv, int rest)
{
	return argc == 3 && rest == 0 &&
	       (strncasecmp(argv[2], "https://", 8) == 0 ||
		   strncasecmp(argv[2], "http://", 7) == 0);
}

/* Returns the entry of a remote server, or NULL after the reason. */
static struct json_object *
add_remote(const char *url)
{
	struct json_object *entry = json_object_new_object(),
			   *headers = json_object_new_object();
	const char *list[ADD_ENV], *colon;
	size_t n = words_list("--header", list, ADD_ENV);
	char name[128];

	json_object_object_add(entry, "headers", headers);
	put_str(entry, "url", url);
	if (words_given("--env")) {
		warnx("mcp add: a remote server has no variables; see "
		      "--header");
		n = ADD_ENV + 1;
	}
	for (size_t i = 0; n <= ADD_ENV && i < n; i++) {
		colon = strchr(list[i], ':');
		if (colon == NULL || colon == list[i] ||
		    (size_t)(colon - list[i]) >= sizeof(name)) {
			warnx("mcp add: --header takes 'NAME: VALUE'");
			n = ADD_ENV + 1;
			break;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(colon - list[i]),
		    list[i]);
		put_str(headers, name, colon + 1 + strspn(colon + 1, " "));
	}
	if (n <= ADD_ENV)
		return entry;
	json_object_put(entry);
	return NULL;
}

/* Returns an exit status after it said why this is no command, or ICCTL_OK. */
static int
add_words(int argc, char **argv, int rest)
{
	if (add_is_url(argc, argv, rest))
		return ICCTL_OK;
	if (words_given("--header")) {
		warnx("mcp add: --header is for the URL of a remote server");
		return ICCTL_USAGE;
	}
	if (argc >= 2 && argc < 3)
		warnx(
		    "mcp add: the command of %s is missing, after --", argv[1]);
	return argc < 3 || rest != 2 ? words_usage() : ICCTL_OK;
}

/* Add what the command line says. Returns an exit status. */
static int
add_server(struct mcp_take *t, int argc, char **argv)
{
	struct json_object *env = NULL, *theirs;
	char cwd[4096];
	struct fault fault;
	int r = ICCTL_FAILED;

	theirs = add_is_url(argc, argv, words_rest()) ? add_remote(argv[2])
		 : (env = add_env()) != NULL
		     ? add_entry(env, argc - 2, argv + 2)
		     : NULL;
	if (theirs == NULL)
		return ICCTL_USAGE;
	if (take_open(t, &fault) == -1 || take_ask(t, &fault) == -1) {
		warnx("%s", fault.text);
	} else {
		if (getcwd(cwd, sizeof(cwd)) != NULL)
			t->how.cwd = json_object_new_string(cwd);
		take_one(t, argv[1], theirs, "from the command line", false);
		r = take_finish(t, "add");
	}
	json_object_put(theirs);
	take_close(t);
	return r;
}

int
mcp_add(struct icctl *ctl, int argc, char **argv)
{
	static struct mcp_take t;
	int r;

	if (words_help())
		return usage();
	if ((r = add_words(argc, argv, words_rest())) != ICCTL_OK)
		return r;
	t.dry = words_given("--dry-run");
	t.yes = words_given("--yes");
	t.start = !words_given("--no-start");
	return add_server(&t, argc, argv);
}
