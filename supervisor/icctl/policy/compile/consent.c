/* SPDX-License-Identifier: ISC */
/*
 * A person's yes to exactly what is newly allowed: typed on a terminal, or
 * given beforehand with the digest of the statement and of the files.
 */
#include "icctl/policy/compile/compile.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONSENT_HEX 16U

/*
 * Compute the digest of the statement and of all rules. The time at which they
 * were made is not part of it, so that a second run asks for the same yes.
 */
static void
consent_digest(const struct buf *statement, const struct policy_set *new,
    char hex[SHA256_HEX])
{
	static const char from[] = "\"rules\":[";
	struct span s[2] = {buf_span(statement), SPAN("")};
	const struct policy_file *f;
	uint8_t sum[SHA256_SIZE];
	const char *at;

	if (new != NULL) {
		f = &new->files[PROTO_RULES_POLICY];
		at = memmem(f->text, f->len, from, sizeof(from) - 1);
		if (at != NULL)
			s[1] = span_of(at, (size_t)(f->text + f->len - at));
	}
	sha256_spans(s, nitems(s), sum);
	sha256_hex(sum, hex);
	hex[CONSENT_HEX] = '\0';
}

int
consent_get(struct compile *c, const char *title, const struct buf *statement,
    const struct policy_set *new, const char *again)
{
	char hex[SHA256_HEX];

	consent_digest(statement, new, hex);
	printf("\n%s:\n%.*s", title, (int)statement->len,
	    (const char *)buf_span(statement).p);
	if (c->o.accept != NULL) {
		if (strcmp(c->o.accept, hex) == 0)
			return 0;
		printf("\nThis is not what --accept %s agreed to.\n",
		    c->o.accept);
	} else if (isatty(STDIN_FILENO)) {
		if (icctl_confirm("\nAllow all of this from now on?"))
			return 0;
		puts("Nothing was put in force.");
		return COMPILE_WAITS;
	} else if (c->o.yes) {
		puts("\n--yes works only where nothing is newly allowed.");
	}
	printf("Nothing was put in force. If you agree to exactly this: icctl "
	       "policy %s --accept %s\n", again, hex);
	return COMPILE_WAITS;
}
