/* SPDX-License-Identifier: ISC */
/*
 * Reads a command line by the command's usage.  The usage is ours and constant;
 * the words are a person's.
 */
#include "icctl/words.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/near.h"
#include "files/founding.h"
#include "icctl/instead.h"

#define WORDS_MAX 256U

static struct words_env {
	const char *command, *usage, *more;
	size_t n;
	int rest;
	struct words_given {
		const char *name; /* in a usage; ends at `len` */
		size_t len;
		const char *value;
	} given[WORDS_MAX];
} words_env = {.more = ""};

/* An option as it stands in a usage. */
struct words_row {
	const char *name;
	size_t len;
	const char *value; /* such as N, or NULL if it takes none */
	size_t value_len;
};

/*
 * Find the next option in a usage.  Returns where to go on, or NULL if there is
 * none.
 */
static const char *
next_row(const char *usage, const char *from, struct words_row *row)
{
	const char *end;

	for (const char *p = from; *p != '\0'; p++) {
		if (*p != '-' || (p != usage && strchr(" [|\n", p[-1]) == NULL))
			continue;
		row->name = p;
		row->len = strcspn(p, " ]|.\n");
		p += row->len;
		/* Neither "-", for standard input, nor "--". */
		if (row->len < 2 || (row->len == 2 && p[-1] == '-')) {
			p--;
			continue;
		}
		row->value = NULL;
		row->value_len = 0;
		if (*p != ' ' || strchr("|[-\n", p[1]) != NULL)
			return p;
		row->value = p + 1;
		row->value_len = strcspn(p + 1, " ]\n");
		end = strstr(row->value, "|-");
		if (end != NULL && end < row->value + row->value_len)
			row->value_len = (size_t)(end - row->value);
		return row->value;
	}
	return NULL;
}

/* Find an option of the command, or of all commands. */
static bool
find_row(const char *name, size_t len, struct words_row *row)
{
	const char *const usages[] = {
	    words_env.usage, words_env.more, WORDS_COMMON};
	const char *p;

	for (size_t i = 0; i < nitems(usages); i++)
		for (p = usages[i];
		     (p = next_row(usages[i], p, row)) != NULL;)
			if (row->len == len &&
			    memcmp(row->name, name, len) == 0)
				return true;
	return false;
}

static int
bad_option(const char *word, size_t len)
{
	const char *const usages[] = {
	    words_env.usage, words_env.more, WORDS_COMMON};
	char names[WORDS_MAX / 4][32], hint[NEAR_HINT], shown[256], name[256];
	const char *list[WORDS_MAX / 4 + 1] = {NULL}, *p;
	struct words_row row;
	size_t n = 0;

	for (size_t i = 0; i < nitems(usages); i++)
		for (p = usages[i]; n < nitems(names) &&
		     (p = next_row(usages[i], p, &row)) != NULL;
		     n++) {
			snprintf(names[n], sizeof(names[n]), "%.*s",
			    (int)row.len, row.name);
			list[n] = names[n];
		}
	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	/* One letter means something else for each command. */
	if (founding_option(name) != NULL &&
	    (len > 2 || words_env.command[0] == '\0')) {
		warnx("%s: this is no option here. Instead: %s", name,
		    founding_option(name));
		return -1;
	}
	if (instead_say(words_env.command, name))
		return -1;
	warnx("no such option: %s%s (icctl%s%s --help lists them)",
	    log_vis(span_str(name), shown, sizeof(shown)),
	    near_hint(name, list, hint),
	    words_env.command[0] != '\0' ? " " : "", words_env.command);
	return -1;
}

/* Returns true if the word is an option, so that it is hardly a value. */
static bool
is_option(const char *word)
{
	struct words_row row;

	return word[0] == '-' && word[1] != '\0' &&
	       (strcmp(word, "--") == 0 ||
		   find_row(word, strcspn(word, "="), &row));
}

/*
 * Read the option at argv[i].  Returns the number of words that it has, or -1
 * after it printed the reason.
 */
static int
take(int argc, char **argv, int i)
{
	const char *word = argv[i], *eq = strchr(word, '=');
	size_t len = eq != NULL ? (size_t)(eq - word) : strlen(word);
	struct words_given *g = &words_env.given[words_env.n];
	struct words_row row;

	if (!find_row(word, len, &row))
		return bad_option(word, len);
	if (words_env.n == WORDS_MAX) {
		warnx("more than %u options", WORDS_MAX);
		return -1;
	}
	g->name = row.name;
	g->len = row.len;
	if (row.value == NULL) {
		if (eq != NULL) {
			warnx("%.*s takes no value: leave out %s", (int)len,
			    word, eq);
			return -1;
		}
		g->value = "";
		words_env.n++;
		return 1;
	}
	if (eq == NULL && (i + 1 == argc || is_option(argv[i + 1]))) {
		warnx("%s needs a value: %.*s", word, (int)row.value_len,
		    row.value);
		return -1;
	}
	g->value = eq != NULL ? eq + 1 : argv[i + 1];
	words_env.n++;
	return eq != NULL ? 1 : 2;
}

static void
begin(const char *command, const char *usage)
{
	words_env.command = command;
	words_env.usage = usage;
	words_env.rest = 0;
}

static void
set_common(struct icctl *ctl)
{
	if (words_given("--json"))
		ctl->json = true;
	if (words_given("--session"))
		ctl->session = words_option("--session");
}

int
words_leading(struct icctl *ctl, const char *command, const char *usage,
    int argc, char **argv)
{
	int i = 1, n;

	begin(command, usage);
	words_env.n = 0;
	while (i < argc && argv[i][0] == '-' && argv[i][1] != '\0' &&
	       strcmp(argv[i], "--") != 0) {
		if ((n = take(argc, argv, i)) == -1)
			return -1;
		i += n;
	}
	set_common(ctl);
	return i;
}

int
words_read(struct icctl *ctl, const char *command, const char *usage, int argc,
    char **argv)
{
	int out = 1, n;

	begin(command, usage);
	for (int i = 1; i < argc; i += n) {
		n = 1;
		if (strcmp(argv[i], "--") == 0) {
			words_env.rest = out;
			while (++i < argc)
				argv[out++] = argv[i];
			break;
		}
		/* "-", for standard input, and negative numbers are operands. */
		if (argv[i][0] != '-' || argv[i][1] == '\0' ||
		    (argv[i][1] >= '0' && argv[i][1] <= '9'))
			argv[out++] = argv[i];
		else if ((n = take(argc, argv, i)) == -1)
			return -1;
	}
	argv[out] = NULL;
	set_common(ctl);
	return out;
}

const char *
words_option(const char *name)
{
	const struct words_given *g;

	for (size_t i = words_env.n; i-- > 0;) {
		g = &words_env.given[i];
		if (g->len == strlen(name) &&
		    memcmp(g->name, name, g->len) == 0)
			return g->value;
	}
	return NULL;
}

bool
words_given(const char *name)
{
	return words_option(name) != NULL;
}

size_t
words_list(const char *name, const char **list, size_t max)
{
	const struct words_given *g = words_env.given;
	size_t n = 0;

	for (size_t i = 0; i < words_env.n; i++, g++)
		if (g->len == strlen(name) &&
		    memcmp(g->name, name, g->len) == 0) {
			if (n < max)
				list[n] = g->value;
			n++;
		}
	return n;
}

bool
words_help(void)
{
	return words_given("--help") || words_given("-h");
}

void
words_more(const char *usage)
{
	words_env.more = usage;
}

int
words_rest(void)
{
	return words_env.rest;
}

int
words_usage(void)
{
	warnx("usage: icctl %s%s%s", words_env.command,
	    words_env.usage[0] != '\0' ? " " : "", words_env.usage);
	return ICCTL_USAGE;
}
