/* SPDX-License-Identifier: ISC */
/*
 * Command lists of pushes: a result for the beginning must hold for the whole,
 * and a text reported as a ref must be shown as one.
 */
#include <stdlib.h>

#include "common/ipc/proto.h"
#include "mitmd/wire/git_push.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_refs(struct span refs)
{
	const uint8_t *end;
	unsigned n = 0, spaces;

	for (; refs.len != 0; n++) {
		if ((end = memchr(refs.p, '\n', refs.len)) == NULL)
			abort();
		spaces = 0;
		for (const uint8_t *p = refs.p; p < end; p++) {
			if (*p < 0x20 || *p > 0x7e)
				abort();
			spaces += *p == ' ';
		}
		if (spaces != 2)
			abort();
		refs.len -= (size_t)(end + 1 - refs.p);
		refs.p = end + 1;
	}
	if (n == 0 || n > GIT_PUSH_MAX_REFS)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct git_push_list all = {0}, some = {0};
	enum git_push whole, part;
	const char *why = NULL;
	struct buf out;
	size_t step, n;

	if (size < 1)
		return 0;
	step = 1 + data[0];
	data++;
	size--;
	buf_init(&all.refs, PROTO_MAX_REFS);
	buf_init(&some.refs, PROTO_MAX_REFS);
	buf_init(&out, 65536);
	whole = git_push_read(span_of(data, size), true, &all, &why);
	if (whole == GIT_PUSH_MORE || (whole == GIT_PUSH_BAD && why == NULL))
		abort();
	for (n = step; n < size; n += step) {
		part = git_push_read(span_of(data, n), false, &some, &why);
		if (part != GIT_PUSH_MORE && part != whole)
			abort();
		if (part == GIT_PUSH_OK &&
		    !span_eq(buf_span(&all.refs), buf_span(&some.refs)))
			abort();
		if (part != GIT_PUSH_MORE)
			break;
	}
	if (whole == GIT_PUSH_OK) {
		check_refs(buf_span(&all.refs));
		if (git_push_report(&out, &all, "code", "text") == -1 &&
		    all.report)
			abort();
	}
	buf_free(&all.refs);
	buf_free(&some.refs);
	buf_free(&out);
	return 0;
}
