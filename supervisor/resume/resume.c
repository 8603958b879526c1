/* SPDX-License-Identifier: ISC */
#include "resume/resume.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/here.h"
#include "budget/budget.h"
#include "common/json/value.h"
#include "core/sup.h"
#include "resume/carry_read.h"
#include "resume/keep.h"

#define RESUME_POOL (1U << 20)

static struct carry resume_old;
static struct record resume_was;

const struct carry *
resume_carry(void)
{
	return &resume_old;
}

const struct record *
resume_record(void)
{
	return &resume_was;
}

/* The last run must have been here, and its end nothing to look at first. */
static int
resume_allowed(struct fault *fault)
{
	const char *id = strrchr(sup.session.dir, '/') + 1;
	char why[300];

	if (record_read(&resume_was, sup.session.fd, sup.session.dir, fault) ==
	    -1) {
		if (errno == ENOENT)
			fault_set(fault,
			    "%s: this session has never run, so that there is "
			    "nothing to resume. Start another one: icctl start",
			    sup.session.dir);
		return -1;
	}
	if (strcmp(resume_was.host, here()->host) != 0)
		return fault_set(fault,
		    "session %s ran on %s: it can be resumed on that machine "
		    "only, where its agent and its workspace are",
		    id, resume_was.host);
	if (sup.opt.after_crash ||
	    carry_evidence(&resume_old, here()->boot, why, sizeof(why)) == NULL)
		return 0;
	return fault_set(fault,
	    "session %s did not end in order: %s. This may be an attack: look "
	    "at its log first (icctl logs %s; icctl --session %s audit "
	    "verify). To go on with it then: icctl resume %s --after-crash",
	    id, why, id, id, id);
}

int
resume_load(struct fault *fault)
{
	const struct session *s = &sup.session;
	const struct carry_log log = {.libexecdir = sup.paths.libexecdir,
	    .dirfd = s->fd,
	    .dir = s->dir,
	    .prices = budget_prices(),
	    .from = &s->unchecked,
	    .upto = &s->begun};

	if (s->begun.offset != 0 && carry_read(&resume_old, &log, fault) == -1)
		return -1;
	budget_carry(&resume_old);
	if (!sup.opt.resume)
		return 0;
	return resume_allowed(fault);
}

int
resume_workspace(struct fault *fault)
{
	struct stat st;

	if (!sup.opt.resume)
		return 0;
	if (fstat(sup.workspace, &st) == -1)
		return fault_errno(fault, "workspace %s", sup.workspace_path);
	if ((uint64_t)st.st_dev == resume_was.dev &&
	    (uint64_t)st.st_ino == resume_was.ino &&
	    strcmp(sup.workspace_path, resume_was.workspace) == 0)
		return 0;
	if (strcmp(sup.workspace_path, resume_was.workspace) != 0)
		return fault_set(fault,
		    "the workspace was %s, and that path leads to %s now: "
		    "another directory has taken its place. Put the first one "
		    "back, or start a new session: icctl start",
		    resume_was.workspace, sup.workspace_path);
	return fault_set(fault,
	    "the workspace %s is another directory than the one in which this "
	    "session ran: it was removed and made again, or replaced. Put the "
	    "first one back, or start a new session: icctl start",
	    sup.workspace_path);
}

int
resume_agent(struct fault *fault)
{
	const char *name =
	    sup.opt.runtime == RUNTIME_NONE ? "none" : sup.adapter.name;

	if (!sup.opt.resume)
		return 0;
	if (strcmp(name, resume_was.agent) != 0)
		return fault_set(fault,
		    "the agent of this session was %s, and would be %s now: "
		    "start a new session for another agent",
		    resume_was.agent, name);
	if (sup.opt.command == NULL && sup.opt.runtime != RUNTIME_NONE &&
	    (!sup.opt.conversation ||
		(resume_was.talked && sup.adapter.talk.resume != NULL)) &&
	    !adapter_has_state(&sup.adapter, sup.session.home))
		return fault_set(fault,
		    "the agent's home %s/home has no %s, where %s keeps its "
		    "conversations, so that there is none to go on with. "
		    "Start a new session: icctl start",
		    sup.session.dir, sup.adapter.state[0], sup.adapter.name);
	if (sup.opt.conversation || sup.opt.command != NULL ||
	    sup.opt.runtime == RUNTIME_NONE || sup.adapter.talk.on != NULL)
		return 0;
	return fault_set(fault,
	    "%s has no \"continue\" in its agent's file, so that it cannot go "
	    "on with its own conversation in the terminal; icctl resume "
	    "--detach may do",
	    sup.adapter.file);
}

/* Record the calls that waited, and that nobody waits for any more. */
static void
resume_expire(void)
{
	struct value_pool *p = value_pool_new(RESUME_POOL);
	struct value *list = p == NULL ? NULL : value_new(p, VALUE_ARRAY), *o;
	const struct carry_hold *h;

	for (unsigned i = 0; list != NULL && i < resume_old.nholds; i++) {
		h = &resume_old.holds[i];
		sup_warn("the call %s/%s, which waited for you when the last "
			 "run ended, has expired",
		    h->server, h->tool);
		if ((o = value_new(p, VALUE_OBJECT)) == NULL)
			break;
		(void)value_set(o, SPAN("id"),
		    value_new_number(p, (int64_t)(h->id & INT64_MAX)));
		(void)value_set(o, SPAN("serverName"),
		    value_new_string(p, span_str(h->server)));
		(void)value_set(o, SPAN("toolName"),
		    value_new_string(p, span_str(h->tool)));
		(void)value_append(list, o);
	}
	o = p == NULL ? NULL : value_new(p, VALUE_OBJECT);
	if (list != NULL && o != NULL) {
		(void)value_set(o, SPAN("calls"), list);
		event_send("expired", o);
	}
	value_pool_free(p);
}

void
resume_grants(void)
{
	keep_grants(&resume_old);
}

void
resume_tell(void)
{
	if (resume_old.nholds != 0)
		resume_expire();
}

void
resume_locks(void)
{
	static const struct msg_RELOCK lock;
	const char *name;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		name = sup.providers.list[i].name;
		for (unsigned k = 0; k < resume_old.nlocked; k++) {
			if (strcmp(resume_old.locked[k], name) != 0)
				continue;
			sup.keys[i].locked = true;
			child_send(ROLE_KEY, i, MSG_RELOCK, &lock, -1);
		}
	}
}

void
resume_end(void)
{
	carry_free(&resume_old);
}
