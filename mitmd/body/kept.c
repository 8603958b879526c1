/* SPDX-License-Identifier: ISC */
/*
 * Members that name something kept in the account: an earlier answer, a
 * conversation, a file, a stored prompt with tools of its own.
 */
#include "body/dialect.h"

static void
kept_refuse(struct filter *f, struct span name)
{
	if (f->rules->action[FILTER_STORE] == FILTER_ALLOW || f->no)
		return;
	f->no = true;
	f->refused = FILTER_STORE;
	f->kept = name;
}

void
filter_kept(struct filter *f, struct filter_frame *fr,
    const struct body_token *t, enum dialect_ctx is)
{
	bool null = t->type == BODY_ATOM && span_is(t->value, "null");

	if (null) {
		fr->untyped |= is == CTX_ITEM;
		return;
	}
	if (is == CTX_ID)
		fr->id = true;
	else if (is == CTX_ITEM)
		fr->typed = true;
	if (is == CTX_KEPT || (is == CTX_PREVIOUS && !f->socket))
		kept_refuse(f, t->key);
	else if (is == CTX_ITEM && t->type == BODY_STRING &&
		 dialect_exact(t->value, "item_reference"))
		kept_refuse(f, SPAN("item_reference"));
}

/* An entry of the input whose type is missing is a reference, too. */
void
filter_kept_end(struct filter *f, const struct filter_frame *fr)
{
	if (fr->object && fr->id && !fr->typed &&
	    fr->kept + fr->gone == 1U + fr->untyped)
		kept_refuse(f, SPAN("id"));
}

/* OpenRouter's "@preset/name", alone or after a model. */
void
filter_kept_model(struct filter *f, struct span model)
{
	struct span mark = SPAN("@preset/");

	if (memmem(model.p, model.len, mark.p, mark.len) != NULL)
		kept_refuse(f, SPAN("@preset"));
}
