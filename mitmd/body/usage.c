/* SPDX-License-Identifier: ISC */
/*
 * Chat completions that stream report their usage only on request, in a last
 * event without choices. The filter always requests it, since a budget that the
 * agent's body could switch off would be useless, unless the provider's file
 * says "usage": "leave".
 */
#include "body/dialect.h"

void
filter_usage(struct filter *f, struct filter_frame *fr,
    const struct body_token *t, enum dialect_ctx is)
{
	bool atom = t->type == BODY_ATOM;

	if (!f->rules->usage)
		return;
	if (is == CTX_STREAM) {
		f->stream |= !atom || !(span_is(t->value, "false") ||
					  span_is(t->value, "null") ||
					  span_is(t->value, "0"));
	} else if (is == CTX_OPTIONS && fr->root) {
		if (!dialect_exact(t->key, "stream_options")) {
			fr->drop = true;
			return;
		}
		f->options = t->start;
		f->options_object = t->type == BODY_OBJECT;
	} else if (is == CTX_USAGE && f->options == fr->start) {
		if (atom && span_is(t->value, "true") &&
		    dialect_exact(t->key, "include_usage"))
			f->usage = true;
		else
			fr->drop = true;
	}
}

void
filter_unmetered(struct filter *f)
{
	size_t at = f->frames[0].start + 1, end;

	if (!f->stream || f->usage)
		return;
	if (f->options == SIZE_MAX) {
		filter_place(
		    f, at, at, "\"stream_options\":{\"include_usage\":true},");
		return;
	}
	at = end = f->options + 1;
	if (f->options_object) {
		filter_place(f, at, end,
		    f->options_kept ? "\"include_usage\":true,"
				    : "\"include_usage\":true");
		return;
	}
	for (unsigned i = 0; i < f->nroot; i++) {
		if (f->root[i].from < at && at <= f->root[i].end)
			end = f->root[i].end;
	}
	filter_place(f, at - 1, end, "{\"include_usage\":true}");
}
