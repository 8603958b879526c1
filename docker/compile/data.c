/* SPDX-License-Identifier: ISC */
/* A short loop of calls: five of them, and the answer after that. */
#include "docker/compile/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "docker/agent/mcp_client.h"

#define DATA_SOCKET "/run/ironcurtain/proxy.sock"
#define DATA_TOOLS 128U
#define DATA_RESULT 50000U /* bytes of one result */

struct data {
	struct mcp mcp;
	struct model_tool tools[DATA_TOOLS];
	size_t ntools;
	/* The question; answers of the model, and results. */
	struct model_message messages[2 + 2 * DATA_CALLS];
	size_t nmessages;
	unsigned calls;
};

static void
data_why(struct model_answer *a, const char *why)
{
	a->error = MODEL_HARD;
	snprintf(a->why, sizeof(a->why), "%s", why);
}

/* Choose the server's tools. */
static void
data_choose(struct data *d, const char *server)
{
	size_t n = strlen(server);

	for (size_t i = 0; i < d->mcp.ntools && d->ntools < DATA_TOOLS; i++) {
		const struct mcp_tool *t = &d->mcp.tools[i];

		if (strncmp(t->name, server, n) != 0 ||
		    strncmp(t->name + n, "__", 2) != 0)
			continue;
		d->tools[d->ntools++] = (struct model_tool){
		    t->name, t->description, t->schema};
	}
}

/* Returns true if a tool of that name was offered. */
static bool
data_offered(const struct data *d, const char *name)
{
	for (size_t i = 0; i < d->ntools; i++)
		if (strcmp(d->tools[i].name, name) == 0)
			return true;
	return false;
}

/* Make one call, and append its result. Returns 0, or -1. */
static int
data_call(struct data *d, const struct model_call *c)
{
	struct model_message *m = &d->messages[d->nmessages];
	struct mcp_result r = {NULL, true, false};

	*m = (struct model_message){.role = MODEL_TOOL};
	if (d->calls == DATA_CALLS)
		r.text = strdup("There are no calls left: answer now.");
	else if (c->args == NULL || !data_offered(d, c->name))
		r.text = strdup("There is no such tool.");
	else if (d->calls++,
	    mcp_call(&d->mcp, c->name, c->args, NULL, NULL, &r) == -1)
		return -1;
	if (r.text != NULL && strlen(r.text) > DATA_RESULT)
		r.text[DATA_RESULT] = '\0';
	m->text = r.text;
	m->is_error = r.is_error;
	m->call_id = strdup(c->id);
	m->call_name = strdup(c->name);
	d->nmessages++;
	return 0;
}

/* Keep the model's calls and their results. Returns 0, or -1. */
static int
data_results(struct data *d, struct model_answer *a, enum model_dialect dialect)
{
	struct model_message *m;

	if (d->nmessages + 1 + a->ncalls > nitems(d->messages))
		return -1;
	m = &d->messages[d->nmessages++];
	model_answer_take(a, dialect, m);
	for (size_t i = 0; i < m->ncalls; i++)
		if (data_call(d, &m->calls[i]) == -1)
			return -1;
	return 0;
}

int
data_turn(struct model *model, enum model_dialect dialect, const char *system,
    const char *text, const char *server, struct model_answer *a)
{
	static struct data d;
	int rv = -1;

	if (mcp_open(&d.mcp, DATA_SOCKET, -1) == -1 ||
	    mcp_list(&d.mcp, DATA_TOOLS) == -1) {
		data_why(a, d.mcp.why);
		return -1;
	}
	data_choose(&d, server);
	d.messages[0] = (struct model_message){
	    .role = MODEL_USER, .text = strdup(text)};
	d.nmessages = 1;
	for (;;) {
		rv = model_turn(model, system, d.messages, d.nmessages, d.tools,
		    d.ntools, NULL, a);
		if (rv == -1 || a->ncalls == 0)
			break;
		if (data_results(&d, a, dialect) == -1) {
			data_why(a, "the model makes one call after the other, "
				    "and does not answer");
			rv = -1;
			break;
		}
		model_answer_free(a);
		memset(a, 0, sizeof(*a));
	}
	for (size_t i = 0; i < d.nmessages; i++)
		model_message_free(&d.messages[i]);
	mcp_close(&d.mcp);
	return rv;
}
