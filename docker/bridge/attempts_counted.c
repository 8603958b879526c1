/* SPDX-License-Identifier: ISC */
/*
 * The counts of the break-out test: interfaces, processes, files and rights
 * that the sandbox should not have.  Each returns a number, or -1 if it cannot
 * be told.
 */
#include "attempts_priv.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Counts the lines of `path` after the first `skip` whose first (or last) word
 * is not the loopback interface.
 */
int
counted_lines(const char *path, int skip, bool last)
{
	char line[512], *word, *next, *save;
	int n = 0, k = 0;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		/* A kernel without IPv6 has no IPv6 routes. */
		return errno == ENOENT ? 0 : -1;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (k++ < skip)
			continue;
		word = strtok_r(line, " \t\n:", &save);
		while (last && (next = strtok_r(NULL, " \t\n", &save)) != NULL)
			word = next;
		n += word != NULL && strcmp(word, "lo") != 0;
	}
	fclose(f);
	return n;
}

int
counted_processes(void)
{
	struct dirent *e;
	int n = 0;
	DIR *d;

	if ((d = opendir("/proc")) == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid > 1 && pid != getpid() && pid != getppid())
			n++;
	}
	closedir(d);
	return n;
}

/* Adds up a hexadecimal or decimal field of /proc/self/status. */
int
counted_bits(const char *prefix)
{
	char line[256];
	int n = 0;
	FILE *f;

	if ((f = fopen("/proc/self/status", "re")) == NULL)
		return -1;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, prefix, strlen(prefix)) == 0)
			n += __builtin_popcountll(
			    strtoull(strchr(line, ':') + 1, NULL, 16));
	fclose(f);
	return n;
}

int
counted_seccomp(void)
{
	char line[256];
	int n = 0;
	FILE *f;

	if ((f = fopen("/proc/self/status", "re")) == NULL)
		return -1;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "Seccomp:", 8) == 0)
			n = (int)strtol(line + 8, NULL, 10);
	fclose(f);
	return n;
}

int
counted_ids(void)
{
	uid_t u[3];
	gid_t g[3];
	int n = 0;

	if (getresuid(&u[0], &u[1], &u[2]) == -1 ||
	    getresgid(&g[0], &g[1], &g[2]) == -1)
		return -1;
	for (int i = 0; i < 3; i++)
		n +=
		    (u[i] != attempt_asked->uid) + (g[i] != attempt_asked->gid);
	return n;
}

/* Standard files, the two pipes of the probe, and this very directory. */
int
counted_files(void)
{
	struct dirent *e;
	int n = 0;
	DIR *d;

	if ((d = opendir("/proc/self/fd")) == NULL)
		return -1;
	while ((e = readdir(d)) != NULL) {
		int fd = (int)strtol(e->d_name, NULL, 10);

		if (fd > 2 && fd != attempt_fds[0] && fd != attempt_fds[1] &&
		    fd != dirfd(d))
			n++;
	}
	closedir(d);
	return n;
}

/* Counts standard files that are terminals, or files and sockets. */
int
counted_standard(bool terminals)
{
	struct stat st;
	int n = 0;

	for (int fd = 0; fd < 3; fd++) {
		if (fstat(fd, &st) == -1)
			continue;
		/* Devices of major 1 are /dev/null and the like. */
		n += terminals ? S_ISCHR(st.st_mode) && major(st.st_rdev) != 1
			       : !S_ISCHR(st.st_mode) && !S_ISFIFO(st.st_mode);
	}
	return n;
}

int
counted_setuid_mounts(void)
{
	static const char *const places[] = {
	    "/workspace", "/home/agent", "/tmp", "/dev/shm"};
	struct statvfs fs;
	int n = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (statvfs(places[i], &fs) == 0)
			n += (fs.f_flag & ST_NOSUID) == 0;
	return n;
}

int
counted_swapped_mounts(void)
{
	static const char *const places[ATTEMPT_MOUNTS] = {ATTEMPT_PLACES};
	struct stat st;
	int n = 0;

	for (size_t i = 0; i < ATTEMPT_MOUNTS; i++)
		n += stat(places[i], &st) == -1 ||
		     st.st_dev != attempt_asked->mounts[i].dev ||
		     st.st_ino != attempt_asked->mounts[i].ino;
	return n;
}

/* A process that may be inspected owns its own memory. */
int
counted_owned(void)
{
	const pid_t first[] = {1, getppid()};
	struct stat st;
	char path[32];
	int n = 0;

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)first[i]);
		if (stat(path, &st) == 0)
			/* 65534 stands for users who are not mapped. */
			n += attempt_asked->uid != 0 &&
			     attempt_asked->uid != 65534 &&
			     st.st_uid == attempt_asked->uid;
	}
	return n;
}
