/* SPDX-License-Identifier: ISC */
/*
 * The mounts that this process sees, from /proc/self/mountinfo. A directory can
 * be reached through several of them, and the kernel names file systems there
 * by a device that stat(2) does not always show (btrfs, overlayfs).
 */
#ifndef HOST_MOUNTINFO_H
#define HOST_MOUNTINFO_H

#include <sys/types.h>

#include <stdbool.h>

#define MOUNTINFO_MAX 65536U

struct mountinfo_row {
	unsigned id;
	dev_t dev;   /* the file system */
	char *root;  /* the directory of the file system that is mounted */
	char *point; /* the directory where it is mounted */
};

struct mountinfo {
	struct mountinfo_row *rows;
	unsigned n;
};

/* Read them. Returns 0, or -1 with errno set and no rows. */
int mountinfo_read(struct mountinfo *);
void mountinfo_free(struct mountinfo *);
/* Returns the mount that the descriptor was opened in, or NULL. */
const struct mountinfo_row *mountinfo_of(const struct mountinfo *, int fd);
/* Returns true if it is mounted below the directory `path`. */
bool mountinfo_below(const struct mountinfo_row *, const char *path);
/*
 * Call `fn` with each further path of the file or directory of the descriptor,
 * which has the path `path`: in other mounts of its file system, and where a
 * part of it is mounted alone.
 */
void mountinfo_others(const struct mountinfo *, int fd, const char *path,
    void (*fn)(const char *path, void *), void *arg);

#endif
