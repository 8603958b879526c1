/* SPDX-License-Identifier: ISC */
/*
 * The file of approvers, and the signatures of an answer: what is read, what is
 * refused, and signatures that are cut at every byte.
 */
#include <stdio.h>
#include <string.h>

#include "supervisor/workers/signed/signers.h"
#include "tap.h"

#define KEY "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA"
#define ARMOR                                                                  \
	"-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAA\nAAAA\n"                  \
	"-----END SSH SIGNATURE-----\n"

/* clang-format off */
static const struct {
	const char *text;
	unsigned names;
	const char *why;
} files[] = {
	{"ann " KEY "B\n", 1, NULL}, {"ann " KEY "B", 1, NULL},
	{"# a comment\n\n \t\nann " KEY "B comment\r\n", 1, NULL},
	{"ann " KEY "B\nann " KEY "C\nbob " KEY "D\n", 2, NULL},
	{"ann namespaces=\"ironcurtain\",valid-before=\"20301231\" " KEY "B\n", 1, NULL},
	{"a.b-c_d+1@example.org sk-ssh-ed25519@openssh.com AAAA\n", 1, NULL},
	{"ann ecdsa-sha2-nistp256 AAAA=\n", 1, NULL},
	{"ann " KEY "B\nbob " KEY "B\n", 0, "line 2 has the key of another"},
	{"* " KEY "B\n", 0, "plain name"}, {"ann,bob " KEY "B\n", 0, "plain name"},
	{"!ann " KEY "B\n", 0, "plain name"}, {"-ann " KEY "B\n", 0, "plain name"},
	{"\"ann\" " KEY "B\n", 0, "plain name"}, {"ann\n", 0, "has no key"},
	{"ann ssh-ed25519\n", 0, "has no key"}, {"ann ssh-ed25519 A!A\n", 0, "has no key"},
	{"ann cert-authority " KEY "B\n", 0, "certificates"},
	{"ann CERT-AUTHORITY " KEY "B\n", 0, "certificates"},
	{"ann namespaces=\"x\",Cert-Authority " KEY "B\n", 0, "certificates"},
	{"ann namespaces=\"x ssh-ed25519 AAAA\",cert-authority " KEY "B\n", 0, "a space"},
	{"ann namespaces=\"x\\\" ssh-ed25519 AAAA\" " KEY "B\n", 0, "a space"},
	{"ann no-key-at-all\n", 0, "has no key"},
	{"", 0, "names nobody"}, {"# nobody\n", 0, "names nobody"},
};

static const struct {
	const char *text, *why;
} bad[] = {
	{"\n" ARMOR, "must begin"}, {"ann\n" ARMOR, "must begin"},
	{"ann -1\n" ARMOR, "must begin"}, {"ann 1 2\n" ARMOR, "must begin"},
	{"ann 99999999999999999999\n" ARMOR, "must begin"},
	{"ann* 1\n" ARMOR, "must begin"}, {"ann 1\nU1NI\n", "no signature"},
	{"ann 1\n-----BEGIN SSH SIGNATURE-----\n\n", "wrong length"},
	{"ann 1\n-----BEGIN SSH SIGNATURE-----\nA\033A\n", "no base64"},
	{"ann 1\n-----BEGIN SSH SIGNATURE-----\n----\n", "no base64"},
};
/* clang-format on */

static void
test_files(void)
{
	static struct signers s;
	char why[SIGNERS_WHY];

	for (size_t i = 0; i < nitems(files); i++) {
		why[0] = '\0';
		if (signers_read(&s, span_str(files[i].text), why) == 0)
			ok(files[i].why == NULL && s.names == files[i].names,
			    "file %zu names %u", i, s.names);
		else
			ok(files[i].why != NULL &&
				strstr(why, files[i].why) != NULL,
			    "file %zu: %s", i, why);
	}
	ok(signers_read(&s, SPAN("ann " KEY "B\n"), why) == 0 &&
		signers_know(&s, SPAN("ann")) &&
		!signers_know(&s, SPAN("an")) && !signers_know(&s, SPAN("")),
	    "only its names are known");
}

static void
test_many(void)
{
	static struct signers s;
	static char text[SIGNED_FILE];
	char why[SIGNERS_WHY];
	size_t n = 0;

	for (unsigned i = 0; i <= SIGNERS_MAX; i++)
		n += (size_t)snprintf(
		    text + n, sizeof(text) - n, "n%u ssh-ed25519 A%u\n", i, i);
	ok(signers_read(&s, span_of(text, n), why) == -1 &&
		strstr(why, "line 65 is one too many") != NULL,
	    "65 keys: %s", why);
}

static void
test_entries(void)
{
	static const char two[] = "ann 1764470000\n" ARMOR "bob 7\n" ARMOR;
	struct signers_entry e;
	struct span rest = span_str(two);
	char why[SIGNERS_WHY] = "";
	const size_t half = sizeof("ann 1764470000\n" ARMOR) - 1;
	unsigned good = 0, whole;
	int rv;

	ok(signers_next(&rest, &e, why) == 1 && strcmp(e.name, "ann") == 0 &&
		e.expires == 1764470000 && span_is(e.armor, ARMOR),
	    "the first one");
	ok(signers_next(&rest, &e, why) == 1 && strcmp(e.name, "bob") == 0 &&
		e.expires == 7 && span_is(e.armor, ARMOR),
	    "the second one");
	is_int(signers_next(&rest, &e, why), 0, "and no more");
	for (size_t n = 0; n < sizeof(two) - 1; n++) {
		rest = span_of(two, n);
		whole = 0;
		while ((rv = signers_next(&rest, &e, why)) == 1)
			whole++;
		/* The last line may lack its newline. */
		good += n == 0 || n == half ? rv == 0 && whole == n / half
			: n == half - 1 || n == sizeof(two) - 2
			    ? rv == 0
			    : rv == -1 && whole == n / half && why[0] != '\0';
	}
	is_int(good, sizeof(two) - 1, "cut at every byte");
	for (size_t i = 0; i < nitems(bad); i++) {
		rest = span_str(bad[i].text);
		ok(signers_next(&rest, &e, why) == -1 &&
			strstr(why, bad[i].why) != NULL,
		    "refused, case %zu: %s", i, why);
	}
}

int
main(void)
{
	test_files();
	test_many();
	test_entries();
	return tap_done();
}
