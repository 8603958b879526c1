/* SPDX-License-Identifier: ISC */
/* WebSocket: the example of RFC 6455, heads, masks, and malformed frames. */
#include "mitmd/wire/ws.h"
#include "tap.h"

static void
test_handshake(void)
{
	static const uint8_t bytes[16] = "the sample nonce";
	char text[WS_ACCEPT + 1];

	ws_key(bytes, text);
	is_str(text, "dGhlIHNhbXBsZSBub25jZQ==", "a key");
	ok(ws_key_ok(span_str(text)), "that is one");
	ws_accept(span_str("dGhlIHNhbXBsZSBub25jZQ=="), text);
	is_str(text, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "its answer (RFC 6455 1.3)");
	ok(!ws_key_ok(SPAN("dGhlIHNhbXBsZSBub25jZQ=")), "too short");
	ok(!ws_key_ok(SPAN("dGhlIHNhbXBsZSBub25jZR==")), "17 bits too many");
	ok(!ws_key_ok(SPAN("dGhlIHNhbXBsZSBub25j Q==")), "a space in it");
}

static void
test_mask(void)
{
	static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
	uint8_t text[40], want[40];

	for (size_t len = 0; len <= sizeof(text); len += 3) {
		for (size_t i = 0; i < sizeof(text); i++) {
			text[i] = (uint8_t)(i * 7);
			want[i] = (uint8_t)((i * 7) ^ mask[(i + 3) & 3]);
		}
		ws_mask(text, len, mask, 3);
		is_mem(text, len, want, len, "a mask over %zu bytes", len);
	}
	memcpy(text, "\x7f\x9f\x4d\x51\x58", 5);
	ws_mask(text, 5, mask, 0);
	is_mem(text, 5, "Hello", 5, "RFC 6455 5.7");
}

/* Returns the events as letters: H head, D data, E end, B bad, T bad text. */
static const char *
events(const char *bytes, size_t len, bool masked)
{
	static char out[64];
	uint8_t copy[256], *p = copy;
	struct ws_parser w;
	struct span data;
	size_t n = 0;

	memcpy(copy, bytes, len);
	ws_init(&w, masked);
	while (n < sizeof(out) - 1) {
		switch (ws_next(&w, &p, &len, &data)) {
		case WS_MORE:
			out[n] = '\0';
			return out;
		case WS_HEAD:
			out[n++] = 'H';
			break;
		case WS_DATA:
			out[n++] = 'D';
			break;
		case WS_END:
			out[n++] = 'E';
			break;
		case WS_BAD:
			out[n++] = w.code == WS_NOT_TEXT ? 'T' : 'B';
			out[n] = '\0';
			return out;
		}
	}
	return "?";
}

#define ROW(bytes, masked, want, name)					\
	is_str(events(bytes, sizeof(bytes) - 1, masked), want, name)

static void
test_frames(void)
{
	ROW("\x81\x05Hello", false, "HDE", "one text frame");
	ROW("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", true, "HDE",
	    "masked");
	ROW("\x01\x03Hel\x80\x02lo", false, "HDEHDE", "in two");
	ROW("\x01\x03Hel\x89\x00\x80\x02lo", false, "HDEHEHDE",
	    "with a PING between");
	ROW("\x81\x00", false, "HE", "an empty one");
	ROW("\x88\x02\x03\xe8", false, "HDE", "a close");
	ROW("\x88\x00\x81\x00", false, "HEB", "and something after it");
	ROW("\x81\x05Hello", true, "B", "no mask");
	ROW("\x81\x85\1\2\3\4Hello", false, "B", "a mask");
	ROW("\xc1\x00", false, "B", "RSV1");
	ROW("\xa1\x00", false, "B", "RSV2");
	ROW("\x91\x00", false, "B", "RSV3");
	ROW("\x83\x00", false, "B", "opcode 3");
	ROW("\x8b\x00", false, "B", "opcode 11");
	ROW("\x80\x00", false, "B", "a continuation of nothing");
	ROW("\x01\x00\x81\x00", false, "HEB", "a message in a message");
	ROW("\x09\x00", false, "B", "half a PING");
	ROW("\x89\x7e\x00\x7e", false, "B", "a PING of 126 bytes");
	ROW("\x81\x7e\x00\x7d", false, "B", "125 in two bytes");
	ROW("\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xff", false, "B",
	    "65535 in eight bytes");
	ROW("\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00", false, "B", "2^63");
	ROW("\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", false, "H",
	    "2^63 - 1 is a length");
}

static void
test_text(void)
{
	ROW("\x81\x03\xe2\x82\xac", false, "HDE", "UTF-8");
	ROW("\x01\x01\xe2\x80\x02\x82\xac", false, "HDEHDE",
	    "a character in two frames");
	ROW("\x01\x01\xe2\x89\x01\xff\x80\x02\x82\xac", false, "HDEHDEHDE",
	    "with a PING between, which may hold anything");
	ROW("\x82\x02\xff\xfe", false, "HDE", "a binary message may");
	ROW("\x81\x02\xc3\x28", false, "HT", "a character that does not go on");
	ROW("\x81\x01\xff", false, "HT", "a byte that is none");
	ROW("\x81\x02\xe2\x82", false, "HDT", "a character that is cut");
	ROW("\x01\x01\xe2\x80\x00", false, "HDEHT", "cut in the last frame");
	ROW("\x81\x02\xc0\xaf", false, "HT", "too long a form");
	ROW("\x81\x03\xed\xa0\x80", false, "HT", "a surrogate");
	ROW("\x81\x04\xf4\x90\x80\x80", false, "HT", "beyond Unicode");
	ROW("\x81\x04\xf0\x8f\xbf\xbf", false, "HT", "too long again");
	ROW("\x81\x84\1\2\3\4\xc2\x29\x03\x04", true, "HT", "masked");
	ROW("\x88\x05\x03\xe8\xe2\x82\xac", false, "HDE", "a close's reason");
	ROW("\x88\x03\x03\xe8\xff", false, "HT", "that is no text");
	ROW("\x88\x04\x03\xe8\xe2\x82", false, "HDT", "that is cut");
}

static void
test_codes(void)
{
	static const unsigned good[] = {1000, 1001, 1002, 1003, 1007, 1011,
	    1012, 1013, 1014, 3000, 3999, 4000, 4999};
	static const unsigned none[] = {0, 999, 1004, 1005, 1006, 1015, 1016,
	    1100, 2000, 2999, 5000, 65535};
	char frame[4] = "\x88\x02";

	for (size_t i = 0; i < nitems(good); i++) {
		frame[2] = (char)(good[i] >> 8);
		frame[3] = (char)(good[i] & 255);
		is_str(events(frame, 4, false), "HDE", "close %u", good[i]);
	}
	for (size_t i = 0; i < nitems(none); i++) {
		frame[2] = (char)(none[i] >> 8);
		frame[3] = (char)(none[i] & 255);
		is_str(events(frame, 4, false), "HDB", "close %u", none[i]);
	}
	ROW("\x88\x00", false, "HE", "a close without a code");
	ROW("\x88\x01\x03", false, "HDB", "with half a code");
}

int
main(void)
{
	test_text();
	test_codes();
	test_handshake();
	test_mask();
	test_frames();
	return tap_done();
}
