/* SPDX-License-Identifier: ISC */
/*
 * git, as a git server calls it: locked, with our environment, and with our
 * configuration after the caller's own on the command line, where the last
 * value wins.  Names that the repository chose are found by asking git for
 * names alone, which runs nothing.  This happens for every repository that git
 * enters, because every git that git itself starts comes through here again.
 */
#include "icgit/icgit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REFUSED 128

static void __attribute__((noreturn, format(printf, 1, 2)))
refuse(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fputs("git: refused by IronCurtain: ", stderr);
	(void)vfprintf(stderr, fmt, ap);
	(void)fputs("\n", stderr);
	va_end(ap);
	exit(REFUSED);
}

static bool
is_one_of(const char *s, const char *const *list)
{
	for (; *list != NULL; list++) {
		if (strcmp(s, *list) == 0)
			return true;
	}
	return false;
}

/* Returns the number of words before the subcommand. */
static size_t
globals(char **argv)
{
	static const char *const two[] = {"-C", "-c", "--git-dir",
	    "--work-tree", "--namespace", "--super-prefix", "--config-env",
	    "--attr-source", NULL};
	size_t n = 1;

	while (argv[n] != NULL && argv[n][0] == '-') {
		if (strncmp(argv[n], "--exec-path=", 12) == 0)
			refuse("--exec-path: it runs git's own programs");
		if (is_one_of(argv[n], two) && argv[n + 1] != NULL)
			n++;
		n++;
	}
	return n;
}

/*
 * Returns true if the argument is that option, in full or abbreviated as git
 * allows.
 */
static bool
is_option(const char *arg, const char *option)
{
	size_t n = strcspn(arg, "=");

	return n >= 5 && strncmp(arg, option, n) == 0;
}

static void
check_options(char **args)
{
	static const char *const recursing[] = {
	    "clone", "fetch", "pull", "push", NULL};
	const char *value;

	for (char **a = args + 1; *a != NULL && strcmp(*a, "--") != 0; a++) {
		if ((*a)[0] != '-' || (*a)[1] != '-')
			continue;
		value = strchr(*a, '=');
		if (is_option(*a, "--upload-pack") ||
		    is_option(*a, "--receive-pack") || is_option(*a, "--exec"))
			refuse("%s: names a program to run", *a);
		if (is_one_of(*args, recursing) &&
		    (is_option(*a, "--recurse-submodules") ||
			is_option(*a, "--recursive")) &&
		    (value == NULL || strcmp(value, "=no") != 0))
			refuse("%s: submodules name hosts that nobody has "
			       "judged",
			    *a);
	}
}

/* Ask git for all names. Returns its exit status, or -1 with errno set. */
static int
list_names(const struct icgit_args *first, struct buf *names)
{
	static struct icgit_args ask;

	ask = *first;
	icgit_fixed(&ask);
	icgit_add(&ask, "config");
	icgit_add(&ask, "--list");
	icgit_add(&ask, "--name-only");
	icgit_add(&ask, "-z");
	return icgit_run(&ask, names, ICGIT_LIST_MS);
}

/*
 * Find the names of the configuration in force where this command will run, and
 * override those that need it. If the command `takes` files, their filters
 * fail.
 */
static void
find_names(struct icgit_args *a, char **argv, size_t nglobals, bool takes)
{
	static struct icgit_args first;
	static struct buf list;
	struct span names;
	int r = 0;

	for (size_t i = 0; i < nglobals; i++)
		icgit_add(&first, i == 0 ? "git" : argv[i]);
	if (!icgit_names_kept(&first, &names)) {
		buf_init(&list, ICGIT_MAX_NAMES);
		r = list_names(&first, &list);
		names = buf_span(&list);
	}
	if (r == -1)
		refuse("the repository's configuration cannot be read: %s",
		    strerror(errno));
	/*
	 * A configuration that we cannot read, git cannot read either, and
	 * reports.
	 */
	if (r == 0 && icgit_found(a, names) == -1)
		refuse("the repository configures more filters, drivers and "
		       "aliases than can be turned off");
	if (r == 0 && takes && icgit_filters(a, &first, names) == -1)
		refuse("the filters of the repository's files cannot be "
		       "found: %s",
		    strerror(errno));
}

void
icgit_ahead(char **argv)
{
	static struct icgit_args first;
	struct span names;
	struct buf list;
	size_t n;

	/* The process that runs the command says what is wrong. */
	if (icgit_env() == -1 || argv[0] == NULL)
		return;
	n = globals(argv);
	first.n = 0;
	for (size_t i = 0; i < n; i++)
		icgit_add(&first, i == 0 ? "git" : argv[i]);
	if (first.full || icgit_names_kept(&first, &names))
		return;
	buf_init(&list, ICGIT_MAX_NAMES);
	if (list_names(&first, &list) == 0)
		icgit_names_keep(&first, buf_span(&list));
	buf_free(&list);
}

/* Turn off programs that convert files to text for diffs. */
static void
add_plain(struct icgit_args *a, const char *command)
{
	static const char *const show[] = {
	    "blame", "diff", "log", "show", "whatchanged", NULL};

	if (!is_one_of(command, show))
		return;
	icgit_add(a, "--no-textconv");
	if (strcmp(command, "blame") != 0)
		icgit_add(a, "--no-ext-diff");
}

int
icgit_wrap(char **argv, bool locked)
{
	static struct icgit_args a;
	const char *real = icgit_real(), *base = strrchr(argv[0], '/');
	char *part[2] = {NULL, NULL}, **command;
	size_t n;

	base = base != NULL ? base + 1 : argv[0];
	if (real == NULL)
		refuse("git is not installed");
	if (icgit_env() == -1)
		refuse("environment: %s", strerror(errno));
	if (!locked && icgit_lock() == -1)
		refuse("Landlock is not to be had: %s", strerror(errno));
	/* git-upload-pack and the like are git in one word. */
	n = strcmp(base, "git") == 0 ? globals(argv) : 1;
	icgit_add(&a, argv[0]);
	if (strcmp(base, "git") != 0) {
		if (strncmp(base, "git-", 4) != 0)
			refuse("%s: no such program of git's", base);
		a.v[0] = "git";
		part[0] = argv[0] + strlen(argv[0]) - strlen(base) + 4;
	}
	for (size_t i = 1; i < n; i++)
		icgit_add(&a, argv[i]);
	icgit_fixed(&a);
	command = strcmp(base, "git") == 0 ? argv + n : part;
	find_names(&a, argv, n, icgit_takes(command));
	if (strcmp(base, "git") != 0) {
		icgit_add(&a, base + 4);
	} else if (argv[n] != NULL) {
		check_options(argv + n);
		icgit_add(&a, argv[n++]);
		add_plain(&a, argv[n - 1]);
	}
	for (; argv[n] != NULL; n++)
		icgit_add(&a, argv[n]);
	if (a.full)
		refuse("more than %u arguments", ICGIT_MAX_ARGS);
	(void)execv(real, (char *const *)(uintptr_t)a.v);
	refuse("%s: %s", real, strerror(errno));
}
