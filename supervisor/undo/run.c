/* SPDX-License-Identifier: ISC */
/* Starts ic-snap with its two directories and its words. */
#include "undo/run.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "common/sha256.h"

void
undo_id(const char *workspace, char id[UNDO_ID])
{
	char hex[SHA256_HEX];
	uint8_t sum[SHA256_SIZE];

	sha256_span(span_str(workspace), sum);
	sha256_hex(sum, hex);
	memcpy(id, hex, UNDO_ID - 1);
	id[UNDO_ID - 1] = '\0';
}

/* Open a directory of ours below another one. */
static int
store_dir(int at, const char *name, bool make)
{
	struct stat st;
	int fd;

	if (make && mkdirat(at, name, 0700) == -1 && errno != EEXIST)
		return -1;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1 || st.st_uid != geteuid() ||
	    (st.st_mode & 077) != 0) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

/* Remember whose store it is, for those who look for stores that may go. */
static int
store_sign(int fd, const char *workspace)
{
	int file = openat(fd, "workspace",
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rv;

	if (file == -1)
		return errno == EEXIST ? 0 : -1;
	rv = span_write(file, span_str(workspace));
	close(file);
	return rv;
}

int
undo_store(
    const char *home, const char *workspace, bool make, struct fault *fault)
{
	char id[UNDO_ID];
	int top = -1, all = -1, fd = -1, save;

	undo_id(workspace, id);
	if ((top = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) != -1 &&
	    (all = store_dir(top, UNDO_STORES, make)) != -1)
		fd = store_dir(all, id, make);
	if (fd != -1 && make && store_sign(fd, workspace) == -1) {
		close(fd);
		fd = -1;
	}
	if (fd == -1)
		fault_errno(fault, "%s/" UNDO_STORES "/%s", home, id);
	save = errno;
	if (all != -1)
		close(all);
	if (top != -1)
		close(top);
	errno = save;
	return fd;
}

void
undo_words_init(struct undo_words *w, const char *shape)
{
	*w = (struct undo_words){.n = 2};
	w->v[0] = "ic-snap";
	w->v[1] = shape;
}

void
undo_word(struct undo_words *w, const char *key, const char *value)
{
	char *text;

	if (w->n >= SNAP_MAX_WORDS - 1 ||
	    asprintf(&text, "%s=%s", key, value) == -1) {
		w->spoilt = true;
		return;
	}
	w->own[w->n] = text;
	w->v[w->n++] = text;
}

void
undo_word_number(struct undo_words *w, const char *key, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	undo_word(w, key, text);
}

void
undo_word_limits(struct undo_words *w, const struct config_undo *u)
{
	undo_word_number(w, "file-mb", u->file_mb);
	undo_word_number(w, "files", u->files);
	undo_word_number(w, "turn-mb", u->turn_mb);
	undo_word_number(w, "store-mb", u->store_mb);
	undo_word_number(w, "free", u->free);
	undo_word_number(w, "keep", u->keep);
	undo_word_number(w, "days", u->days);
	for (char **s = u->leave; s != NULL && *s != NULL; s++)
		undo_word(w, "leave", *s);
	for (char **s = u->include; s != NULL && *s != NULL; s++)
		undo_word(w, "include", *s);
}

void
undo_words_free(struct undo_words *w)
{
	for (unsigned i = 0; i < w->n; i++)
		free(w->own[i]);
	w->n = 0;
}

int
undo_start(struct undo_run *run, const char *libexecdir, int tree, int store,
    struct undo_words *w, struct fault *fault)
{
	char *path = paths_join(libexecdir, "ic-snap");
	char *const envp[] = {NULL};
	struct spawn s = {.path = path,
	    .argv = (char *const *)(uintptr_t)w->v,
	    .envp = envp,
	    .fds = {-1, -1, STDERR_FILENO, tree, store},
	    .nfds = SNAP_STORE + 1,
	    .session = true,
	    .worker = true};
	int p[2], rv = 0;

	w->v[w->n] = NULL;
	if (w->spoilt || path == NULL || pipe2(p, O_CLOEXEC) == -1) {
		free(path);
		return w->spoilt ? fault_set(fault, "ic-snap: too many words")
				 : fault_errno(fault, "ic-snap");
	}
	s.fds[1] = p[1];
	if (spawn_start(&s, &run->sp) == -1)
		rv = fault_errno(fault, "ic-snap");
	close(p[1]);
	if (rv == 0)
		run->out = p[0];
	else
		close(p[0]);
	free(path);
	return rv;
}

void
undo_stop(struct undo_run *run)
{
	if (run->out != -1)
		close(run->out);
	run->out = -1;
	spawn_stop(&run->sp, 0);
}
