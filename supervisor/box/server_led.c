/* SPDX-License-Identifier: ISC */
/*
 * Judges an entry of mcp-servers.json by device and inode, with the paths of
 * the server's view.
 */
#include "box/server_led.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/git/gitbox.h"
#include "host/launch.h"
#include "host/lead.h"
#include "host/reach.h"
#include "host/sessions.h"
#include "host/treehash.h"

/* Only `all` owns the texts of its places. */
struct led {
	struct places all;    /* that agents write, also through servers */
	struct places direct; /* that agents write themselves */
	struct places others; /* all but this server's own directories */
	struct lead lead;
};

bool
server_bears(const struct server_def *d)
{
	return d->env[0] != NULL || d->secret || d->egress != NULL ||
	       (d->allow_read != NULL && d->allow_read[0] != NULL) ||
	       (d->allow_write != NULL && d->allow_write[0] != NULL);
}

/* Returns true if rules show the server more than the workspace. */
static bool
led_sees(const struct view *v)
{
	for (unsigned i = 0; i < v->nrows; i++)
		if (v->rows[i].kind != PROTO_VIEW_HIDDEN &&
		    strcmp(v->rows[i].path, "/workspace") != 0)
			return true;
	return false;
}

/* Returns true if the server runs a text, which may compose any path. */
static bool
led_text(const struct server *s)
{
	const char *program;

	return reach_inline(s->program.argv, s->program.path, &program) !=
		   NULL ||
	       launch_text(s->def->env);
}

const char *
server_directory(const struct server *s, const struct server_def *d)
{
	if (!d->workspace || gitbox_wants(d) ||
	    (!s->program.ours && !d->shell &&
		(server_bears(d) || led_sees(&s->view)) &&
		(launch_from_directory(d->command, d->args) || led_text(s))))
		return "/";
	return "/workspace";
}

/* Returns true if another server of this session can write the object. */
static bool
led_shared(const struct server *s, const struct paths_id *id)
{
	const struct view *v;
	struct stat st;

	for (unsigned i = 0; i < sup.nservers; i++) {
		v = &sup.servers[i].view;
		if (&sup.servers[i] == s)
			continue;
		for (unsigned k = 0; k < v->nrows; k++)
			if (v->rows[k].kind == PROTO_VIEW_WRITE &&
			    fstat(v->rows[k].fd, &st) == 0 &&
			    st.st_dev == id->dev && st.st_ino == id->ino)
				return true;
	}
	return false;
}

/*
 * Remove the directories that the server's own entry lists as writable. Each
 * session that loads the same file has them, and no agent writes there but
 * through this server.
 */
static void
led_own(struct led *l, const struct server *s)
{
	char *const *names = s->def->allow_write;
	struct paths_id id;
	struct stat st;

	for (; names != NULL && *names != NULL; names++) {
		if (stat(*names, &st) == -1)
			continue;
		id = (struct paths_id){st.st_dev, st.st_ino};
		if (!led_shared(s, &id))
			places_pass(&l->others, &id);
	}
}

static int
led_places(struct led *l, const struct server *s)
{
	if (places_copy(&l->all, &sup.host.places) == -1 ||
	    sessions_places(&l->all, sup.session.run, sup.session.fd) == -1)
		return -1;
	l->all.inside = s->def->workspace;
	l->all.workspace = sup.workspace;
	l->direct = l->others = l->all;
	l->direct.direct = true;
	led_own(l, s);
	return 0;
}

static bool
led_program(struct led *l, const struct program *p)
{
	if (lead_found(&l->lead, places_of(&l->all, p->path, NULL),
		"its program", p->path))
		return true;
	for (unsigned i = 0; i < p->ntrees; i++)
		if (lead_found(&l->lead, places_of(&l->all, p->trees[i], NULL),
			"its program's directory", p->trees[i]))
			return true;
	return false;
}

/* Returns true if the copy of the program is not what the user took. */
static bool
led_copy(const struct server_def *d, char *why, size_t cap)
{
	struct treehash t;
	char sum[SHA256_HEX];
	bool good = false;
	int fd;

	if (d->copy == NULL)
		return false;
	fd = open(d->copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1) {
		good = treehash_read(&t, fd, TREEHASH_BYTES) == 0 &&
		       strcmp(sha256_hex(t.sum, sum), d->copy_sum) == 0;
		close(fd);
	}
	if (!good)
		snprintf(why, cap,
		    "left out: the files in %.250s are not those that were "
		    "copied there. To copy them again: icctl mcp import --copy "
		    "%s",
		    d->copy, d->name);
	return !good;
}

/*
 * Write the option by which `icctl mcp import --copy` finds the place, unless
 * it is the workspace, where that is usually run.
 */
static void
led_option(const struct led *l, char dst[200])
{
	const char *path;

	dst[0] = '\0';
	for (unsigned i = 0; i < l->all.n; i++) {
		path = l->all.paths[i];
		if (l->all.names[i] == l->lead.place &&
		    strcmp(path, sup.workspace_path) != 0 &&
		    strlen(path) < 180 && strchr(path, '\'') == NULL)
			snprintf(dst, 200, " --workspace '%s'", path);
	}
}

/* Cover a place that lies in row `i`. Returns 0, or -1 with errno set. */
static int
led_cover(struct view *v, unsigned i, const char *place)
{
	const int fd = open(place, O_PATH | O_CLOEXEC);
	int rv;

	if (fd == -1)
		return -1;
	rv = view_cover(v, i, place, fd, PROTO_VIEW_HIDDEN);
	close(fd);
	return rv;
}

/*
 * Withhold from the view what agents write, because the server's text may
 * compose any path there. Returns 0, or -1 with errno set.
 */
static int
led_hide(const struct led *l, struct server *s)
{
	const struct places *p = &l->others;
	const char *hidden = NULL;
	struct view_row *r;
	int rv = 0;

	for (unsigned i = 0; rv == 0 && i < s->view.nrows; i++) {
		r = &s->view.rows[i];
		if (r->kind == PROTO_VIEW_HIDDEN)
			continue;
		if (places_of(p, r->path, NULL) != NULL) {
			r->kind = PROTO_VIEW_HIDDEN;
			hidden = r->path;
			continue;
		}
		/* New rows are longer, and so stand behind this one. */
		for (unsigned k = 0; rv == 0 && k < p->n; k++)
			if (paths_under(p->paths[k], r->host))
				rv = led_cover(&s->view, i, p->paths[k]);
	}
	if (hidden != NULL)
		sup_warn("server %s runs a text, which could run what an agent "
			 "writes in %s, so that its sandbox refuses this. "
			 "If it needs the files there: \"shell\": true",
		    s->def->name, hidden);
	return rv;
}

bool
server_led(struct server *s, char *why, size_t cap)
{
	const struct server_def *d = s->def;
	static struct led l;
	struct lead *lead = &l.lead;
	char option[200];
	bool led;

	why[0] = '\0';
	if (led_copy(d, why, cap))
		return true;
	if (!d->sandboxed || s->program.ours || d->internal ||
	    locate_is_own(d->command) ||
	    (!server_bears(d) && !led_sees(&s->view)))
		return false;
	memset(&l, 0, sizeof(l));
	*lead = (struct lead){.code = &l.all,
	    .data = &l.direct,
	    .env = &l.others,
	    .user_home = sup.paths.user_home,
	    .cwd = d->workspace ? sup.workspace : -1,
	    .cwd_path = "/workspace",
	    .files = d->env[0] != NULL || d->secret || d->egress != NULL ||
		     (d->allow_write != NULL && d->allow_write[0] != NULL)};
	if (led_places(&l, s) == -1) {
		snprintf(why, cap,
		    "left out: it cannot be told what agents can write");
		led = true;
	} else if ((led = led_program(&l, &s->program) ||
			  lead_arguments(lead, d->command, d->args) ||
			  lead_variables(lead, d->env))) {
		led_option(&l, option);
		snprintf(why, cap,
		    "left out: %.160s leads into %.200s, where an agent could "
		    "change what it runs. For a copy that no agent can change: "
		    "icctl mcp import --copy %s%s",
		    lead->what, lead->place, d->name, option);
	} else if (!d->shell && led_text(s) && led_hide(&l, s) == -1) {
		snprintf(why, cap,
		    "left out: what agents write cannot be hidden from the "
		    "text that it runs: %s", strerror(errno));
		led = true;
	}
	places_clear(&l.all);
	return led;
}
