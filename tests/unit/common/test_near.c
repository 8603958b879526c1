/* SPDX-License-Identifier: ISC */
/* Guessing the known name that an unknown one was meant to be. */
#include "common/near.h"

#include <string.h>

#include "common/span.h"
#include "tap.h"

static const char *const agents[] = {"claude-code", "codex", "command",
    "gemini-cli", "opencode", "claude", "gemini", NULL};

static const struct {
	const char *word, *want; /* NULL if none is near */
} rows[] = {
    {"claude", "claude"},
    {"cluade", "claude"},
    {"Claude", "claude"},
    {"claudecode", "claude-code"},
    {"codx", "codex"},
    {"codex2", "codex"},
    {"geminy", "gemini"},
    {"open-code", "opencode"},
    {"comand", "command"},
    {"opencod", "opencode"},
    {"goose", NULL},
    {"fix", NULL},
    {"co", NULL},
    {"c", NULL},
    {"", NULL},
    {"a much longer text than any name that could have been meant, or is it "
     "not one",
	NULL},
};

/* Dashes are no letters. */
static void
test_options(void)
{
	static const char *const options[] = {
	    "-f", "-h", "--json", "--task", "--because", NULL};

	ok(near_name("-n", options) == NULL, "one letter is near to none");
	ok(near_name("--reason", options) == NULL, "--reason is not --json");
	ok(near_name("--last", options) == NULL, "--last is not --task");
	is_str(near_name("--tsak", options), "--task", "--tsak is --task");
	is_str(near_name("--becuse", options), "--because", "--becuse, too");
}

int
main(void)
{
	static const char *const none[] = {NULL};
	char longest[200], hint[NEAR_HINT];
	const char *got;

	for (size_t i = 0; i < nitems(rows); i++) {
		got = near_name(rows[i].word, agents);
		is_str(got != NULL ? got : "(none)",
		    rows[i].want != NULL ? rows[i].want : "(none)", "\"%s\"",
		    rows[i].word);
	}
	is_str(near_hint("codx", agents, hint), " (did you mean codex?)",
	    "the hint names it");
	is_str(near_hint("codex", agents, hint), "", "no hint for the word");
	is_str(near_hint("goose", agents, hint), "", "no hint where none is");
	ok(near_name("codex", none) == NULL, "no names, no answer");
	test_options();
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ok(near_name(longest, agents) == NULL, "a long word is not compared");
	return tap_done();
}
