/* SPDX-License-Identifier: ISC */
/*
 * The viewer's own input line: a message that the person types to the agent in
 * the bottom line. The agent sees nothing of it before Enter; then icsupervisor
 * learns that the person said it, and the agent gets it as a paste and Enter,
 * or, in a conversation, as its next message.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

/* Bytes of UTF-8: fits into one PASTE, and into the record of the message. */
#define MESSAGE_MAX 2000U

/* edit.c: a line of characters that can be drawn, and the place in it. */
struct edit {
	uint32_t c[MESSAGE_MAX];
	size_t n, at; /* characters, and the cursor's index */
	size_t bytes; /* as UTF-8 */
	uint8_t part[4]; /* the beginning of a character */
	size_t npart;
};

enum edit_end { EDIT_GOES_ON, EDIT_ENTER, EDIT_CANCEL };

/*
 * Take keys as keys.c decodes them. Keys after Enter or the key that cancels are
 * dropped.
 */
enum edit_end edit_keys(struct edit *, struct span);
/* Take pasted bytes as text: a line's end and a tab are a space. */
void edit_paste(struct edit *, struct span);
/* Write the line as UTF-8. Returns its length. */
size_t edit_text(const struct edit *, uint8_t dst[MESSAGE_MAX]);

/* message.c */
/* Open the line, with the text that could not be sent before. */
void message_open(void);
bool message_is_open(void);
/* Take the input if the line is open. Returns true if it did. */
bool message_keys(struct span);
bool message_paste(struct span);
/* Send a line that was typed where there is no full screen. */
void message_whole(struct span line);

#endif
