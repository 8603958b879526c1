/* SPDX-License-Identifier: ISC */
/*
 * Everything that ic-agent writes: to a person, on a terminal or not, or as
 * JSON lines for ironcurtain-events(5).
 */
#ifndef SHOW_H
#define SHOW_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

enum show_kind {
	SHOW_PLAIN,	/* lines */
	SHOW_TERMINAL,
	SHOW_JSON,
};

void show_setup(enum show_kind);
/* Text of the model, in pieces. */
void show_text(struct span);
/* The text is complete, or what follows is something else. */
void show_text_end(void);
/* A line about the agent itself. */
void show_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Something failed; `kind` is one word. */
void show_error(const char *kind, const char *text);
/* The model uses a tool of the agent's own: `detail` is for a person. */
void show_own(const char *tool, const char *detail);
/*
 * A call of the session's tools: it begins; it waits, which may be told several
 * times; it ends.  All on one line, where that is possible.
 */
void show_call(const char *tool, const char *args);
void show_call_waits(struct span message);
void show_call_end(const char *result, bool is_error, bool interrupted);

#endif
