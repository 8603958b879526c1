/* SPDX-License-Identifier: ISC */
/*
 * Tests SCRAM-SHA-256 with the exchange of RFC 7677, and with servers that
 * weaken it: a nonce of their own, extensions, too few or too many rounds, and
 * a signature that is not the right one.
 */
#include <stdio.h>
#include <string.h>

#include "pgkeyd/scram.h"
#include "tap.h"

#define NONCE "rOprNGfwEbeRWgbNEkqO"
#define MORE NONCE "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
#define SALT "s=W22ZaJ0SNY7soEsUEjb6gQ=="
#define FIRST "r=" MORE "," SALT ",i=4096"
#define PROOF "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
#define SIGNATURE "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

static struct scram_kept kept;

/* Returns the client's last message, or the reason why there is none. */
static const char *
answer(struct scram *s, struct span first, const char *password)
{
	static char out[SCRAM_MAX_TEXT];
	size_t n;

	scram_begin(s, "user", NONCE);
	n = scram_answer(s, first, span_str(password), &kept, out);
	if (n == 0)
		return s->why;
	out[n] = '\0';
	return out;
}

static void
test_rfc(void)
{
	struct scram s;

	memset(&kept, 0, sizeof(kept));
	is_str(scram_begin(&s, "user", NONCE), "n=user,r=" NONCE,
	    "the first message");
	is_str(answer(&s, SPAN(FIRST), "pencil"), "c=biws,r=" MORE ",p=" PROOF,
	    "the proof of RFC 7677");
	ok(scram_verify(&s, SPAN(SIGNATURE)), "and the server's signature");
	is_int(kept.rounds, 4096, "the salted password is kept");
	/* Nothing is salted again: another password would give another proof.
	 */
	is_str(answer(&s, SPAN(FIRST), "other"), "c=biws,r=" MORE ",p=" PROOF,
	    "and is used for the same salt");
	ok(strstr(answer(&s, SPAN("r=" MORE "," SALT ",i=4097"), "pencil"),
	       PROOF) == NULL &&
		kept.rounds == 4097,
	    "another number of rounds gives another one");
	ok(strstr(answer(&s, SPAN(FIRST), "other"), PROOF) == NULL,
	    "a salt that is not kept is made of the password");
	memset(&kept, 0, sizeof(kept));
}

static void
test_signature(void)
{
	static const char *const bad[] = {"", "v=", "v=AAAA",
	    "v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", SIGNATURE "=",
	    SIGNATURE ",x=1",
	    "w=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
	    "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4"};
	struct scram s;
	unsigned taken = 0;

	scram_begin(&s, "user", NONCE);
	ok(!scram_verify(
	       &s, SPAN("v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")),
	    "nothing is verified before the challenge was answered");
	answer(&s, SPAN(FIRST), "pencil");
	for (size_t i = 0; i < nitems(bad); i++)
		taken += scram_verify(&s, span_str(bad[i]));
	is_int(taken, 0, "no other signature is taken");
	ok(strstr(s.why, "does not know the password") != NULL, "and why");
	ok(!scram_verify(&s, SPAN("e=invalid-proof\n")), "nor is an error");
	is_str(s.why, "it says: invalid-proof\\x0a", "which is told, escaped");
}

static void
test_first(void)
{
	static const char *const bad[] = {"", "r=", "r=" NONCE,
	    "r=" NONCE "," SALT ",i=4096", /* nothing of the server's */
	    "r=x" MORE "," SALT ",i=4096", "r=" MORE ",i=4096," SALT,
	    "m=x," FIRST, FIRST ",x=1", FIRST ",", "r=" MORE "," SALT,
	    "r=" MORE "," SALT ",i=", "r=" MORE "," SALT ",i=04096",
	    "r=" MORE "," SALT ",i=4095", "r=" MORE "," SALT ",i=600001",
	    "r=" MORE "," SALT ",i=10000000000", "r=" MORE "," SALT ",i=-1",
	    "r=" MORE ",s=,i=4096", "r=" MORE ",s=!,i=4096",
	    "r=" MORE " x," SALT ",i=4096"};
	char longer[SCRAM_MAX_TEXT + 200];
	struct scram s;
	unsigned taken = 0;

	for (size_t i = 0; i < nitems(bad); i++) {
		if (strncmp(answer(&s, span_str(bad[i]), "pencil"), "c=", 2) !=
		    0)
			continue;
		printf("# %s\n", bad[i]);
		taken++;
	}
	is_int(taken, 0, "no malformed challenge is answered");
	snprintf(longer, sizeof(longer), "r=%s,s=%0300d,i=4096", MORE, 0);
	answer(&s, span_str(longer), "pencil");
	is_str(s.why, "its salt is malformed, or too long", "a long salt");
	snprintf(longer, sizeof(longer), "r=%s%0200d,%s,i=4096", MORE, 0, SALT);
	answer(&s, span_str(longer), "pencil");
	is_str(s.why, "its nonce does not begin with ours", "a long nonce");
	answer(&s, SPAN("r=" MORE "," SALT ",i=10000000000"), "pencil");
	ok(strstr(s.why, "from 4096 to 600000") != NULL,
	    "the limits of the rounds are told");
	ok(strncmp(answer(&s, SPAN("r=" MORE "," SALT ",i=600000"), "p"),
	       "c=", 2) == 0,
	    "the most rounds are made");
}

int
main(void)
{
	test_rfc();
	test_signature();
	test_first();
	return tap_done();
}
