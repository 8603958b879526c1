/* SPDX-License-Identifier: ISC */
/* The input line of a viewer, and the names of the answering key. */
#include "icctl/screen/message.h"

#include <stdlib.h>
#include <string.h>

#include "common/json/value.h"
#include "files/answer_key.h"
#include "tap.h"

static const char *
text_of(const struct edit *e)
{
	static char text[MESSAGE_MAX + 1];

	text[edit_text(e, (uint8_t *)text)] = '\0';
	return text;
}

static void
test_pieces(void)
{
	static const char keys[] = "a\xc3\xa9\xe4\xb8\x96\xf0\x9f\x98\x80z";
	static struct edit e;

	for (size_t i = 0; i + 1 < sizeof(keys); i++)
		(void)edit_keys(&e, span_of(keys + i, 1));
	is_str(text_of(&e), keys, "characters that arrive in pieces");
	is_int((int)e.bytes, (int)sizeof(keys) - 1, "their bytes are counted");
	(void)edit_keys(&e, SPAN("\x7f\x7f\x7f\x7f\x7f\x7f\x7f"));
	ok(e.n == 0 && e.at == 0 && e.bytes == 0, "all of it is deleted");
	ok(edit_keys(&e, SPAN("e\xcc\x81x\x1b[D\x7f")) == EDIT_GOES_ON,
	    "a combining mark");
	is_str(text_of(&e), "x", "goes with its letter");
	ok(edit_keys(&e, SPAN("a\r\x7f")) == EDIT_ENTER, "Enter");
	ok(edit_keys(&e, SPAN("\x1b\x1b")) == EDIT_CANCEL, "Escape");
	is_str(text_of(&e), "ax", "nothing after it counts");
}

/* Any bytes in any pieces: the line stays within its limits, and is UTF-8. */
static void
test_noise(void)
{
	static const uint8_t picks[] = {0x1b, '[', 'D', 'C', 'O', '3', '~', 0x7f,
	    0x15, 0x17, 0x01, 0x05, 0xc3, 0xa9, 0xcc, 0x81, 0xe4, 0xb8, 0x96,
	    0xf0, 0x9f, 0x98, 0x80, ' ', 'a', 0x80, 0xff};
	static struct edit e;
	uint8_t bytes[64], out[MESSAGE_MAX];
	unsigned bad = 0;
	size_t n, len;

	srandom(7);
	for (unsigned i = 0; i < 200000; i++) {
		n = (size_t)random() % sizeof(bytes) + 1;
		for (size_t k = 0; k < n; k++)
			bytes[k] = picks[(size_t)random() % sizeof(picks)];
		if (random() % 2 == 0)
			(void)edit_keys(&e, span_of(bytes, n));
		else
			edit_paste(&e, span_of(bytes, n));
		len = edit_text(&e, out);
		bad += len != e.bytes || len > MESSAGE_MAX || e.at > e.n ||
		       !utf8_valid(span_of(out, len));
	}
	is_int((int)bad, 0, "random keys leave a valid line");
	while (e.bytes < MESSAGE_MAX)
		edit_paste(&e, SPAN("x"));
	edit_paste(&e, SPAN("\xc3\xa9y"));
	is_int((int)e.bytes, (int)MESSAGE_MAX, "it is never longer");
}

static void
test_keys(void)
{
	static const char *const none[] = {"", "Ctrl-", "Ctrl-C", "ctrl-m",
	    "^[", "^", "G", "Ctrl-GG", "Ctrl-1", "Ctrl-\xc3", "F1", "^@", "^?"};
	char name[ANSWER_KEY_NAME];
	unsigned n = 0;

	is_int(answer_key_parse("Ctrl-]"), 0x1d, "Ctrl-]");
	is_int(answer_key_parse("ctrl-g"), 7, "ctrl-g");
	is_int(answer_key_parse("^\\"), 0x1c, "^\\");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		is_int(answer_key_parse(none[i]), 0, "no key: %s", none[i]);
	for (unsigned k = 0; k < 256; k++)
		n += answer_key_valid((uint8_t)k) &&
		     answer_key_parse(answer_key_name((uint8_t)k, name)) == k;
	is_int((int)n, 25, "each key has a name that is parsed again");
}

int
main(void)
{
	test_pieces();
	test_noise();
	test_keys();
	return tap_done();
}
