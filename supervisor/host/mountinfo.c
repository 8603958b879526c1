/* SPDX-License-Identifier: ISC */
#include "host/mountinfo.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif

/* Replace the kernel's octal escapes (\040 for a blank) in place. */
static void
mountinfo_plain(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 +
				       (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Take one line: ID PARENT MAJOR:MINOR ROOT POINT ... */
static int
mountinfo_line(struct mountinfo *m, char *line)
{
	struct mountinfo_row *r;
	unsigned id, major_, minor_;
	char *rest = line, *words[5];

	for (size_t i = 0; i < 5; i++)
		if ((words[i] = strsep(&rest, " \n")) == NULL)
			return 0;
	if (sscanf(words[0], "%u", &id) != 1 ||
	    sscanf(words[2], "%u:%u", &major_, &minor_) != 2)
		return 0;
	if (m->n == MOUNTINFO_MAX) {
		errno = ENOBUFS;
		return -1;
	}
	if ((m->n & (m->n - 1)) == 0) {
		r = reallocarray(
		    m->rows, m->n == 0 ? 1 : 2 * (size_t)m->n, sizeof(*r));
		if (r == NULL)
			return -1;
		m->rows = r;
	}
	r = &m->rows[m->n];
	mountinfo_plain(words[3]);
	mountinfo_plain(words[4]);
	*r = (struct mountinfo_row){.id = id,
	    .dev = makedev(major_, minor_),
	    .root = strdup(words[3]),
	    .point = strdup(words[4])};
	m->n++;
	return r->root == NULL || r->point == NULL ? -1 : 0;
}

int
mountinfo_read(struct mountinfo *m)
{
	char *line = NULL;
	size_t cap = 0;
	int rv = 0, save;
	FILE *f;

	memset(m, 0, sizeof(*m));
	if ((f = fopen("/proc/self/mountinfo", "re")) == NULL)
		return -1;
	while (rv == 0 && getline(&line, &cap, f) != -1)
		rv = mountinfo_line(m, line);
	save = errno;
	free(line);
	fclose(f);
	if (rv == -1)
		mountinfo_free(m);
	errno = save;
	return rv;
}

void
mountinfo_free(struct mountinfo *m)
{
	for (unsigned i = 0; i < m->n; i++) {
		free(m->rows[i].root);
		free(m->rows[i].point);
	}
	free(m->rows);
	memset(m, 0, sizeof(*m));
}

const struct mountinfo_row *
mountinfo_of(const struct mountinfo *m, int fd)
{
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &sx) == -1 ||
	    (sx.stx_mask & STATX_MNT_ID) == 0)
		return NULL;
	for (unsigned i = 0; i < m->n; i++)
		if (m->rows[i].id == sx.stx_mnt_id)
			return &m->rows[i];
	return NULL;
}

/* Returns the rest of `path` below `dir`, "" if they are equal, or NULL. */
static const char *
mountinfo_rest(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	return strcmp(path + n, "/") == 0 ? "" : path + n;
}

bool
mountinfo_below(const struct mountinfo_row *r, const char *path)
{
	const char *rest = mountinfo_rest(r->point, path);

	return rest != NULL && rest[0] == '/';
}

void
mountinfo_others(const struct mountinfo *m, int fd, const char *path,
    void (*fn)(const char *path, void *), void *arg)
{
	const struct mountinfo_row *own = mountinfo_of(m, fd), *r;
	char inner[PATH_MAX], other[PATH_MAX];
	const char *rest;

	if (own == NULL || (rest = mountinfo_rest(path, own->point)) == NULL ||
	    (size_t)snprintf(inner, sizeof(inner), "%s%s",
		strcmp(own->root, "/") == 0 ? "" : own->root,
		rest) >= sizeof(inner))
		return;
	if (inner[0] == '\0')
		strlcpy(inner, "/", sizeof(inner));
	for (unsigned i = 0; i < m->n; i++) {
		r = &m->rows[i];
		if (r->dev != own->dev || r->id == own->id)
			continue;
		if ((rest = mountinfo_rest(inner, r->root)) != NULL) {
			if ((size_t)snprintf(other, sizeof(other), "%s%s",
				strcmp(r->point, "/") == 0 && rest[0] != '\0'
				    ? ""
				    : r->point,
				rest) < sizeof(other))
				fn(other, arg);
		} else if (mountinfo_rest(r->root, inner) != NULL) {
			fn(r->point, arg);
		}
	}
}
