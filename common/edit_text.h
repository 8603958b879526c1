/* SPDX-License-Identifier: ISC */
/*
 * One edit of a text, as icfs makes it and as icctl shows it beforehand. Lines
 * that the edit does not change keep their bytes, their line ending included.
 */
#ifndef EDIT_TEXT_H
#define EDIT_TEXT_H

#include "common/buf.h"

enum edit_text {
	EDIT_TEXT_DONE,
	EDIT_TEXT_ABSENT, /* the old text is not there */
	EDIT_TEXT_FAILED, /* the result exceeds the buffer, or no memory */
};

/* Append `s` with every CR LF as LF. */
void edit_text_lf(struct buf *, struct span s);
/*
 * Append `text`, with `was` replaced by `is` where it occurs first. In all
 * three, CR LF and LF are the same. If `was` does not occur, it is looked for
 * line by line without the white space at both ends of a line, and the new
 * lines take the indentation of those they replace. A line that is replaced
 * keeps its ending; a new one takes that of the line before it, in the first
 * line that of the line after it, or else its own.
 */
enum edit_text edit_text_apply(
    struct span text, struct span was, struct span is, struct buf *);

#endif
