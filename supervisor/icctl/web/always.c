/* SPDX-License-Identifier: ISC */
/*
 * "Always": `icctl always` makes a rule of a call that the page has shown, and
 * prints it; the page shows it; on a second yes, to exactly this rule, another
 * `icctl always` adds it.
 */
#include "icctl/web/run.h"

#include <string.h>

/* Note that the login has been sent this rule now, unless it has been. */
static void
always_note(struct web_run *r, const char *rule)
{
	struct web_seen *seen;

	for (size_t i = 0; i < WEB_SEEN; i++) {
		seen = &r->w->seen[i];
		if (seen->at == 0 || seen->at != r->was.at ||
		    seen->login != r->was.login ||
		    strcmp(seen->session, r->was.session) != 0 ||
		    strcmp(seen->call, r->was.call) != 0 ||
		    strcmp(seen->digest, r->was.digest) != 0 ||
		    strcmp(seen->rule, rule) == 0)
			continue;
		(void)strlcpy(seen->rule, rule, sizeof(seen->rule));
		seen->rule_at = loop_now(&r->w->loop);
	}
}

/* Show the rule, or say that it is in force. */
static void
always_done(struct web_run *r, bool good, json_object *o)
{
	if (!good || o == NULL) {
		web_run_refuse(r, "icctl always has failed");
		json_object_put(o);
		return;
	}
	if (!r->acts)
		always_note(r, icctl_text(o, "rule"));
	send_answer(r->w, r->n, 200, o);
}

/* Start `icctl always`; `rule`: to add it. */
static void
always_start(struct web_run *r, const char *dir, const char *rule)
{
	const char *list[12];
	struct wordlist words = WORDLIST_IN(list);

	wordlist_all(&words, (const char *const[]){"icctl", "--json",
				 "--session", dir, "always", NULL});
	if (rule != NULL)
		wordlist_all(
		    &words, (const char *const[]){"--rule", rule, NULL});
	wordlist_add(&words, r->was.call);
	web_run_start(r, &words);
}

void
always_ask(struct web *w, const struct msg_WEB_REQUEST *m,
    const struct web_login *login)
{
	struct web_seen *seen = verdict_seen(w, m, login);
	struct live_session *s;
	struct web_run *r;
	bool add = m->grant.len != 0;

	if (seen == NULL)
		return;
	if (add && (seen->rule[0] == '\0' || !span_is(m->grant, seen->rule) ||
		       loop_now(&w->loop) - seen->rule_at < WEB_LOOK_MS)) {
		send_refuse(w, m->n, 409,
		    "this rule has not been shown for a second: look at it "
		    "first");
		return;
	}
	s = live_find(w->live, seen->session);
	if (s != NULL && s->far != NULL) {
		send_refuse(w, m->n, 409, web_elsewhere);
		return;
	}
	if (s == NULL || (r = web_run_new(w, m->n, always_done)) == NULL) {
		send_refuse(w, m->n, 503, "too many rules are being made");
		return;
	}
	r->was = *seen;
	r->acts = add;
	always_start(r, s->dir, add ? seen->rule : NULL);
}
