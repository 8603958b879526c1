/* SPDX-License-Identifier: ISC */
#include "auto/consider.h"

#include <sys/stat.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "auto/asked.h"
#include "auto/compare.h"
#include "auto/said.h"
#include "base/json_get.h"
#include "base/json_put.h"
#include "common/log.h"
#include "core/sup.h"
#include "files/providers/facts.h"
#include "hub/approvals.h"

/* The call that the approver considers; one at a time, in order. */
static struct {
	uint64_t id; /* 0: none */
	uint8_t digest[32];
	/* The message that the call was compared with, and which of its things
	 * are programs. */
	uint8_t said[PROTO_MAX_SAID];
	size_t said_len;
	uint32_t programs;
	bool asked; /* the comparison is over, and the model is asked */
	struct loop_timer timer;
	unsigned approved, left, failed;
} considered;

static int
prepare_route(unsigned i, struct fault *fault)
{
	const struct provider *p = &sup.providers.list[i];
	const char *model = sup.config.approve.model;
	bool answers = false;
	struct facts f;
	char err[256];

	if (facts_read(&f, span_of(p->json, p->json_len), span_str(model), err,
		sizeof(err)) == 0) {
		answers = f.answers;
		facts_free(&f);
	}
	if (answers)
		return 0;
	return fault_set(fault,
	    "autoApprove.provider: %s has no route on which the approver could "
	    "ask %s: use anthropic, openai, openrouter or google",
	    p->name, model);
}

int
consider_prepare(struct fault *fault)
{
	const struct config_approve *a = &sup.config.approve;
	int i;

	sup.approver = 0;
	if (!a->on || sup.opt.trial != NULL)
		return 0;
	if ((i = providers_find(&sup.providers, a->provider)) != -1) {
		sup.approver = (unsigned)i + 1;
		return prepare_route((unsigned)i, fault);
	}
	sup_warn("autoApprove: this session has no provider %s, so you are "
		 "asked about every call",
	    a->provider);
	return 0;
}

void
consider_setup(void)
{
	const struct provider *p;
	struct msg_PROVIDER file;
	struct msg_APPROVER m;

	if (sup.approver == 0)
		return;
	p = &sup.providers.list[sup.approver - 1];
	file = (struct msg_PROVIDER){.index = (uint16_t)(sup.approver - 1),
	    .name = span_str(p->name),
	    .json = span_of(p->json, p->json_len)};
	child_send(ROLE_APPROVE, 0, MSG_PROVIDER, &file, -1);
	m = (struct msg_APPROVER){.provider = file.index,
	    .model = span_str(sup.config.approve.model)};
	child_send(ROLE_APPROVE, 0, MSG_APPROVER, &m, -1);
}

/*
 * Returns true if the call writes an executable file that is there. No other
 * name of the agent's is looked up: it may lead to a server that hangs.
 */
static bool
consider_program(const struct mention_thing *t)
{
	char path[PATH_MAX];
	struct stat st;

	return asked_of_role(t->role) == ASKED_WRITE &&
	       span_copy(t->host.p != NULL ? t->host : t->value, path,
		   sizeof(path)) == 0 &&
	       path[0] == '/' && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0111) != 0;
}

/*
 * Take what the call touches, and a bit for each thing that is a program.
 * Returns their number, or more than MENTION_MAX_THINGS.
 */
static size_t
consider_things(const struct hold *h,
    struct mention_thing things[MENTION_MAX_THINGS], uint32_t *programs)
{
	struct json_object *list, *o;
	size_t n;

	*programs = 0;
	if (!json_object_object_get_ex(h->details, "resources", &list) ||
	    (n = json_object_array_length(list)) > MENTION_MAX_THINGS)
		return MENTION_MAX_THINGS + 1;
	for (size_t i = 0; i < n; i++) {
		o = json_object_array_get_idx(list, i);
		things[i] = (struct mention_thing){.role = get_span(o, "role"),
		    .value = get_span(o, "value"),
		    .host = get_span(o, "host")};
		things[i].program = consider_program(&things[i]);
		*programs |= (uint32_t)things[i].program << i;
	}
	return n;
}

static void consider_next(void);

static void
consider_over(void)
{
	loop_timer_clear(&sup.loop, &considered.timer);
	compare_end();
	considered.id = 0;
	consider_next();
}

static void
consider_late(struct loop_timer *t)
{
	struct hold *h = approvals_by_call(considered.id);

	considered.failed++;
	if (h != NULL)
		hold_opinion(h, "no answer in time: it is yours");
	consider_over();
}

/* Ask the approver about the call, with a line about each thing. */
static void
consider_ask(struct hold *h, const char *lines)
{
	struct msg_CONSIDER m = {.id = h->id,
	    .digest = span_of(h->digest, sizeof(h->digest)),
	    .said = span_of(considered.said, considered.said_len),
	    .server_name = span_str(h->server),
	    .tool = span_str(h->tool),
	    .reason = span_str(h->reason),
	    .resources = span_str(lines)};

	if (m.reason.len > 512)
		m.reason = SPAN("a rule asks");
	considered.asked = true;
	loop_timer_set(
	    &sup.loop, &considered.timer, CONSIDER_MS, consider_late, NULL);
	child_send(ROLE_APPROVE, 0, MSG_CONSIDER, &m, -1);
	hold_opinion(h, "the model is asked");
}

/* ic-mention has compared the call with the message. */
static void
consider_compared(const char *why, const char *lines)
{
	struct hold *h = approvals_by_call(considered.id);

	if (h != NULL && why == NULL) {
		consider_ask(h, lines);
		return;
	}
	if (h != NULL)
		hold_opinion(h, why);
	consider_over();
}

/*
 * Have a call compared with the person's message. Returns false if it is left
 * to the person at once.
 */
static bool
consider_compare(struct hold *h)
{
	struct mention_thing things[MENTION_MAX_THINGS];
	const struct span said = said_now();
	const char *why = NULL;
	struct fault fault;
	size_t n = 0;

	if (!h->automatic)
		why = "a call like this is never approved automatically";
	else if (said.p == NULL)
		why = "your last message is older than two minutes, or was "
		      "not typed";
	else if ((n = consider_things(h, things, &considered.programs)) >
		 MENTION_MAX_THINGS)
		why = "the call touches too much";
	else if (compare_begin(said, things, n, consider_compared, &fault) ==
		 -1)
		why = fault.text;
	if (why != NULL) {
		hold_opinion(h, why);
		return false;
	}
	considered.id = h->id;
	considered.asked = false;
	memcpy(considered.digest, h->digest, sizeof(h->digest));
	memcpy(considered.said, said.p, said.len);
	considered.said_len = said.len;
	loop_timer_set(
	    &sup.loop, &considered.timer, CONSIDER_MS, consider_late, NULL);
	return true;
}

/* Go on with the oldest call that has not been considered. */
static void
consider_next(void)
{
	struct hold *h;

	for (unsigned i = 0;
	     considered.id == 0 && (h = approvals_at(i)) != NULL; i++) {
		if (!h->wanted)
			continue;
		h->wanted = false;
		if (consider_compare(h))
			return;
	}
}

void
consider_hold(struct hold *h)
{
	if (sup.approver == 0 || (h->id & PROTO_ID_KINDS) != 0)
		return;
	/* It was asked about the call as it was before. */
	if (considered.id == h->id) {
		h->wanted = true;
		consider_over();
		return;
	}
	h->wanted = !h->answered;
	consider_next();
}

void
consider_gone(uint64_t id)
{
	if (considered.id == id && id != 0)
		consider_over();
}

/*
 * Check everything again, as the process that acts: the call is the one that
 * was compared and asked about, it is still pending and unanswered, and the
 * message and the programs that it was compared with are still the same.
 */
static const char *
consider_permits(const struct hold *h, const struct msg_OPINION_SHOW *m)
{
	struct mention_thing things[MENTION_MAX_THINGS];
	const struct span said = said_now();
	uint32_t programs;

	if (h->answered)
		return "it was answered already";
	if (!considered.asked || !h->automatic ||
	    !span_eq(m->digest, span_of(h->digest, sizeof(h->digest))) ||
	    memcmp(considered.digest, h->digest, sizeof(h->digest)) != 0)
		return "it is not the call that was considered";
	if (said.p == NULL)
		return "your last message is older than two minutes, or was "
		       "not typed";
	if (!span_eq(said, span_of(considered.said, considered.said_len)))
		return "you have sent another message since the model was "
		       "asked";
	if (consider_things(h, things, &programs) > MENTION_MAX_THINGS ||
	    programs != considered.programs)
		return "a file that the call touches has changed since the "
		       "model was asked";
	return NULL;
}

int
consider_opinion(const struct msg_OPINION_SHOW *m)
{
	struct hold *h = approvals_by_call(m->id);
	char text[600], vis[560];
	const char *why = NULL;

	if (sup.approver == 0 || m->digest.len != 32)
		return -1;
	/* The call has ended, or its time is over: the opinion is recorded. */
	if (h == NULL || considered.id != m->id)
		return 0;
	log_vis(m->reasoning, vis, sizeof(vis));
	if (m->decision == PROTO_OPINION_APPROVE &&
	    (why = consider_permits(h, m)) == NULL) {
		considered.approved++;
		snprintf(text, sizeof(text), "approved: %s", vis);
		hold_opinion(h, text);
		approvals_automatic(h, m->reasoning);
	} else if (m->decision == PROTO_OPINION_APPROVE) {
		considered.failed++;
		hold_opinion(h, why);
	} else {
		considered.left += m->decision == PROTO_OPINION_LEAVE;
		considered.failed += m->decision == PROTO_OPINION_FAILED;
		snprintf(text, sizeof(text), "left to you: %s", vis);
		hold_opinion(h, text);
	}
	consider_over();
	return 0;
}

struct json_object *
consider_json(void)
{
	struct json_object *o;

	if (sup.approver == 0)
		return NULL;
	o = json_object_new_object();
	put_str(o, "provider", sup.config.approve.provider);
	put_str(o, "model", sup.config.approve.model);
	put_int(o, "approved", considered.approved);
	put_int(o, "left", considered.left);
	put_int(o, "failed", considered.failed);
	return o;
}
