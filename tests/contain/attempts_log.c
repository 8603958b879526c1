/* SPDX-License-Identifier: ISC */
/*
 * The audit log's descriptor, in auditd: O_APPEND alone does not prevent
 * changing old records. The file shows whether a bare attempt worked. auditd
 * must be able to append lines; forged future records cannot be prevented.
 */
#include "attempts.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/ipc/arena.h"
#include "common/ipc/ring.h"

#define E attempt_env
#define NOAPPEND 0x20 /* RWF_NOAPPEND, Linux 6.9 */
#define PUNCH 3       /* FALLOC_FL_PUNCH_HOLE | KEEP_SIZE */
#define ZERO 0x10     /* FALLOC_FL_ZERO_RANGE */

static struct iovec one = {(void *)(uintptr_t) "X", 1};

ONE(log_pwrite, syscall(SYS_pwrite64, E.log, "X", 1L, 0L))
ONE(log_pwritev, syscall(SYS_pwritev, E.log, &one, 1L, 0L, 0L))
ONE(log_noappend, syscall(SYS_pwritev2, E.log, &one, 1L, 0L, 0L, NOAPPEND))
ONE(log_truncate, syscall(SYS_ftruncate, E.log, 0L))
ONE(log_punch, syscall(SYS_fallocate, E.log, PUNCH, 0L, 4096L))
ONE(log_zero, syscall(SYS_fallocate, E.log, ZERO, 0L, 4096L))
ONE(log_flags, fcntl(E.log, F_SETFL, 0))
ONE(log_map, syscall(SYS_mmap, NULL, 4096L, PROT_READ | PROT_WRITE, MAP_SHARED,
		 E.log, 0L))
ONE(log_map_ring, syscall(SYS_mmap, NULL, RING_MAP, PROT_READ | PROT_WRITE,
		      MAP_SHARED, E.log, 0L))
ONE(log_map_arena, syscall(SYS_mmap, NULL, ARENA_MAP, PROT_READ | PROT_WRITE,
		       MAP_SHARED, E.log, 0L))
ONE(log_map_read,
    syscall(SYS_mmap, NULL, 4096L, PROT_READ, MAP_PRIVATE, E.log, 0L))
ONE(log_read, syscall(SYS_read, E.log, (char[8]){0}, 8L))
ONE(log_seek, syscall(SYS_lseek, E.log, 0L, SEEK_SET))
ONE(log_seal, fcntl(E.log, F_ADD_SEALS, 1))
ONE(log_lock, syscall(SYS_flock, E.log, 2))
ONE(log_mode, syscall(SYS_fchmod, E.log, 0666))
ONE(log_attr, syscall(SYS_fsetxattr, E.log, "user.x", "y", 1L, 0))
ONE(log_ioctl, syscall(SYS_ioctl, E.log, 0x40086602UL, (long[1]){0}))
ONE(log_dup, fcntl(E.log, F_DUPFD_CLOEXEC, 0))
ONE(log_sync_range, syscall(SYS_sync_file_range, E.log, 0L, 0L, 7))

/* clang-format off */
#undef ROW
#define ROW(name, call, fn, bare, all, why)				\
	{name, call, fn, 0, R(AUDIT), bare, bare, KILLED, bare, all, why}
#define OPEN(name, call, fn, bare, why)					\
	{name, call, fn, 0, R(AUDIT), bare, bare, bare, bare, bare, why}

static const struct attempt rows[] = {
	ROW("rewrite the log by pwrite", "pwrite64", log_pwrite, WORKS, 0,
	    NULL),
	ROW("rewrite the log by pwritev", "pwritev", log_pwritev, WORKS, 0,
	    NULL),
	ROW("rewrite the log by RWF_NOAPPEND", "pwritev2", log_noappend,
	    OR(WORKS, EOPNOTSUPP), 0, "Linux 6.9 and later"),
	ROW("truncate the log", "ftruncate", log_truncate, WORKS, 0, NULL),
	ROW("punch a hole into the log", "fallocate", log_punch,
	    OR(WORKS, EOPNOTSUPP), 0, "where its file system can"),
	ROW("zero the log", "fallocate", log_zero, OR(WORKS, EOPNOTSUPP), 0,
	    "where its file system can"),
	ROW("clear O_APPEND of the log", "fcntl", log_flags, WORKS, 0, NULL),
	ROW("map the log shared", "mmap", log_map, EACCES, 0,
	    "it is open for writing only"),
	OPEN("map the log like rings", "mmap", log_map_ring, EACCES,
	    "it is open for writing only"),
	ROW("map the log like an arena", "mmap", log_map_arena, EACCES, 0,
	    "it is open for writing only"),
	OPEN("map the log to read", "mmap", log_map_read, EACCES,
	    "it is open for writing only"),
	OPEN("read the log", "read", log_read, EBADF,
	    "it is open for writing only"),
	OPEN("seal the log", "fcntl", log_seal, OR(EINVAL, EPERM),
	    "only a memfd can be sealed"),
	ROW("seek in the log", "lseek", log_seek, WORKS, 0, NULL),
	ROW("lock the log", "flock", log_lock, WORKS, 0, NULL),
	ROW("share the log", "fchmod", log_mode, WORKS, 0, NULL),
	ROW("mark the log", "fsetxattr", log_attr, OR(WORKS, EOPNOTSUPP), 0,
	    NULL),
	ROW("change the log's attributes", "ioctl", log_ioctl, OR3(WORKS,
	    ENOTTY, EOPNOTSUPP), 0, NULL),
	ROW("duplicate the log", "fcntl", log_dup, WORKS, 0, NULL),
	ROW("write the log's pages", "sync_file_range", log_sync_range, WORKS,
	    0, NULL),
};
/* clang-format on */

const struct attempt_table attempts_log = TABLE(rows);
