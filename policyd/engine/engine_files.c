/* SPDX-License-Identifier: ISC */
/*
 * Reads the three policy files without putting them in force, or one at a time
 * at the start of a session.
 */
#include "engine/engine.h"

#include <stdlib.h>

void
engine_files_free(struct engine_files *f)
{
	if (f->rules != NULL)
		rules_free(f->rules);
	free(f->rules);
	if (f->annots != NULL)
		annots_free(f->annots);
	free(f->annots);
	if (f->lists != NULL)
		lists_free(f->lists);
	free(f->lists);
	*f = (struct engine_files){0};
}

int
engine_read(struct engine_files *f, enum proto_rules kind, struct span text,
    struct load *l)
{
	struct engine_files got = {NULL, NULL, NULL}, old = {NULL, NULL, NULL};
	int ret = -1;

	switch (kind) {
	case PROTO_RULES_POLICY:
		if ((got.rules = calloc(1, sizeof(*got.rules))) != NULL &&
		    (ret = rules_load(got.rules, text, l)) == 0) {
			old.rules = f->rules;
			f->rules = got.rules;
			got.rules = NULL;
		}
		break;
	case PROTO_RULES_ANNOTATIONS:
		if ((got.annots = calloc(1, sizeof(*got.annots))) != NULL &&
		    (ret = annots_load(got.annots, text, l)) == 0) {
			old.annots = f->annots;
			f->annots = got.annots;
			got.annots = NULL;
		}
		break;
	case PROTO_RULES_LISTS:
		if ((got.lists = calloc(1, sizeof(*got.lists))) != NULL &&
		    (ret = lists_load(got.lists, text, l)) == 0) {
			old.lists = f->lists;
			f->lists = got.lists;
			got.lists = NULL;
		}
		break;
	}
	engine_files_free(&got);
	engine_files_free(&old);
	if (ret == -1 && l->error[0] == '\0')
		(void)load_fail(l, NULL, "out of memory");
	return ret;
}
