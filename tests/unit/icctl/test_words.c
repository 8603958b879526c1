/* SPDX-License-Identifier: ISC */
/* Command lines, read by the usage of their command. */
#include "icctl/words.h"
#include "tap.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define USAGE                                                                  \
	"[ID...] [--all-shown | --plain] [--digest HEX] [-f]\n"                \
	"        [--network none|host] [--file FILE|-] [--name A|--dir D]\n"   \
	"        [--host NAME]... [--attack [IMAGE]] [-- CMD...]"
#define MAX 16

static struct icctl ctl;

/*
 * Read the words, which one blank separates; "_" is an empty one.  Returns the
 * number of operands, or -1, and has standard error in `said`.
 */
static char said[512], text[512], *argv[MAX + 1];

static int
words(const char *line)
{
	int argc = 0, n, rv, keep = dup(STDERR_FILENO), fd;
	char *rest = text, *word;
	FILE *f = tmpfile();

	snprintf(text, sizeof(text), "%s", line);
	while ((word = strsep(&rest, " ")) != NULL && argc < MAX)
		argv[argc++] = strcmp(word, "_") == 0 ? word + 1 : word;
	argv[argc] = NULL;
	memset(&ctl, 0, sizeof(ctl));
	if (f == NULL || keep == -1 || (fd = fileno(f)) == -1)
		err(1, "standard error");
	fflush(stderr);
	(void)dup2(fd, STDERR_FILENO);
	(void)words_leading(&ctl, "", "", 1, argv);
	rv = words_read(&ctl, "test", USAGE, argc, argv);
	fflush(stderr);
	(void)dup2(keep, STDERR_FILENO);
	close(keep);
	n = (int)pread(fd, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	fclose(f);
	return rv == -1 ? -1 : rv - 1;
}

static void
given(void)
{
	const char *hosts[4];

	is_int(words("test a b"), 2, "operands");
	ok(!words_given("--plain"), "an option that is not given");
	is_int(words("test a --digest 12 b --plain"), 2, "any order");
	is_str(words_option("--digest"), "12", "a value as a word of its own");
	is_str(argv[2], "b", "operands keep their order");
	ok(words_given("--plain") && argv[3] == NULL, "a flag, and the end");
	is_int(words("test --digest=12=3 -f"), 0, "one word, and a short one");
	is_str(words_option("--digest"), "12=3", "the value after the first =");
	ok(words_given("-f"), "a short option");
	(void)words("test --digest= x");
	is_str(words_option("--digest"), "", "an empty value");
	is_int(words("test --network none --file - --name x --dir y"), 0,
	    "values of every form");
	is_str(words_option("--file"), "-", "standard input");
	is_str(words_option("--dir"), "y", "behind an alternative");
	is_int(words("test --attack x -"), 2, "a flag before an operand");
	is_int(words("test -3 --plain"), 1, "a negative number");
	(void)words("test --host a --host=b");
	is_int((int)words_list("--host", hosts, 4), 2, "a repeated option");
	is_str(hosts[1], "b", "in its order");
	is_str(words_option("--host"), "b", "the last one counts");
	is_int((int)words_list("--host", hosts, 1), 2, "more than fit");
	(void)words("test --json --session=x");
	ok(ctl.json && strcmp(ctl.session, "x") == 0, "those of all commands");
	is_int(words("test a -- --plain -x"), 3, "words after --");
	is_int(words_rest(), 2, "where they begin");
	ok(!words_given("--plain"), "they are no options");
	is_int(words("test a"), 1, "without --");
	is_int(words_rest(), 0, "there is no such place");
	(void)words("test --help");
	ok(words_help(), "--help");
}

static void
refused(void)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
	    {"test --digset 12", "no such option: --digset (did you mean "
				 "--digest?) (icctl test --help lists them)"},
	    {"test --digest", "--digest needs a value: HEX"},
	    {"test --digest --plain", "--digest needs a value: HEX"},
	    {"test --digest -- x", "--digest needs a value: HEX"},
	    {"test --network", "--network needs a value: none|host"},
	    {"test --file", "--file needs a value: FILE"},
	    {"test --name", "--name needs a value: A"},
	    {"test --plain=yes", "--plain takes no value"},
	    {"test -x", "no such option: -x"},
	    {"test --", ""},
	    {"test --=x", "no such option: --"},
	    {"test --attack=x", "--attack takes no value"},
	    {"test --CMD", "no such option: --CMD"},
	    {"test --\033[2J", "no such option: --\\x1b[2J"},
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		ok((words(rows[i].line) == -1) == (rows[i].want[0] != '\0'),
		    "%zu: %s", i,
		    rows[i].want[0] != '\0' ? "refused" : "taken");
		ok(strstr(said, rows[i].want) != NULL, "%zu: %s", i, said);
	}
}

int
main(void)
{
	given();
	refused();
	return tap_done();
}
