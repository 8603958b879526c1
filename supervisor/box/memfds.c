/* SPDX-License-Identifier: ISC */
/*
 * A memfd is in nobody's resident memory until it is mapped. Its pages are
 * found by the descriptors of the sandbox's processes; those in flight in a
 * socket are not found.
 */
#include "box/memfds.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The size of the table: more than are looked at. */
#define MEMFDS_SLOTS 32768U

/* Returns true for the first descriptor of an inode. */
static bool
memfds_first(struct memfds *m, ino_t ino)
{
	unsigned at = (unsigned)(ino * 2654435761U) % MEMFDS_SLOTS;

	/* Few sandboxes have one, and the table is a quarter of a megabyte. */
	if (m->seen == NULL &&
	    (m->seen = calloc(MEMFDS_SLOTS, sizeof(ino_t))) == NULL)
		return false;
	while (m->seen[at] != 0) {
		if (m->seen[at] == ino)
			return false;
		at = (at + 1) % MEMFDS_SLOTS;
	}
	m->seen[at] = ino;
	return true;
}

static void
memfds_look(struct memfds *m, int dir, const char *name)
{
	static const char prefix[] = "/memfd:";
	char text[sizeof(prefix)];
	struct stat st;

	/* The kernel writes the names of files in another way. */
	if (readlinkat(dir, name, text, sizeof(text)) == sizeof(text) &&
	    memcmp(text, prefix, sizeof(prefix) - 1) == 0 &&
	    fstatat(dir, name, &st, 0) == 0 && st.st_ino != 0 &&
	    memfds_first(m, st.st_ino))
		m->bytes += (uint64_t)st.st_blocks * 512;
}

void
memfds_begin(struct memfds *m)
{
	*m = (struct memfds){.seen = NULL};
}

void
memfds_add(struct memfds *m, pid_t pid)
{
	struct dirent *e;
	char path[48];
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	if (m->looked >= MEMFDS_LOOK || (d = opendir(path)) == NULL)
		return;
	while (m->looked < MEMFDS_LOOK && (e = readdir(d)) != NULL) {
		m->looked++;
		memfds_look(m, dirfd(d), e->d_name);
	}
	closedir(d);
}

uint64_t
memfds_end(struct memfds *m)
{
	free(m->seen);
	m->seen = NULL;
	return m->bytes;
}
