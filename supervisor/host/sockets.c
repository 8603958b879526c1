/* SPDX-License-Identifier: ISC */
/*
 * Reads the kernel's table of Unix sockets, which has names as they were bound.
 * A server that changed its directory first, as git's fsmonitor does, has only
 * a relative name; the workspace is then searched for a socket of that name.
 * Nothing connects to a socket.
 */
#include "host/sockets.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOCKETS_LISTENS 0x10000UL /* the kernel's __SO_ACCEPTCON */
#define SOCKETS_DGRAM 2UL
#define SOCKETS_MAX_NAMES 256U
/* The search gives up in a larger tree. */
#define SOCKETS_MAX_ENTRIES 2000000U
#define SOCKETS_MAX_DEPTH 64U

struct search {
	void (*found)(const char *path);
	int n;
	char *names[SOCKETS_MAX_NAMES]; /* bound by a relative name */
	unsigned nnames;
	unsigned entries;
};

/* Returns the name in a line if the socket can be reached by it, or NULL. */
static char *
line_name(char *line)
{
	unsigned long flags, type;
	char *p = line, *end;

	line[strcspn(line, "\n")] = '\0';
	/* Num: RefCount Protocol Flags Type St Inode Path */
	for (unsigned i = 0; i < 3; i++) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	flags = strtoul(p, &end, 16);
	type = strtoul(end, &end, 16);
	(void)strtoul(end, &end, 16);
	(void)strtoul(end, &end, 10);
	if (*end != ' ' || end[1] == '\0' || end[1] == '@')
		return NULL;
	return (flags & SOCKETS_LISTENS) != 0 || type == SOCKETS_DGRAM ? end + 1
								       : NULL;
}

static void
search_name(struct search *s, const struct places *places, const char *name)
{
	const char *slash;
	struct stat st;
	int fd;

	if (name[0] != '/') {
		slash = strrchr(name, '/');
		name = slash != NULL ? slash + 1 : name;
		if (s->nnames < SOCKETS_MAX_NAMES &&
		    (s->names[s->nnames] = strdup(name)) != NULL)
			s->nnames++;
		return;
	}
	if (places_of(places, name, &fd) != NULL && fd != -1 &&
	    fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode)) {
		s->n++;
		s->found(name);
	}
	if (fd != -1)
		close(fd);
}

static bool
search_known(const struct search *s, const char *name)
{
	for (unsigned i = 0; i < s->nnames; i++)
		if (strcmp(s->names[i], name) == 0)
			return true;
	return false;
}

/* Search a directory without following links. Takes `fd`. */
static void
search_tree(struct search *s, int fd, const char *path, unsigned depth)
{
	char below[PATH_MAX];
	struct dirent *e;
	DIR *dir;
	int next;

	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	while ((e = readdir(dir)) != NULL && s->entries < SOCKETS_MAX_ENTRIES) {
		s->entries++;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (snprintf(below, sizeof(below), "%s/%s", path, e->d_name) >=
		    (int)sizeof(below))
			continue;
		if (e->d_type == DT_SOCK && search_known(s, e->d_name)) {
			s->n++;
			s->found(below);
		}
		if (e->d_type != DT_DIR || depth == SOCKETS_MAX_DEPTH)
			continue;
		next = openat(fd, e->d_name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next != -1)
			search_tree(s, next, below, depth + 1);
	}
	closedir(dir);
}

int
host_sockets(const struct places *places, const char *table, int dir,
    const char *dir_path, void (*found)(const char *path))
{
	struct search s = {.found = found};
	char *line = NULL, *name;
	size_t cap = 0;
	FILE *f;
	int fd;

	if ((f = fopen(table, "re")) == NULL)
		return -1;
	/* Skip the heading. */
	if (getline(&line, &cap, f) != -1)
		while (getline(&line, &cap, f) != -1)
			if ((name = line_name(line)) != NULL)
				search_name(&s, places, name);
	free(line);
	fclose(f);
	if (s.nnames != 0 &&
	    (fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) != -1)
		search_tree(&s, fd, dir_path, 0);
	for (unsigned i = 0; i < s.nnames; i++)
		free(s.names[i]);
	return s.n;
}
