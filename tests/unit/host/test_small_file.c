/* SPDX-License-Identifier: ISC */
/* Small files are read whole or cut, and nothing else is opened. */
#include "base/small_file.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static int dir;

static void
put(const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(1, "%s", name);
	close(fd);
}

static void
test_sizes(void)
{
	char text[8];

	put("seven", "1234567");
	put("eight", "12345678");
	put("empty", "");
	is_int(small_file_read(dir, "seven", text, sizeof(text)), 7,
	    "a file that fits");
	is_str(text, "1234567", "all of it");
	is_int(small_file_read(dir, "eight", text, sizeof(text)), 7,
	    "a file that does not fit");
	is_str(text, "1234567", "the rest is left out");
	is_int(small_file_read(dir, "empty", text, sizeof(text)), 0,
	    "an empty file");
	is_str(text, "", "no text");
}

static void
test_others(void)
{
	char text[8] = "before";

	is_int(small_file_read(dir, "none", text, sizeof(text)), -1, "no file");
	is_int(errno, ENOENT, "its reason");
	is_str(text, "", "no text of a file before");
	if (symlinkat("seven", dir, "link") == -1 ||
	    mkfifoat(dir, "fifo", 0600) == -1)
		err(1, "link");
	is_int(small_file_read(dir, "link", text, sizeof(text)), -1, "a link");
	is_int(errno, ELOOP, "it is not followed");
	is_int(
	    small_file_read(dir, ".", text, sizeof(text)), -1, "a directory");
	is_int(errno, EISDIR, "its reason, too");
	is_int(small_file_read(dir, "fifo", text, sizeof(text)), 0,
	    "a FIFO without a writer is not waited for");
}

static void
test_kernel(void)
{
	char text[64], comm[64] = "";
	FILE *f = fopen("/proc/self/comm", "re");

	if (f == NULL || fgets(comm, sizeof(comm), f) == NULL)
		err(1, "comm");
	fclose(f);
	is_int(small_file_read(dir, "/proc/self/comm", text, sizeof(text)),
	    (long)strlen(comm), "a file of the kernel");
	is_str(text, comm, "by an absolute name");
}

int
main(void)
{
	char base[] = "/tmp/ic-small-file-XXXXXX";
	static const char *const names[] = {
	    "seven", "eight", "empty", "link", "fifo"};

	if (mkdtemp(base) == NULL ||
	    (dir = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		err(1, "%s", base);
	test_sizes();
	test_others();
	test_kernel();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(dir, names[i], 0);
	(void)rmdir(base);
	return tap_done();
}
