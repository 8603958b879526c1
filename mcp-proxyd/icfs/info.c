/* SPDX-License-Identifier: ISC */
/* The tools that report about a file, and about the allowed directories. */
#include "icfs/icfs.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/* Format a time as the reference server does; the time zone is always UTC. */
static void
add_time(struct buf *b, const char *name, int64_t seconds)
{
	char text[64] = "";
	time_t t = (time_t)seconds;
	struct tm tm;

	if (gmtime_r(&t, &tm) != NULL)
		(void)strftime(text, sizeof(text),
		    "%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal "
		    "Time)",
		    &tm);
	buf_printf(b, "%s: %s\n", name, text);
}

int
icfs_info(struct icfs *f, const struct value *args)
{
	struct icfs_path p;
	struct statx sx;
	struct span path;
	int fd, r;

	if (icfs_arg_string(f, args, "path", &path) == -1 ||
	    icfs_resolve(f, "stat", path, ICFS_FOLLOW, &p) == -1)
		return -1;
	if (!p.exists) {
		errno = ENOENT;
		return icfs_fail(f, "stat", path);
	}
	if ((fd = icfs_open(p.root->fd, p.rel, O_PATH, 0)) == -1)
		return icfs_fail(f, "stat", path);
	r = statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &sx);
	close(fd);
	if (r == -1)
		return icfs_fail(f, "stat", path);
	/* Some file systems do not record the time of birth. */
	if ((sx.stx_mask & STATX_BTIME) == 0)
		sx.stx_btime = sx.stx_ctime;
	buf_printf(&f->text, "size: %llu\n", (unsigned long long)sx.stx_size);
	add_time(&f->text, "created", sx.stx_btime.tv_sec);
	add_time(&f->text, "modified", sx.stx_mtime.tv_sec);
	add_time(&f->text, "accessed", sx.stx_atime.tv_sec);
	buf_printf(&f->text, "isDirectory: %s\nisFile: %s\npermissions: %03o",
	    S_ISDIR(sx.stx_mode) ? "true" : "false",
	    S_ISREG(sx.stx_mode) ? "true" : "false", sx.stx_mode & 0777U);
	return buf_check(&f->text);
}

int
icfs_allowed(struct icfs *f, const struct value *args)
{
	buf_adds(&f->text, "Allowed directories:\n");
	icfs_add_places(f, &f->text, "\n");
	return 0;
}
