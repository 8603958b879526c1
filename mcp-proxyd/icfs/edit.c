/* SPDX-License-Identifier: ISC */
/*
 * Applies the edits of one call in turn (common/edit_text.h), and explains
 * which of them cannot be made.
 */
#include "icfs/icfs.h"

#include "common/edit_text.h"

int
icfs_edit(struct icfs *f, struct span content, const struct value *edits,
    struct buf *out)
{
	const struct value *e;
	struct buf next;
	struct span a, b;

	buf_addspan(out, content);
	for (e = edits->child; e != NULL; e = e->next) {
		a = value_str(e, "oldText");
		b = value_str(e, "newText");
		if (a.p == NULL || b.p == NULL)
			return icfs_why(f,
			    "Invalid arguments: edits must hold objects with "
			    "the strings oldText and newText");
		buf_init(&next, ICFS_MAX_TEXT);
		switch (edit_text_apply(buf_span(out), a, b, &next)) {
		case EDIT_TEXT_DONE:
			buf_free(out);
			*out = next;
			continue;
		case EDIT_TEXT_ABSENT:
			(void)icfs_why(f,
			    "Could not find exact match for edit:\n%.*s",
			    (int)(a.len < 4000 ? a.len : 4000),
			    (const char *)a.p);
			break;
		case EDIT_TEXT_FAILED:
			(void)icfs_why(f, "The edited file is too large");
			break;
		}
		buf_free(&next);
		return -1;
	}
	return buf_check(out);
}
