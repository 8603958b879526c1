/* SPDX-License-Identifier: ISC */
/*
 * Knows directories that paths led to. The agent may change them at any time,
 * so each of them, and each directory between it and the row or root where its
 * name begins, has a watch (inotify, for moves of that very directory). The
 * kernel queues the event before the call that moves the directory returns.
 *
 * A name in a directory leads to another object only after the object that it
 * led to was moved or removed, or something was mounted there. A move and a
 * mount are reported, and everything is forgotten. A directory that contains
 * something cannot be removed, so that the directories between need no more;
 * the last one is asked by its own descriptor, in which a removed directory has
 * no names. If such a directory loses its search permission, the paths in it
 * keep their names, and the server cannot use them.
 *
 * Network file systems and layered ones do not report every move. Directories
 * are known only where each move on the file system passes this kernel.
 */
#include "engine/known.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/known_priv.h"

void
known_forget(struct known *k, struct known_dir *d)
{
	if (d->name == NULL)
		return;
	free(d->name);
	close(d->fd);
	*d = (struct known_dir){.fd = -1};
	k->n--;
}

/* Discard the queued events. */
static void
drain(struct known *k)
{
	char events[4096];

	while (read(k->watch, events, sizeof(events)) > 0)
		continue;
}

void
known_drop(struct known *k)
{
	if (k == NULL)
		return;
	for (size_t i = 0; k->n != 0 && i < KNOWN_SETS * KNOWN_WAYS; i++)
		known_forget(k, &k->dirs[i / KNOWN_WAYS][i % KNOWN_WAYS]);
	for (size_t i = 0; i < k->nwatches; i++)
		(void)inotify_rm_watch(k->watch, k->watches[i]);
	k->nwatches = 0;
	drain(k);
}

struct known *
known_new(int events, unsigned files)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct known *k;

	if ((k = calloc(1, sizeof(*k))) == NULL) {
		close(events);
		return NULL;
	}
	k->events = events;
	k->end = files > KNOWN_LEAVES ? (int)(files - KNOWN_LEAVES) : 0;
	if ((k->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) == -1 ||
	    epoll_ctl(events, EPOLL_CTL_ADD, k->watch, &ev) == -1) {
		known_free(k);
		return NULL;
	}
	return k;
}

void
known_free(struct known *k)
{
	int saved = errno;

	if (k == NULL)
		return;
	known_drop(k);
	if (k->watch != -1)
		close(k->watch);
	close(k->events);
	free(k);
	errno = saved;
}

size_t
known_count(const struct known *k)
{
	return k->n;
}

bool
known_changed(struct known *k)
{
	struct epoll_event ev[2];

	if (epoll_wait(k->events, ev, 2, 0) == 0)
		return false;
	known_drop(k);
	return true;
}

bool
known_split(struct span text, struct span *dir, const char **name)
{
	const uint8_t *p = text.p, *end = text.p + text.len, *slash = p, *next;

	if (text.len == 0 || *p != '/')
		return false;
	for (;;) {
		next = memchr(slash + 1, '/', (size_t)(end - slash - 1));
		if (next == NULL)
			next = end;
		if (next == slash + 1 || (slash[1] == '.' &&
		    (next == slash + 2 ||
			(next == slash + 3 && slash[2] == '.'))))
			return false;
		if (next == end)
			break;
		slash = next;
	}
	*dir = span_of(p, (size_t)(slash - p));
	*name = (const char *)slash + 1;
	return dir->len != 0 && dir->len <= KNOWN_MAX_DIR;
}

bool
known_absolute(const struct path_env *env, struct span in, char text[PATH_MAX],
    struct span *out)
{
	size_t n = 0;

	if (in.len == 0 || in.p[0] == '~')
		return false;
	if (in.p[0] != '/') {
		if (env->cwd.len < 2 ||
		    env->cwd.len + 1 + in.len >= PATH_MAX)
			return false;
		memcpy(text, env->cwd.p, env->cwd.len);
		n = env->cwd.len;
		text[n++] = '/';
	} else if (in.len >= PATH_MAX) {
		return false;
	}
	memcpy(text + n, in.p, in.len);
	text[n + in.len] = '\0';
	*out = span_of(text, n + in.len);
	return true;
}

/* FNV-1a, eight bytes at a time. */
uint64_t
known_hash(const struct view *v, struct span s)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ (uintptr_t)v, word;
	size_t i = 0;

	for (; i + sizeof(word) <= s.len; i += sizeof(word)) {
		memcpy(&word, s.p + i, sizeof(word));
		h = (h ^ word) * 0x100000001b3ULL;
		h ^= h >> 29;
	}
	for (; i < s.len; i++)
		h = (h ^ s.p[i]) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

struct known_dir *
known_find(struct known *k, const struct view *v, struct span dir, uint64_t hash)
{
	struct known_dir *set = k->dirs[hash % KNOWN_SETS];

	for (size_t i = 0; i < KNOWN_WAYS; i++) {
		if (set[i].name != NULL && set[i].hash == hash &&
		    set[i].view == v && set[i].len == dir.len &&
		    memcmp(set[i].name, dir.p, dir.len) == 0)
			return &set[i];
	}
	return NULL;
}

bool
known_is_place(const struct places *ps, const struct path_object *o)
{
	size_t i = places_find(ps, o->dev, o->ino);
	const struct place *p;

	if (i == ps->ninodes)
		return false;
	p = &ps->list[ps->by_inode[i]];
	return p->dev == o->dev && p->ino == o->ino;
}

/*
 * Examine `name` in a known directory. Returns false if the path must be
 * walked: `name` is a link, a place, special or mounted, or the directory was
 * removed.
 */
static bool
look(const struct path_env *env, struct known_dir *d, const char *name,
    struct path *out)
{
	struct path_object o = d->object;

	if (path_object(d->fd, name, &o) == 0) {
		if ((!S_ISDIR(o.mode) && !S_ISREG(o.mode)) ||
		    o.dev != d->object.dev || known_is_place(env->places, &o))
			return false;
		out->exists = true;
		out->object = o;
		return true;
	}
	if (errno != ENOENT || path_object(d->fd, "", &d->object) == -1 ||
	    d->object.nlink == 0)
		return false;
	out->missing = 1;
	out->object = d->object;
	return true;
}

bool
known_usable(const struct path_env *env)
{
	return env->known != NULL && !env->any && env->places != NULL &&
	       (env->budget == NULL || *env->budget != 0);
}

bool
known_resolve(const struct path_env *env, struct span in, struct path *out)
{
	static char copy[PATH_MAX];
	struct span text, dir;
	struct known_dir *d;
	const char *name;

	if (!known_usable(env) || env->known->n == 0 ||
	    !known_absolute(env, in, copy, &text) || !known_split(text, &dir, &name))
		return false;
	d = known_find(env->known, env->view, dir, known_hash(env->view, dir));
	if (d == NULL || known_changed(env->known))
		return false;
	*out = (struct path){0};
	if (!look(env, d, name, out)) {
		if (d->object.nlink == 0)
			known_forget(env->known, d);
		return false;
	}
	if (path_found(env, d->row, text, out) != PATH_OK)
		return false;
	if (env->budget != NULL)
		--*env->budget;
	return true;
}
