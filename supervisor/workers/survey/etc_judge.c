/* SPDX-License-Identifier: ISC */
/*
 * Decides which files of /etc may be copied. Errs on the side of leaving a file
 * out: a program that misses one says so, and nothing in a sandbox can ask for
 * it.
 */
#include "workers/survey/etc_judge.h"


#include "base/secretive.h"
#include "workers/survey/etc_table.h"

/* clang-format off */
static const char *const etc_made_up[] = {
#define P(pattern) pattern,
	ETC_MADE_UP(P)
#undef P
};

static const char *const etc_left[] = {
#define P(pattern) pattern,
	ETC_LEFT_OUT(P)
#undef P
};

static const char *const etc_emptied[] = {
#define P(pattern) pattern,
	ETC_EMPTIED(P)
#undef P
};

static const char *const etc_public[] = {
#define P(pattern) pattern,
	ETC_PUBLIC(P)
#undef P
};

static const char *const etc_large[] = {
#define P(pattern) pattern,
	ETC_LARGE(P)
#undef P
};
/* clang-format on */

static bool
etc_fits(const char *path, const char *const *patterns, size_t n)
{
	return secretive_match(path, patterns, n) != NULL;
}

bool
etc_made_up_name(const char *path)
{
	for (size_t i = 0; i < nitems(etc_made_up); i++)
		if (strcmp(etc_made_up[i], path) == 0)
			return true;
	return false;
}

bool
etc_left_out(const char *path)
{
	return etc_made_up_name(path) ||
	       etc_fits(path, etc_left, nitems(etc_left));
}

bool
etc_shown(const char *path, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return (st->st_mode & 05) == 05 &&
		       !etc_fits(path, etc_emptied, nitems(etc_emptied));
	if (!S_ISREG(st->st_mode) || (st->st_mode & 04) == 0)
		return false;
	return st->st_size <= ETC_MAX_FILE ||
	       (st->st_size <= ETC_MAX_LARGE &&
		   etc_fits(path, etc_large, nitems(etc_large)));
}

bool
etc_hidden_text(const char *path, const char *name, struct span text)
{
	if (etc_fits(path, etc_public, nitems(etc_public)))
		return secretive_private_key(text);
	return (secretive_name(name) != NULL && !secretive_public(text)) ||
	       secretive_text(text) != NULL || secretive_setting(text) != NULL;
}
