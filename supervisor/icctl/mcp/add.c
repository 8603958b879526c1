/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp add`: takes one MCP server that a person names on the command
 * line, by its command or by its address. The entry goes the same way as one
 * that is imported.
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
	puts(
	    "usage: icctl mcp add [--env NAME=VALUE]... [--dry-run] [--yes] "
	    "[--no-start]\n                     NAME -- COMMAND "
	    "[ARGUMENT...]\n"
	    "       icctl mcp add [OPTIONS] NAME PACKAGE\n"
	    "       icctl mcp add [--header 'NAME: VALUE']... [--client-id ID] "
	    "[--scope SCOPE]...\n                     [--callback-port N] "
	    "[--dry-run] [--yes] NAME URL\n\n"
	    "Adds an MCP server to mcp-servers.json: the program COMMAND with "
	    "its arguments.\nIt is checked as the start of a session would, "
	    "and shown before anything is\nwritten. A value that looks like a "
	    "secret goes to serverCredentials in\nconfig.json; '${NAME}' "
	    "stays a reference to your environment.\n\n"
	    "PACKAGE is the name of an npm package, which npx starts. With a "
	    "URL, it is a\nserver on another machine, which speaks "
	    "streamable HTTP. A header with a secret\ngoes to a file of its "
	    "own, which only the server's keyd reads. If it wants a\nlogin: "
	    "icctl mcp login NAME\n\n"
	    "  --client-id ID    the client that you registered where one logs "
	    "in\n"
	    "  --scope SCOPE     the login asks for this one; may be "
	    "repeated\n"
	    "  --callback-port N the port that the client was registered "
	    "with\n"
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

/*
 * Returns true if the words name an npm package, as NAME, NAME@VERSION or
 * @SCOPE/NAME. A program of that name is meant with --.
 */
static bool
add_is_package(int argc, char **argv, int rest)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyz0123456789-._~";
	const char *s;
	size_t n;

	if (argc != 3 || rest != 0)
		return false;
	s = argv[2];
	if (*s == '@') {
		n = strspn(++s, letters);
		if (n == 0 || s[n] != '/')
			return false;
		s += n + 1;
	}
	n = strspn(s, letters);
	if (n == 0 || *s == '.' || *s == '_' || *s == '-')
		return false;
	s += n;
	return *s == '\0' ||
	       (*s == '@' && s[1] != '\0' &&
		   s[1 + strspn(s + 1,
			     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"
			     "OPQRSTUVWXYZ0123456789-.+")] == '\0');
}

/* Returns true if the words name the address of a remote server. */
static bool
add_is_url(int argc, char **argv, int rest)
{
	return argc == 3 && rest == 0 &&
	       (strncasecmp(argv[2], "https://", 8) == 0 ||
		   strncasecmp(argv[2], "http://", 7) == 0);
}

/* Returns true for visible letters of ASCII, at least one. */
static bool
add_is_word(const char *s)
{
	const char *p = s;

	while (*p > 0x20 && *p < 0x7f)
		p++;
	return p != s && *p == '\0';
}

/* Add what its login is to use. Returns 0, or -1 after the reason. */
static int
add_login(struct json_object *entry)
{
	const char *client = words_option("--client-id"),
		   *port = words_option("--callback-port"), *list[ADD_ENV];
	size_t n = words_list("--scope", list, ADD_ENV);
	struct json_object *o, *scopes;
	uint64_t at = 0;

	if (n > ADD_ENV) {
		warnx("mcp add: more than %u scopes", ADD_ENV);
		return -1;
	}
	if (port != NULL &&
	    (span_u64(span_str(port), 65535, &at) == -1 || at == 0)) {
		warnx("mcp add: --callback-port takes a port from 1 to 65535");
		return -1;
	}
	if (client != NULL && !add_is_word(client)) {
		warnx("mcp add: --client-id takes the name of a client, "
		      "without spaces");
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (!add_is_word(list[i])) {
			warnx("mcp add: --scope takes one scope; repeat it "
			      "for another");
			return -1;
		}
	if (client == NULL && n == 0 && port == NULL)
		return 0;
	o = json_object_new_object();
	json_object_object_add(entry, "oauth", o);
	if (client != NULL)
		put_str(o, "clientId", client);
	if (port != NULL)
		put_int(o, "callbackPort", (int64_t)at);
	if (n == 0)
		return 0;
	scopes = json_object_new_array();
	for (size_t i = 0; i < n; i++)
		json_object_array_add(scopes, json_object_new_string(list[i]));
	json_object_object_add(o, "scopes", scopes);
	return 0;
}

/* An address of the older transport is known by its end. */
static void
add_hint(const char *url)
{
	size_t n = strcspn(url, "?#");

	if (n >= 4 && strncasecmp(url + n - 4, "/sse", 4) == 0)
		warnx("mcp add: an address that ends in /sse often speaks "
		      "HTTP+SSE of 2024-11-05 alone, which is not supported; "
		      "look for its address for streamable HTTP, such as "
		      "%.*s/mcp",
		    (int)(n - 4), url);
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
	add_hint(url);
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
	if (n <= ADD_ENV && add_login(entry) == 0)
		return entry;
	json_object_put(entry);
	return NULL;
}

/* Returns an exit status after it said why this is no command, or ICCTL_OK. */
static int
add_words(int argc, char **argv, int rest)
{
	static const char *const remote[] = {
	    "--callback-port", "--client-id", "--header", "--scope"};

	if (add_is_url(argc, argv, rest))
		return ICCTL_OK;
	for (size_t i = 0; i < nitems(remote); i++) {
		if (!words_given(remote[i]))
			continue;
		warnx(
		    "mcp add: %s is for the URL of a remote server", remote[i]);
		return ICCTL_USAGE;
	}
	if (add_is_package(argc, argv, rest))
		return ICCTL_OK;
	if (argc == 2 && (strncmp(argv[1], "https://", 8) == 0 ||
			     strncmp(argv[1], "http://", 7) == 0))
		warnx("mcp add: a name for the server is missing: icctl mcp "
		      "add NAME %s",
		    argv[1]);
	else if (argc == 2)
		warnx(
		    "mcp add: the command of %s is missing, after --", argv[1]);
	else if (argc == 3 && rest == 0)
		warnx("mcp add: \"%s\" is no URL, which begins with https://, "
		      "and no name of an npm package; a command is written "
		      "after --",
		    argv[2]);
	return argc < 3 || rest != 2 ? words_usage() : ICCTL_OK;
}

/* Add what the command line says. Returns an exit status. */
static int
add_server(struct mcp_take *t, int argc, char **argv)
{
	char npx_word[] = "npx", yes_word[] = "-y",
	     *npx[] = {npx_word, yes_word, argv[2]}, cwd[4096];
	struct json_object *env = NULL, *theirs;
	struct fault fault;
	int r = ICCTL_FAILED;

	if (add_is_url(argc, argv, words_rest()))
		theirs = add_remote(argv[2]);
	else if ((env = add_env()) == NULL)
		theirs = NULL;
	else if (add_is_package(argc, argv, words_rest()))
		theirs = add_entry(env, 3, npx);
	else
		theirs = add_entry(env, argc - 2, argv + 2);
	if (theirs == NULL)
		return ICCTL_USAGE;
	if (take_open(t, &fault) == -1 || take_ask(t, &fault) == -1) {
		warnx("%s", fault.text);
	} else {
		if (getcwd(cwd, sizeof(cwd)) != NULL)
			t->how.cwd = json_object_new_string(cwd);
		t->how.added = true;
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
