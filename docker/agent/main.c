/* SPDX-License-Identifier: ISC */
/*
 * ic-agent, the built-in agent.  Like any agent it runs in the sandbox, reaches
 * its model through the session's proxy and its tools through the session's MCP
 * server, and keeps its conversations in its home.
 */
#include "docker/agent/agent.h"
#include "common/plural.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "docker/agent/ask.h"

#define COMPACT_AT 160000U
#define EXIT_USAGE 2

static const char usage_text[] =
    "usage: ic-agent [OPTIONS]\n\n"
    "The built-in agent of IronCurtain, for use in its sandbox.\n\n"
    "  --task TEXT           work on this and end; without it, and with a\n"
    "                        terminal, messages are read from the terminal;\n"
    "                        otherwise standard input is one message\n"
    "  --provider NAME       anthropic, openai, openai-chat, google or\n"
    "                        openrouter (default: one that has a key)\n"
    "  --model NAME          the model\n"
    "  --tools code|direct   one tool that runs programs (default, if there\n"
    "                        is node), or each tool by its name\n"
    "  --conversation NAME   begin, or go on with, this conversation\n"
    "  --resume              it must exist already\n"
    "  --continue            go on with the latest conversation\n"
    "  --output text|json    for a person (default), or JSON lines\n"
    "  --compact TOKENS      shorten the conversation beyond this (160000)\n"
    "  --max-output TOKENS   the limit of one answer (16384)\n"
    "  --base URL            the provider's address\n"
    "  --socket PATH         the session's MCP server\n";

enum {
	O_TASK = 256,
	O_PROVIDER,
	O_MODEL,
	O_TOOLS,
	O_CONVERSATION,
	O_RESUME,
	O_CONTINUE,
	O_OUTPUT,
	O_COMPACT,
	O_MAX,
	O_BASE,
	O_SOCKET,
	O_HELP,
};

static const struct option long_options[] = {
    {"task", required_argument, NULL, O_TASK},
    {"provider", required_argument, NULL, O_PROVIDER},
    {"model", required_argument, NULL, O_MODEL},
    {"tools", required_argument, NULL, O_TOOLS},
    {"conversation", required_argument, NULL, O_CONVERSATION},
    {"resume", no_argument, NULL, O_RESUME},
    {"continue", no_argument, NULL, O_CONTINUE},
    {"output", required_argument, NULL, O_OUTPUT},
    {"compact", required_argument, NULL, O_COMPACT},
    {"max-output", required_argument, NULL, O_MAX},
    {"base", required_argument, NULL, O_BASE},
    {"socket", required_argument, NULL, O_SOCKET},
    {"help", no_argument, NULL, O_HELP},
    {NULL, 0, NULL, 0},
};

static bool
number(const char *text, unsigned *out)
{
	uint64_t n;

	if (span_u64(span_str(text), 100000000, &n) == -1 || n == 0)
		return false;
	*out = (unsigned)n;
	return true;
}

/* Returns true if `text` is the first word; false, and usage, if neither. */
static bool
word(const char *text, const char *yes, const char *no, bool *bad)
{
	if (strcmp(text, yes) != 0 && strcmp(text, no) != 0) {
		fprintf(stderr, "ic-agent: %s: %s or %s\n", text, yes, no);
		*bad = true;
	}
	return strcmp(text, yes) == 0;
}

/* Take one option.  Returns false if it is not understood. */
static bool
option_take(struct agent_options *o, int c, const char *value)
{
	bool bad = false;

	switch (c) {
	case O_TASK:
		o->task = value;
		break;
	case O_PROVIDER:
		o->provider = value;
		break;
	case O_MODEL:
		o->model = value;
		break;
	case O_TOOLS:
		o->direct = word(value, "direct", "code", &bad);
		break;
	case O_CONVERSATION:
		o->conversation = value;
		break;
	case O_RESUME:
		o->resume = true;
		break;
	case O_CONTINUE:
		o->latest = true;
		break;
	case O_OUTPUT:
		o->output = word(value, "json", "text", &bad) ? OUTPUT_JSON
							      : OUTPUT_PERSON;
		break;
	case O_COMPACT:
		bad = !number(value, &o->compact_at);
		break;
	case O_MAX:
		bad = !number(value, &o->max_output);
		break;
	case O_BASE:
		o->base = value;
		break;
	case O_SOCKET:
		o->socket = value;
		break;
	default:
		bad = true;
		break;
	}
	return !bad;
}

/* Returns -1 to go on, or an exit status. */
static int
options_read(struct agent_options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (c == O_HELP || c == 'h') {
			fputs(usage_text, stdout);
			return 0;
		}
		if (!option_take(o, c, optarg)) {
			fputs("ic-agent: see ic-agent --help\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr,
	    "ic-agent: %s: not an option (ic-agent --help); a task "
	    "is given with --task\n",
	    argv[optind]);
	return EXIT_USAGE;
}

static int
die(const char *kind, const char *why)
{
	show_error(kind, why);
	return 1;
}

/* Open the conversation.  Returns 0, or -1 with a sentence. */
static int
open_history(struct agent *a, char *why, size_t cap)
{
	const struct agent_options *o = a->options;
	char latest[HISTORY_NAME_MAX + 1];
	const char *name = o->conversation;
	long n;

	if (o->latest && name == NULL) {
		if (!history_latest(o->home, latest)) {
			snprintf(why, cap,
			    "There is no conversation to go on "
			    "with.");
			return -1;
		}
		name = latest;
	}
	if ((n = history_open(&a->history, o->home, name)) == -1) {
		snprintf(why, cap, "The conversation %s cannot be opened: %m.",
		    name != NULL ? name : "file");
		return -1;
	}
	if (n == 0 && o->resume) {
		snprintf(why, cap, "No conversation found of the name %s.",
		    name != NULL ? name : "?");
		return -1;
	}
	if (n != 0 && o->output == OUTPUT_PERSON)
		show_say("The conversation goes on after %ld message%s.", n,
		    plural((uint64_t)n));
	return 0;
}

static int
open_model(struct agent *a, int cancel, char why[MODEL_WHY_MAX])
{
	struct model_options mo = {.cancel_fd = cancel};

	if (choose_provider(a->options, &a->choice, why) == -1)
		return -1;
	mo.dialect = a->choice.dialect;
	mo.base = a->choice.base;
	mo.key = a->choice.key;
	mo.name = a->choice.model;
	mo.max_output = a->choice.max_output;
	a->provider = model_new(&mo, why);
	return a->provider == NULL ? -1 : 0;
}

/* Choose the mode and list the tools. */
static int
open_tools(struct agent *a, int cancel, char why[MODEL_WHY_MAX])
{
	const char *no_code = NULL;

	a->code = !a->options->direct && code_available(&no_code);
	if (!a->options->direct && !a->code)
		show_say("Direct mode, each tool by its name: %s",
		    no_code != NULL ? no_code : "programs cannot be run.");
	if (mcp_open(&a->mcp, a->options->socket, cancel) == -1) {
		snprintf(why, MODEL_WHY_MAX,
		    "The session's tools cannot be reached: %s.", a->mcp.why);
		return -1;
	}
	if (offer_tools(a, why) == -1)
		return -1;
	if (offer_system(a) == 0)
		return 0;
	snprintf(why, MODEL_WHY_MAX, "The system prompt is too long.");
	return -1;
}

static int
exit_status(enum turn_end end)
{
	switch (end) {
	case TURN_DONE:
		return 0;
	case TURN_INTERRUPTED:
		return 130;
	case TURN_FAILED:
	case TURN_GONE:
		break;
	}
	return 1;
}

/* The messages of a conversation that goes on can be edited again. */
static void
remember(const struct agent *a)
{
	const struct history *h = &a->history;

	for (size_t i = 0; i < h->n; i++)
		if (h->messages[i].role == MODEL_USER &&
		    strlen(h->messages[i].text) < 4096)
			ask_remember(h->messages[i].text);
}

/* Show where a conversation that goes on had stopped. */
static void
show_last(const struct history *h)
{
	for (size_t i = h->n; i-- > 0;) {
		if (h->messages[i].role != MODEL_ASSISTANT ||
		    h->messages[i].text == NULL)
			continue;
		show_text(span_str(h->messages[i].text));
		show_text_end();
		return;
	}
}

/* Messages from the person at the terminal, until there are no more. */
static int
talk(struct agent *a)
{
	enum turn_end end = TURN_DONE;
	char *message;

	if (!ask_open())
		return die("terminal", "the terminal cannot be used");
	remember(a);
	show_say("%s (%s), %zu tool%s, %s mode. Ctrl-C stops, Ctrl-D ends.",
	    a->choice.model, a->choice.provider, a->mcp.ntools,
	    plural(a->mcp.ntools), a->code ? "code" : "direct");
	show_last(&a->history);
	while (end != TURN_GONE && (message = ask_message()) != NULL) {
		end = turn_run(a, message);
		free(message);
		if (end == TURN_INTERRUPTED)
			show_say("Interrupted. The conversation goes on.");
		if (signals_got() == SIGTERM || signals_got() == SIGHUP)
			break;
	}
	ask_close();
	return end == TURN_GONE ? 1 : 0;
}

static int
run(struct agent *a, bool terminal)
{
	char *message = NULL;
	enum turn_end end;

	if (a->options->task == NULL && terminal)
		return talk(a);
	if (a->options->task == NULL && (message = ask_all()) == NULL)
		return die("message", "There is no message on standard input, "
				      "or it is longer than 1 MB.");
	end = turn_run(a, message != NULL ? message : a->options->task);
	if (end == TURN_INTERRUPTED)
		show_say("Interrupted.");
	free(message);
	return exit_status(end);
}

int
main(int argc, char **argv)
{
	struct agent_options o = {.socket = "/run/ironcurtain/proxy.sock",
	    .orientation = "/etc/ironcurtain",
	    .home = getenv("HOME") != NULL ? getenv("HOME") : "/home/agent",
	    .workspace = ".",
	    .compact_at = COMPACT_AT};
	struct agent a = {
	    .options = &o, .mcp = {.fd = -1}, .history = {.dir = -1, .fd = -1}};
	char why[MODEL_WHY_MAX] = "";
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	int r, cancel;

	if ((r = options_read(&o, argc, argv)) != -1)
		return r;
	show_setup(o.output == OUTPUT_JSON ? SHOW_JSON
		   : isatty(STDOUT_FILENO) ? SHOW_TERMINAL
					   : SHOW_PLAIN);
	if ((cancel = signals_setup()) == -1)
		return die("start", "signals cannot be received");
	if (open_model(&a, cancel, why) == -1)
		r = die("authentication", why);
	else if (open_tools(&a, cancel, why) == -1)
		r = die("tools", why);
	else if (open_history(&a, why, sizeof(why)) == -1)
		r = die("conversation", why);
	else
		r = run(&a, terminal);
	offer_free(&a);
	free(a.system);
	history_close(&a.history);
	mcp_close(&a.mcp);
	model_free(a.provider);
	return r;
}
