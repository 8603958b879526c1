/* SPDX-License-Identifier: ISC */
/* `icctl doctor` about toolchains in the home, and whether agents see them. */
#include "icctl/doctor/doctor.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "common/buf.h"
#include "files/config.h"
#include "files/toolchains.h"

/* Append a path to a list of quoted ones, or of plain ones. */
static void
tools_name(struct buf *b, const char *path, const char *quote)
{
	buf_printf(b, "%s%s%s%s", b->len != 0 ? ", " : "", quote, path, quote);
}

static bool
tools_shown(const struct config *cfg, const char *path)
{
	for (char **p = cfg->shown; p != NULL && *p != NULL; p++)
		if (paths_under(path, *p))
			return true;
	return false;
}

void
doctor_toolchains(
    const struct paths *paths, const struct config *cfg, doctor_check *check)
{
	char path[PATH_MAX], shown[PATH_MAX], text[2048], remedy[3072];
	struct buf seen, unseen, keys;
	const struct toolchain *t;

	buf_init(&seen, 1024);
	buf_init(&unseen, 1024);
	buf_init(&keys, 2048);
	for (size_t i = 0; (t = toolchain_nth(i)) != NULL; i++) {
		if (toolchain_found(
			t, paths->user_home, path, sizeof(path)) == -1)
			continue;
		paths_tilde(paths->user_home, path, shown, sizeof(shown));
		tools_name(
		    tools_shown(cfg, path) ? &seen : &unseen, shown, "");
		if (!tools_shown(cfg, path))
			tools_name(&keys, shown, "\"");
	}
	if (seen.len != 0) {
		snprintf(text, sizeof(text), "%.*s: agents see them",
		    (int)seen.len, (const char *)buf_span(&seen).p);
		check(GOOD, "toolchains", text, "");
	}
	if (unseen.len != 0) {
		snprintf(text, sizeof(text), "%.*s: agents do not see them",
		    (int)unseen.len, (const char *)buf_span(&unseen).p);
		snprintf(remedy, sizeof(remedy),
		    "to show them, read-only: icctl setup, or in config.json "
		    "\"agentView\": {\"allowRead\": [%.*s]}",
		    (int)keys.len, (const char *)buf_span(&keys).p);
		check(NOTE, "toolchains", text, remedy);
	}
	buf_free(&seen);
	buf_free(&unseen);
	buf_free(&keys);
}
