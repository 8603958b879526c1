/* SPDX-License-Identifier: ISC */
/*
 * For builds with MemorySanitizer: tells it of writes that it does not see,
 * those of libbsd's functions, which were compiled without it, and those of the
 * kernel for stat() and syscall(), which clang 14 does not know of. ./dev links
 * this into each program of such a build.
 */
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/capability.h>
#include <sanitizer/msan_interface.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

long syscall(long, ...);
size_t strlcpy(char *, const char *, size_t);
size_t strlcat(char *, const char *, size_t);
void arc4random_buf(void *, size_t);

size_t
strlcpy(char *dst, const char *src, size_t cap)
{
	const size_t len = strlen(src);
	const size_t n = cap == 0 ? 0 : len < cap ? len : cap - 1;

	if (cap != 0) {
		memcpy(dst, src, n);
		dst[n] = '\0';
	}
	return len;
}

size_t
strlcat(char *dst, const char *src, size_t cap)
{
	const size_t have = strnlen(dst, cap);

	if (have == cap)
		return cap + strlen(src);
	return have + strlcpy(dst + have, src, cap - have);
}

void
arc4random_buf(void *dst, size_t len)
{
	uint8_t *p = dst;
	size_t n;

	for (size_t at = 0; at < len; at += n) {
		n = len - at < 256 ? len - at : 256;
		if (getentropy(p + at, n) == -1)
			abort();
	}
	__msan_unpoison(dst, len);
}

/* Tell the sanitizer of what the kernel has written for a call that succeeded.
 */
static void
syscall_wrote(long number, const long *a, long r)
{
	switch (number) {
	case SYS_fstat:
		__msan_unpoison((void *)a[1], sizeof(struct stat));
		break;
	case SYS_newfstatat:
		__msan_unpoison((void *)a[2], sizeof(struct stat));
		break;
	case SYS_statx:
		__msan_unpoison((void *)a[4], sizeof(struct statx));
		break;
	case SYS_getdents64:
		__msan_unpoison((void *)a[1], (size_t)r);
		break;
	case SYS_capget:
		__msan_unpoison(
		    (void *)a[1], _LINUX_CAPABILITY_U32S_3 *
				      sizeof(struct __user_cap_data_struct));
		break;
	default:
		break;
	}
}

long
syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6], r;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	/* A caller gives fewer; the kernel looks at no more than it needs. */
	__msan_unpoison(a, sizeof(a));
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	r = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r >= 0)
		syscall_wrote(number, a, r);
	return r;
}

#define STAT(name, parameters, ...)                                            \
	int name parameters;                                                   \
	int name parameters                                                    \
	{                                                                      \
		return (int)syscall(SYS_newfstatat, __VA_ARGS__);              \
	}

/* clang-format off */
STAT(stat, (const char *p, struct stat *st), AT_FDCWD, p, st, 0)
STAT(stat64, (const char *p, struct stat64 *st), AT_FDCWD, p, st, 0)
STAT(lstat, (const char *p, struct stat *st), AT_FDCWD, p, st, AT_SYMLINK_NOFOLLOW)
STAT(lstat64, (const char *p, struct stat64 *st), AT_FDCWD, p, st, AT_SYMLINK_NOFOLLOW)
STAT(fstat, (int fd, struct stat *st), fd, "", st, AT_EMPTY_PATH)
STAT(fstat64, (int fd, struct stat64 *st), fd, "", st, AT_EMPTY_PATH)
STAT(fstatat, (int fd, const char *p, struct stat *st, int how), fd, p, st, how)
STAT(fstatat64, (int fd, const char *p, struct stat64 *st, int how), fd, p, st, how)
/* clang-format on */
