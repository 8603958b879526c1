/* SPDX-License-Identifier: ISC */
/*
 * Finds the session that is meant, its workspace, and the store of that
 * workspace. A session that has ended has checkpoints as well.
 */
#include "icctl/undo/priv.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/plural.h"

/* A checkpoint of a large workspace takes its time. */
#define UNDO_WAIT_S 3600

void
undo_patient(int fd)
{
	const struct timeval limit = {.tv_sec = UNDO_WAIT_S};

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* Connect to the session in `dir`. */
static int
undo_dial(const char *dir)
{
	int fd = icctl_dial(dir);

	if (fd != -1)
		undo_patient(fd);
	return fd;
}

/* Read what session.json says of a session. Returns 0, or -1. */
static int
undo_session(const char *dir, char session[65], char *workspace, size_t cap)
{
	char path[4400];
	json_object *o;
	int rv = -1;

	snprintf(path, sizeof(path), "%.4300s/session.json", dir);
	if ((o = json_object_from_file(path)) == NULL)
		return -1;
	if (strlcpy(session, icctl_text(o, "session"), 65) < 65 &&
	    strlcpy(workspace, icctl_text(o, "workspace"), cap) < cap &&
	    session[0] != '\0' && workspace[0] == '/')
		rv = 0;
	json_object_put(o);
	return rv;
}

/*
 * The session has ended: if another one runs in the same workspace, that one
 * records the undo, and begins no turn meanwhile.
 */
static int
undo_other(const struct undo *u)
{
	char run[4200], dir[4500], session[65], workspace[4096];
	struct dirent *e;
	int fd = -1;
	DIR *d;

	snprintf(run, sizeof(run), "%.4000s/run", u->ctl->home);
	if ((d = opendir(run)) == NULL)
		return -1;
	while (fd == -1 && (e = readdir(d)) != NULL) {
		snprintf(dir, sizeof(dir), "%s/%s", run, e->d_name);
		if (e->d_name[0] != '.' &&
		    undo_session(dir, session, workspace, sizeof(workspace)) ==
			0 &&
		    strcmp(workspace, u->workspace) == 0)
			fd = undo_dial(dir);
	}
	closedir(d);
	return fd;
}

/* Choose the session. Returns 0, or an exit status. */
static int
undo_which(struct undo *u)
{
	struct icctl *ctl = u->ctl;
	char dir[PATH_MAX];
	int status;

	if (ctl->session != NULL || icctl_any_runs(ctl)) {
		if ((status = icctl_find(ctl)) != 0)
			return status;
	} else if (icctl_newest(ctl) == -1) {
		warnx("there is no session yet, and so nothing to undo. Start "
		      "one: icctl start");
		return ICCTL_NO_SESSION;
	}
	if (realpath(ctl->dir, dir) == NULL ||
	    undo_session(dir, u->session, u->workspace, sizeof(u->workspace)) ==
		-1) {
		warnx("%s: its session.json cannot be read", ctl->dir);
		return ICCTL_NO_SESSION;
	}
	if ((u->fd = undo_dial(ctl->dir)) == -1)
		u->fd = undo_other(u);
	return 0;
}

/* Say, once, that there are records that cannot be read. */
static void
where_damaged(struct undo *u, unsigned n)
{
	if (n > u->damaged)
		warnx("%u checkpoint%s of %s %s damaged in the store, and "
		      "nobody can go back to %s",
		    n, plural(n), u->workspace, n == 1 ? "is" : "are",
		    n == 1 ? "it" : "them");
	u->damaged = n;
}

int
undo_records(struct undo *u)
{
	struct undo_record *r;
	unsigned damaged = 0;
	uint32_t *list;
	int turns;
	size_t n;

	free(u->list);
	u->list = NULL;
	u->n = 0;
	turns = openat(u->store, SNAP_TURNS,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (turns == -1 && errno == ENOENT)
		return 0;
	if (turns == -1 || undo_record_list(turns, &list, &n) == -1) {
		warn("the checkpoints of %s", u->workspace);
		if (turns != -1)
			close(turns);
		return -1;
	}
	u->list = calloc(n + 1, sizeof(*u->list));
	for (size_t i = 0; i < n && u->list != NULL; i++) {
		r = &u->list[u->n];
		if (undo_record_read(turns, list[i], r) == 0)
			u->n++;
		else
			damaged += errno == EBADMSG;
	}
	where_damaged(u, damaged);
	free(list);
	close(turns);
	return u->list == NULL ? -1 : 0;
}

int
undo_enter(struct undo *u, struct icctl *ctl)
{
	struct fault fault;
	int status;

	*u = (struct undo){.ctl = ctl, .fd = -1, .store = -1, .tree = -1};
	if ((status = undo_which(u)) != 0)
		return status;
	if (paths_init(&u->paths, NULL, &fault) == -1 ||
	    config_load(&u->config, NULL, u->paths.home, u->paths.user_home,
		NULL, &fault) == -1) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	u->configured = true;
	if (spawn_init() == -1) {
		icctl_warn_errno("ic-snap");
		return ICCTL_FAILED;
	}
	u->store = undo_store(u->paths.home, u->workspace, false, &fault);
	if (u->store == -1) {
		if (errno == ENOENT)
			warnx("there is no checkpoint of %s. Sessions that can "
			      "write their workspace make them, unless "
			      "config.json has \"undo\": false",
			    u->workspace);
		else
			warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	return undo_records(u) == -1 ? ICCTL_FAILED : 0;
}

void
undo_leave(struct undo *u)
{
	for (unsigned i = 0; i < u->npaths; i++)
		free((char *)(uintptr_t)u->paths_of[i]);
	free(u->rest.p);
	free(u->list);
	free(u->rows.list);
	free(u->rows.text);
	free(u->bad.list);
	free(u->bad.text);
	if (u->fd != -1)
		close(u->fd);
	if (u->store != -1)
		close(u->store);
	if (u->tree != -1)
		close(u->tree);
	if (u->configured)
		config_free(&u->config);
	paths_free(&u->paths);
}

/* Remove "." and double slashes. Returns -1 if there is "..". */
static int
undo_clean(char *path)
{
	char *to = path, *p = path;
	size_t n;

	while (*p != '\0') {
		n = strcspn(p, "/");
		if (n == 2 && p[0] == '.' && p[1] == '.')
			return -1;
		if (n != 0 && !(n == 1 && p[0] == '.')) {
			if (to != path)
				*to++ = '/';
			memmove(to, p, n);
			to += n;
		}
		p += n;
		p += *p == '/';
	}
	*to = '\0';
	return path[0] == '\0' ? -1 : 0;
}

char *
undo_path(const struct undo *u, const char *word)
{
	char cwd[PATH_MAX], path[2 * PATH_MAX];
	const size_t n = strlen(u->workspace);

	if (word[0] == '/' && paths_under(word, u->workspace))
		snprintf(path, sizeof(path), "%s", word + n);
	else if (word[0] == '/')
		path[0] = '\0';
	else if (getcwd(cwd, sizeof(cwd)) != NULL &&
		 paths_under(cwd, u->workspace))
		snprintf(path, sizeof(path), "%s/%s", cwd + n, word);
	else
		snprintf(path, sizeof(path), "%s", word);
	if (undo_clean(path) == -1) {
		warnx("%s: name a path below the workspace %s, without \"..\"",
		    word, u->workspace);
		return NULL;
	}
	return strdup(path);
}
