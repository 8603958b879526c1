/* SPDX-License-Identifier: ISC */
/*
 * Names of members, variables, headers and options that hold a secret, told by
 * their end: "DB_PASSWORD", "x-api-key", "clientSecret". Marks and capitals
 * make no difference.
 */
#include "common/mask/mask_priv.h"

#define E(end, kind)                                                           \
	{                                                                      \
		end, sizeof(end) - 1, kind                                     \
	}

/* clang-format off */
static const struct named_end {
	const char *end;
	uint8_t len;
	enum mask_named kind;
} ends[] = {
	E("password", MASK_PASSWORD), E("passwd", MASK_PASSWORD),
	E("passphrase", MASK_PASSWORD), E("passwort", MASK_PASSWORD),
	E("passcode", MASK_PASSWORD), E("pwd", MASK_PASSWORD),
	E("passwordhash", MASK_PASSWORD), E("passwordconfirmation", MASK_PASSWORD),
	E("passwordconfirm", MASK_PASSWORD), E("bindpw", MASK_PASSWORD),
	E("rootpw", MASK_PASSWORD), E("dbpass", MASK_PASSWORD),
	E("userpass", MASK_PASSWORD), E("authpass", MASK_PASSWORD),
	E("smtppass", MASK_PASSWORD), E("storepass", MASK_PASSWORD),
	E("keypass", MASK_PASSWORD), E("requirepass", MASK_PASSWORD),
	E("masterauth", MASK_PASSWORD), E("rediscliauth", MASK_PASSWORD),
	E("sshpass", MASK_PASSWORD), E("sqlpass", MASK_PASSWORD),
	E("mailpass", MASK_PASSWORD), E("ftppass", MASK_PASSWORD),
	E("adminpass", MASK_PASSWORD), E("rootpass", MASK_PASSWORD),
	E("proxypass", MASK_PASSWORD), E("becomepass", MASK_PASSWORD),
	E("loginpass", MASK_PASSWORD), E("kennwort", MASK_PASSWORD),
	E("motdepasse", MASK_PASSWORD), E("contrasena", MASK_PASSWORD),
	E("mfacode", MASK_PASSWORD), E("otpcode", MASK_PASSWORD),
	E("verificationcode", MASK_PASSWORD), E("backupcode", MASK_PASSWORD),
	E("secret", MASK_TOKEN),
	E("secretkey", MASK_TOKEN), E("secretvalue", MASK_TOKEN),
	E("secrettext", MASK_TOKEN), E("token", MASK_TOKEN),
	E("tokenvalue", MASK_TOKEN), E("apikey", MASK_TOKEN),
	E("accesskey", MASK_TOKEN), E("accountkey", MASK_TOKEN),
	E("sharedaccesskey", MASK_TOKEN), E("sharedkey", MASK_TOKEN),
	E("sharedaccesssignature", MASK_TOKEN), E("storagekey", MASK_TOKEN),
	E("subscriptionkey", MASK_TOKEN), E("functionskey", MASK_TOKEN),
	E("privatekey", MASK_TOKEN), E("signingkey", MASK_TOKEN),
	E("encryptionkey", MASK_TOKEN), E("masterkey", MASK_TOKEN),
	E("sessionkey", MASK_TOKEN), E("secretaccesskey", MASK_TOKEN),
	E("authkey", MASK_TOKEN), E("authorizationkey", MASK_TOKEN),
	E("licensekey", MASK_TOKEN), E("servicekey", MASK_TOKEN),
	E("deploykey", MASK_TOKEN), E("integrationkey", MASK_TOKEN),
	E("consumerkey", MASK_TOKEN), E("applicationkey", MASK_TOKEN),
	E("appkey", MASK_TOKEN), E("hmackey", MASK_TOKEN),
	E("presharedkey", MASK_TOKEN), E("psk", MASK_TOKEN),
	E("credential", MASK_TOKEN), E("credentials", MASK_TOKEN),
	E("mnemonic", MASK_TOKEN), E("seedphrase", MASK_TOKEN),
	E("recoverycode", MASK_TOKEN), E("otpseed", MASK_TOKEN),
	E("totpseed", MASK_TOKEN), E("webhookurl", MASK_TOKEN),
	E("connectionstring", MASK_TOKEN), E("authtoken", MASK_TOKEN),
	E("sessiontoken", MASK_TOKEN), E("authorization", MASK_HEADER),
	E("cookie", MASK_HEADER), E("xamzsignature", MASK_TOKEN),
	E("xamzcredential", MASK_TOKEN), E("xgoogsignature", MASK_TOKEN),
	E("xgoogcredential", MASK_TOKEN), E("secretkeybase", MASK_TOKEN),
	E("clientkeydata", MASK_TOKEN), E("clientassertion", MASK_TOKEN),
	E("codeverifier", MASK_TOKEN), E("basicauth", MASK_TOKEN),
	E("phrase", MASK_PHRASE), E("seedwords", MASK_PHRASE),
};

/* Only as a whole: "compass" and "keypin" are none. */
static const struct named_end wholes[] = {
	E("pass", MASK_PASSWORD), E("pw", MASK_PASSWORD), E("pin", MASK_PASSWORD),
	E("otp", MASK_PASSWORD), E("cvv", MASK_PASSWORD), E("cvc", MASK_PASSWORD),
	E("auth", MASK_TOKEN), E("jwt", MASK_TOKEN), E("bearer", MASK_TOKEN),
	E("secrets", MASK_TOKEN), E("key", MASK_QUERY), E("sig", MASK_QUERY),
	E("signature", MASK_QUERY), E("code", MASK_QUERY), E("sid", MASK_QUERY),
	E("sessionid", MASK_QUERY), E("awsaccesskeyid", MASK_QUERY),
	E("totp", MASK_KEYED), E("seed", MASK_PHRASE),
};

/*
 * Those of both tables by their last letter, the whole names first. Made with
 * the first name.
 */
static struct {
	bool made;
	uint8_t from['z' - 'a' + 2];
	struct named_end rows[nitems(ends) + nitems(wholes)];
	uint8_t nwholes['z' - 'a' + 1];
} by_letter;

/* Tokens that are the place in a list, or part of a text or a protocol. */
static const char *const harmless[] = {"pagetoken", "nexttoken",
    "continuationtoken", "paginationtoken", "synctoken", "cursortoken",
    "progresstoken", "cancellationtoken", "canceltoken", "maxtoken",
    "eostoken", "bostoken", "padtoken", "unktoken", "stoptoken", "pertoken",
    "starttoken", "endtoken", "prevtoken", "previoustoken", "resumetoken",
    "nosecret", "nopassword", "existingsecret"};

/* Keys that are names of things. */
static const char *const named_keys[] = {"public", "primary", "foreign",
    "cache", "sort", "partition", "idempotency", "shard", "row", "object",
    "index", "group", "dedup", "deduplication", "lookup", "map", "hash", "range",
    "unique", "composite", "translation", "message", "routing", "event",
    "entity", "document", "doc", "item", "node", "parent", "issue", "project",
    "file", "blob", "bucket", "path", "lock", "query", "record", "anchor"};

/* clang-format on */

static bool
ends_in(const char *name, size_t n, const char *end, size_t len)
{
	return n >= len && name[n - 1] == end[len - 1] &&
	       memcmp(name + n - len, end, len) == 0;
}

static bool
ends_in_any(const char *name, size_t n, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ends_in(name, n, list[i], strlen(list[i])))
			return true;
	return false;
}

/* Returns true if that is the last word of the name: "DB_PASS", "dbPass". */
static bool
last_is(struct span name, struct span word)
{
	const uint8_t *p;

	if (name.len <= word.len ||
	    !span_ieq(span_of(name.p + name.len - word.len, word.len), word))
		return false;
	p = name.p + name.len - word.len - 1;
	return !mask_is(*p, MASK_ALNUM) ||
	       (p[1] >= 'A' && p[1] <= 'Z' && p[2] >= 'a' && p[2] <= 'z' &&
		   *p >= 'a' && *p <= 'z');
}

/* Returns true if the name is one of a key, "STRIPE_KEY", and of no thing. */
static bool
is_key(struct span name, const char *text, size_t n)
{
	if (!last_is(name, SPAN("key")))
		return n >= 8 && ends_in(text, n, "secretid", 8);
	return !ends_in_any(text, n - 3, named_keys, nitems(named_keys));
}

/* Append the rows of a table that end in this letter. Returns their number. */
static uint8_t
by_letter_take(const struct named_end *rows, size_t n, char letter, uint8_t *to)
{
	const uint8_t from = *to;

	for (size_t i = 0; i < n; i++)
		if (rows[i].end[rows[i].len - 1] == letter)
			by_letter.rows[(*to)++] = rows[i];
	return (uint8_t)(*to - from);
}

static void
by_letter_make(void)
{
	uint8_t n = 0;

	for (unsigned c = 0; c < nitems(by_letter.nwholes); c++) {
		const char letter = (char)('a' + c);

		by_letter.from[c] = n;
		by_letter.nwholes[c] =
		    by_letter_take(wholes, nitems(wholes), letter, &n);
		(void)by_letter_take(ends, nitems(ends), letter, &n);
	}
	by_letter.from[nitems(by_letter.nwholes)] = n;
	by_letter.made = true;
}

/* Find the row for a name of small letters and digits, or NULL. */
static const struct named_end *
by_letter_find(const char *text, size_t n)
{
	const unsigned c = (unsigned)(text[n - 1] - 'a');
	unsigned wholes_to;

	if (!by_letter.made)
		by_letter_make();
	if (c >= nitems(by_letter.nwholes))
		return NULL;
	wholes_to = by_letter.from[c] + by_letter.nwholes[c];
	for (unsigned i = by_letter.from[c]; i < by_letter.from[c + 1]; i++) {
		const struct named_end *e = &by_letter.rows[i];

		if ((i >= wholes_to || n == e->len) &&
		    ends_in(text, n, e->end, e->len))
			return e;
	}
	return NULL;
}

enum mask_named
mask_named(struct span name)
{
	const struct named_end *e;
	char text[MASK_PLAIN];
	size_t n = mask_plain(name, text);

	/* "password2" */
	while (n > 0 && text[n - 1] >= '0' && text[n - 1] <= '9')
		text[--n] = '\0';
	if (n < 2)
		return MASK_NO_NAME;
	if ((e = by_letter_find(text, n)) != NULL)
		return ends_in_any(text, n, harmless, nitems(harmless))
			   ? MASK_NO_NAME
			   : e->kind;
	/* "AZURE_DEVOPS_EXT_PAT", a personal access token. */
	if (last_is(name, SPAN("pat")))
		return MASK_TOKEN;
	if (last_is(name, SPAN("pass")))
		return MASK_PASSWORD;
	return is_key(name, text, n) ? MASK_KEYED : MASK_NO_NAME;
}

bool
mask_name(struct span name)
{
	return mask_named(name) > MASK_PHRASE;
}

bool
mask_keyed(struct span name, struct span value)
{
	return mask_named(name) == MASK_KEYED && mask_random(value);
}
