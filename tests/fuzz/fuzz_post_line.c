/* SPDX-License-Identifier: ISC */
/*
 * The front of a line for a remote MCP server, as its keyd reads it: whatever
 * it is, the header is one that HTTP can have.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "keyd/post_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static struct post_line l;
	static char name[POST_PARAM], value[POST_NAME];
	char header[128];

	post_line_read(span_of(p, len), &l);
	CHECK(l.id.len <= 64 && l.id.len <= len && l.method.len <= len);
	CHECK(l.name[0] == '\0' || l.method.len != 0 || len > 0);
	for (const char *c = l.name; *c != '\0'; c++)
		CHECK(*c >= 0x20 && *c <= 0x7e);
	CHECK(l.name[0] != ' ');
	for (struct span s = span_of(p, len);
	     post_line_param(&s, name, value) == 1;) {
		for (const char *c = name; *c != '\0'; c++)
			CHECK(*c > 0x20 && *c <= 0x7e && *c != ':');
		for (const char *c = value; *c != '\0'; c++)
			CHECK(*c >= 0x20 && *c <= 0x7e);
	}
	if (post_line_header(span_of(p, len), header, sizeof(header)) == -1)
		return 0;
	for (const char *c = header; *c != '\0'; c++)
		CHECK(*c >= 0x20 && *c <= 0x7e);
	return 0;
}
