/* SPDX-License-Identifier: ISC */
/*
 * Passwords that stand at a place of their own: among the words of a command
 * ("vault login x", "htpasswd -b file user x"), in a pipe ("echo x | sudo -S"),
 * in SQL ("IDENTIFIED BY 'x'"), and among the arguments of a call
 * ("login('user', 'x')").
 */
#include "common/mask/mask_priv.h"

#define PIPED 96U /* bytes from a text to the program that reads it */

/* In the order of their first bytes. */
static const struct command {
	const char *begins;
	uint8_t len;
	uint8_t skip; /* words before the password */
	char mark;    /* before the password in its word, or 0 */
	bool quoted;  /* only in quotes */
} commands[] = {
#define C(begins, skip, mark, quoted)                                          \
	{                                                                      \
		begins, sizeof(begins) - 1, skip, mark, quoted                 \
	}
    C("ConvertTo-SecureString ", 0, 0, true),
    C("HTTPBasicAuth(", 1, 0, true),
    C("IDENTIFIED BY ", 0, 0, true),
    C("IDENTIFIED WITH ", 2, 0, true),
    C("PASSWORD(", 0, 0, true),
    C("SetBasicAuth(", 1, 0, true),
    C("auth=(", 1, 0, true),
    C("basic_auth(", 1, 0, true),
    C("bundle config ", 1, ':', false),
    C("cargo login ", 0, 0, false),
    C("chpasswd <<< ", 0, ':', false),
    C("composer config http-basic.", 2, 0, false),
    C("htpasswd -b ", 2, 0, false),
    C("htpasswd -bB ", 2, 0, false),
    C("htpasswd -bc ", 2, 0, false),
    C("htpasswd -bnB ", 1, 0, false),
    C("htpasswd -cb ", 2, 0, false),
    C("htpasswd -nb ", 1, 0, false),
    C("htpasswd -nbB ", 1, 0, false),
    C("identified by ", 0, 0, true),
    C("identified with ", 2, 0, true),
    C("login(", 1, 0, true),
    C("mc alias set ", 3, 0, false),
    C("net user ", 1, 0, false),
    C("ngrok authtoken ", 0, 0, false),
    C("poetry config http-basic.", 2, 0, false),
    C("poetry config pypi-token.", 1, 0, false),
    C("rabbitmqctl add_user ", 1, 0, false),
    C("rabbitmqctl change_password ", 1, 0, false),
    C("rclone obscure ", 0, 0, false),
    C("sqlplus ", 0, '/', false),
    C("sudo -S <<< ", 0, 0, false),
    C("vault login ", 0, 0, false),
    C("wandb login ", 0, 0, false),
    C("wpa_passphrase ", 1, 0, false),
#undef C
};

/* The end of each text that is a program's standard input. */
static const char *const readers[] = {"--password-stdin", "--with-token",
    "sudo -S", "sudo -k -S", "chpasswd", "passwd --stdin", "--stdin"};

/* Hide the text in "echo x | program" if that reads a password. */
static bool
command_piped(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const uint8_t *pipe = span_find(mask_near(m, at, PIPED), SPAN("|"));
	struct span word, rest;
	size_t end = at;

	m->steps += PIPED;
	if (pipe == NULL)
		return false;
	rest = mask_near(m, (size_t)(pipe - m->s.p), PIPED);
	for (size_t i = 0;; i++) {
		if (i == nitems(readers))
			return false;
		m->steps += rest.len;
		if (span_find(rest, span_str(readers[i])) != NULL)
			break;
	}
	/* Options and formats come first. */
	do {
		word = mask_word(m, end, &end);
	} while (word.len != 0 && word.p + word.len < pipe &&
		 (word.p[0] == '-' || word.p[0] == '%'));
	if (word.len == 0 || word.p + word.len > pipe)
		return false;
	if (memchr(word.p, ':', word.len) != NULL &&
	    span_find(rest, SPAN("chpasswd")) != NULL)
		return mask_hide_word(m, word, ':', hit);
	return mask_hide_word(m, word, 0, hit);
}

/* Hide the word after `c->skip` others. */
static bool
command_word(struct mask_scan *m, size_t at, const struct command *c,
    struct mask_hit *hit)
{
	struct span word;
	size_t end = at;
	uint8_t mark;

	for (unsigned i = 0;; i++) {
		word = mask_word(m, end, &end);
		if (word.len == 0)
			return false;
		if (i == c->skip)
			break;
		if (mask_at(m, end) == ',')
			end++;
	}
	mark = word.p == m->s.p ? 0 : word.p[-1];
	if (c->quoted && mark != '\'' && mark != '"')
		return false;
	/* An option is none, and what it stands for is not known. */
	return word.p[0] != '-' && mask_hide_word(m, word, c->mark, hit);
}

static struct mask_first by_first[UINT8_MAX + 1];

static void
by_first_make(void)
{
	by_first['e'].seconds |= 1U << ('c' & 31);
	by_first['p'].seconds |= 1U << ('r' & 31);
	for (size_t i = 0; i < nitems(commands); i++)
		mask_first_row(by_first, commands[i].begins, i);
}

bool
mask_command(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	const uint8_t c = m->s.p[at];
	struct span rest;

	if (by_first['e'].seconds == 0)
		by_first_make();
	if (!mask_first_may(by_first, m, at))
		return false;
	rest = mask_rest(m, at, m->s.len);
	if (span_starts(rest, SPAN("echo ")))
		return command_piped(m, at + 5, hit);
	if (span_starts(rest, SPAN("printf ")))
		return command_piped(m, at + 7, hit);
	for (unsigned i = by_first[c].from; i < by_first[c].to; i++) {
		const struct command *o = &commands[i];

		m->steps++;
		if (span_starts(rest, span_of(o->begins, o->len)))
			return command_word(m, at + o->len, o, hit);
	}
	return false;
}
