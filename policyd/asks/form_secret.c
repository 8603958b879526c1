/* SPDX-License-Identifier: ISC */
/*
 * Finds out whether a server's form asks for a secret, which MCP forbids: what
 * is typed there reaches the server, and the log. Only fields that can hold one
 * count; a choice or a yes cannot. Words are compared without the case of Latin
 * letters, and "apiKey", "api_key" and "API-Key" are the same. It is a net for
 * careless servers and plain phishing; a person reads the question as well.
 */
#include "asks/form.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"

#define SECRET_TEXT 8192U

/* Each is looked for between the limits of words. */
static const char *const form_secrets[] = {
    "password", "passwords", "passwd", "passphrase", "passcode", "pass phrase",
    "pass word", "pwd", "secret", "secrets", "api key", "apikey", "api keys",
    "access key", "secret key", "private key", "ssh key", "signing key",
    "encryption key", "access token", "auth token", "bearer token",
    "refresh token", "session token", "token", "credential", "credentials",
    "pin", "pin code", "security code", "verification code", "cvv", "cvc",
    "otp", "one time code", "one time password", "2fa", "2fa code", "mfa code",
    "totp", "seed phrase", "mnemonic", "recovery code", "recovery phrase",
    "backup code", "card number", "credit card", "social security", "ssn",
    "passwort", "kennwort", "mot de passe", "contraseña", "senha", "пароль",
    "Пароль", "ПАРОЛЬ", "密码", "密碼", "パスワード",
};

/* Append the text in lower case, with one blank between words. */
static void
add_words(struct buf *b, struct span s)
{
	bool lower = false, blank = true, up, letter;

	buf_addc(b, ' ');
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		up = c >= 'A' && c <= 'Z';
		letter = up || (c >= 'a' && c <= 'z') ||
			 (c >= '0' && c <= '9') || c >= 0x80;
		if (((up && lower) || !letter) && !blank) {
			buf_addc(b, ' ');
			blank = true;
		}
		if (letter) {
			buf_addc(b, (uint8_t)(up ? c + ('a' - 'A') : c));
			blank = false;
		}
		lower = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
	}
	buf_addc(b, ' ');
}

/* Returns the word in the text that says so, or NULL. */
static const char *
secret_word(struct span s)
{
	const char *found = NULL;
	char word[64];
	struct span all;
	struct buf b;
	int n;

	if (s.p == NULL)
		return NULL;
	buf_init(&b, SECRET_TEXT);
	add_words(&b, s);
	all = buf_span(&b);
	for (size_t i = 0; i < nitems(form_secrets) && found == NULL; i++) {
		/* Some scripts have no blanks between words. */
		bool wide = (uint8_t)form_secrets[i][0] >= 0xe0;

		n = snprintf(word, sizeof(word), wide ? "%s" : " %s ",
		    form_secrets[i]);
		if (all.len != 0 &&
		    memmem(all.p, all.len, word, (size_t)n) != NULL)
			found = form_secrets[i];
	}
	/* Too long to be looked at is too long for a form. */
	if (b.failed)
		found = "a text that is too long";
	buf_free(&b);
	return found;
}

bool
form_wants_secret(struct form *f, struct span message)
{
	const char *word = NULL;
	bool typed = false;

	for (unsigned i = 0; i < f->n; i++) {
		const struct form_field *k = &f->fields[i];

		if (k->type != FORM_TEXT && k->type != FORM_NUMBER &&
		    k->type != FORM_INTEGER)
			continue;
		typed = true;
		if (k->format.p != NULL && span_ieq(k->format, SPAN("password")))
			word = "password";
		if (word == NULL)
			word = secret_word(k->name);
		if (word == NULL)
			word = secret_word(k->title);
		if (word == NULL)
			word = secret_word(k->description);
	}
	if (word == NULL && typed)
		word = secret_word(message);
	if (word == NULL)
		return false;
	(void)snprintf(f->why, sizeof(f->why),
	    "it asks for a secret (\"%s\")", word);
	return true;
}
