/* SPDX-License-Identifier: ISC */
/*
 * "answerKey": the key that a viewer takes for itself, while all others are the
 * agent's. It is typed before a letter: to answer pending calls, to detach.
 */
#ifndef ANSWER_KEY_H
#define ANSWER_KEY_H

#include <stdbool.h>
#include <stdint.h>

#define ANSWER_KEY_DEFAULT 0x1dU /* Ctrl-] */
#define ANSWER_KEY_NAME 8U

/*
 * Parse "Ctrl-]", "ctrl-g" or "^G". Returns the control character, or 0 for a
 * text that names no key that can be used.
 */
uint8_t answer_key_parse(const char *text);
/* Returns true for the control characters that answer_key_parse() returns. */
bool answer_key_valid(uint8_t key);
/* Write the key as people read it, "Ctrl-]". Returns `dst`. */
const char *answer_key_name(uint8_t key, char dst[ANSWER_KEY_NAME]);

#endif
