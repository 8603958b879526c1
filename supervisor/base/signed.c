/* SPDX-License-Identifier: ISC */
#include "base/signed.h"

#include <stdio.h>
#include <string.h>

int
signed_compose(struct buf *b, const struct signed_answer *a)
{
	const char *const lines[][2] = {{"host", a->host}, {"boot", a->boot},
	    {"session", a->session}, {"nonce", a->nonce}, {"call", a->id},
	    {"digest", a->digest}, {"verdict", a->verdict}};

	buf_adds(b, "ironcurtain answer 1\n");
	for (size_t i = 0; i < nitems(lines); i++) {
		if (lines[i][1][0] == '\0')
			return -1;
		for (const char *p = lines[i][1]; *p != '\0'; p++)
			if (*p <= ' ' || *p > '~')
				return -1;
		buf_adds(b, lines[i][0]);
		buf_addc(b, ' ');
		buf_adds(b, lines[i][1]);
		buf_addc(b, '\n');
	}
	return buf_check(b);
}

void
signed_expires(struct buf *b, uint64_t seconds)
{
	char text[48];

	snprintf(
	    text, sizeof(text), "expires %llu\n", (unsigned long long)seconds);
	buf_adds(b, text);
}
