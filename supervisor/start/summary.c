/* SPDX-License-Identifier: ISC */
/*
 * Tells the person who typed `icctl start` how the session begins and how it
 * ended: its id, agent, workspace and policy, how to answer, and at the end how
 * many calls were allowed and denied, the cost, and where the log is. The names
 * are the user's own.
 */
#include "core/sup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/amount.h"
#include "base/json_get.h"
#include "box/sandbox.h"
#include "box/git/uncommitted.h"
#include "budget/priv.h"
#include "clone.h"
#include "common/plural.h"
#include "common/time_text.h"
#include "conversation/talk_trouble.h"
#include "files/answer_key.h"
#include "later.h"
#include "others.h"
#include "undo/checkpoint.h"

static const char *
summary_agent(char *dst, size_t cap)
{
	size_t n;

	if (sup.opt.runtime == RUNTIME_NONE)
		return "no agent";
	if (sup.opt.command != NULL) {
		n = strlen(sup.opt.command[0]);
		snprintf(dst, cap, "%.100s%s", sup.opt.command[0],
		    n > 100 ? "..." : "");
		return dst;
	}
	return sup.adapter.title;
}

/* Returns the policy's name for --policy, or its directory. */
static const char *
summary_policy(char *dst, size_t cap)
{
	const char *path = sup.rules[PROTO_RULES_POLICY].path, *tail;
	char dir[4200], shipped[4200];

	snprintf(dir, sizeof(dir), "%.4000s", path == NULL ? "" : path);
	if (strrchr(dir, '/') != NULL)
		*strrchr(dir, '/') = '\0';
	snprintf(
	    shipped, sizeof(shipped), "%.4000s/policies", sup.paths.datadir);
	if (strcmp(dir, shipped) == 0)
		return "default";
	tail = strrchr(dir, '/');
	if (sup.opt.policy != NULL && strchr(sup.opt.policy, '/') == NULL &&
	    tail != NULL && strcmp(tail + 1, sup.opt.policy) == 0)
		return sup.opt.policy;
	return paths_tilde(sup.paths.user_home, dir, dst, cap);
}

static bool
summary_is_here(void)
{
	char here[4096];

	return getcwd(here, sizeof(here)) != NULL &&
	       strcmp(here, sup.workspace_path) == 0;
}

/* Say that the workspace is read-only, and for whom it is not. */
static void
summary_read_only(void)
{
	const struct server *s;

	if (!sup.read_only)
		return;
	sup_warn("the workspace is read-only, %s: %s",
	    sup.opt.read_only ? "as its :ro says" : "as the policy says",
	    sup.opt.runtime == RUNTIME_NONE
		? "no server in a sandbox can write it"
		: "the agent can write its home and /tmp, and nothing else");
	for (unsigned i = 0; i < sup.nservers; i++) {
		s = &sup.servers[i];
		if (s->usable && !s->def->sandboxed)
			sup_warn("server %s has no sandbox and can write the "
				 "workspace all the same",
			    s->def->name);
	}
}

/*
 * Returns true once for each IRONCURTAIN_HOME: a file in it says that the
 * limits were named.
 */
static bool
summary_is_first(void)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%.4000s/.limits-named", sup.paths.home);
	fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return false;
	close(fd);
	return true;
}

static void
summary_limits(void)
{
	const struct budget_limits *b = &sup.config.budget;
	char text[512] = "";
	size_t n = 0;

	if (undo_wanted())
		sup_warn("icctl undo can take back what a turn did: copies of "
			 "files are kept in %s/undo, at most %u MiB for a "
			 "workspace (undo in config.json)",
		    paths_tilde(sup.paths.user_home, sup.paths.home, text,
			sizeof(text)),
		    (unsigned)sup.config.undo.store_mb);
	for (unsigned i = 0; i < BUDGET_KEYS && n < sizeof(text); i++)
		if (b->on[i])
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s%.15g %s%s", n == 0 ? "" : ", ", b->max[i],
			    budget_unit((enum budget_key)i, b->max[i]),
			    i >= BUDGET_TURN_TOKENS || i == BUDGET_TURN
				? " a turn"
				: "");
	if (n != 0)
		sup_warn("limits of a session: %s. `icctl budget` shows and "
			 "changes them; your own belong in config.json, under "
			 "resourceBudget",
		    text);
}

/* Returns how calls that wait are answered. */
static const char *
summary_answers(char *dst, size_t cap)
{
	char key[ANSWER_KEY_NAME];

	if (!sup.opt.ask)
		return "no one is asked: calls that would wait are denied";
	if (sup.terminal.screen) {
		snprintf(dst, cap,
		    "to approve or deny pending calls: %s a, or icctl watch in "
		    "another terminal",
		    answer_key_name(sup.config.answer_key, key));
		return dst;
	}
	if (!sup.terminal.raw_out || !sup.terminal.raw_err)
		return "pending calls are shown here, for you to approve or "
		       "deny, and by icctl watch in another terminal";
	return "to approve or deny pending calls: icctl watch, in another "
	       "terminal";
}

void
summary_start(void)
{
	char agent[128], where[4200], policy[4200], how[160];
	const char *answers = summary_answers(how, sizeof(how));
	/* One line stands before an answer that is read. */
	bool one = !sup.terminal.screen;

	if (sup.opt.viewer == NULL || sup.opt.quiet)
		return;
	sup_warn("session %s: %s in %s%s%s, policy %s%s%s", sup.session.id,
	    summary_agent(agent, sizeof(agent)),
	    sup.opt.workspace == NULL
		? clone_summary(where, sizeof(where))
		: paths_tilde(sup.paths.user_home, sup.workspace_path, where,
		      sizeof(where)),
	    sup.opt.workspace != NULL && summary_is_here()
		? " (the current directory)"
		: "",
	    sup.read_only ? ", read-only" : "",
	    summary_policy(policy, sizeof(policy)), one ? "; " : "",
	    one ? answers : "");
	summary_read_only();
	if (sandbox.image[0] != '\0')
		sup_warn("the agent runs in a container of %s: image %s",
		    options_runtime_name(sup.opt.runtime), sandbox.image);
	if (sup.opt.transport == TRANSPORT_TCP)
		sup_warn("its container reaches this session over TCP, by a "
			 "second container that is checked first");
	if (!one)
		sup_warn("%s", answers);
	if (sup.opt.workspace != NULL) {
		others_warn();
		if (!sup.read_only)
			uncommitted_ask();
	}
	if (summary_is_first())
		summary_limits();
}

/* Returns the name by which `icctl resume` finds this session. */
static const char *
summary_id(void)
{
	const char *dir = sup.session.dir;
	size_t n = strlen(sup.paths.home);

	/* One that is kept elsewhere is found by its directory only. */
	return strncmp(dir, sup.paths.home, n) != 0 || dir[n] != '/'
		   ? dir
		   : sup.session.id;
}

/*
 * Say how to go on, and when, if the session ended because of a quota; or if
 * the agent's own last words, which only hold in its sandbox, may have said
 * how.
 */
static void
summary_go_on(void)
{
	char until[TIME_TEXT];

	if (sup.opt.trial != NULL)
		return;
	if (!talk_trouble_left(until)) {
		if (sup.terminal.screen && sup.opt.command == NULL)
			sup_warn("to go on with this conversation, here: "
				 "icctl resume %s",
			    summary_id());
		return;
	}
	sup_warn("the %s's quota is used up%s%s. To go on %s: icctl "
		 "resume %s%s%s",
	    talk_trouble_who(), until[0] != '\0' ? " until " : "", until,
	    until[0] != '\0' ? "then" : "later",
	    sup.opt.command == NULL && sup.adapter.talk.on == NULL ? "--detach "
								   : "",
	    summary_id(), sup.opt.command != NULL ? " -- COMMAND..." : "");
}

void
summary_end(void)
{
	const struct msg_COUNTS *c = &sup.counts;
	char where[4200], asked[64] = "", model[96] = "", work[8192];
	const char *waits = sup.ready ? clone_end(work, sizeof(work)) : NULL;

	if (sup.opt.viewer == NULL || sup.opt.quiet || !sup.ready)
		return;
	if (c->escalated != 0)
		snprintf(asked, sizeof(asked), " (%llu of them asked about)",
		    (unsigned long long)c->escalated);
	if (c->requests != 0)
		snprintf(model, sizeof(model),
		    "; %llu model request%s, %.*f USD",
		    (unsigned long long)c->requests, plural(c->requests),
		    amount_places(budget_used(BUDGET_USD), 4),
		    budget_used(BUDGET_USD));
	sup_warn("session %s ended: %s; %llu call%s allowed, %llu denied%s%s; "
		 "log: %s/audit.jsonl",
	    sup.session.id, sup.end_why, (unsigned long long)c->allowed,
	    plural(c->allowed), (unsigned long long)c->denied, asked, model,
	    paths_tilde(
		sup.paths.user_home, sup.session.dir, where, sizeof(where)));
	summary_go_on();
	if (waits != NULL)
		sup_warn("%s", waits);
	later_say();
}
