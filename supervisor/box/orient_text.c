/* SPDX-License-Identifier: ISC */
/*
 * The text that tells the agent where it is and what it may do: {orientation}
 * in adapters, and the beginning of the instructions that every agent gets from
 * the MCP server `ironcurtain`. All of it comes from the configuration; no
 * agent or server has a say in it.
 */
#include "box/orient.h"

#include <stdio.h>
#include <string.h>

#include "budget/budget.h"
#include "common/buf.h"
#include "common/json/value.h"
#include "common/plural.h"
#include "core/sup.h"
#include "home/caches.h"
#include "start/domains.h"

static void
text_outcomes(struct buf *b)
{
	const unsigned seconds = sup.config.hold_ms / 1000;

	buf_adds(b,
	    "A policy decides about each call of these tools, with one of "
	    "three outcomes:\n"
	    "- allowed: you get the result;\n"
	    "- denied: you get an error that gives the reason. Do not retry a "
	    "denied call and do not look for a way around it: say what you "
	    "needed, and go on without it;\n"
	    "- held: the call waits until a person approves or denies it, ");
	if (seconds % 60 == 0)
		buf_printf(b, "for at most %u minute%s", seconds / 60,
		    plural(seconds / 60));
	else
		buf_printf(
		    b, "for at most %u second%s", seconds, plural(seconds));
	buf_adds(b, ". Wait for its result, and do not repeat the call.\n");
}

static void
text_places(struct buf *b)
{
	const char *also =
	    sup.opt.same_path ? " (and is at /workspace, too)" : "";

	buf_adds(b, "You are in a sandbox of IronCurtain.\n\n");
	if (sup.read_only)
		buf_printf(b,
		    "Files: %s is the user's project%s. It is read-only in "
		    "this session, for you and for the tools: say what you "
		    "would change, and do not try to change it. You may write "
		    "below /home/agent, which is your home, and in /tmp. ",
		    sup.inside, also);
	else
		buf_printf(b,
		    "Files: you may write below %s, which is the user's "
		    "project%s, /home/agent, which is your home, and /tmp. ",
		    sup.inside, also);
	buf_adds(b,
	    "The rest is read-only, and no other file of the user is visible "
	    "here.\n\n"
	    "Tools: those of the MCP server \"ironcurtain\" act outside the "
	    "sandbox; use them for all that you cannot do in here. ");
}

static void
text_caches(struct buf *b)
{
	const struct cache_shared *c;

	for (size_t i = 0; (c = caches_nth(i)) != NULL; i++)
		buf_printf(b, "%s%s (%s)",
		    i == 0 ? "\nPackages that the user has already, read-only: "
			   : ", ",
		    c->name, c->inside);
	if (caches_nth(0) != NULL)
		buf_adds(b,
		    ". The tools find them by themselves.\n");
}

static void
text_network(struct buf *b)
{
	const char *hosts = sup.providers.hosts;

	buf_adds(b,
	    "\nNetwork: there is none, and no name is resolved. The one way "
	    "out is HTTPS_PROXY, and it leads only to your model's provider "
	    "and to hosts that were opened.");
	buf_adds(b, hosts[0] != '\0' ? hosts : " No other host is open.");
	if (!domains_on() && !sup.config.asks_hosts)
		buf_adds(b,
		    " If you need another one, name it and say why: the user "
		    "can open it for the next session.");
	buf_addc(b, '\n');
}

/* Services by name: an agent that knows them looks for no other way. */
static void
text_services(struct buf *b)
{
	const struct config_service *s;

	if (!sup.services)
		return;
	buf_adds(b, "\nServices of the user's machine that you may use: ");
	for (unsigned i = 0; i < sup.config.nservices; i++) {
		s = &sup.config.services[i];
		buf_printf(b, "%s%s at localhost:%u (also %s:%u)",
		    i == 0 ? "" : ", ", s->name, s->port, s->name, s->port);
		if (s->user[0] != '\0')
			buf_printf(b, ", user %s, database %s, no password, no "
				      "TLS", s->user, s->database);
	}
	buf_adds(b,
	    ". They are real and not part of the sandbox: what you change "
	    "there stays. If a connection is closed at once, the service does "
	    "not run: say so, and do not start one in its place.\n");
}

static void
text_sizes(struct buf *b)
{
	static const char ends[] = " The session ends if you use more than ",
			  room[] = " There is room for ";
	const struct limits *l = &sup.config.limits;
	const struct {
		const char *first;
		unsigned long long n;
		const char *unit;
	} rows[] = {{ends, l->memory_mb, "MiB of memory"},
	    {ends, l->home_mb, "MiB in your home"},
	    {room, l->processes, l->processes == 1 ? "process" : "processes"},
	    {room, l->tmp_mb, "MiB in /tmp"}};
	const char *last = NULL;

	for (size_t i = 0; i < nitems(rows); i++) {
		if (rows[i].n == 0)
			continue;
		buf_adds(b, last != NULL && last != rows[i].first ? "." : "");
		buf_printf(b, "%s%llu %s",
		    last == rows[i].first ? ", " : rows[i].first, rows[i].n,
		    rows[i].unit);
		last = rows[i].first;
	}
	buf_adds(b, last != NULL ? "." : "");
}

/* A budget's limits; those of time end the agent. */
static void
text_budget(struct buf *b)
{
	const struct budget_limits *l = &sup.config.budget;
	bool any = false;

	if (l->on[BUDGET_SECONDS])
		buf_printf(b, " The session ends after %.15g %s of work.",
		    l->max[BUDGET_SECONDS],
		    budget_unit(BUDGET_SECONDS, l->max[BUDGET_SECONDS]));
	if (l->on[BUDGET_TURN])
		buf_printf(b, " Each turn ends after %.15g %s.",
		    l->max[BUDGET_TURN],
		    budget_unit(BUDGET_TURN, l->max[BUDGET_TURN]));
	for (unsigned i = 0; i < BUDGET_KEYS; i++) {
		if (!l->on[i] || i == BUDGET_SECONDS || i == BUDGET_TURN)
			continue;
		buf_printf(b, "%s%.15g %s%s",
		    any ? ", " : " Model requests and tool calls stop at ",
		    l->max[i], budget_unit((enum budget_key)i, l->max[i]),
		    budget_is_turn((enum budget_key)i) ? " in one turn" : "");
		any = true;
	}
	buf_adds(b, any ? "; a person may raise that." : "");
}

static void
text_limits(struct buf *b)
{
	const size_t before = b->len;

	buf_adds(b, "\nLimits:");
	if (sup.opt.runtime != RUNTIME_NONE)
		text_sizes(b);
	text_budget(b);
	if (b->len - before == sizeof("\nLimits:") - 1)
		buf_adds(b, " none.");
	buf_addc(b, '\n');
}

int
orient_compose(struct fault *fault)
{
	struct providers *ps = &sup.providers;
	struct buf b;
	int rv;

	buf_init(&b, sizeof(ps->orientation) - 1);
	if (sup.opt.runtime != RUNTIME_NONE)
		text_places(&b);
	text_caches(&b);
	text_outcomes(&b);
	if (sup.opt.runtime != RUNTIME_NONE)
		text_network(&b);
	text_services(&b);
	text_limits(&b);
	buf_adds(&b, sup.config.told == NULL ? "" : sup.config.told);
	rv = span_copy(
	    buf_span(&b), ps->orientation, sizeof(ps->orientation));
	if (b.failed || rv == -1)
		rv = fault_set(fault, "orientation: its text is too long");
	buf_free(&b);
	return rv;
}

int
orient_tools(const struct msg_TOOLS_TOLD *m)
{
	for (size_t i = 0; i < m->text.len; i++)
		if (m->text.p[i] < ' ' && m->text.p[i] != '\n')
			return -1;
	if (!utf8_valid(m->text) ||
	    span_copy(m->text, sup.providers.tools,
		sizeof(sup.providers.tools)) == -1)
		return -1;
	sup.tools_told = m->complete;
	return 0;
}

void
orient_setup(void)
{
	/* An agent that its adapter tells need not read it twice. */
	const char *text =
	    sup.adapter.tells_orientation ? "" : sup.providers.orientation;
	struct msg_ORIENTATION m = {.text = span_str(text)};

	child_send(ROLE_PROXY, 0, MSG_ORIENTATION, &m, -1);
}
