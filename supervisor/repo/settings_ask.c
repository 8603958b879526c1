/* SPDX-License-Identifier: ISC */
#include "repo/settings.h"

#define SETTINGS_TEXT ((size_t)1 << 20)

int
repo_settings_ask(struct repo_settings *s, const struct repo_env *env,
    const struct repo_view *v, const char *before, const char *pattern,
    struct fault *fault)
{
	const char *const words[] = {before, "config", "-z", "--show-origin",
	    "--includes", "--get-regexp", pattern, NULL};
	struct buf out;
	int r;

	repo_settings_free(s);
	buf_init(&out, SETTINGS_TEXT);
	r = repo_git(env, v, before == NULL ? words + 1 : words, span_of("", 0),
	    &out, fault);
	/* 1: no setting has such a key. */
	if (r == 0 && repo_settings_parse(s, buf_span(&out)) == -1)
		r = fault_set(fault, "git lists more than %u settings",
		    REPO_MAX_SETTINGS);
	buf_free(&out);
	return r == 0 || r == 1 ? 0 : -1;
}
