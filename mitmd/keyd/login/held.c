/* SPDX-License-Identifier: ISC */
/*
 * A login that began in the sandbox and would replace a working one: it waits
 * until the user, who is shown the account's name, approves it. Until then its
 * tokens are kept here and not used; without approval in time they are wiped.
 * This works like any pending call: auditd records it and the decision, and a
 * decision is valid only for the digest that was shown.
 */
#include "keyd/keyd.h"

#include <stdio.h>

#include "common/json/json.h"
#include "common/visible.h"

#define HELD_LATER_MS 200U /* retry while a renewal is running */
#define HELD_TEXT 8192U

static struct {
	uint64_t id; /* with PROTO_LOGIN_ID; 0: nothing is pending */
	uint8_t digest[SHA256_DIGEST_LENGTH];
	struct keyset *k;
	struct secret *text; /* the login file */
	size_t len;
	bool approved;
	void (*use)(struct keyset *);
	void (*denied)(const char *why);
	struct loop_timer timer;
} held;

static void held_due(struct loop_timer *);

bool
held_waits(void)
{
	return held.id != 0;
}

static void
held_forget(void)
{
	loop_timer_clear(&keyd_env.w.loop, &held.timer);
	secret_free(held.text);
	keyset_drop(held.k);
	held.text = NULL;
	held.k = NULL;
	held.len = 0;
	held.id = 0;
	held.approved = false;
}

static void
held_end(enum proto_hold how)
{
	const struct msg_APPROVED m = {.id = held.id, .state = (uint8_t)how};

	worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_APPROVED, &m, -1);
	held_forget();
}

static void
held_arm(uint64_t ms)
{
	loop_timer_set(&keyd_env.w.loop, &held.timer, ms, held_due, NULL);
}

/* The user approved: use the login as soon as no renewal is running. */
static void
held_use(void)
{
	struct keyset *k = held.k;

	if (!renew_capture()) {
		held_arm(HELD_LATER_MS);
		return;
	}
	unsaved_keep(held.text, held.len);
	held.text = NULL;
	held.use(k);
	held_end(PROTO_HOLD_APPROVED);
}

static void
held_due(struct loop_timer *t)
{
	if (held.approved) {
		held_use();
		return;
	}
	held_end(PROTO_HOLD_EXPIRED);
	held.denied("nobody approved it in time");
}

uint64_t
held_id(void)
{
	static uint32_t serial;

	return PROTO_LOGIN_ID | (uint64_t)++serial << 8 | keyd_env.index;
}

int
held_send(const struct held_what *w, uint64_t id, uint8_t *digest)
{
	struct msg_HOLD m = {.id = id,
	    .digest = span_of(digest, SHA256_DIGEST_LENGTH),
	    .server = PROTO_NO_SERVER,
	    .server_name = keyd_env.provider->name,
	    .tool = SPAN("login"),
	    .rule = span_str(w->rule),
	    .reason = span_str(w->reason),
	    .effect = buf_span(w->effect),
	    .ms = HELD_MS,
	    .session = SPAN("")};
	struct buf args, all;
	int rv = -1;

	buf_init(&args, HELD_TEXT);
	buf_init(&all, 2 * HELD_TEXT);
	buf_addc(&args, '{');
	for (unsigned i = 0; i < nitems(w->args); i++) {
		buf_adds(&args, i == 0 ? "\"" : ",\"");
		buf_adds(&args, w->args[i].name);
		buf_adds(&args, "\":");
		(void)json_write_string(&args, w->args[i].value);
	}
	buf_addc(&args, '}');
	buf_addc(&all, '[');
	(void)json_write_string(&all, m.server_name);
	buf_addc(&all, ',');
	(void)json_write_string(&all, m.tool);
	buf_addc(&all, ',');
	buf_addspan(&all, buf_span(&args));
	buf_addc(&all, ']');
	if (all.failed || w->effect->failed)
		goto out;
	SHA256(buf_span(&all).p, buf_span(&all).len, digest);
	m.args = (uint32_t)args.len;
	buf_adds(&args, "{\"asks\":[],\"resources\":[{\"argument\":\"");
	buf_adds(&args, w->args[0].name);
	buf_adds(&args, "\",\"role\":\"");
	buf_adds(&args, w->role);
	buf_adds(&args, "\",\"value\":");
	(void)json_write_string(&args, w->args[0].value);
	buf_adds(&args, "}]}");
	if (args.failed)
		goto out;
	m.preview = buf_span(&args);
	worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_HOLD, &m, -1);
	rv = 0;
out:
	buf_free(&args);
	buf_free(&all);
	return rv;
}

/* Compose the text whose digest is approved, and send it to be shown. */
static int
held_show(struct span account)
{
	const struct provider *p = keyd_env.provider;
	struct buf effect;
	const struct held_what w = {.rule = "login-replaced",
	    .reason = "A login that began in the sandbox would replace the one "
		      "that works",
	    .role = "account",
	    .effect = &effect,
	    .args = {
		{"account", account}, {"route", span_str(unsaved_route())}}};
	int rv;

	buf_init(&effect, 2048);
	buf_adds(&effect, "Replaces the login of ");
	(void)visible_add(&effect, p->name, 0);
	buf_adds(&effect, " that works by one of the account ");
	(void)visible_add(&effect, account, 0);
	rv = held_send(&w, held.id, held.digest);
	buf_free(&effect);
	return rv;
}

int
held_begin(struct keyset *k, struct span account, void (*use)(struct keyset *),
    void (*denied)(const char *why))
{
	held.id = held_id();
	if (held_show(account) == -1) {
		held.id = 0;
		return -1;
	}
	held.k = keyset_hold(k);
	held.text = unsaved_take(&held.len);
	held.use = use;
	held.denied = denied;
	held.approved = false;
	held_arm(HELD_MS);
	return 0;
}

void
held_cancel(void)
{
	if (held.id != 0)
		held_end(PROTO_HOLD_CANCELLED);
}

int
held_verdict(struct chan *c, const struct msg_VERDICT_GO *m)
{
	const struct msg_LATE late = {.id = m->id};

	if (m->id != held.id || held.id == 0 || held.approved ||
	    m->session.len != 0 ||
	    !span_eq(m->digest, span_of(held.digest, sizeof(held.digest)))) {
		worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_LATE, &late, -1);
	} else if (m->approve != 0) {
		held.approved = true;
		held_use();
	} else {
		held_end(PROTO_HOLD_DENIED);
		held.denied("its user denied it");
	}
	return 0;
}
