/* SPDX-License-Identifier: ISC */
/* Frames that a keyd compromised by its provider might send in an exchange. */
#ifndef MITM_KEYD_ROWS_H
#define MITM_KEYD_ROWS_H

#include <stddef.h>

struct keyd_row {
	const char *name;
	const char *bytes;
	size_t len;
};

#define B(s) s, sizeof(s) - 1

/* All are for exchange 1. */
static const struct keyd_row keyd_rows[] = {
    {"another exchange", B("\2\0\0\0\3\0\0\0")},
    {"no such type", B("\1\0\0\0\6\0\0\0")},
    {"a slot frame of another length", B("\1\0\0\0\5\13\0\0")},
    {"a slot where there is no arena",
	B("\1\0\0\0\5\14\0\0\0\0\0\0\1\0\0\0\1\0\0\0")},
    {"type 0", B("\1\0\0\0\0\0\0\0")},
    {"a frame over the limit", B("\1\0\0\0\1\1\0\1")},
    {"END before HEAD", B("\1\0\0\0\3\0\0\0")},
    {"BODY before HEAD", B("\1\0\0\0\1\1\0\0x")},
    {"a short HEAD", B("\1\0\0\0\2\12\0\0\310\0\1\0\0\0\0\0\0\0")},
    {"status 100", B("\1\0\0\0\2\13\0\0\144\0\1\0\0\0\0\0\0\0\0")},
    {"status 600", B("\1\0\0\0\2\13\0\0\130\2\1\0\0\0\0\0\0\0\0")},
    {"framing 3", B("\1\0\0\0\2\13\0\0\310\0\3\0\0\0\0\0\0\0\0")},
    {"a length without framing",
	B("\1\0\0\0\2\13\0\0\310\0\0\5\0\0\0\0\0\0\0")},
    {"a length over the limit",
	B("\1\0\0\0\2\13\0\0\310\0\1\0\0\0\0\0\0\0\377")},
    {"a header off the list",
	B("\1\0\0\0\2\31\0\0\310\0\1\0\0\0\0\0\0\0\0\7\0x-other\3\0abc")},
    {"CR LF in a header", B("\1\0\0\0\2\36\0\0\310\0\1\0\0\0\0\0\0\0\0"
			    "\12\0request-id\5\0a\r\nb:")},
    {"a header cut short",
	B("\1\0\0\0\2\16\0\0\310\0\1\0\0\0\0\0\0\0\0\12\0r")},
};

#undef B

#endif
