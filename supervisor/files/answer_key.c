/* SPDX-License-Identifier: ISC */
#include "files/answer_key.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * Control with one of these. Missing are those that terminals send for other
 * keys (Backspace, Tab, Enter, Escape), and Ctrl-C, which must always reach the
 * agent.
 */
static const char answer_keys[] = "ABDEFGKLNOPQRSTUVWXYZ\\]^_";

bool
answer_key_valid(uint8_t key)
{
	return key != 0 && key < 0x20 && strchr(answer_keys, key | 0x40) != NULL;
}

uint8_t
answer_key_parse(const char *text)
{
	uint8_t key;

	if (strncasecmp(text, "ctrl-", 5) == 0)
		text += 5;
	else if (text[0] == '^' && text[1] != '\0')
		text++;
	else
		return 0;
	if (text[0] == '\0' || text[1] != '\0')
		return 0;
	key = (uint8_t)text[0];
	if (key >= 'a' && key <= 'z')
		key = (uint8_t)(key - 'a' + 'A');
	if (key < 0x40 || key > 0x5f)
		return 0;
	key &= 0x1f;
	return answer_key_valid(key) ? key : 0;
}

const char *
answer_key_name(uint8_t key, char dst[ANSWER_KEY_NAME])
{
	snprintf(dst, ANSWER_KEY_NAME, "Ctrl-%c", key | 0x40);
	return dst;
}
