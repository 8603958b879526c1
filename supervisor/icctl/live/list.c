/* SPDX-License-Identifier: ISC */
/* The list of sessions: they come, end, and are forgotten. */
#include "icctl/live/priv.h"

#include <sys/inotify.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/newest.h"

#define LIST_FILES (IN_CREATE | IN_MOVED_TO | IN_MODIFY)
#define LIVE_KEPT 16U /* sessions that have ended */

struct live_session *
live_find(const struct live *l, const char *id)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->all[i]->id, id) == 0)
			return l->all[i];
	return NULL;
}

struct live_session *
live_at(const struct live *l, unsigned nth)
{
	for (unsigned i = 0; i < l->n; i++)
		if ((l->all[i]->is != LIVE_ABSENT || l->all[i]->starting) &&
		    (l->dir != NULL || !newest_is_own(l->all[i]->agent)) &&
		    nth-- == 0)
			return l->all[i];
	return NULL;
}

bool
live_more(const struct live *l)
{
	return l->more;
}

static void
list_watch(struct live_session *s)
{
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", s->conn->dir);
	s->conn->watch =
	    inotify_add_watch(s->set->notify, path, LIST_FILES | IN_ONLYDIR);
}

static void
list_unwatch(struct live_session *s)
{
	if (s->conn->watch != -1)
		(void)inotify_rm_watch(s->set->notify, s->conn->watch);
	s->conn->watch = -1;
}

void
live_session_free(struct live_session *s)
{
	if (s == NULL)
		return;
	if (s->conn != NULL) {
		list_unwatch(s);
		conn_close(s);
		tail_close(s);
		loop_timer_clear(s->set->loop, &s->conn->retry);
		loop_timer_clear(s->set->loop, &s->conn->soon);
		if (s->conn->dir != -1)
			close(s->conn->dir);
	}
	take_clear(s);
	json_object_put(s->status);
	json_object_put(s->budget);
	free(s->conn);
	free(s->dir);
	free(s);
}

void
live_drop(struct live *l, struct live_session *s)
{
	bool seen = s->is != LIVE_ABSENT || s->starting;

	for (unsigned i = 0; i < l->n; i++) {
		if (l->all[i] != s)
			continue;
		memmove(l->all + i, l->all + i + 1,
		    (l->n - i - 1) * sizeof(l->all[0]));
		l->n--;
		break;
	}
	if (seen)
		live_tell(s, LIVE_LIST);
	live_session_free(s);
}

void
live_forget(struct live *l)
{
	for (unsigned i = l->n; i-- > 0;)
		if (l->all[i]->is == LIVE_OVER)
			live_drop(l, l->all[i]);
}

void
live_trim(struct live *l)
{
	unsigned over = 0, i;

	for (i = 0; i < l->n; i++)
		over += l->all[i]->is == LIVE_OVER;
	for (i = 0; i < l->n && (over > LIVE_KEPT || l->n == l->max);) {
		if (l->all[i]->is != LIVE_OVER) {
			i++;
			continue;
		}
		live_drop(l, l->all[i]);
		over--;
	}
}

static struct live_session *
session_new(struct live *l, const char *id)
{
	struct live_session *s = calloc(1, sizeof(*s));

	if (s == NULL || (s->conn = calloc(1, sizeof(*s->conn))) == NULL) {
		free(s);
		return NULL;
	}
	s->set = l;
	s->conn->dir = s->conn->log = s->conn->watch = s->conn->io.fd = -1;
	(void)strlcpy(s->id, id, sizeof(s->id));
	if (l->dir != NULL)
		s->dir = strdup(l->dir);
	else if (asprintf(&s->dir, "%s/run/%s", l->home, id) == -1)
		s->dir = NULL;
	if (s->dir == NULL || (s->conn->dir = open(s->dir,
				   O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1) {
		live_session_free(s);
		return NULL;
	}
	session_age_read(&s->age, s->dir, id);
	return s;
}

void
live_insert(struct live *l, struct live_session *s)
{
	unsigned i = l->n;

	for (; i > 0 && session_age_cmp(&l->all[i - 1]->age, l->all[i - 1]->id,
			    &s->age, s->id) > 0;
	     i--)
		l->all[i] = l->all[i - 1];
	l->all[i] = s;
	l->n++;
}

struct live_session *
live_add(struct live *l, const char *id)
{
	struct live_session *s = live_find(l, id);

	/* A new session of the name of one that has ended. */
	if (s != NULL && (s->is == LIVE_OVER || s->conn->gone)) {
		live_drop(l, s);
		s = NULL;
	}
	if (s != NULL || strlen(id) >= sizeof(s->id))
		return s;
	live_trim(l);
	if (l->n == l->max) {
		l->more = true;
		return NULL;
	}
	if ((s = session_new(l, id)) == NULL)
		return NULL;
	live_insert(l, s);
	list_watch(s);
	conn_open(s);
	return s;
}

void
live_over(struct live_session *s, const char *why)
{
	char copy[LIVE_TEXT];

	if (s->is == LIVE_ABSENT) {
		conn_shut(s);
		live_drop(s->set, s);
		return;
	}
	if (s->is == LIVE_OVER)
		return;
	(void)strlcpy(copy, why, sizeof(copy));
	tail_read(s);
	conn_shut(s);
	tail_close(s);
	list_unwatch(s);
	take_clear(s);
	s->is = LIVE_OVER;
	(void)strlcpy(s->why, copy, sizeof(s->why));
	(void)strlcpy(s->state, s->conn->died ? "crashed" : "ended",
	    sizeof(s->state));
	activity_printf(s, LIVE_NOTE, "", "", "%s%s",
	    s->conn->died ? "" : "the session has ended: ", copy);
	live_tell(s, LIVE_HOLD);
	live_tell(s, LIVE_LIST);
}

void
live_gone(struct live_session *s)
{
	s->conn->gone = true;
	if (s->conn->io.fd == -1)
		live_over(s, "it is no longer running");
}
