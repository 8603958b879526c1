/* SPDX-License-Identifier: ISC */
/*
 * Puts icgit into the views of servers, and finds out the user's name for
 * commits.
 */
#include "box/gitbox.h"

#include <sys/syscall.h>

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/gitbind.h"
#include "box/locate_priv.h"
#include "sup.h"

#define GITBOX_MS 2000

static char identity[500]; /* git configuration; "": unknown */
static bool asked;

bool
gitbox_wants(const struct server_def *d)
{
	return d->sandboxed && (d->internal || d->git);
}

void
gitbox_bind(struct box *b, const char *libexecdir)
{
	gitbind(b, libexecdir, identity);
}

/*
 * Read one value of the user's git configuration. Returns false if it is not
 * set.
 */
static bool
gitbox_ask(const char *key, char *dst, size_t cap)
{
	char *const argv[] = {(char[]){"git"}, (char[]){"config"},
	    (char[]){"--global"}, (char[]){"--get"}, (char *)(uintptr_t)key,
	    NULL};
	char home[PATH_MAX + 8];
	char *const envp[] = {home, NULL};
	struct spawn s = {.argv = argv,
	    .envp = envp,
	    .cwd = "/",
	    .fds = {-1, -1, -1},
	    .nfds = 3,
	    .session = true};
	struct spawned sp = SPAWNED_INIT;
	struct pollfd p = {.events = POLLIN};
	int ends[2], code, status;
	ssize_t n = -1;

	(void)snprintf(home, sizeof(home), "HOME=%s", sup.paths.user_home);
	if (pipe2(ends, O_CLOEXEC) == -1)
		return false;
	s.fds[1] = ends[1];
	p.fd = ends[0];
	if (host_program_start(&sup.host.git, &sup.host.places, &s, &sp) == 0) {
		/* Without our end of it, the pipe ends with git. */
		close(ends[1]);
		ends[1] = -1;
		/* git prints its line at once, unless something is wrong. */
		if (spawn_check(&sp) == 0 && poll(&p, 1, GITBOX_MS) == 1)
			n = read(ends[0], dst, cap - 1);
		if (n == -1)
			(void)syscall(
			    SYS_pidfd_send_signal, sp.pidfd, SIGKILL, NULL, 0);
		(void)spawn_reap(sp.pidfd, true, &code, &status);
		close(sp.pidfd);
	}
	close(ends[0]);
	if (ends[1] != -1)
		close(ends[1]);
	if (n < 2 || dst[n - 1] != '\n')
		return false;
	dst[n - 1] = '\0';
	for (const char *c = dst; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\' ||
		    *c == 0x7f)
			return false;
	return true;
}

const char *
gitbox_identity(void)
{
	char name[200], email[200];
	struct fault ignored;

	if (asked)
		return identity;
	asked = true;
	/* Without git on the host, the sandbox has none either. */
	if (host_find(&sup.host.git, "git", "/usr/bin/git", &ignored) == 0 &&
	    gitbox_ask("user.name", name, sizeof(name)) &&
	    gitbox_ask("user.email", email, sizeof(email)))
		(void)snprintf(identity, sizeof(identity),
		    "[user]\n\tname = \"%s\"\n\temail = \"%s\"\n", name, email);
	return identity;
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
		(void)gitbox_identity();
		return gitbox_add(s, fault);
	}
	return 0;
}
