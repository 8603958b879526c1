/* SPDX-License-Identifier: ISC */
/*
 * The directories that recent paths led to, so that the next path in one of
 * them takes two system calls instead of one for each component. A directory is
 * known under one name, without links, in one view. It stays known until a
 * directory on the way to it is moved or a file system is mounted or unmounted:
 * the kernel reports both.
 */
#ifndef KNOWN_H
#define KNOWN_H

#include "engine/path.h"

/* How directories are watched; the seccomp filter admits nothing else. */
#define KNOWN_WATCH 0x01000800U /* IN_ONLYDIR | IN_MOVE_SELF */

/* Descriptors that known directories leave to messages and paths. */
#define KNOWN_LEAVES 128U

/*
 * Takes ownership of `events`, an epoll descriptor that is ready once after
 * each change to the mounts of this mount namespace. `files` is the limit of
 * this process's descriptors. Returns NULL if the kernel refuses a watch;
 * `events` is closed then.
 */
struct known *known_new(int events, unsigned files);
void known_free(struct known *);
/* Forget every directory. Rules and views that change require it. */
void known_drop(struct known *);

/*
 * Resolve `text` if its directory is known. Returns false, with *out
 * unspecified, if the path must be walked.
 */
bool known_resolve(const struct path_env *, struct span text, struct path *out);
/*
 * Note that a walk resolved `text` to *out. The second time, its directory
 * becomes known if nothing but directories leads to it.
 */
void known_note(const struct path_env *, struct span text,
    const struct path *out);
/* Returns how many directories are known. */
size_t known_count(const struct known *);

#endif
