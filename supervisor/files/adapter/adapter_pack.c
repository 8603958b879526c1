/* SPDX-License-Identifier: ISC */
/*
 * The members that adapter_parse() sets. Each of them has a row here, or
 * icsupervisor does not get it: the test sup_errors finds one that has none.
 */
#include "files/adapter/adapter.h"

#include <errno.h>
#include <string.h>

#include "files/pack_rows.h"

/* clang-format off */
static const struct pack_row file_rows[] = {
	STRING(adapter_file, path), STRING(adapter_file, text),
	BOOL(adapter_file, json),
};

static const struct pack_row files_rows[] = {
	NUMBER(adapter_files, n, ADAPTER_MAX_FILES),
	LIST(adapter_files, list, n, file_rows),
};

static const struct pack_row use_rows[] = {
	STRING(adapter_use, provider), STRING(adapter_use, instead),
	STRINGS(adapter_use, env), PART(adapter_use, home, files_rows),
};

static const struct pack_row uses_rows[] = {
	NUMBER(adapter_uses, n, ADAPTER_MAX_USES),
	LIST(adapter_uses, list, n, use_rows),
};

static const struct pack_row rule_rows[] = {
	NUMBER(adapter_rule, kind, PROTO_TURN_LAST), BOOL(adapter_rule, whole),
	STRING(adapter_rule, when), STRING(adapter_rule, each),
	STRING(adapter_rule, part), STRING(adapter_rule, text),
};

static const struct pack_row talk_rows[] = {
	STRINGS(adapter_talk, turn), STRINGS(adapter_talk, resume),
	STRINGS(adapter_talk, on), BOOL(adapter_talk, argument),
	BOOL(adapter_talk, background),
	NUMBER(adapter_talk, format, PROTO_TURNS_LAST),
	NUMBER(adapter_talk, nrules, PROTO_MAX_TURN_RULES),
	LIST(adapter_talk, rules, nrules, rule_rows),
};

static const struct pack_row error_rows[] = {
	NUMBER(adapter_error, kind, TROUBLE_HARD),
	STRINGS(adapter_error, contains), STRINGS(adapter_error, reset),
};

static const struct pack_row errors_rows[] = {
	NUMBER(adapter_errors, n, ADAPTER_MAX_ERRORS),
	LIST(adapter_errors, list, n, error_rows),
};

const struct pack_row adapter_rows[] = {
	STRING(adapter, name), STRING(adapter, title),
	STRINGS(adapter, providers), STRING(adapter, image),
	STRINGS(adapter, program), STRINGS(adapter, task_args),
	STRINGS(adapter, args), STRINGS(adapter, model), STRINGS(adapter, acp),
	STRINGS(adapter, prompt), STRINGS(adapter, any),
	PART(adapter, talk, talk_rows), PART(adapter, errors, errors_rows),
	STRINGS(adapter, home_files), STRINGS(adapter, left_out),
	STRINGS(adapter, state), STRINGS(adapter, caches),
	STRINGS(adapter, env), STRING(adapter, unasked),
	PART(adapter, home, files_rows), PART(adapter, orientation, files_rows),
	PART(adapter, logins, uses_rows), PART(adapter, alternatives, uses_rows),
	BOOL(adapter, needs_model), BOOL(adapter, tells_orientation),
	BOOL(adapter, tells_tools), STRING(adapter, file),
	BOOL(adapter, internal),
};
/* clang-format on */

const size_t adapter_nrows = nitems(adapter_rows);

static bool
whole_paths(char *const *list)
{
	for (; list != NULL && *list != NULL; list++)
		if (!paths_below_ok(*list))
			return false;
	return true;
}

static bool
whole_files(const struct adapter_files *f)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].path == NULL || f->list[i].text == NULL)
			return false;
	return true;
}

static bool
whole_env(char *const *env)
{
	for (; env != NULL && *env != NULL; env++)
		if (strchr(*env, '=') == NULL || strchr(*env, '\n') != NULL)
			return false;
	return true;
}

static bool
whole_uses(const struct adapter_uses *uses, bool instead)
{
	for (unsigned i = 0; i < uses->n; i++) {
		const struct adapter_use *u = &uses->list[i];

		if (u->provider == NULL || (instead && u->instead == NULL) ||
		    !whole_env(u->env) || !whole_files(&u->home))
			return false;
	}
	return true;
}

static bool
whole_rules(const struct adapter *a)
{
	for (unsigned i = 0; i < a->talk.nrules; i++) {
		const struct adapter_rule *r = &a->talk.rules[i];
		const char *const texts[] = {
		    r->when, r->each, r->part, r->text};

		for (size_t k = 0; k < nitems(texts); k++)
			if (texts[k] == NULL ||
			    strlen(texts[k]) > PROTO_MAX_MATCH)
				return false;
	}
	for (unsigned i = 0; i < a->errors.n; i++)
		if (a->errors.list[i].contains == NULL)
			return false;
	return true;
}

int
adapter_take(struct adapter *a, struct span s)
{
	memset(a, 0, sizeof(*a));
	if (pack_take(&s, adapter_rows, adapter_nrows, a) == 0 && s.len == 0 &&
	    a->name != NULL && a->title != NULL && a->file != NULL &&
	    whole_paths(a->state) && whole_paths(a->home_files) &&
	    whole_env(a->env) && whole_files(&a->home) &&
	    whole_files(&a->orientation) && whole_uses(&a->logins, false) &&
	    whole_uses(&a->alternatives, true) && whole_rules(a))
		return 0;
	errno = EBADMSG;
	return -1;
}
