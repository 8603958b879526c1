/* SPDX-License-Identifier: ISC */
/* Puts icgit into the views of servers. */
#include "box/git/gitbox.h"

#include <stdlib.h>
#include <string.h>

#include "box/git/gitbind.h"
#include "box/locate.h"
#include "core/sup.h"

struct gitbox_user gitbox_user;

bool
gitbox_wants(const struct server_def *d)
{
	return d->sandboxed && (d->internal || d->git);
}

void
gitbox_bind(struct box *b, const char *libexecdir)
{
	const struct gitbox_user *u = &gitbox_user;

	gitbind(b, libexecdir, u->identity != NULL ? u->identity : "");
	if (u->ignore != NULL)
		box_data(b, ICGIT_IGNORE, span_str(u->ignore));
	if (u->attributes != NULL)
		box_data(b, ICGIT_ATTRIBUTES, span_str(u->attributes));
}

/* Copy the git server's view with every row read-only. */
static int
gitbox_view(struct view *v, const struct view *of)
{
	const struct view_row *r;

	memset(v, 0, sizeof(*v));
	for (unsigned i = 0; i < of->nrows; i++) {
		r = &of->rows[i];
		if (view_put(v, r->path, r->host, r->fd,
			r->kind == PROTO_VIEW_HIDDEN ? PROTO_VIEW_HIDDEN
						     : PROTO_VIEW_READ) == -1)
			return -1;
	}
	return 0;
}

static int
gitbox_add(const struct server *git, struct fault *fault)
{
	static char *none[] = {NULL};
	static char name[] = GITBOX_REMOTES, command[] = "icgit";
	static struct server_def def = {.name = name,
	    .command = command,
	    .args = none,
	    .env = none,
	    .sandboxed = true,
	    .internal = true};
	struct server *s = &sup.servers[sup.nservers];

	def.deny_read = git->def->deny_read;
	s->def = &def;
	s->sp = (struct spawned)SPAWNED_INIT;
	s->exit_io.fd = -1;
	s->theirs[0] = s->theirs[1] = s->theirs[2] = -1;
	s->door = -1;
	s->program.ours = true;
	s->program.path = strdup(GITBIND_PROGRAM);
	s->program.argv =
	    locate_argv((const char *const[]){"icgit", NULL}, none);
	if (s->program.path == NULL || s->program.argv == NULL ||
	    gitbox_view(&s->view, &git->view) == -1)
		return fault_errno(fault, "server %s", def.name);
	s->usable = true;
	sup.nservers++;
	return 0;
}

int
gitbox_prepare(struct fault *fault)
{
	for (unsigned i = 0; i < sup.nservers; i++) {
		const struct server *s = &sup.servers[i];

		if (!s->def->git || !s->usable)
			continue;
		if (!s->def->sandboxed) {
			sup_warn("server %s runs without its sandbox: hooks, "
				 "filters and other programs that a repository "
				 "names run as you, and where a remote leads "
				 "is not known",
			    s->def->name);
			return 0;
		}
		if (sup.nservers == PROTO_FIRST_INSTANCE) {
			sup_warn(
			    "server %s: with %u servers there is no room for "
			    "the server that looks up where remotes lead, so "
			    "you are asked about each call that names a remote",
			    s->def->name, PROTO_FIRST_INSTANCE);
			return 0;
		}
		return gitbox_add(s, fault);
	}
	return 0;
}
