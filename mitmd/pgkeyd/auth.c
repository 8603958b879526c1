/* SPDX-License-Identifier: ISC */
/*
 * A login's authentication: only SCRAM-SHA-256, which keeps the password here
 * and proves who the server is; over TLS only with channel binding, so that a
 * server that merely passes the login on to the right one has another
 * certificate, and fails. Holds nothing; the password is read for one proof.
 */
#include "pgkeyd/pgkeyd.h"

#include <stdlib.h>

#include "common/http/base64.h"
#include "common/log.h"

#define NONCE_BYTES 18U

/* The mechanism with which this login is made, over TLS or not. */
static const char *
auth_mechanism(void)
{
	return pgkeyd_env.tls ? "SCRAM-SHA-256-PLUS" : "SCRAM-SHA-256";
}

static void
auth_not_offered(struct login *l)
{
	if (pgkeyd_env.tls)
		login_fail(l,
		    "the database does not offer SCRAM-SHA-256-PLUS, which "
		    "binds a login to its certificate: the password is not of "
		    "scram-sha-256, or something between here and the database "
		    "ends TLS");
	else
		login_fail(l, "the database does not offer SCRAM-SHA-256");
}

static void
auth_sasl(struct login *l, struct span mechanisms)
{
	uint8_t raw[NONCE_BYTES];
	char nonce[BASE64_LEN(NONCE_BYTES) + 1] = {0};
	const char *bare;
	struct buf b;
	size_t at;

	if (!message_has_mechanism(mechanisms, auth_mechanism())) {
		auth_not_offered(l);
		return;
	}
	arc4random_buf(raw, sizeof(raw));
	base64_put((uint8_t *)nonce, span_of(raw, sizeof(raw)));
	bare = scram_begin(&l->scram, "", nonce);
	scram_bind(&l->scram, span_of(l->bound, l->nbound));
	buf_init(&b, PGKEYD_MAX_OUT);
	at = pg_begin(&b, 'p');
	pg_put_text(&b, span_str(auth_mechanism()));
	pg_put_u32(
	    &b, (uint32_t)(strlen(scram_head(&l->scram)) + strlen(bare)));
	buf_adds(&b, scram_head(&l->scram));
	buf_adds(&b, bare);
	pg_end(&b, at);
	l->state = LOGIN_PROOF;
	login_send(l, &b);
	buf_free(&b);
}

static void
auth_proof(struct login *l, struct span first)
{
	struct pgkeyd_env *e = &pgkeyd_env;
	char out[SCRAM_MAX_TEXT];
	struct buf b;
	size_t at, len;

	len = scram_answer(
	    &l->scram, first, secret_span(e->password), pgkeyd_kept(), out);
	if (len == 0) {
		login_fail(
		    l, "the database is not logged in to: %s", l->scram.why);
		return;
	}
	buf_init(&b, PGKEYD_MAX_OUT);
	at = pg_begin(&b, 'p');
	buf_add(&b, out, len);
	pg_end(&b, at);
	l->state = LOGIN_VERIFY;
	login_send(l, &b);
	buf_free(&b);
}

/* Only SCRAM keeps the password here and proves who the server is. */
void
login_auth(struct login *l, struct span body)
{
	struct span rest;
	uint32_t auth;

	if (message_auth(body, &auth, &rest) == -1)
		login_fail(l, "the database's request is malformed");
	else if (auth == MESSAGE_AUTH_SASL && l->state == LOGIN_BEGUN)
		auth_sasl(l, rest);
	else if (auth == MESSAGE_AUTH_CONTINUE && l->state == LOGIN_PROOF)
		auth_proof(l, rest);
	else if (auth == MESSAGE_AUTH_FINAL && l->state == LOGIN_VERIFY &&
		 scram_verify(&l->scram, rest))
		l->state = LOGIN_PROVEN;
	else if (auth == MESSAGE_AUTH_FINAL && l->state == LOGIN_VERIFY)
		login_fail(
		    l, "the database is not logged in to: %s", l->scram.why);
	else if (auth == MESSAGE_AUTH_OK && l->state == LOGIN_PROVEN)
		l->state = LOGIN_TOLD;
	else if (auth == MESSAGE_AUTH_OK && l->state == LOGIN_BEGUN)
		login_fail(l,
		    "the database lets %s in without a password, and so "
		    "everybody. Its pg_hba.conf must have, before any line "
		    "with trust or peer: %s %s %s 127.0.0.1/32 "
		    "scram-sha-256",
		    pgkeyd_env.user, pgkeyd_env.tls ? "hostssl" : "host",
		    pgkeyd_env.database, pgkeyd_env.user);
	else if (auth == MESSAGE_AUTH_MD5 || auth == MESSAGE_AUTH_CLEARTEXT)
		login_fail(l,
		    "the database wants the password %s: its pg_hba.conf must "
		    "say scram-sha-256, and the password must be set again "
		    "under password_encryption = scram-sha-256",
		    auth == MESSAGE_AUTH_MD5 ? "as md5" : "in clear text");
	else
		login_fail(l,
		    "the database wants a login of another kind (%u) than "
		    "scram-sha-256, or out of turn",
		    auth);
}

/* Returns true if there is no rule for a connection without TLS. */
static bool
auth_wants_tls(struct span body)
{
	return message_has_code(body, "28000") &&
	       span_find(body, SPAN("no pg_hba.conf entry")) != NULL;
}

void
login_error(struct login *l, struct span body)
{
	char text[MESSAGE_TEXT];

	if (message_has_code(body, "28P01"))
		login_fail(l,
		    "the database does not take the password of user %s. "
		    "Correct the credential of this login, then: icctl keys "
		    "reload",
		    pgkeyd_env.user);
	else if (!pgkeyd_env.tls && auth_wants_tls(body))
		login_fail(l,
		    "the database takes no connection of user %s without TLS. "
		    "Write \"tls\": true in this login",
		    pgkeyd_env.user);
	else
		login_fail(
		    l, "the database says: %s", message_error(body, text));
}
