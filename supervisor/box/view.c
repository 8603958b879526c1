/* SPDX-License-Identifier: ISC */
/*
 * Builds views. Every row is opened once, checked, and bound by its descriptor;
 * replacing the object afterwards has no effect.
 */
#include "box/view.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "box/locate.h"
#include "box/cover.h"
#include "common/log.h"

int
view_put(struct view *v, const char *path, const char *host, int fd,
    enum proto_view kind)
{
	struct view_row *r;
	unsigned at;

	for (unsigned i = 0; i < v->nrows; i++)
		if (strcmp(v->rows[i].path, path) == 0) {
			if (v->rows[i].kind < kind)
				v->rows[i].kind = kind;
			return 0;
		}
	if (v->nrows == VIEW_MAX_ROWS) {
		errno = E2BIG;
		return -1;
	}
	/* Sorted by length: a parent is bound before its children. */
	for (at = v->nrows;
	     at > 0 && strlen(v->rows[at - 1].path) > strlen(path); at--)
		v->rows[at] = v->rows[at - 1];
	r = &v->rows[at];
	r->path = strdup(path);
	r->host = strdup(host);
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	r->kind = kind;
	r->ruled = false;
	v->nrows++;
	return r->path == NULL || r->host == NULL || r->fd == -1 ? -1 : 0;
}

void
view_ruled(struct view *v, const char *path)
{
	for (unsigned i = 0; i < v->nrows; i++)
		if (strcmp(v->rows[i].path, path) == 0)
			v->rows[i].ruled = true;
}

/* Add an entry of allowRead or allowWrite. */
static int
view_allow(struct view *v, const struct view_how *how, const char *what,
    const char *name, enum proto_view kind, struct fault *fault)
{
	char *clean = NULL, *host = NULL;
	int fd, rv = -1;

	if ((fd = open(name, O_PATH | O_CLOEXEC)) == -1)
		return fault_errno(fault, "%s %s", what, name);
	if ((clean = view_clean(name)) == NULL ||
	    (host = paths_of_fd(fd)) == NULL) {
		fault_errno(fault, "%s %s", what, name);
		goto out;
	}
	if (view_taken(clean)) {
		fault_set(fault,
		    "%s %s: refused, the sandbox has its own "
		    "there",
		    what, name);
		goto out;
	}
	if (guards_check(how->guards, fd, what, name, fault) == -1)
		goto out;
	/* Add it by its name and by its real path: a server may use either. */
	if (view_put(v, clean, host, fd, kind) == -1 ||
	    (strcmp(clean, host) != 0 && !view_taken(host) &&
		view_put(v, host, host, fd, kind) == -1)) {
		if (errno == E2BIG)
			fault_set(fault,
			    "%s %s: a view can have at most %u paths", what,
			    name, VIEW_MAX_ROWS);
		else
			fault_errno(fault, "%s %s", what, name);
		goto out;
	}
	rv = 0;
out:
	close(fd);
	free(clean);
	free(host);
	return rv;
}

static int
view_tree(struct view *v, const struct view_how *how, const char *what,
    const char *path, struct fault *fault)
{
	int fd;

	if ((fd = open(path, O_PATH | O_CLOEXEC)) == -1)
		return fault_errno(fault, "%s %s", what, path);
	v->trees[v->ntrees++] = fd;
	if (guards_check(how->guards, fd, what, path, fault) == -1)
		return -1;
	if (!how->bare && paths_within(fd, how->workspace) != 0)
		return fault_set(fault,
		    "%s %s: refused, because it is in the workspace, where the "
		    "agent can change it",
		    what, path);
	return 0;
}

static int
view_unsandboxed(struct view *v, struct fault *fault)
{
	int fd, rv;

	if ((fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return fault_errno(fault, "/");
	if ((rv = view_put(v, "/", "/", fd, PROTO_VIEW_WRITE)) == -1)
		fault_errno(fault, "/");
	close(fd);
	return rv;
}

int
view_open_program(struct view *v, const struct view_how *how,
    const struct server_def *d, const struct program *p, struct fault *fault)
{
	char what[160];

	memset(v, 0, sizeof(*v));
	snprintf(what, sizeof(what), "server %s: program", d->name);
	for (unsigned i = 0; i < p->ntrees; i++)
		if (view_tree(v, how, what, p->trees[i], fault) == -1) {
			view_close(v);
			return -1;
		}
	return 0;
}

/*
 * Add an entry of allowRead to a view that must not show any part of the
 * workspace.
 */
static int
view_allow_apart(struct view *v, const struct view_how *how, const char *what,
    const char *name, struct fault *fault)
{
	int fd, shared;

	if ((fd = open(name, O_PATH | O_CLOEXEC)) == -1)
		return fault_errno(fault, "%s %s", what, name);
	shared = paths_within(fd, how->workspace) != 0 ||
		 paths_within(how->workspace, fd) != 0;
	close(fd);
	return shared ? 0
		      : view_allow(v, how, what, name, PROTO_VIEW_READ, fault);
}

int
view_open_read(struct view *v, const struct view_how *how,
    const struct server_def *d, const struct program *p, struct fault *fault)
{
	char what[160];

	if (view_open_program(v, how, d, p, fault) == -1)
		return -1;
	snprintf(what, sizeof(what), "server %s: allowRead", d->name);
	for (char **name = d->allow_read; name != NULL && *name != NULL; name++)
		if (view_allow_apart(v, how, what, *name, fault) == -1) {
			view_close(v);
			return -1;
		}
	return 0;
}

int
view_open(struct view *v, const struct view_how *how,
    const struct server_def *d, const struct program *p, struct fault *fault)
{
	char what[160];

	memset(v, 0, sizeof(*v));
	if (!d->sandboxed)
		return view_unsandboxed(v, fault);
	if (view_open_program(v, how, d, p, fault) == -1)
		return -1;
	if (d->workspace &&
	    view_put(v, "/workspace", how->workspace_path, how->workspace,
		how->read_only ? PROTO_VIEW_READ : PROTO_VIEW_WRITE) == -1) {
		fault_errno(fault, "server %s: workspace", d->name);
		goto bad;
	}
	snprintf(what, sizeof(what), "server %s: allowRead", d->name);
	for (size_t i = 0; d->allow_read != NULL && d->allow_read[i] != NULL;
	     i++)
		if (view_allow(v, how, what, d->allow_read[i], PROTO_VIEW_READ,
			fault) == -1)
			goto bad;
	snprintf(what, sizeof(what), "server %s: allowWrite", d->name);
	for (size_t i = 0; d->allow_write != NULL && d->allow_write[i] != NULL;
	     i++)
		if (view_allow(v, how, what, d->allow_write[i],
			PROTO_VIEW_WRITE, fault) == -1)
			goto bad;
	return 0;
bad:
	view_close(v);
	return -1;
}

int
view_cover(
    struct view *v, unsigned i, const char *host, int fd, enum proto_view kind)
{
	const struct view_row *r = &v->rows[i];
	const char *top = strcmp(r->host, "/") == 0 ? "" : r->host;
	char *path;
	int rv;

	if (!paths_under(host, top)) {
		errno = EXDEV;
		return -1;
	}
	if (asprintf(&path, "%s%s", top[0] == '\0' ? "" : r->path,
		host + strlen(top)) == -1)
		return -1;
	rv = view_put(v, path, host, fd, kind);
	free(path);
	return rv;
}

int
view_withhold(struct view *v, const struct view_how *how)
{
	int in, around;

	for (unsigned i = 0; how->read_only && i < v->nrows; i++) {
		if (v->rows[i].kind != PROTO_VIEW_WRITE)
			continue;
		in = paths_within(v->rows[i].fd, how->workspace);
		around = paths_within(how->workspace, v->rows[i].fd);
		if (in == -1 || around == -1)
			return -1;
		/* The new row is longer, and so stands behind this one. */
		if (in == 1)
			v->rows[i].kind = PROTO_VIEW_READ;
		else if (around == 1 &&
			 view_cover(v, i, how->workspace_path, how->workspace,
			     PROTO_VIEW_READ) == -1)
			return -1;
	}
	return 0;
}

/* Append one part of the description, if there is room for it. */
static bool
view_say(char *dst, size_t cap, const char *what, const char *how)
{
	size_t len = strlen(dst);
	char vis[256];

	(void)log_vis(span_str(what), vis, sizeof(vis));
	if (strlen(what) >= sizeof(vis) ||
	    len + strlen(vis) + strlen(how) + 4 > cap)
		return false;
	snprintf(
	    dst + len, cap - len, "%s%s%s", len == 0 ? "" : ", ", vis, how);
	return true;
}

void
view_tell(
    const struct view *v, const struct server_def *d, char *dst, size_t cap)
{
	char more[40], system[96];
	unsigned rest = 0;

	dst[0] = '\0';
	snprintf(system, sizeof(system),
	    "the system's files (read-only), and %s",
	    d->egress == NULL ? "no network" : "the network to certain hosts");
	for (unsigned i = 0; i < v->nrows; i++) {
		const struct view_row *r = &v->rows[i];
		bool named = r->ruled || strcmp(r->path, "/workspace") == 0;

		if (r->kind == PROTO_VIEW_HIDDEN)
			continue;
		/* The end of the text always has room. */
		if (!named ||
		    !view_say(dst, cap - sizeof(system) - sizeof(more), r->path,
			r->kind == PROTO_VIEW_WRITE ? "" : " (read-only)"))
			rest++;
	}
	snprintf(
	    more, sizeof(more), "%u other place%s", rest, rest == 1 ? "" : "s");
	if (rest != 0)
		(void)view_say(dst, cap, more, "");
	(void)view_say(dst, cap, system, "");
}

void
view_close(struct view *v)
{
	for (unsigned i = 0; i < v->nrows; i++) {
		free(v->rows[i].path);
		free(v->rows[i].host);
		if (v->rows[i].fd != -1)
			close(v->rows[i].fd);
	}
	for (unsigned i = 0; i < v->ntrees; i++)
		close(v->trees[i]);
	memset(v, 0, sizeof(*v));
}

/* denyRead: refuse the path, if a row shows it. */
static void
view_hide(const struct view *v, const char *name, struct box *b)
{
	struct stat st;
	bool shown = false;

	for (unsigned i = 0; i < v->nrows; i++)
		if (paths_under(name, v->rows[i].path))
			shown = true;
	if (shown && stat(name, &st) == 0)
		box_deny(b, name, st.st_mode);
}

int
view_roots(const struct view *v, struct program *p)
{
	char *roots[VIEW_MAX_ROWS + 1] = {NULL};
	unsigned n = 0;
	struct stat st;
	char **argv;

	for (unsigned i = 0; i < v->nrows; i++) {
		bool known = v->rows[i].kind == PROTO_VIEW_HIDDEN ||
			     fstat(v->rows[i].fd, &st) == -1 ||
			     !S_ISDIR(st.st_mode);

		for (char **a = p->argv + 1; !known && *a != NULL; a++)
			known = paths_under(v->rows[i].path, *a);
		if (!known)
			roots[n++] = v->rows[i].path;
	}
	if (n == 0)
		return 0;
	argv = locate_argv((const char *const *)(uintptr_t)p->argv, roots);
	if (argv == NULL)
		return -1;
	jsonfile_strings_free(p->argv);
	p->argv = argv;
	return 0;
}

static void
view_bind_row(const struct view_row *r, struct box *b)
{
	struct stat st;

	if (r->kind != PROTO_VIEW_HIDDEN)
		box_bind(b, r->fd, r->path, r->kind == PROTO_VIEW_WRITE);
	else
		box_deny(b, r->path, fstat(r->fd, &st) == 0 ? st.st_mode : 0);
}

/* Make room for the rows below /etc that the copy of /etc does not have. */
static void
view_etc(const struct view *v, struct box *b)
{
	const char *paths[VIEW_MAX_ROWS];
	size_t n = 0;

	for (unsigned i = 0; i < v->nrows; i++)
		if (paths_under(v->rows[i].path, "/etc") &&
		    !box_etc_has(v->rows[i].path))
			paths[n++] = v->rows[i].path;
	if (n != 0)
		box_etc_room(b, paths, n);
}

void
view_bind(const struct view *v, const struct server_def *d,
    const struct program *p, struct box *b)
{
	const struct view_row *r;

	view_etc(v, b);
	for (unsigned i = 0; i < v->ntrees; i++)
		box_bind(b, v->trees[i], p->trees[i], false);
	for (unsigned i = 0; i < v->nrows; i++)
		view_bind_row(&v->rows[i], b);
	for (size_t i = 0; d->deny_write != NULL && d->deny_write[i] != NULL;
	     i++)
		for (unsigned k = 0; k < v->nrows; k++) {
			r = &v->rows[k];
			if (r->kind == PROTO_VIEW_WRITE &&
			    paths_under(d->deny_write[i], r->path) &&
			    access(d->deny_write[i], F_OK) == 0) {
				box_bind_path(b, d->deny_write[i],
				    d->deny_write[i], false);
				break;
			}
		}
	for (size_t i = 0; d->deny_read != NULL && d->deny_read[i] != NULL; i++)
		view_hide(v, d->deny_read[i], b);
	cover_bind_view(b, v);
	box_args(b, "--remount-ro", "/", NULL);
}
