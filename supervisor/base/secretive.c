/* SPDX-License-Identifier: ISC */
/*
 * Tells files that may hold a credential from others, by their name and by
 * texts that have the form of a key. Both err on the side of refusing.
 */
#include "base/secretive.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>

/* clang-format off */
static const char *const secretive_names[] = {
	"*.credentials*", "credentials*", "*credential.json", "auth.json",
	"oauth*.json", "*_accounts.json", "token", "token.json", "tokens.json",
	"*.token", "*secret*.json", "secrets*", "*.pem", "*.key", "*.p12",
	"*.pfx", "*.kdbx", "*.jks", "*.keystore", "*.gpg", "*.asc", "id_rsa*",
	"id_dsa*", "id_ecdsa*", "id_ed25519*", ".env", ".env.*", "*.env",
	".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf",
	".git-credentials", ".htpasswd", "hosts.yml", "kubeconfig", ".ssh",
	".gnupg", ".aws", ".azure", ".kube", ".docker",
};

/* A text, and how many characters of a key must follow it. */
static const struct {
	const char *text;
	size_t more;
	bool marks; /* '-' and '_' may be among them */
} secretive_texts[] = {
	{"sk-ant-", 20, true}, {"sk-proj-", 20, true}, {"sk-or-v1-", 20, true},
	{"sk-", 32, false}, {"AIza", 35, true}, {"ghp_", 30, false},
	{"gho_", 30, false}, {"ghs_", 30, false}, {"github_pat_", 30, true},
	{"glpat-", 20, true}, {"xoxb-", 20, true}, {"xoxp-", 20, true},
	{"AKIA", 16, false}, {"ASIA", 16, false}, {"npm_", 36, false},
	{"hf_", 30, false}, {".eyJ", 20, true}, {"PRIVATE KEY-----", 0, true},
};
/* clang-format on */

const char *
secretive_match(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
			return patterns[i];
	return NULL;
}

const char *
secretive_name(const char *name)
{
	return secretive_match(name, secretive_names, nitems(secretive_names));
}

const char *
secretive_path(const char *path)
{
	char name[NAME_MAX + 1];
	const char *form;
	size_t n;

	for (const char *p = path; *p != '\0'; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (span_copy(span_of(p, n), name, sizeof(name)) == 0 &&
		    (form = secretive_name(name)) != NULL)
			return form;
	}
	return NULL;
}

/* Returns true if the text at `p` begins a key of row `i`. */
static bool
secretive_at(const uint8_t *p, const uint8_t *end, size_t i)
{
	size_t n = 0;

	while (p + n < end && n < secretive_texts[i].more &&
	       (isalnum(p[n]) ||
		   (secretive_texts[i].marks && (p[n] == '-' || p[n] == '_'))))
		n++;
	return n == secretive_texts[i].more;
}

const char *
secretive_text(struct span s)
{
	const uint8_t *end = s.p + s.len, *p;
	size_t n;

	for (size_t i = 0; s.len != 0 && i < nitems(secretive_texts); i++) {
		n = strlen(secretive_texts[i].text);
		for (p = s.p; (p = memmem(p, (size_t)(end - p),
				   secretive_texts[i].text, n)) != NULL;
		     p++) {
			/* The middle of a word is none. */
			if (p != s.p && isalnum(p[-1]) &&
			    isalnum((uint8_t)secretive_texts[i].text[0]))
				continue;
			if (secretive_at(p + n, end, i))
				return secretive_texts[i].text;
		}
	}
	return NULL;
}
