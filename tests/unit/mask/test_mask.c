/* SPDX-License-Identifier: ISC */
/*
 * Secrets in a text are masked, wherever in it they stand; what only resembles
 * one stays readable; and the work is linear in the text's length.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/mask/mask.h"
#include "tap.h"

#define LONG ((size_t)1 << 13)
/* Steps for each byte: forms and names that are tried at one place. */
#define STEPS 200U

static const struct kind {
	const char *name, *head, *tail;
} kinds[] = {
#include "kinds.h"
};

/* %s is the secret. */
static const char *const places[] = {"%s", "use %s, please", "export KEY=%s\n",
    "{\"x\": \"%s\", \"y\": 1}", "{\\\"x\\\":\\\"%s\\\"}", "a(%s)", "k: '%s'\n",
    "https://example.com/a?x=%s&y=2", "first\n%s\nlast", "<a>%s</a>"};

/* A text, and the part of it that must be gone; NULL: nothing may change. */
static const struct row {
	const char *text, *gone;
} rows[] = {
#include "rows.h"
};

static char *
masked(const char *text, const struct mask_known *known, bool *changed)
{
	const struct span s = span_str(text);
	bool again = false;
	size_t n, m;
	char *out;

	*changed = false;
	n = mask_text(s, known, NULL, changed, NULL);
	if ((out = malloc(n + 1)) == NULL)
		err(1, "malloc");
	m = mask_text(s, known, (uint8_t *)out, &again, NULL);
	if (n != m || again != *changed)
		errx(1, "measured %zu, wrote %zu: %s", n, m, text);
	out[n] = '\0';
	return out;
}

static void
test_kind(const struct kind *k)
{
	char key[600], text[700], *out;
	const char *bad = NULL;
	bool changed;

	snprintf(key, sizeof(key), "%s%s", k->head, k->tail);
	for (size_t i = 0; i < nitems(places); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), places[i], key);
#pragma GCC diagnostic pop
		out = masked(text, NULL, &changed);
		if (bad == NULL && (!changed || strstr(out, k->tail) != NULL))
			bad = places[i];
		free(out);
	}
	ok(bad == NULL, "%s: masked in each place", k->name);
	if (bad != NULL)
		fprintf(stderr, "%s: not masked in: %s\n", k->name, bad);
}

/* The texts have line ends, so that a failed one is named by its number. */
static void
test_row(size_t i)
{
	const struct row *r = &rows[i];
	bool changed;
	char *out = masked(r->text, NULL, &changed);

	if (r->gone == NULL)
		ok(!changed && strcmp(out, r->text) == 0,
		    "row %zu stays readable", i);
	else
		ok(changed && strstr(out, r->gone) == NULL, "row %zu is masked",
		    i);
	if (changed != (r->gone != NULL))
		fprintf(stderr, "row %zu: %s\n-> %s\n", i, r->text, out);
	free(out);
}

static const uint8_t key[MASK_KEY] = "0123456789abcdef0123456789abcdef";

static void
add_known(struct mask_known *k, const char *value)
{
	struct mask_known_row row;

	mask_known_row(key, span_str(value), &row);
	if (mask_known_add(k, &row) == -1)
		err(1, "mask_known_add");
}

static void
test_known(void)
{
	struct mask_known *k = mask_known_new(key);
	struct mask_known_row row;
	char more[600], *out;
	bool changed;

	if (k == NULL)
		err(1, "mask_known_new");
	memset(more, 'm', sizeof(more));
	more[200] = '\0';
	add_known(k, "plain words here");
	add_known(k, "plain words");
	add_known(k, "swordfish");
	add_known(k, "swordfish");
	add_known(k, more);
	out =
	    masked("say swordfish; xswordfishx plain words here", k, &changed);
	is_str(out, "say ***; x***x ***", "known values, the longest first");
	free(out);
	out = masked("sword fish, plain word", k, &changed);
	ok(!changed, "nothing else");
	free(out);
	memset(more, 'm', sizeof(more));
	more[sizeof(more) - 1] = '\0';
	out = masked(more, k, &changed);
	is_str(out, "***", "long values are known by their beginning");
	free(out);
	/* The form ends within the value, which ends within the form's text. */
	add_known(k, "0123456789)tail");
	out = masked(
	    "ghp_abcdefghijklmnopqrstuvwxyz0123456789)tail.", k, &changed);
	is_str(out, "***.", "a value that begins within a key");
	free(out);
	mask_known_row(key, SPAN("short"), &row);
	ok(mask_known_add(k, &row) == -1, "a word is no value");
	for (unsigned i = 0; i < MASK_KNOWN_MAX; i++) {
		snprintf(more, sizeof(more), "value-%u", i);
		mask_known_row(key, span_str(more), &row);
		if (mask_known_add(k, &row) == -1)
			break;
	}
	ok(mask_known_add(k, &row) == -1, "the number of values is limited");
	mask_known_free(k);
}

static uint64_t
steps_of(const char *piece, size_t len, const struct mask_known *known)
{
	const size_t n = strlen(piece);
	uint8_t *p = malloc(len);
	uint64_t steps = 0;
	bool changed;

	if (p == NULL)
		err(1, "malloc");
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)piece[i % n];
	(void)mask_text(span_of(p, len), known, NULL, &changed, &steps);
	free(p);
	return steps;
}

static void
test_linear(const char *piece, const struct mask_known *known)
{
	const uint64_t once = steps_of(piece, LONG, known);
	const uint64_t twice = steps_of(piece, 2 * LONG, known);
	const int line = (int)strcspn(piece, "\n");

	ok(once <= STEPS * LONG && twice <= 2 * once + once / 4,
	    "the work is linear for %s of: %.*s (%zu)",
	    known == NULL ? "text" : "text and known values", line, piece,
	    strlen(piece));
	if (once > STEPS * LONG)
		fprintf(stderr, "%llu steps\n", (unsigned long long)once);
}

static void
test_all_linear(void)
{
	static const char *const pieces[] = {"a", " ", "-", "eyJ-", "eyJa.",
	    "eyJaaaaaaaaaaaaaaaaaaaaaaa.", "sk-", "sk-a ", "s-k_s", "ghp_",
	    "-----BEGIN ", "-----BEGIN PRIVATE",
	    "-----BEGIN A PRIVATE KEY-----", "password=", "password=$",
	    "password='$", "password=\\\"$", "token=\"$`'", "token=$&",
	    "cookie: $", "cookie: a b ", "Authorization: ", "://",
	    "://a:", "://a:b@", "://a@b:", "a:b@c/", "login ", "login -p ",
	    "login -p $ ", "-u ", "-u a:", " -u a:1", "--password ",
	    "--password --", "4111 ", "4111-1111-", "1", "12-",
	    "secret\" , \" ", "name: password, value", "<password>",
	    "1/11:", "xoxb-", "xoxb-a", "00", "AAAA", "AAAAAAA:", "M.M.M.",
	    "a.b-c_d~", "SG.", "PuTTY-User-Key-Fil", "\\\\", "\"", "'", "=",
	    "&a=", "\xff", "echo ", "echo a ", "echo x |", "printf ",
	    "vault login ", "vault login -a ", "login(", "login('a', ",
	    "IDENTIFIED BY '", "auth=('", "htpasswd -b ", "htpasswd -b a b ",
	    "mysql -p'", "7z -p'", "password: |\n  ", "password: |\n a\n",
	    "password%3D", "%22password%22%3A%22",
	    "password: a.b = ", "a_key=aB3", "mnemonic: ab abc ",
	    "phrase: abc abc abc ", "\"d\":\"aZ", "\"d\": \"",
	    "fill('#password', ", "N'", "{\"k\":", "password,a\n",
	    "\"a\":[", "\"pin\":[\"pin\",", "[[\"pin\",\"b\"],", "[[\"pin\"",
	    "\"c\":[\"pin\",\"b\"],\"r\":[", "[[\"pin\",\"b\"],[\"x1234\",",
	    "password,a\nb,c\n", "a|pin\n-|-\n", "pin  a\n--  --\n", ",", "|",
	    "\n", "a,", "a,\n", "\"a", "\"\",", "insert into a(pin,b) values(",
	    "insert into a(pin,b) values('x','y'),", "insert ", "copy a(pin,b)", "copy (", "insert (a", "replace ",
	    "-[ RECORD \n", "a|pin\n",
	    "data:\n", "kind", "kind: Secret\ndata:\n a: b\n", "\n---",
	    "{\"kind\":\"Secret\",\"data\":{\"a\":\"b\"}", "kind: Secret\ndata: {",
	    "\n---\ndata:\n", "a:1024:b:c:", "\"a:1024:b:c:dddd", "*:*:*:a:"};
	struct mask_known *k = mask_known_new(key);

	if (k == NULL)
		err(1, "mask_known_new");
	for (size_t i = 0; i < nitems(pieces); i++)
		test_linear(pieces[i], NULL);
	for (size_t i = 0; i < nitems(kinds); i++)
		if (steps_of(kinds[i].head, LONG, NULL) > STEPS * LONG)
			ok(false, "linear for the head of %s", kinds[i].name);
	add_known(k, "aaaaaaaa");
	add_known(k, "aaaaaaaaaaaaaaaaaaaaaaaaaaab");
	for (size_t i = 0; i < nitems(pieces); i++)
		test_linear(pieces[i], k);
	mask_known_free(k);
}

static void
test_names(void)
{
	static const char *const secret[] = {"password", "Password",
	    "DB_PASSWORD", "db.passwd", "userPass", "X-Api-Key",
	    "client_secret", "GITHUB_TOKEN", "accessToken", "private-key",
	    "aws_secret_access_key", "Authorization", "Proxy-Authorization",
	    "Cookie", "Set-Cookie", "pin", "passphrase", "newPassword2",
	    "credentials", "AccountKey", "SharedAccessKey", "pwd"};
	static const char *const others[] = {"path", "pageToken", "next_token",
	    "max_tokens", "tokens", "token_count", "tokenType", "bypass",
	    "compass", "key", "keys", "public_key", "secretName", "author",
	    "signature", "code", "passed", "monkey", "password_file",
	    "continuationToken", "progressToken", "description", ""};

	for (size_t i = 0; i < nitems(secret); i++)
		ok(mask_name(span_str(secret[i])), "a secret: %s", secret[i]);
	for (size_t i = 0; i < nitems(others); i++)
		ok(!mask_name(span_str(others[i])), "no secret: %s", others[i]);
}

int
main(void)
{
	ok(nitems(kinds) >= 150, "150 kinds of keys");
	for (size_t i = 0; i < nitems(kinds); i++)
		test_kind(&kinds[i]);
	for (size_t i = 0; i < nitems(rows); i++)
		test_row(i);
	test_names();
	test_known();
	test_all_linear();
	return tap_done();
}
