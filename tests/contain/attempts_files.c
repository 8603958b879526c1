/* SPDX-License-Identifier: ISC */
/* Files: content, names and changes, by path and by open descriptor. */
#include "attempts.h"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/ipc/arena.h"

#define E attempt_env
#define AT AT_FDCWD
#define VICTIM attempt_path(E.home, "victim")
#define SPARE attempt_path(E.home, "spare")
#define NEW attempt_path(E.home, "new")
#define AUDIT attempt_path(E.session, "audit.jsonl")

ONE(read_passwd, syscall(SYS_openat, AT, "/etc/passwd", O_RDONLY))
ONE(read_config,
    syscall(SYS_openat, AT, attempt_path(E.home, "config.json"), O_RDONLY))
ONE(read_audit, syscall(SYS_openat, AT, AUDIT, O_RDONLY))
ONE(write_audit, syscall(SYS_openat, AT, AUDIT, O_WRONLY))
ONE(cut_audit, syscall(SYS_truncate, AUDIT, 1L))
ONE(read_self, syscall(SYS_openat, AT, "/proc/self/exe", O_RDONLY))
ONE(own_memory, syscall(SYS_openat, AT, "/proc/self/mem", O_RDWR))
ONE(list_libexec, syscall(SYS_openat, AT, E.libexec, O_RDONLY | O_DIRECTORY))
ONE(plant_libexec, syscall(SYS_openat, AT, attempt_path(E.libexec, "new"),
		       O_WRONLY | O_CREAT, 0755))
ONE(plant_tmp, syscall(SYS_openat, AT, "/tmp", O_WRONLY | O_TMPFILE, 0600))
ONE(plant_home, syscall(SYS_openat, AT, NEW, O_WRONLY | O_CREAT, 0600))
ONE(name_only, syscall(SYS_openat, AT, "/etc", O_PATH | O_CLOEXEC | O_NOFOLLOW))
ONE(name_follow, syscall(SYS_openat, AT, "/etc", O_PATH | O_CLOEXEC))
ONE(beneath, syscall(SYS_openat, E.dir, "auditd", O_RDONLY))
ONE(entries, syscall(SYS_getdents64, E.dir, (char[4096]){0}, 4096L))
ONE(enter, syscall(SYS_fchdir, E.dir))
ONE(enter_path, syscall(SYS_chdir, "/etc"))
ONE(new_root, syscall(SYS_chroot, "/tmp"))
ONE(device, syscall(SYS_openat, AT, "/dev/tty", O_RDWR))

static int
openat2_read(void)
{
	const uint64_t how[3] = {O_RDONLY, 0, 0};

	return attempt_result(
	    syscall(SYS_openat2, AT, "/etc/passwd", how, sizeof(how)));
}

static int
stat_path(void)
{
	struct stat st;

	return attempt_result(syscall(
	    SYS_newfstatat, AT, "/etc/passwd", &st, AT_SYMLINK_NOFOLLOW));
}

static int
statx_path(void)
{
	static char st[256];

	return attempt_result(
	    syscall(SYS_statx, AT, "/etc/passwd", AT_SYMLINK_NOFOLLOW, 0, st));
}

static int
statfs_path(void)
{
	struct statfs fs;

	return attempt_result(syscall(SYS_statfs, "/etc", &fs));
}

static int
fstatfs_dir(void)
{
	struct statfs fs;

	return attempt_result(syscall(SYS_fstatfs, E.dir, &fs));
}

ONE(may_access, syscall(SYS_faccessat, AT, "/etc/passwd", R_OK))
ONE(read_link,
    syscall(SYS_readlinkat, AT, "/proc/self/exe", (char[256]){0}, 256L))
ONE(change_mode, syscall(SYS_fchmodat, AT, VICTIM, 0644))
ONE(change_open_mode, syscall(SYS_fchmod, E.file, 0644))
ONE(change_owner, syscall(SYS_fchownat, AT, VICTIM, -1, -1, 0))
ONE(change_times, syscall(SYS_utimensat, AT, VICTIM, NULL, 0))
ONE(set_xattr, syscall(SYS_setxattr, VICTIM, "user.x", "y", 1L, 0))
ONE(get_xattr, syscall(SYS_getxattr, VICTIM, "user.none", NULL, 0L))
ONE(unlink_victim, syscall(SYS_unlinkat, AT, SPARE, 0))
ONE(rename_spare, syscall(SYS_renameat2, AT, SPARE, AT, NEW, 0))
ONE(link_spare, syscall(SYS_linkat, AT, SPARE, AT, NEW, 0))
ONE(symlink_new, syscall(SYS_symlinkat, "/etc", AT, NEW))
ONE(mkdir_new, syscall(SYS_mkdirat, AT, NEW, 0700))
ONE(mkfifo_new, syscall(SYS_mknodat, AT, NEW, S_IFIFO | 0600, 0))

static int
to_handle(void)
{
	struct {
		unsigned bytes;
		int type;
		char data[128];
	} h = {.bytes = 128};
	int mount;

	return attempt_result(
	    syscall(SYS_name_to_handle_at, AT, "/tmp", &h, &mount, 0));
}

static int
by_handle(void)
{
	struct {
		unsigned bytes;
		int type;
		char data[8];
	} h = {8, 1, {0}};

	return attempt_result(
	    syscall(SYS_open_by_handle_at, E.dir, &h, O_RDONLY));
}

ONE(watch, syscall(SYS_inotify_init1, 0))

/* Watch /etc, for moves of it or for the names of what is opened in it. */
static int
watch_etc(uint32_t mask)
{
	int fd = (int)syscall(SYS_inotify_init1, IN_NONBLOCK | IN_CLOEXEC);

	return attempt_result(
	    syscall(SYS_inotify_add_watch, fd, "/etc", mask));
}

static int
watch_moves(void)
{
	return watch_etc(IN_ONLYDIR | IN_MOVE_SELF);
}

static int
watch_names(void)
{
	return watch_etc(IN_ONLYDIR | IN_OPEN | IN_CREATE);
}

ONE(watch_all, syscall(SYS_fanotify_init, 0, O_RDONLY))
ONE(dup_fd, syscall(SYS_dup, 0))
ONE(dup3_fd, syscall(SYS_dup3, 0, 20, O_CLOEXEC))
ONE(fcntl_dup, fcntl(0, F_DUPFD_CLOEXEC, 10))
ONE(fcntl_flags, fcntl(2, F_SETFL, O_NONBLOCK))
ONE(fcntl_owner, fcntl(3, F_SETOWN, getpid()))
ONE(fcntl_lock, fcntl(E.file, F_SETLK, &(struct flock){.l_type = F_RDLCK}))
ONE(flock_file, syscall(SYS_flock, E.file, 2))
ONE(ioctl_read, syscall(SYS_ioctl, 3, FIONREAD, (int[1]){0}))
ONE(ioctl_input, syscall(SYS_ioctl, E.tty, TIOCSTI | (1LL << 32), "x"))
ONE(seek, syscall(SYS_lseek, E.file, 0L, SEEK_END))
ONE(read_at, syscall(SYS_pread64, E.file, (char[8]){0}, 8L, 0L))
ONE(write_at, syscall(SYS_pwrite64, E.file, "x", 1L, 0L))
ONE(cut_file, syscall(SYS_ftruncate, E.file, 1L))
ONE(punch_file, syscall(SYS_fallocate, E.file, 3, 0L, 4096L))
ONE(share_file, syscall(SYS_mmap, NULL, 4096L, PROT_READ | PROT_WRITE,
		    MAP_SHARED, E.file, 0L))
ONE(share_arena, syscall(SYS_mmap, NULL, ARENA_MAP, PROT_READ | PROT_WRITE,
		     MAP_SHARED, E.file, 0L))
ONE(send_file, syscall(SYS_sendfile, E.pipe[1], E.file, NULL, 1L))
ONE(copy_file, syscall(SYS_copy_file_range, E.file, NULL, E.file,
		   (int64_t[1]){1 << 20}, 1L, 0))
ONE(splice_file, syscall(SYS_splice, E.file, NULL, E.pipe[1], NULL, 1L, 0))
ONE(sync_all, syscall(SYS_sync))
ONE(sync_file, syscall(SYS_fsync, E.file))
ONE(close_many, syscall(SYS_close_range, 50, 60, 0))
ONE(set_umask, syscall(SYS_umask, 077))

/* clang-format off */
static const struct attempt rows[] = {
	/* by path: the root is empty, or Landlock refuses */
	ROW("read /etc/passwd", "openat", read_passwd, 0, WORKS, EACCES,
	    NOWHERE),
	ROW("read config.json", "openat", read_config, 0, WORKS, EACCES,
	    NOWHERE),
	ROW("read the audit log", "openat", read_audit, 0, WORKS, EACCES,
	    NOWHERE),
	ROW("open the audit log to write", "openat", write_audit, 0, WORKS,
	    EACCES, NOWHERE),
	ROW("truncate the audit log", "truncate", cut_audit, 0, WORKS, TRUNC,
	    NOWHERE),
	ROW("read its own program", "openat", read_self, 0, WORKS, EACCES,
	    NOWHERE),
	ROW("write its own memory as a file", "openat", own_memory, 0, WORKS,
	    EACCES, NOWHERE),
	ROW("list libexecdir", "openat", list_libexec, 0, WORKS, EACCES,
	    NOWHERE),
	ROW("plant a program in libexecdir", "openat", plant_libexec, 0, WORKS,
	    EACCES, NOWHERE),
	ROW("make a nameless file in /tmp", "openat", plant_tmp, 0, WORKS,
	    EACCES, NOWHERE),
	ROW("make a file in IRONCURTAIN_HOME", "openat", plant_home, 0, WORKS,
	    EACCES, NOWHERE),
	ROW("open a name only", "openat", name_only, 0, WORKS, WORKS, NOWHERE),
	ROW("open a name only, following", "openat", name_follow, 0, WORKS,
	    WORKS, NOWHERE),
	ROW("open the terminal", "openat", device, 0, ENXIO, EACCES, NOWHERE),
	ROW("openat2", "openat2", openat2_read, 0, WORKS, EACCES, NOWHERE),
	ROW("read beneath an open directory", "openat", beneath, G_DIR, WORKS,
	    EACCES, WORKS),
	ROW("stat a path", "newfstatat", stat_path, 0, WORKS, WORKS, NOWHERE),
	ROW("statx a path", "statx", statx_path, 0, WORKS, WORKS, NOWHERE),
	ROW("statfs a path", "statfs", statfs_path, 0, WORKS, WORKS, NOWHERE),
	ROW("access a path", "faccessat", may_access, 0, WORKS, WORKS, NOWHERE),
	ROW("read a link", "readlinkat", read_link, 0, WORKS, WORKS, NOWHERE),
	ROW("chdir", "chdir", enter_path, 0, WORKS, WORKS, NOWHERE),
	ROW("chroot", "chroot", new_root, 0, EPERM, EPERM, NOWHERE),
	ROW("chmod", "fchmodat", change_mode, 0, WORKS, WORKS, NOWHERE),
	ROW("chown", "fchownat", change_owner, 0, WORKS, WORKS, NOWHERE),
	ROW("set times", "utimensat", change_times, 0, WORKS, WORKS, NOWHERE),
	ROW("setxattr", "setxattr", set_xattr, 0, OR(WORKS, EOPNOTSUPP),
	    OR(WORKS, EOPNOTSUPP), NOWHERE),
	ROW("getxattr", "getxattr", get_xattr, 0, OR(ENODATA, EOPNOTSUPP),
	    OR(ENODATA, EOPNOTSUPP), NOWHERE),
	ROW("unlink", "unlinkat", unlink_victim, 0, WORKS, EACCES, NOWHERE),
	ROW("rename", "renameat2", rename_spare, 0, WORKS, EACCES, NOWHERE),
	ROW("link", "linkat", link_spare, 0, WORKS, EACCES, NOWHERE),
	ROW("symlink", "symlinkat", symlink_new, 0, WORKS, EACCES, NOWHERE),
	ROW("mkdir", "mkdirat", mkdir_new, 0, WORKS, EACCES, NOWHERE),
	ROW("mkfifo", "mknodat", mkfifo_new, 0, WORKS, EACCES, NOWHERE),
	ROW("name to handle", "name_to_handle_at", to_handle, 0, WORKS, WORKS,
	    NOWHERE),
	NEVER("open by handle", "open_by_handle_at", by_handle, G_DIR, EPERM,
	    NO_CAP),
	/* by open descriptor: a worker has none of this kind */
	SAME("list an open directory", "getdents64", entries, G_DIR, WORKS),
	SAME("fchdir", "fchdir", enter, G_DIR, WORKS),
	SAME("fstatfs", "fstatfs", fstatfs_dir, G_DIR, WORKS),
	SAME("fchmod", "fchmod", change_open_mode, G_FILE, WORKS),
	SAME("inotify", "inotify_init1", watch, 0, WORKS),
	ROW("watch a directory's moves", "inotify_add_watch", watch_moves, 0,
	    WORKS, WORKS, NOWHERE),
	ROW("watch names in a directory", "inotify_add_watch", watch_names, 0,
	    WORKS, WORKS, NOWHERE),
	NEVER("fanotify", "fanotify_init", watch_all, 0, EPERM, NO_CAP),
	SAME("dup", "dup", dup_fd, 0, WORKS),
	SAME("dup3", "dup3", dup3_fd, 0, WORKS),
	SAME("fcntl F_DUPFD", "fcntl", fcntl_dup, 0, WORKS),
	SAME("fcntl F_SETFL", "fcntl", fcntl_flags, 0, WORKS),
	SAME("fcntl F_SETOWN", "fcntl", fcntl_owner, 0, WORKS),
	SAME("fcntl F_SETLK", "fcntl", fcntl_lock, G_FILE, WORKS),
	SAME("flock", "flock", flock_file, G_FILE, WORKS),
	SAME("ioctl FIONREAD", "ioctl", ioctl_read, 0, WORKS),
	SAME("ioctl TIOCSTI, a high bit set", "ioctl", ioctl_input, G_TTY,
	    OR(WORKS, EIO)),
	SAME("lseek", "lseek", seek, G_FILE, WORKS),
	SAME("pread", "pread64", read_at, G_FILE, WORKS),
	SAME("pwrite", "pwrite64", write_at, G_FILE, WORKS),
	SAME("ftruncate", "ftruncate", cut_file, G_FILE, WORKS),
	SAME("fallocate", "fallocate", punch_file, G_FILE,
	    OR(WORKS, EOPNOTSUPP)),
	SAME("map a file shared", "mmap", share_file, G_FILE, WORKS),
	SAME("map a file like an arena", "mmap", share_arena, G_FILE, WORKS),
	SAME("sendfile", "sendfile", send_file, G_FILE | G_PIPE, WORKS),
	SAME("copy_file_range", "copy_file_range", copy_file, G_FILE, WORKS),
	SAME("splice", "splice", splice_file, G_FILE | G_PIPE, WORKS),
	SAME("sync", "sync", sync_all, 0, WORKS),
	SAME("fsync", "fsync", sync_file, G_FILE, WORKS),
	SAME("close_range", "close_range", close_many, 0, WORKS),
	SAME("umask", "umask", set_umask, 0, WORKS),
};
/* clang-format on */

const struct attempt_table attempts_files = TABLE(rows);
