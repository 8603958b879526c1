/* SPDX-License-Identifier: ISC */
/*
 * Tests what icsupervisor takes from ic-reader about a provider file, with a
 * script in its place that answers whatever a row says.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/base/report.h"
#include "supervisor/files/providers/facts.h"
#include "supervisor/files/reader.h"
#include "tap.h"

static char dir[] = "/tmp/test_facts.XXXXXX";
static char program[64];

/* Make a program that writes these bytes, and waits for its end. */
static void
answer(struct span bytes)
{
	FILE *f = fopen(program, "we");

	if (f == NULL)
		abort();
	fprintf(f, "#!/bin/sh\nprintf '");
	for (size_t i = 0; i < bytes.len; i++)
		fprintf(f, "\\%03o", bytes.p[i]);
	fprintf(f, "'\nexec cat >/dev/null\n");
	fclose(f);
	if (chmod(program, 0700) == -1)
		abort();
	reader_end();
}

/* Read a file whose answer has this text after its length. */
static int
facts(struct facts *f, struct span text, char *err, size_t cap)
{
	uint32_t len = (uint32_t)text.len;
	struct buf b;
	int rv;

	buf_init(&b, 1U << 20);
	buf_add(&b, &len, sizeof(len));
	buf_addspan(&b, text);
	answer(buf_span(&b));
	buf_free(&b);
	err[0] = '\0';
	rv = facts_read(f, SPAN("{}"), span_of("", 0), err, cap);
	reader_end();
	return rv;
}

static void
test_good(void)
{
	struct facts f;
	char err[256];

	is_int(
	    facts(&f,
		SPAN("nname\0ha.example\0hb.example\0eKEY\0ssk-\0p1\0p2\0p3\0"
		     "Lone\0f~/x\0Ss\0uhttps://x\0dDIR\0bx\0kl\0Kf\0r7\0t3\0"
		     "t5\0m\0a\0.\0"),
		err, sizeof(err)),
	    0, "facts are taken");
	ok(span_is(f.facts.name, "name") && f.facts.nhosts == 2 &&
		span_is(f.facts.hosts[1], "b.example") &&
		span_is(f.facts.env, "KEY") && span_is(f.facts.sentinel, "sk-"),
	    "those of the provider");
	ok(f.facts.parts != NULL && span_is(f.facts.parts[2], "3"),
	    "the variables of a key in parts");
	ok(f.facts.nlogins == 1 && span_is(f.facts.logins[0]->name, "one") &&
		span_is(f.facts.logins[0]->dirs[0][1], "x") &&
		span_is(f.facts.logins[0]->locks[1][0], "f"),
	    "a login");
	ok(f.routes == 7 && f.nsteps == 2 && f.steps[1] == 5 && f.messages &&
		f.answers,
	    "and its routes");
	facts_free(&f);
}

static void
test_bad(void)
{
#define ROW(what, text)                                                        \
	{                                                                      \
		what, SPAN(text)                                               \
	}
	static const struct {
		const char *what;
		struct span text;
	} rows[] = {ROW("nothing", ""), ROW("no last report", "nname\0"),
	    ROW("a report that is cut", "nname\0.\0x"),
	    ROW("something after the last one", ".\0nname\0"),
	    ROW("a letter that is none", "nname\0?x\0.\0"),
	    ROW("five hosts", "h1\0h2\0h3\0h4\0h5\0.\0"),
	    ROW("two parts", "p1\0p2\0.\0"),
	    ROW("four parts", "p1\0p2\0p3\0p4\0.\0"),
	    ROW("a file of no login", "fx\0.\0"),
	    ROW("a path of no variable", "Lone\0bx\0.\0"),
	    ROW("five locks", "Lone\0k1\0k2\0k3\0k4\0k5\0.\0"),
	    ROW("a route that is no number", "tx\0.\0"),
	    ROW("a route that is too high", "t1024\0.\0"),
	    ROW("nine logins", "L1\0L2\0L3\0L4\0L5\0L6\0L7\0L8\0L9\0.\0")};
	struct facts f;
	char err[256];

	for (size_t i = 0; i < nitems(rows); i++) {
		is_int(facts(&f, rows[i].text, err, sizeof(err)), -1,
		    "refused: %s", rows[i].what);
		is_str(err, "ic-reader: the report is not valid", "and said");
	}
	is_int(facts(&f, SPAN("Ewhere: what\0.\0"), err, sizeof(err)), -1,
	    "a file that is wrong");
	is_str(err, "where: what", "has its reason");
}

static void
test_broken(void)
{
	struct facts f;
	char err[256];

	answer(SPAN("\xff\xff\xff\xff"));
	is_int(facts_read(&f, SPAN("{}"), span_of("", 0), err, sizeof(err)), -1,
	    "an answer of 4 GiB is refused");
	is_str(err, "ic-reader, which reads it: Message too long", "and said");
	answer(SPAN("\xff"));
	(void)unlink(program);
	is_int(facts_read(&f, SPAN("{}"), span_of("", 0), err, sizeof(err)), -1,
	    "without the program");
	is_str(err, "ic-reader, which reads it: No such file or directory",
	    "the reason is given");
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		abort();
	snprintf(program, sizeof(program), "%s/" READER_PROGRAM, dir);
	reader_use(dir);
	test_good();
	test_bad();
	test_broken();
	reader_end();
	(void)rmdir(dir);
	return tap_done();
}
