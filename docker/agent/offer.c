/* SPDX-License-Identifier: ISC */
/*
 * The session's tools, as the model is offered them: in direct mode each under
 * its name, in code mode one tool that runs programs, which call the others.
 */
#include "docker/agent/agent.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFFER_NAME 65U         /* a tool's name for models, with its NUL */
#define OFFER_NOTES_MAX 32768U /* bytes of a file */
#define OFFER_SYSTEM_MAX (1U << 20)

static const char offer_schema[] =
    "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\","
    "\"description\":\"The program.\"}},\"required\":[\"code\"]}";

void
offer_free(struct agent *a)
{
	for (size_t i = 0; a->stubs != NULL && i < a->mcp.ntools; i++)
		json_object_put(a->stubs[i].schema);
	free(a->stubs);
	free(a->offered);
	free(a->names);
	free(a->description);
	a->stubs = NULL;
	a->offered = NULL;
	a->names = a->description = NULL;
	a->noffered = 0;
}

static bool
name_taken(const struct agent *a, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(a->offered[i].name, name) == 0)
			return true;
	return false;
}

/* Models' names have letters, digits, _ and -, and are short. */
static void
name_make(const struct agent *a, size_t at, const char *from, char *to)
{
	size_t n = 0;

	if (!((*from >= 'a' && *from <= 'z') ||
		(*from >= 'A' && *from <= 'Z') || *from == '_'))
		to[n++] = '_';
	for (; *from != '\0' && n < OFFER_NAME - 1; from++, n++)
		to[n] = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
			       "UVWXYZ0123456789_-",
			    *from) != NULL
			    ? *from
			    : '_';
	to[n] = '\0';
	for (unsigned i = 2; name_taken(a, at, to); i++) {
		if (n > OFFER_NAME - 7)
			n = OFFER_NAME - 7;
		snprintf(to + n, OFFER_NAME - n, "_%u", i);
	}
}

/* Returns how many tools a request may offer. */
static size_t
offer_most(enum model_dialect d)
{
	switch (d) {
	case MODEL_RESPONSES:
	case MODEL_CHAT:
		return 128;
	case MODEL_GEMINI:
		return 512;
	case MODEL_ANTHROPIC:
		break;
	}
	return AGENT_TOOLS_MAX;
}

static int
offer_direct(struct agent *a)
{
	const size_t most = offer_most(a->choice.dialect);
	const size_t n = a->mcp.ntools < most ? a->mcp.ntools : most;
	char *name;

	if (n < a->mcp.ntools)
		show_say("Only the first %zu of %zu tools are offered: the "
			 "provider takes no more. Code mode has them all.",
		    n, a->mcp.ntools);

	a->offered = calloc(n + 1, sizeof(*a->offered));
	a->names = calloc(n + 1, OFFER_NAME);
	if (a->offered == NULL || a->names == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		name = a->names + i * OFFER_NAME;
		name_make(a, i, a->mcp.tools[i].name, name);
		a->offered[i] = (struct model_tool){.name = name,
		    .description = a->mcp.tools[i].description,
		    .schema = a->mcp.tools[i].schema};
	}
	a->noffered = n;
	return 0;
}

/* The name of an MCP tool is SERVER__TOOL. */
static int
offer_stub(struct agent *a, size_t i, char **names)
{
	const struct mcp_tool *t = &a->mcp.tools[i];
	const char *cut = strstr(t->name, "__");
	char *server = *names;
	size_t n = cut != NULL ? (size_t)(cut - t->name) : 0;

	if (n == 0) {
		memcpy(server, "tools", 6);
		n = 5;
	} else {
		memcpy(server, t->name, n);
		server[n] = '\0';
	}
	*names += n + 1;
	a->stubs[i] = (struct code_tool){.server = server,
	    .name = cut != NULL && cut != t->name ? cut + 2 : t->name,
	    .description = t->description,
	    .schema = json_tokener_parse(t->schema)};
	return 0;
}

static int
offer_code(struct agent *a)
{
	size_t room = 0;
	char *names;

	for (size_t i = 0; i < a->mcp.ntools; i++)
		room += strlen(a->mcp.tools[i].name) + 8;
	a->stubs = calloc(a->mcp.ntools + 1, sizeof(*a->stubs));
	a->offered = calloc(1, sizeof(*a->offered));
	names = a->names = malloc(room + 1);
	if (a->stubs == NULL || a->offered == NULL || names == NULL)
		return -1;
	for (size_t i = 0; i < a->mcp.ntools; i++)
		offer_stub(a, i, &names);
	if ((a->description = code_describe(a->stubs, a->mcp.ntools)) == NULL)
		return -1;
	a->offered[0] = (struct model_tool){.name = "execute_code",
	    .description = a->description,
	    .schema = offer_schema};
	a->noffered = 1;
	return 0;
}

int
offer_tools(struct agent *a, char why[MODEL_WHY_MAX])
{
	offer_free(a);
	if (mcp_list(&a->mcp, AGENT_TOOLS_MAX) == -1) {
		snprintf(why, MODEL_WHY_MAX, "%s", a->mcp.why);
		return -1;
	}
	if ((a->code ? offer_code(a) : offer_direct(a)) == 0)
		return 0;
	snprintf(
	    why, MODEL_WHY_MAX, "The tools need more memory than there is.");
	return -1;
}

const struct mcp_tool *
offer_find(const struct agent *a, const char *name)
{
	for (size_t i = 0; !a->code && i < a->noffered; i++)
		if (strcmp(a->offered[i].name, name) == 0)
			return &a->mcp.tools[i];
	return NULL;
}

/* Append a file, if it is one and has text. */
static void
add_file(struct buf *b, const char *dir, const char *name, const char *title)
{
	char text[OFFER_NOTES_MAX];
	int d, fd = -1;
	ssize_t n = -1;
	struct stat st;

	if ((d = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return;
	fd = openat(d, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, text, sizeof(text));
	if (n > 0 && memchr(text, '\0', (size_t)n) == NULL) {
		buf_printf(b, "\n\n%s\n\n", title);
		buf_add(b, text, (size_t)n);
		if ((size_t)n == sizeof(text))
			buf_adds(b, "\n[The file goes on; this is its "
				    "beginning.]");
	}
	if (fd != -1)
		close(fd);
	close(d);
}

int
offer_system(struct agent *a)
{
	const struct agent_options *o = a->options;
	struct buf b;

	buf_init(&b, OFFER_SYSTEM_MAX);
	buf_adds(&b, agent_prompt);
	add_file(&b, o->orientation, "orientation.md", "# The sandbox");
	/* The notes of the user, then those of the project. */
	add_file(&b, o->home, "AGENTS.md", "# The user's notes (AGENTS.md)");
	add_file(&b, o->workspace, "AGENTS.md",
	    "# The project's notes (AGENTS.md in the workspace)");
	buf_addc(&b, '\0');
	free(a->system);
	a->system = buf_check(&b) == 0 ? strdup((char *)buf_span(&b).p) : NULL;
	buf_free(&b);
	return a->system == NULL ? -1 : 0;
}
