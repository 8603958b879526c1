/* SPDX-License-Identifier: ISC */
/*
 * The credential in use, as the rest of keyd sees it: a key or a login, locked
 * or not, and the reports about it to icsupervisor. A report has a credential's
 * length and age, nothing else.
 */
#include "keyd/keyd.h"

#include <stdio.h>

#include "common/log.h"

const struct provider_login *
keyd_login(void)
{
	const struct keyd_env *e = &keyd_env;

	return e->login == 0 ? NULL : &e->provider->logins[e->login - 1];
}

bool
keyd_renews(void)
{
	return keyd_login() != NULL || keyd_env.again;
}

/* Returns the length of the credential that the user configured. */
static uint32_t
credential_length(const struct keyset *k)
{
	/* Some logins have only a refresh token at first. */
	if (keyd_env.provider->basic.len != 0 || k->access.len == 0)
		return (uint32_t)k->refresh.len;
	return (uint32_t)k->access.len;
}

void
keyd_show(enum proto_key state, const char *text)
{
	const struct keyset *k = keyd_env.now;
	struct msg_KEY_STATE m = {
	    .state = (uint8_t)state, .text = span_str(text)};

	if (k != NULL)
		m.length = credential_length(k);

	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_KEY_STATE, &m, -1);
}

void
keyd_show_loaded(void)
{
	char text[128];

	snprintf(text, sizeof(text), "%s%s",
	    secret_kind() == SECRET_MEMFD ? "memfd_secret" : "locked memory",
	    keyd_env.now->scrub.nforms == 0 ||
		    credential_length(keyd_env.now) < SCRUB_MIN
		? "; too short to be searched for in answers"
		: "");
	keyd_show(PROTO_KEY_LOADED, text);
	keyd_tell();
}

void
keyd_lock(void)
{
	if (keyd_env.locked)
		return;
	keyd_env.locked = true;
	keyd_show(PROTO_KEY_LOCKED,
	    "the credential came back in an answer; icctl unlock");
}

int
keyd_lock_again(struct chan *c, const struct msg_RELOCK *m)
{
	keyd_lock();
	return 0;
}

int
keyd_unlock(struct chan *c, const struct msg_UNLOCK *m)
{
	if (keyd_env.locked) {
		keyd_env.locked = false;
		keyd_show_loaded();
	}
	return 0;
}

/*
 * Returns the milliseconds since `then`, or UINT64_MAX if `then` is 0, never.
 */
static uint64_t
credential_ago(uint64_t then)
{
	return then == 0 ? UINT64_MAX : loop_now(&keyd_env.w.loop) - then;
}

int
keyd_ask(struct chan *c, const struct msg_KEY_ASK *msg)
{
	const struct keyd_env *e = &keyd_env;
	struct msg_KEY_TELL m = {.loaded = credential_ago(e->loaded_at),
	    .used = credential_ago(e->used_at),
	    .requests = e->requests,
	    .expires = e->now == NULL ? 0 : e->now->expires,
	    .renewals = e->renewals};

	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_KEY_TELL, &m, -1);
	return 0;
}

void
keyd_tell(void)
{
	if (keyd_env.w.started && keyd_env.provider->mcp != NULL)
		(void)keyd_ask(NULL, NULL);
}

void
keyd_file_wipe(void)
{
	struct keyd_env *e = &keyd_env;
	size_t cap = secret_cap(e->file);

	secret_free(e->file);
	if ((e->file = secret_new(cap)) == NULL)
		fatal("secret memory");
}
