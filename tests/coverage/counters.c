/* SPDX-License-Identifier: ISC */
/*
 * Keeps the counters of a coverage build in a file: each program maps the
 * file's pages over its own counters before main() begins, and closes the file.
 * So a worker needs no descriptor and no system call for it once it is
 * confined, and what it has counted is kept however it ends, by SIGKILL too.
 * All processes of a program share its counters.
 *
 * The compiler's own runtime would write files at exit(), and is told of no
 * object; only when IC_COVERAGE_DUMP is set does the program hand its objects
 * to it, write their .gcda files from the counters in the file, and end.
 *
 * `./dev coverage` links this into every program of its build, and into no
 * other.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gcov_info;

/* Internals of libgcov, which is linked statically. */
extern void __gcov_init(struct gcov_info *);
extern void __gcov_dump(void);

/* The objects, in the section that -fprofile-info-section names. */
extern struct gcov_info *__start_gcov_info[]
    __attribute__((weak, visibility("hidden")));
extern struct gcov_info *__stop_gcov_info[]
    __attribute__((weak, visibility("hidden")));

/* Bounds of the counters, in whole pages: counters.ld. */
extern char coverage_begin[] __attribute__((visibility("hidden")));
extern char coverage_end[] __attribute__((visibility("hidden")));

/*
 * Compose the name of this program's counters: that of the program and their
 * size, which separates two programs of one name. Returns 0, or -1.
 */
static int
counters_name(char *dst, size_t cap)
{
	const size_t size = (size_t)(coverage_end - coverage_begin);
	char exe[4096];
	const char *base;
	ssize_t n;
	int len;

	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n <= 0)
		return -1;
	exe[n] = '\0';
	base = strrchr(exe, '/');
	base = base == NULL ? exe : base + 1;
	len = snprintf(dst, cap, "%s/%s.%zu", COVERAGE_DIR, base, size);
	return len > 0 && (size_t)len < cap ? 0 : -1;
}

/*
 * Write the data files, from the counters in the file `fd`; or, if no process
 * of this program has run, from counters of zero, so that its lines are known.
 */
static void __attribute__((noreturn)) counters_dump(int fd, size_t size)
{
	if (fd != -1 && mmap(coverage_begin, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		_exit(111);
	for (struct gcov_info **p = __start_gcov_info; p < __stop_gcov_info;
	     p++)
		__gcov_init(*p);
	__gcov_dump();
	_exit(0);
}

/*
 * Map the counters. A program that cannot see the directory, such as one in a
 * sandbox, counts for itself alone, and nobody learns of it.
 */
static __attribute__((constructor(101))) void
counters_map(void)
{
	const size_t size = (size_t)(coverage_end - coverage_begin);
	const bool dump = getenv("IC_COVERAGE_DUMP") != NULL;
	char name[4352];
	struct stat st;
	int fd, save = errno;

	if (size == 0 || counters_name(name, sizeof(name)) == -1) {
		if (dump)
			_exit(0);
		goto out;
	}
	fd = open(name,
	    dump ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (dump)
		counters_dump(fd, size);
	if (fd == -1)
		goto out;
	/* Setting the size that it has already changes nothing. */
	if (ftruncate(fd, (off_t)size) == 0 && fstat(fd, &st) == 0 &&
	    st.st_size == (off_t)size)
		(void)mmap(coverage_begin, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, 0);
	close(fd);
out:
	errno = save;
}
