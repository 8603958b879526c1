/* SPDX-License-Identifier: ISC */
/*
 * The line editor of the built-in agent on any keys: its text stays within its
 * memory, and it draws no control character but those that it means to.
 */
#include <stdlib.h>

#include "docker/agent/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Only newlines, and sequences that move the cursor or choose a style. */
static void
check(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '\r' || s.p[i] == '\n')
			continue;
		if (s.p[i] == 0x1b) {
			if (++i == s.len || s.p[i] != '[')
				abort();
			while (++i < s.len && (s.p[i] < 0x40 || s.p[i] > 0x7e))
				continue;
			if (i == s.len || strchr("ACJm", s.p[i]) == NULL)
				abort();
		} else if (s.p[i] < 0x20 || s.p[i] == 0x7f) {
			abort();
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edit e = {0};
	struct buf out;
	unsigned columns;

	if (size < 1)
		return 0;
	columns = 1 + data[0] % 100;
	buf_init(&out, 1 << 20);
	edit_remember(&e, "an earlier message");
	edit_begin(&e);
	for (size_t i = 1; i < size; i++) {
		if (edit_take(&e, data[i], (data[i] & 1) != 0) != EDIT_MORE) {
			edit_remember(&e, e.text != NULL ? e.text : "");
			edit_begin(&e);
		}
		if (e.at > e.len || (e.text != NULL && e.text[e.len] != '\0'))
			abort();
		if (i % 16 == 0) {
			edit_draw(&e, columns, &out);
			check(buf_span(&out));
			buf_reset(&out, 65536);
		}
	}
	edit_leave(&e, columns, &out);
	check(buf_span(&out));
	buf_free(&out);
	edit_free(&e);
	return 0;
}
