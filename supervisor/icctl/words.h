/* SPDX-License-Identifier: ISC */
/*
 * The words of icctl's command line.  The usage of a command, which its help
 * prints and the completions are made of, is also the table by which its
 * options are read: "[--keep N] [--dry-run] ID..." has one that takes a value
 * and one that does not.  All commands so take `--keep 3`, `--keep=3`, any
 * order, and operands after `--`, and refuse a wrong option in the same words.
 */
#ifndef ICCTL_WORDS_H
#define ICCTL_WORDS_H

#include "icctl/icctl.h"

/* Options of every command, which may also stand before it. */
#define WORDS_COMMON "[--json] [--session DIR|ID] [--help] [-h]"

/* A command line that icctl composes has at most this many words. */
#define WORDS_ARGS 512U

/*
 * Begin with a command line: read the options that stand before the first
 * operand.  Returns its index, or argc if there is none, or -1 after it printed
 * the reason.
 */
int words_leading(struct icctl *, const char *command, const char *usage,
    int argc, char **argv);
/*
 * Read all options, besides those before, and set the common ones in struct icctl; `argv` then has
 * its first word and the operands, and ends with NULL.  `command` and `usage`
 * are kept.  Returns the number of words, or -1 after it printed the reason.
 */
int words_read(struct icctl *, const char *command, const char *usage, int argc,
    char **argv);
/* Take these options, too, from the next words_read() on; "": none. */
void words_more(const char *usage);
/*
 * Returns the value of the option, "" if it takes none, and NULL if it was not
 * given; the last one counts.
 */
const char *words_option(const char *name);
bool words_given(const char *name);
/*
 * Put the values of an option that may be repeated into `list`.  Returns their
 * number, which may be larger than `max`.
 */
size_t words_list(const char *name, const char **list, size_t max);
/* Returns true if --help or -h was given. */
bool words_help(void);
/* Returns the index of the first operand after "--", or 0 without "--". */
int words_rest(void);
/* Print the usage of the command that was read.  Returns ICCTL_USAGE. */
int words_usage(void);

#endif
