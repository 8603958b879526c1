/* SPDX-License-Identifier: ISC */
/*
 * Finds sessions by their links in HOME/run, and is told by inotify about new
 * ones, about sockets that appear and about logs that grow.
 */
#include "icctl/live/priv.h"

#include <sys/inotify.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/here.h"

#define SCAN_LOOK_MS 500U
#define SCAN_LINKS (IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM)

static void scan_look(struct loop_timer *);

/*
 * The kernel refused to watch something. From now on look at everything twice a
 * second: other programs of this user, such as an agent, may have used up what
 * there is of inotify.
 */
static void
scan_blind(struct live *l)
{
	if (l->look.at == 0)
		loop_timer_set(l->loop, &l->look, SCAN_LOOK_MS, scan_look, l);
}

static struct live_session *
scan_add(struct live *l, const char *name)
{
	struct live_session *s = live_add(l, name);

	if (s != NULL && s->conn->watch == -1)
		scan_blind(l);
	return s;
}

static bool
elsewhere(const struct live *l, const char *name)
{
	char host[65], beside[300];

	return here_read(l->run, here_beside(name, beside), host) ==
	       HERE_ELSEWHERE;
}

static void
scan_link(struct live *l, const char *name)
{
	if (name[0] != '.' && !elsewhere(l, name))
		(void)scan_add(l, name);
}

static bool
is_linked(const struct live *l, const char *name)
{
	struct stat st;

	return fstatat(l->run, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Look at everything again: at first, and after events were lost. */
static void
scan_all(struct live *l)
{
	struct live_session *s;
	struct dirent *e;
	DIR *d = NULL;
	int fd;

	if ((fd = openat(l->run, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) !=
		-1 &&
	    (d = fdopendir(fd)) == NULL)
		close(fd);
	while (d != NULL && (e = readdir(d)) != NULL) {
		s = live_find(l, e->d_name);
		if (s == NULL || s->conn->gone)
			scan_link(l, e->d_name);
	}
	if (d != NULL)
		closedir(d);
	for (unsigned i = l->n; i-- > 0;) {
		if (!is_linked(l, l->all[i]->id))
			live_gone(l->all[i]);
		else
			tail_read(l->all[i]);
	}
}

/* Open HOME/run once it is there. */
static void
scan_run(struct live *l)
{
	char run[4200];

	if (l->run != -1 || l->home == NULL)
		return;
	(void)snprintf(run, sizeof(run), "%.4096s/run", l->home);
	l->run = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->run == -1)
		return;
	l->watch_run =
	    inotify_add_watch(l->notify, run, SCAN_LINKS | IN_ONLYDIR);
	if (l->watch_run == -1)
		scan_blind(l);
	scan_all(l);
}

static void
scan_look(struct loop_timer *t)
{
	struct live *l = t->arg;
	struct live_session *s;

	loop_timer_set(l->loop, t, SCAN_LOOK_MS, scan_look, l);
	scan_run(l);
	if (l->run != -1)
		scan_all(l);
	for (unsigned i = l->n; i-- > 0;) {
		s = l->all[i];
		tail_look(s);
		if (s->is == LIVE_ABSENT && s->conn->retry.at == 0)
			conn_open(s);
	}
}

static void
scan_file(struct live_session *s, const struct inotify_event *e)
{
	bool is_new = (e->mask & (IN_CREATE | IN_MOVED_TO)) != 0;

	if (strcmp(e->name, "audit.jsonl") == 0) {
		tail_changed(s, is_new);
	} else if (is_new && strcmp(e->name, "control.sock") == 0 &&
		   s->conn->io.fd == -1) {
		s->conn->tries = 0;
		conn_open(s);
	}
}

static void
scan_event(struct live *l, const struct inotify_event *e)
{
	struct live_session *s;

	if ((e->mask & IN_Q_OVERFLOW) != 0) {
		if (l->run != -1)
			scan_all(l);
		return;
	}
	if (e->len == 0)
		return;
	if (e->wd == l->watch_run && (e->mask & IN_ISDIR) == 0) {
		if ((e->mask & (IN_CREATE | IN_MOVED_TO)) != 0)
			scan_link(l, e->name);
		else if ((s = live_find(l, e->name)) != NULL)
			live_gone(s);
		return;
	}
	if (e->wd == l->watch_home && strcmp(e->name, "run") == 0)
		scan_run(l);
	for (unsigned i = 0; i < l->n; i++) {
		if (l->all[i]->conn->watch == e->wd) {
			scan_file(l->all[i], e);
			return;
		}
	}
}

static void
scan_ready(struct loop_io *io, uint32_t events)
{
	struct live *l = io->arg;
	union {
		char bytes[16384];
		struct inotify_event first;
	} u;
	const struct inotify_event *e;
	ssize_t n = read(l->notify, u.bytes, sizeof(u.bytes));

	for (ssize_t at = 0; n > 0 && at < n;
	     at += (ssize_t)(sizeof(*e) + e->len)) {
		e = (const struct inotify_event *)(const void *)(u.bytes + at);
		scan_event(l, e);
	}
}

int
scan_open(struct live *l)
{
	const char *name;

	if ((l->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) == -1)
		scan_blind(l);
	else if (loop_add(l->loop, &l->io, l->notify, EPOLLIN, scan_ready,
		     l) == -1)
		return -1;
	if (l->dir != NULL) {
		name = strrchr(l->dir, '/');
		name = name == NULL || name[1] == '\0' ? l->dir : name + 1;
		return scan_add(l, name) == NULL ? -1 : 0;
	}
	l->watch_home = inotify_add_watch(
	    l->notify, l->home, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
	if (l->watch_home == -1 && access(l->home, F_OK) == -1)
		return -1;
	if (l->watch_home == -1)
		scan_blind(l);
	scan_run(l);
	return 0;
}

void
scan_close(struct live *l)
{
	loop_timer_clear(l->loop, &l->look);
	loop_del(l->loop, &l->io);
	if (l->notify != -1)
		close(l->notify);
	if (l->run != -1)
		close(l->run);
	l->notify = l->run = -1;
}
