/* SPDX-License-Identifier: ISC */
/*
 * Follows links that managers of dotfiles make (stow, chezmoi, home-manager).
 * Each place that the walk to the end passes is judged, links included: nobody
 * but the user and root may be able to write it, and no agent. The end is
 * opened once, from the walk itself, so that nothing is looked up by name
 * again.
 */
#include "home/follow.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "core/sup.h"

/* Note a place that another user can change. `arg` is a flag. */
static void
follow_see(void *arg, const struct stat *st)
{
	bool *others = arg;

	if (st->st_uid != geteuid() && st->st_uid != 0)
		*others = true;
	/* A link has no mode, and a sticky directory keeps its owner's names.
	 */
	if (S_ISLNK(st->st_mode) ||
	    (S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) != 0))
		return;
	if ((st->st_mode & S_IWOTH) != 0 ||
	    ((st->st_mode & S_IWGRP) != 0 && st->st_gid != getegid()))
		*others = true;
}

/* Check the end of the walk. Returns 0, or -1 with the reason. */
static int
follow_judge(int end, char *why, size_t cap)
{
	struct fault fault = {0};
	const char *form;
	struct stat st;
	char *path;
	int rv = -1;

	if ((path = paths_of_fd(end)) == NULL || fstat(end, &st) == -1)
		snprintf(why, cap, "%s", strerror(errno));
	else if ((form = secretive_path(path)) != NULL)
		snprintf(why, cap,
		    "its link leads to files that hold credentials: %s", form);
	else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		snprintf(why, cap, "its link leads to no plain file");
	else if (guards_check(
		     &sup.guards, end, "its link leads to", path, &fault) == -1)
		snprintf(why, cap, "%s", fault.text);
	else
		rv = 0;
	free(path);
	return rv;
}

/* Open the object of an O_PATH descriptor for reading. */
static int
follow_open(int end)
{
	char self[64];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", end);
	return open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int
home_follow(const char *path, char *why, size_t cap)
{
	const char *place;
	bool others = false;
	int end, fd = -1;

	place = places_walk(&sup.host.places, path, &end, follow_see, &others);
	if (end == -1)
		snprintf(why, cap, "%s",
		    errno == ENOENT  ? "its link leads nowhere"
		    : errno == ELOOP ? "its link leads in a circle"
				     : strerror(errno));
	else if (place != NULL)
		snprintf(why, cap,
		    "its link leads through a place that an agent can write: "
		    "%s",
		    place);
	else if (others)
		snprintf(
		    why, cap, "its link leads to what another user can change");
	else if (follow_judge(end, why, cap) == 0 &&
		 (fd = follow_open(end)) == -1)
		snprintf(why, cap, "%s", strerror(errno));
	if (end != -1)
		close(end);
	return fd;
}
