/* SPDX-License-Identifier: ISC */
/*
 * How a viewer shows a session: found from standard input, output and error,
 * and handed from program to program as text, "screen:23x80" or
 * "lines,raw-out,input".
 */
#ifndef VIEWER_HOW_H
#define VIEWER_HOW_H

#include <stdbool.h>
#include <stddef.h>

#define VIEWER_HOW_TEXT 96U
#define VIEWER_HOW_ENV 64U
/* The command of icctl that a viewer runs as. */
#define VIEWER_HOW_COMMAND "viewer"

struct viewer_how {
	bool screen;   /* the agent's full screen, else lines */
	bool raw[2];   /* standard output and error are redirected */
	bool input;    /* standard input is passed on */
	bool merge;    /* both outputs are one file: their order is kept */
	bool attached; /* to a session that goes on without us */
	unsigned rows, cols; /* of the agent's screen */
};

/*
 * Judges standard input, output and error of this process. no_input: the
 * agent reads nothing, and so needs no full screen.
 */
void viewer_how_find(struct viewer_how *, bool no_input);
/* dst has VIEWER_HOW_TEXT bytes. */
void viewer_how_text(const struct viewer_how *, char *dst);
/* Returns 0, or -1 if the text is none of ours. */
int viewer_how_parse(struct viewer_how *, const char *text);
/*
 * What of our environment a viewer gets: how its terminal is used, and no key.
 * envp has VIEWER_HOW_ENV + 1 places.
 */
void viewer_how_environment(char **envp);

#endif
