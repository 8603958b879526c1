/* SPDX-License-Identifier: ISC */
#include "host/reach.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

#define REACH_MAX ((size_t)64 << 10)
#define REACH_LONG "a place that a text of more than 64 KiB may name"

const char *
reach_path(const struct places *p, const char *path)
{
	char whole[PATH_MAX];

	if (path[0] == '\0')
		return NULL;
	if (path[0] == '/')
		return places_of(p, path, NULL);
	if ((size_t)snprintf(whole, sizeof(whole), "/%s", path) >=
	    sizeof(whole))
		return NULL;
	return places_of(p, whole, NULL);
}

/* Returns true if a name may go on with this byte: no program splits there. */
static bool
reach_goes_on(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 ||
	       (c != '\0' && strchr("_-.+@%#~", c) != NULL);
}

/*
 * Returns the place that the text leads into, below the directory `base`, if it
 * ends at any byte where a program may end a path. A part that does not exist
 * ends the search: nothing longer leads anywhere.
 */
static const char *
reach_ends(const struct places *p, const char *base, const char *text)
{
	char path[PATH_MAX];
	const char *place;
	size_t at;
	int fd, n;

	n = snprintf(path, sizeof(path), "%s/", base);
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	at = (size_t)n;
	text += strspn(text, "/");
	for (; *text != '\0' && at < sizeof(path) - 1; text++) {
		if (*text == '/' && path[at - 1] != '/') {
			place = places_of(p, path, &fd);
			if (fd != -1)
				close(fd);
			if (place != NULL || fd == -1)
				return place;
		}
		path[at++] = *text;
		path[at] = '\0';
		if (*text != '/' && !reach_goes_on(text[1]) &&
		    (place = places_of(p, path, NULL)) != NULL)
			return place;
	}
	return NULL;
}

/* Returns true if a shell may replace what stands before text[at] by a path. */
static bool
reach_refers(const char *text, size_t at)
{
	size_t i = at;

	if (at != 0 && text[at - 1] == '}')
		return true;
	while (i > 0 && (isalnum((unsigned char)text[i - 1]) ||
			    strchr("_-.", text[i - 1]) != NULL))
		i--;
	return i > 0 && (text[i - 1] == '~' || text[i - 1] == '$');
}

/* Returns true if a path can begin at text[at]. */
static bool
reach_begins(const char *text, size_t at)
{
	return at == 0 || text[at] == '/' ||
	       strchr("=:,;@ \t\n\"'`()<>|&", text[at - 1]) != NULL;
}

const char *
reach_text(const struct places *p, const char *user_home, const char *text)
{
	const char *place;
	size_t len = strlen(text);
	int fd = -1;

	if (len > REACH_MAX)
		return REACH_LONG;
	/* Is it as a whole a path that is there? Then it is nothing else. */
	if (text[0] == '/') {
		place = places_of(p, text, &fd);
		if (fd != -1)
			close(fd);
		if (place != NULL || fd != -1)
			return place;
	}
	for (size_t i = 0; i < len; i++) {
		if (reach_begins(text, i) &&
		    (place = reach_ends(p, "", text + i)) != NULL)
			return place;
		if (text[i] == '/' && reach_refers(text, i) &&
		    (place = reach_ends(p, user_home, text + i)) != NULL)
			return place;
	}
	return NULL;
}

/*
 * Interpreters, and programs that start another one with a text. `letters` are
 * the short options that take a program's text, `values` those that take
 * something else, so that what follows them in a word are no options.
 */
/* clang-format off */
static const struct interpreter {
	const char *name;
	const char *letters, *values;
	const char *words[4]; /* whole words */
	bool text; /* its first operand is its program, unless there is -f */
} interpreters[] = {
#define I(name, letters, values) {name, letters, values, {NULL}, false}
#define W(name, letters, values, ...) \
	{name, letters, values, {__VA_ARGS__}, false}
    I("sh", "c", "oO"),
    I("bash", "c", "oO"),
    I("dash", "c", "oO"),
    I("ash", "c", "oO"),
    I("ksh", "c", "oO"),
    I("mksh", "c", "oO"),
    I("zsh", "c", "oO"),
    I("csh", "c", ""),
    I("tcsh", "c", ""),
    I("rbash", "c", "oO"),
    I("xonsh", "c", ""),
    I("elvish", "c", ""),
    W("fish", "cC", "dDo", "--command", "--init-command"),
    W("nu", "c", "I", "--commands", "-e", "--execute"),
    W("pwsh", "c", "", "-Command", "-EncodedCommand", "-ec"),
    I("python", "c", "WXm"),
    I("pypy", "c", "WXm"),
    I("ipython", "c", ""),
    I("perl", "eE", "IMmDFxCi"),
    I("ruby", "e", "IrECFxTW"),
    I("lua", "e", "l"),
    I("luajit", "e", "l"),
    I("expect", "c", ""),
    I("guile", "c", "lLseqxCp"),
    I("Rscript", "e", ""),
    I("R", "e", ""),
    I("osascript", "e", ""),
    I("ocaml", "e", ""),
    I("groovy", "e", ""),
    I("scala", "e", ""),
    I("racket", "e", "rtlu"),
    I("clojure", "eM", ""),
    I("elixir", "e", ""),
    W("erl", "", "", "-eval", "-run", "-s"),
    W("sbcl", "", "", "--eval"),
    W("octave", "", "", "--eval"),
    W("node", "ep", "rC", "--eval", "--print"),
    W("nodejs", "ep", "rC", "--eval", "--print"),
    W("bun", "ep", "r", "--eval", "--print"),
    W("deno", "", "", "eval"),
    W("tsx", "ep", "r", "--eval", "--print"),
    W("php", "rBRE", "dcfzSt", "--run", "--process-begin"),
    W("julia", "eE", "LtpJ", "--eval", "--print"),
    W("emacs", "", "", "--eval", "--execute"),
    I("vim", "c", ""),
    {"awk", "e", "Fv", {"--source"}, true},
    {"gawk", "e", "Fv", {"--source"}, true},
    {"mawk", "", "Fv", {NULL}, true},
    {"nawk", "", "Fv", {NULL}, true},
    {"sed", "e", "", {"--expression"}, true},
    /* These start a shell or another program with a text. */
    W("env", "S", "uC", "--split-string"),
    W("su", "c", "gGsw", "--command", "--session-command"),
    W("runuser", "c", "gGsuw", "--command", "--session-command"),
    W("flock", "c", "wE", "--command"),
    W("script", "c", "", "--command"),
    W("npx", "", "", "--call"),
    W("nix-shell", "", "", "--run", "--command"),
#undef I
#undef W
};
/* clang-format on */

bool
reach_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	size_t n = strlen(name);

	if (slash != NULL)
		path = slash + 1;
	return strncmp(path, name, n) == 0 &&
	       path[n + strspn(path + n, "0123456789.-")] == '\0';
}

static const struct interpreter *
reach_interpreter(const char *path)
{
	for (size_t i = 0; i < nitems(interpreters); i++)
		if (reach_named(path, interpreters[i].name))
			return &interpreters[i];
	return NULL;
}

/* Returns true if the option, a word of the command line, takes a text. */
static bool
reach_takes(const struct interpreter *in, const char *word)
{
	size_t n;

	for (size_t i = 0; i < nitems(in->words) && in->words[i] != NULL; i++) {
		n = strlen(in->words[i]);
		if (strncmp(word, in->words[i], n) == 0 &&
		    (word[n] == '\0' || word[n] == '='))
			return true;
	}
	if (word[0] != '-' || word[1] == '-')
		return false;
	for (word++; *word != '\0'; word++) {
		if (strchr(in->letters, *word) != NULL)
			return true;
		if (strchr(in->values, *word) != NULL)
			return false;
	}
	return false;
}

/* Returns true if the option says that the program is in a file. */
static bool
reach_from_file(const struct interpreter *in, const char *word)
{
	return in->text &&
	       (strncmp(word, "-f", 2) == 0 || strncmp(word, "--file", 6) == 0);
}

/* Returns true if the word is the interpreter's program, in a file. */
static bool
reach_is_file(const char *word)
{
	char path[PATH_MAX];

	if (word[0] == '-' ||
	    (size_t)snprintf(path, sizeof(path), "%s%s",
		word[0] == '/' ? "" : "/", word) >= sizeof(path))
		return false;
	return access(path, F_OK) == 0;
}

/* Returns the word that is the interpreter's program, or its option; or NULL.
 */
static const char *
reach_program(const struct interpreter *in, char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++) {
		if (reach_takes(in, words[i]))
			return words[i];
		if (reach_from_file(in, words[i]))
			return NULL;
		if (in->text && words[i][0] != '-')
			return words[i];
		/* A script or a module, and its own arguments. */
		if (reach_is_file(words[i]) ||
		    (i != 0 && strcmp(words[i - 1], "-m") == 0))
			return NULL;
	}
	return NULL;
}

const char *
reach_inline(char *const *words, const char *real, const char **program)
{
	const struct interpreter *in;
	const char *found;

	for (size_t i = 0; words[i] != NULL; i++) {
		in = reach_interpreter(words[i]);
		if (in == NULL && i == 0)
			in = reach_interpreter(real);
		if (in == NULL ||
		    (found = reach_program(in, words + i + 1)) == NULL)
			continue;
		*program = words[i];
		return found;
	}
	return NULL;
}
