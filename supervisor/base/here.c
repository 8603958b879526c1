/* SPDX-License-Identifier: ISC */
#include "base/here.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"

#define HERE_BOOT "/proc/sys/kernel/random/boot_id"

struct here *
here(void)
{
	static struct here h;

	if (h.host[0] != '\0')
		return &h;
	if (gethostname(h.host, sizeof(h.host) - 1) == -1 || h.host[0] == '\0')
		(void)strlcpy(h.host, "localhost", sizeof(h.host));
	(void)small_file_read(AT_FDCWD, HERE_BOOT, h.boot, sizeof(h.boot));
	h.boot[strcspn(h.boot, "\n")] = '\0';
	if (h.boot[0] == '\0')
		(void)strlcpy(h.boot, "unknown", sizeof(h.boot));
	(void)strlcpy(h.by, "icsupervisor", sizeof(h.by));
	return &h;
}

uint64_t
here_start(pid_t pid)
{
	unsigned long long start = 0;
	char path[40], text[1024], *p;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	(void)small_file_read(AT_FDCWD, path, text, sizeof(text));
	/* A program's name may have spaces and parentheses. */
	if ((p = strrchr(text, ')')) == NULL)
		return 0;
	for (unsigned i = 0; i < 20 && p != NULL; i++)
		p = strchr(p + 1, ' ');
	if (p == NULL || sscanf(p, "%llu", &start) != 1)
		return 0;
	return start;
}

int
here_write(int dirfd, const char *name)
{
	char text[192];
	ssize_t n;
	int fd;

	fd = openat(dirfd, name,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	    0600);
	if (fd == -1)
		return -1;
	snprintf(text, sizeof(text), "%s %s %ld %llu %s\n", here()->host,
	    here()->boot, (long)getpid(),
	    (unsigned long long)here_start(getpid()), here()->by);
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

enum here_is
here_owner(int dirfd, const char *name, struct here_owner *o)
{
	unsigned long long start = 0;
	char text[192];

	*o = (struct here_owner){.pid = 0};
	if (small_file_read(dirfd, name, text, sizeof(text)) == -1)
		return HERE_UNKNOWN;
	/* The first two are all that older versions wrote. */
	if (sscanf(text, "%64s %39s %ld %llu %15s", o->host, o->boot, &o->pid,
		&start, o->by) < 2)
		return HERE_UNKNOWN;
	o->start = start;
	if (strcmp(o->boot, here()->boot) == 0)
		return HERE_OURS;
	return strcmp(o->host, here()->host) == 0 ? HERE_STALE : HERE_ELSEWHERE;
}

enum here_is
here_read(int dirfd, const char *name, char host[65])
{
	struct here_owner o;
	enum here_is is = here_owner(dirfd, name, &o);

	if (is != HERE_UNKNOWN)
		(void)strlcpy(host, o.host, sizeof(o.host));
	return is;
}

const char *
here_beside(const char *link, char dst[300])
{
	snprintf(dst, 300, ".%.255s.host", link);
	return dst;
}
