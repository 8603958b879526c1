/* SPDX-License-Identifier: ISC */
/*
 * `icctl gc`: tidies up after sessions that have ended. Works below
 * IRONCURTAIN_HOME/sessions only, through descriptors; follows no link, and
 * holds both locks of a session while it removes anything of it.
 */
#include "icctl/gc/gc.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files/adapter/adapter.h"
#include "icctl/policy/policy.h"
#include "icctl/revoke.h"
#include "icctl/words.h"
#include "log/parts.h"
#include "repo/record.h"

#define GC_MAX 100000U

static struct gc *ticking;
static size_t ticking_row;

static void
tick(struct tree *t)
{
	gc_progress(ticking, ticking_row, t->bytes);
}

static struct tree
tree_of(struct gc *g, size_t row)
{
	ticking = g;
	ticking_row = row;
	return (struct tree){
	    .dry = g->dry, .dev = (dev_t)g->dev, .tick = tick, .top = -1};
}

static int
take_options(struct gc *g)
{
	const char *older = words_option("--older-than"),
		   *keep = words_option("--keep");
	char *end;
	long n;

	g->dry = words_given("--dry-run");
	if (older != NULL && (g->rule.older = gc_span(older)) == -1) {
		warnx("--older-than %s: must be a number and m, h, d or w, "
		      "such as 12h or 30d",
		    older);
		return ICCTL_USAGE;
	}
	if (keep != NULL) {
		n = strtol(keep, &end, 10);
		if (end == keep || *end != '\0' || n < 0 || n > 1000000) {
			warnx("--keep %s: must be a number from 0 on", keep);
			return ICCTL_USAGE;
		}
		g->rule.newest = n;
	}
	return 0;
}

/* Empty the caches in an agent's home; the end of a session does the same. */
static uint64_t
caches(struct gc *g, size_t row, const struct gc_look *l)
{
	static const char *const usual[] = {".cache", ".npm/_cacache"};
	struct paths paths = {.home = g->ctl->home};
	struct tree t = tree_of(g, row);
	struct adapter a = {0};
	struct fault fault;
	char datadir[4096];
	int home;

	if ((home = tree_open(l->fd, "home", false)) == -1)
		return 0;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		tree_at(&t, home, usual[i]);
	if (policy_own_path("share/ironcurtain", datadir, sizeof(datadir)) == 0)
		paths.datadir = datadir;
	if (l->agent[0] != '\0' && strcmp(l->agent, "none") != 0 &&
	    paths.datadir != NULL &&
	    adapter_load(&a, &paths, l->agent, &fault) == 0) {
		for (char **c = a.caches; c != NULL && *c != NULL; c++)
			tree_at(&t, home, *c);
		adapter_free(&a);
	}
	close(home);
	return t.bytes;
}

/* Close the log of a session whose icsupervisor was killed. */
static void
crashed(struct gc *g, const struct gc_row *r, const struct gc_look *l)
{
	uint64_t before = auditparts_blocks(l->fd), after;
	struct fault fault = {.text = ""};

	g->crashed++;
	if (g->dry) {
		gc_say(g, "crashed", r->name, 0, "its processes were killed; its log is closed then, if "
		    "it is open");
		return;
	}
	if (icctl_close_locked(g->ctl, l->fd, &fault) == -1) {
		gc_say(g, "crashed", r->name, 0, fault.text);
		return;
	}
	after = auditparts_blocks(l->fd);
	before = before > after ? before - after : 0;
	g->bytes += before;
	gc_say(g, "crashed", r->name, before,
	    "its processes were killed; its log is closed now");
}

static void
remove_session(struct gc *g, size_t row, const char *why)
{
	struct tree t = tree_of(g, row);

	tree_whole(&t, g->sessions, g->rows[row].name);
	g->bytes += t.bytes;
	if (!t.failed || g->dry) {
		g->removed++;
		gc_say(g, "removed", g->rows[row].name, t.bytes, why);
		return;
	}
	g->failed++;
	gc_say(g, "failed", g->rows[row].name, t.bytes,
	    "some of its files could not be removed");
}

/* Tell why a session with files of its own stays, and how it could go. */
static void
why_work(const struct gc *g, const struct gc_row *r, const struct gc_look *l,
    char *why, size_t cap)
{
	struct stat st;
	bool clone = fstatat(l->fd, REPO_RECORD, &st, AT_SYMLINK_NOFOLLOW) == 0;

	if (clone)
		snprintf(why, cap,
		    "its work is in its clone: get it with icctl pull %s, and "
		    "remove %.4000s/sessions/%s/sandbox",
		    r->name, g->ctl->home, r->name);
	else
		snprintf(why, cap,
		    "it has files in its own workspace, "
		    "%.4000s/sessions/%s/sandbox: take what you need, and "
		    "remove the rest",
		    g->ctl->home, r->name);
}

/* Treat a session that has ended, whose locks are held. */
static void
ended(struct gc *g, size_t row, const struct gc_look *l)
{
	const struct gc_row *r = &g->rows[row];
	char why[4800], age[32];
	uint64_t bytes;

	/* It stays until the keys that were made for it are gone. */
	if (!g->dry && revoke_left(g->ctl, l->fd) == -1) {
		gc_say(g, "kept", r->name, 0,
		    "a key that was made for it could not be revoked");
		return;
	}
	if (l->state == GC_REFUSED && !l->work) {
		remove_session(g, row, "a start that came to nothing");
		return;
	}
	if (gc_removes(&g->rule, g->now - r->ended, r->rank)) {
		if (!l->work) {
			snprintf(why, sizeof(why), "ended %s ago",
			    icctl_span(
				(g->now - r->ended) * 1000, age, sizeof(age)));
			remove_session(g, row, why);
			return;
		}
		why_work(g, r, l, why, sizeof(why));
		gc_say(g, "kept", r->name, 0, why);
	} else {
		g->left++;
	}
	if ((bytes = caches(g, row, l)) != 0) {
		g->bytes += bytes;
		gc_say(g, "emptied", r->name, bytes, "caches of its agent");
	}
}

static void
treat(struct gc *g, size_t row)
{
	struct gc_row *r = &g->rows[row];
	char why[200];
	struct gc_look l;
	struct stat st;

	gc_progress(g, row, 0);
	if (gc_look(&l, g->sessions, r->name, g->dev, g->now) == -1)
		return;
	g->contained = g->contained ||
		       fstatat(l.fd, "engine", &st, AT_SYMLINK_NOFOLLOW) == 0;
	switch (l.state) {
	case GC_LIVING:
	case GC_STARTING:
		g->living++;
		break;
	case GC_ELSEWHERE:
		snprintf(
		    why, sizeof(why), "it belongs to the machine %s", l.host);
		gc_say(g, "kept", r->name, 0, why);
		break;
	case GC_UNKNOWN:
		gc_say(g, "kept", r->name, 0,
		    "its file system has no locks, and no process is recorded: "
		    "it may be running");
		break;
	case GC_CRASHED:
		crashed(g, r, &l);
		ended(g, row, &l);
		break;
	case GC_ENDED:
	case GC_REFUSED:
		ended(g, row, &l);
		break;
	}
	gc_release(&l);
}

/* Add a name of sessions/. */
static int
add_row(struct gc *g, const char *name)
{
	struct gc_row *more, *r;
	struct gc_look l;

	if (gc_look(&l, g->sessions, name, g->dev, g->now) == -1) {
		gc_say(g, "kept", name, 0, "it is not a directory of yours");
		return 0;
	}
	gc_release(&l);
	if (g->n % 64 == 0) {
		more = reallocarray(g->rows, g->n + 64, sizeof(*more));
		if (more == NULL)
			return -1;
		g->rows = more;
	}
	r = &g->rows[g->n++];
	*r = (struct gc_row){.state = l.state, .ended = l.ended};
	(void)strlcpy(r->name, name, sizeof(r->name));
	return 0;
}

static int
newest_first(const void *a, const void *b)
{
	const struct gc_row *x = a, *y = b;

	if (x->ended != y->ended)
		return x->ended > y->ended ? -1 : 1;
	return -strcmp(x->name, y->name);
}

static int
list_rows(struct gc *g)
{
	struct dirent *e;
	unsigned rank = 0;
	int rv = 0, copy;
	DIR *dir;

	copy = openat(g->sessions, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy == -1)
		return -1;
	if ((dir = fdopendir(copy)) == NULL) {
		close(copy);
		return -1;
	}
	while (rv == 0 && g->n < GC_MAX && (e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rv = add_row(g, e->d_name);
	closedir(dir);
	if (g->n != 0)
		qsort(g->rows, g->n, sizeof(*g->rows), newest_first);
	for (size_t i = 0; i < g->n; i++)
		if (g->rows[i].state == GC_ENDED ||
		    g->rows[i].state == GC_CRASHED)
			g->rows[i].rank = rank++;
	return rv;
}

/* Open IRONCURTAIN_HOME/sessions. Returns 0, 1 if there is none, or -1. */
static int
open_sessions(struct gc *g)
{
	char path[4200];
	struct stat st;

	snprintf(path, sizeof(path), "%.4000s/sessions", g->ctl->home);
	g->sessions =
	    open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (g->sessions == -1 && errno == ENOENT)
		return 1;
	if (g->sessions == -1 && (errno == ELOOP || errno == ENOTDIR)) {
		warnx("%s: is not a directory, and no link is followed", path);
		return -1;
	}
	if (g->sessions == -1 || fstat(g->sessions, &st) == -1) {
		warn("%s", path);
		return -1;
	}
	g->dev = (uint64_t)st.st_dev;
	return 0;
}

int
icctl_gc(struct icctl *ctl, int argc, char **argv)
{
	struct gc g = {.ctl = ctl,
	    .rule = {.older = -1, .newest = -1},
	    .now = time(NULL),
	    .sessions = -1};
	int r;

	if (argc != 1)
		return words_usage();
	if ((r = take_options(&g)) != 0)
		return r;
	if ((r = open_sessions(&g)) == -1)
		return ICCTL_FAILED;
	g.json = json_object_new_object();
	if (r == 0 && list_rows(&g) == -1) {
		warn("%s/sessions", ctl->home);
		g.failed++;
	}
	for (size_t i = 0; i < g.n; i++)
		treat(&g, i);
	gc_links(&g);
	gc_undo(&g);
	if (g.contained)
		gc_containers(&g);
	gc_summary(&g);
	json_object_put(g.json);
	free(g.rows);
	if (g.sessions != -1)
		close(g.sessions);
	return g.failed == 0 ? ICCTL_OK : ICCTL_FAILED;
}
