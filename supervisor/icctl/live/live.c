/* SPDX-License-Identifier: ISC */
/* Begins and ends the live set. */
#include "icctl/live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "icctl/live/priv.h"

#define LIVE_POOL (4U << 20)

static struct live *
live_make(struct loop *loop, unsigned flags, const struct live_ops *ops,
    void *arg, unsigned max)
{
	struct live *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->loop = loop;
	l->flags = flags;
	l->ops = ops;
	l->arg = arg;
	l->max = max;
	l->message = take_message;
	l->over = live_over;
	l->run = l->notify = l->io.fd = -1;
	l->watch_run = l->watch_home = -1;
	if ((l->all = calloc(max, sizeof(*l->all))) == NULL) {
		free(l);
		return NULL;
	}
	return l;
}

struct live *
live_new(struct loop *loop, const char *home, const char *dir, unsigned flags,
    const struct live_ops *ops, void *arg)
{
	struct live *l = live_make(loop, flags, ops, arg, LIVE_MAX);
	int save;

	if (l == NULL)
		return NULL;
	if ((l->pool = value_pool_new(LIVE_POOL)) == NULL ||
	    (home != NULL && (l->home = strdup(home)) == NULL) ||
	    (dir != NULL && (l->dir = strdup(dir)) == NULL) ||
	    scan_open(l) == -1) {
		save = errno;
		live_free(l);
		errno = save;
		return NULL;
	}
	return l;
}

struct live *
live_new_far(struct loop *loop, unsigned flags, const struct live_ops *ops,
    void *arg, const struct live_far *far)
{
	struct live *l = live_make(loop, flags, ops, arg, LIVE_FAR_MAX);

	if (l != NULL)
		l->far = *far;
	return l;
}

void
live_free(struct live *l)
{
	if (l == NULL)
		return;
	for (unsigned i = 0; i < l->n; i++)
		live_session_free(l->all[i]);
	scan_close(l);
	value_pool_free(l->pool);
	free(l->home);
	free(l->dir);
	free(l->all);
	free(l);
}
