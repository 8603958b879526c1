/* SPDX-License-Identifier: ISC */
/*
 * The way a viewer shows a session: derived from standard input, output and
 * error, and passed between programs as text, "screen:23x80,key:7" or
 * "lines,raw-out,input".
 */
#ifndef VIEWER_HOW_H
#define VIEWER_HOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEWER_HOW_TEXT 96U
#define VIEWER_HOW_ENV 64U
/* The icctl command that a viewer runs as. */
#define VIEWER_HOW_COMMAND "viewer"

struct viewer_how {
	bool screen;         /* the agent's full screen, else lines */
	bool raw[2];         /* standard output and error are redirected */
	bool input;          /* standard input is passed on */
	bool merge;          /* both outputs are one file: keep their order */
	bool acp;            /* an editor reads and writes them */
	bool attached;       /* attached to a running session */
	bool talk;           /* lines that are typed are messages */
	bool answers;        /* a conversation: its events are shown */
	uint8_t key;         /* the viewer's own key on a full screen */
	unsigned rows, cols; /* size of the agent's screen */
};

/*
 * Examine standard input, output and error of this process. `no_input`: the
 * agent reads no input, and needs no full screen.
 */
void viewer_how_find(struct viewer_how *, bool no_input);
/* An editor has started this process, and speaks ACP to it. */
void viewer_how_editor(struct viewer_how *);
/* dst has VIEWER_HOW_TEXT bytes. */
void viewer_how_text(const struct viewer_how *, char *dst);
/* Returns 0, or -1 if viewer_how_text() did not write the text. */
int viewer_how_parse(struct viewer_how *, const char *text);
/*
 * Copy the variables that a viewer needs: how to use its terminal, but no key.
 * `envp` has VIEWER_HOW_ENV + 1 entries.
 */
void viewer_how_environment(char **envp);

#endif
