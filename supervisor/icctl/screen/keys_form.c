/* SPDX-License-Identifier: ISC */
/*
 * Composes a key for the agent. Terminals report keys in two extended forms,
 * that of Kitty and that of xterm; the agent gets the form that it asked for,
 * or the old one, in which some keys cannot be told apart.
 */
#include "icctl/screen/viewer.h"

#include <stdio.h>
#include <string.h>

#include "common/json/text.h"

#define ENTER 13U
#define TAB 9U
#define ESCAPE 27U
#define BACKSPACE 127U

/* Returns the control character of Ctrl and this key, or -1. */
static int
keys_control(uint32_t code)
{
	if (code >= 'a' && code <= 'z')
		return (int)(code - 'a' + 1);
	if (code >= '@' && code <= '_')
		return (int)(code - '@');
	if (code == ' ' || code == '2')
		return 0;
	if (code >= '3' && code <= '7')
		return (int)(code - '3' + ESCAPE);
	if (code == '/')
		return 0x1f;
	return code == '8' || code == BACKSPACE ? (int)BACKSPACE : -1;
}

size_t
keys_old(uint32_t code, unsigned mods, uint8_t dst[KEYS_FORM])
{
	size_t n = 0;
	int control;

	if ((mods & ~(KEYS_SHIFT | KEYS_ALT | KEYS_CTRL)) != 0 ||
	    code > 0x10ffff || (code >= 0xd800 && code < 0xf900) ||
	    (code < 0x20 && code != ENTER && code != TAB && code != ESCAPE))
		return 0;
	if (code == TAB && (mods & KEYS_SHIFT) != 0) {
		memcpy(dst, "\033[Z", 3);
		return 3;
	}
	if ((mods & KEYS_ALT) != 0)
		dst[n++] = ESCAPE;
	if (code == BACKSPACE) {
		dst[n++] = (mods & KEYS_CTRL) != 0 ? 8 : BACKSPACE;
	} else if (code < 0x20) {
		dst[n++] = (uint8_t)code;
	} else if ((mods & KEYS_CTRL) != 0) {
		if ((control = keys_control(code)) == -1)
			return 0;
		dst[n++] = (uint8_t)control;
	} else {
		if ((mods & KEYS_SHIFT) != 0 && code >= 'a' && code <= 'z')
			code -= 'a' - 'A';
		n += text_utf8_put(dst + n, code);
	}
	return n;
}

/* Returns true if the old form tells the key apart from the one alone. */
static bool
keys_distinct(uint32_t code, unsigned mods, const uint8_t *old, size_t n)
{
	uint8_t alone[KEYS_FORM];

	if (mods == 0)
		return true;
	return n != 0 &&
	       !(n == keys_old(code, 0, alone) && memcmp(old, alone, n) == 0);
}

static size_t
keys_kitty(uint32_t code, unsigned mods, uint8_t dst[KEYS_FORM])
{
	const bool typed = mods == 0 || mods == KEYS_SHIFT;
	char text[KEYS_FORM];
	int n;

	/* A shell in this mode must still be usable: these stay. */
	if ((mods == 0 &&
		(code == ENTER || code == TAB || code == BACKSPACE)) ||
	    (typed && code >= 0x20 && code != BACKSPACE &&
		(code < 0xe000 || code > 0xf8ff)))
		return keys_old(code, mods, dst);
	if (mods == 0)
		n = snprintf(text, sizeof(text), "\033[%uu", (unsigned)code);
	else
		n = snprintf(text, sizeof(text), "\033[%u;%uu", (unsigned)code,
		    mods + 1);
	memcpy(dst, text, (size_t)n);
	return (size_t)n;
}

size_t
keys_form(uint32_t code, unsigned mods, uint32_t modes, uint8_t dst[KEYS_FORM])
{
	char text[KEYS_FORM];
	size_t n;
	int len;

	if ((modes & PROTO_TERM_KITTY) != 0)
		return keys_kitty(code, mods, dst);
	n = keys_old(code, mods, dst);
	if (keys_distinct(code, mods, dst, n))
		return n;
	if ((modes & PROTO_TERM_OTHER_KEYS) == 0)
		return 0;
	len = snprintf(
	    text, sizeof(text), "\033[27;%u;%u~", mods + 1, (unsigned)code);
	memcpy(dst, text, (size_t)len);
	return (size_t)len;
}
