/* SPDX-License-Identifier: ISC */
/*
 * The names of a configuration, as git listed them, as long as the files that
 * they come from stay what they were. A repository whose place is not plain, as
 * that of a worktree, is asked each time.
 */
#include "icgit/icgit.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMES_FILES 4U
#define NAMES_TICK_MS 50 /* times of files differ after that */

/* Differs as soon as the file does; all zero if there is none. */
struct stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

static struct {
	struct buf globals, names;
	struct stamp files[NAMES_FILES];
	bool told; /* `files` are those of the last question */
	bool kept;
} kept;

static bool
stamp_same(const struct stamp *a, const struct stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

/*
 * Returns false if the file changed so recently that another change may have
 * the same time.
 */
static bool
stamp_file(struct stamp *s, const char *dir, const char *name)
{
	struct timespec now;
	char path[8192];
	struct stat st;

	*s = (struct stamp){0};
	if (snprintf(path, sizeof(path), "%s%s", dir, name) < 0 ||
	    stat(path, &st) == -1)
		return true;
	*s = (struct stamp){.dev = st.st_dev,
	    .ino = st.st_ino,
	    .size = st.st_size,
	    .changed = st.st_ctim};
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - st.st_ctim.tv_sec) * 1000 +
		   (now.tv_nsec - st.st_ctim.tv_nsec) / 1000000 >=
	       NAMES_TICK_MS;
}

/*
 * Find the files that these words lead to. Returns false if they cannot be told
 * from the words alone.
 */
static bool
stamps(const struct icgit_args *a, struct stamp files[NAMES_FILES])
{
	const char *dir = NULL, *git = NULL;
	char path[4096 + 8];
	struct stat st;

	memset(files, 0, NAMES_FILES * sizeof(*files));
	for (size_t i = 1; i < a->n; i++) {
		if (strcmp(a->v[i], "-C") == 0 && i + 1 < a->n && dir == NULL)
			dir = a->v[++i];
		else if (strncmp(a->v[i], "--git-dir=", 10) == 0)
			git = a->v[i] + 10;
		else if (strncmp(a->v[i], "--work-tree=", 12) != 0 &&
			 strcmp(a->v[i], "--no-optional-locks") != 0 &&
			 (strcmp(a->v[i], "-c") != 0 || ++i >= a->n))
			return false;
	}
	if (dir == NULL || dir[0] != '/' || strlen(dir) > 4096 ||
	    (git != NULL && (git[0] != '/' || strlen(git) > 4096)))
		return false;
	if (git == NULL) {
		snprintf(path, sizeof(path), "%s/.git", dir);
		git = stat(path, &st) == 0 ? path : dir;
	}
	if (stat(git, &st) == -1 || !S_ISDIR(st.st_mode))
		return false;
	/* A worktree's, which has its configuration elsewhere. */
	if (!stamp_file(&files[2], git, "/commondir") || files[2].ino != 0)
		return false;
	return stamp_file(&files[0], git, "/config") &&
	       stamp_file(&files[1], git, "/config.worktree") &&
	       stamp_file(&files[3], ICGIT_CONFIG, "");
}

static void
write_globals(struct buf *b, const struct icgit_args *a)
{
	buf_init(b, ICGIT_MAX_NAMES);
	for (size_t i = 0; i < a->n; i++)
		buf_add(b, a->v[i], strlen(a->v[i]) + 1);
}

/* Returns true if files that are not looked at may belong to it. */
static bool
names_include(struct span n)
{
	const uint8_t *end;

	for (; n.len != 0 && (end = memchr(n.p, '\0', n.len)) != NULL;
	     n = span_of(end + 1, n.len - (size_t)(end + 1 - n.p)))
		if (span_starts(n, SPAN("include.")) ||
		    span_starts(n, SPAN("includeif.")))
			return true;
	return false;
}

void
icgit_names_keep(const struct icgit_args *globals, struct span names)
{
	buf_free(&kept.globals);
	buf_free(&kept.names);
	if (!kept.told || names_include(names))
		return;
	write_globals(&kept.globals, globals);
	buf_init(&kept.names, ICGIT_MAX_NAMES);
	buf_addspan(&kept.names, names);
	kept.kept = !kept.globals.failed && !kept.names.failed;
}

bool
icgit_names_kept(const struct icgit_args *globals, struct span *names)
{
	struct stamp now[NAMES_FILES];
	struct buf words;
	bool is = kept.kept;

	/* A later change is seen the next time. */
	kept.told = stamps(globals, now);
	for (size_t i = 0; i < NAMES_FILES; i++)
		is = is && stamp_same(&now[i], &kept.files[i]);
	kept.kept = kept.told && is;
	memcpy(kept.files, now, sizeof(now));
	if (!kept.kept)
		return false;
	write_globals(&words, globals);
	is =
	    !words.failed && span_eq(buf_span(&words), buf_span(&kept.globals));
	buf_free(&words);
	kept.kept = is;
	*names = buf_span(&kept.names);
	return is;
}
