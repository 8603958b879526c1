/* SPDX-License-Identifier: ISC */
/*
 * Reads from the control group of a container how many of its processes the
 * kernel has killed at the limit of memory. The file is opened while the
 * container is there; it says nothing any more when the group is gone, so that
 * the last number is kept.
 */
#include "box/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	int fd;
	unsigned killed;
} oom_env = {.fd = -1};

/* Compose the file's path from a line of /proc/PID/cgroup. */
static bool
oom_path(char *line, char *path, size_t cap)
{
	char *controllers, *dir;

	line[strcspn(line, "\n")] = '\0';
	if ((controllers = strchr(line, ':')) == NULL ||
	    (dir = strchr(controllers + 1, ':')) == NULL)
		return false;
	*dir++ = '\0';
	controllers++;
	if (strcmp(controllers, "memory") == 0)
		snprintf(path, cap,
		    "/sys/fs/cgroup/memory%s/memory.oom_control", dir);
	else if (controllers[0] == '\0')
		snprintf(path, cap, "/sys/fs/cgroup%s/memory.events", dir);
	else
		return false;
	return true;
}

void
oom_open(pid_t pid)
{
	char name[64], line[1024], path[1200];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	if (oom_env.fd != -1 || (f = fopen(name, "re")) == NULL)
		return;
	while (oom_env.fd == -1 && fgets(line, sizeof(line), f) != NULL)
		if (oom_path(line, path, sizeof(path)))
			oom_env.fd = open(path, O_RDONLY | O_CLOEXEC);
	fclose(f);
}

unsigned
oom_killed(void)
{
	char text[512];
	const char *p;
	ssize_t n;

	if (oom_env.fd == -1)
		return 0;
	n = pread(oom_env.fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return oom_env.killed;
	text[n] = '\0';
	if ((p = strstr(text, "oom_kill ")) != NULL)
		oom_env.killed = (unsigned)strtoul(p + 9, NULL, 10);
	return oom_env.killed;
}
