/* SPDX-License-Identifier: ISC */
/*
 * Reads dynamic-lists.json.
 */
#include "engine/lists.h"

#include "common/log.h"

int
match_type_find(struct span s, enum match_type *out)
{
	if (span_is(s, "domains"))
		*out = MATCH_DOMAINS;
	else if (span_is(s, "emails"))
		*out = MATCH_EMAILS;
	else if (span_is(s, "identifiers"))
		*out = MATCH_IDENTIFIERS;
	else
		return -1;
	return 0;
}

static int
check_list(struct load *l, struct where *at, const struct value *v)
{
	static const char *const known[] = {"values", "manualAdditions",
	    "manualRemovals", "resolvedAt", "inputHash", NULL};
	const struct value *array;

	if (v->type != VALUE_OBJECT)
		return load_fail(l, at, "must be an object");
	load_unknown(l, at, v, known);
	if (load_strings(l, at, v, "values", true, &array) == -1 ||
	    load_strings(l, at, v, "manualAdditions", false, &array) == -1 ||
	    load_strings(l, at, v, "manualRemovals", false, &array) == -1)
		return -1;
	return 0;
}

int
lists_load(struct lists *out, struct span text, struct load *l)
{
	static const char *const known[] = {"generatedAt", "lists", NULL};
	struct where at = {.len = 0};
	struct lists ls = {0};
	const struct value *v;
	char vis[80];

	if (load_doc(l, text, &ls.doc) == -1)
		return -1;
	load_unknown(l, &at, ls.doc.root, known);
	if (load_object(l, &at, ls.doc.root, "lists", true, &ls.lists) == -1)
		goto bad;
	for (v = ls.lists->child; v != NULL; v = v->next) {
		where_up(&at, 0);
		where_down(&at, "lists.%s", log_vis(v->key, vis, sizeof(vis)));
		if (check_list(l, &at, v) == -1)
			goto bad;
	}
	*out = ls;
	return 0;
bad:
	lists_free(&ls);
	return -1;
}

void
lists_free(struct lists *ls)
{
	load_doc_free(&ls->doc);
	*ls = (struct lists){0};
}
