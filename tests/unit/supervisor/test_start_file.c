/* SPDX-License-Identifier: ISC */
/*
 * Tests start.json: that it keeps what starts a session again and no
 * permission, and that it is refused unless it is exactly what we would write.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"
#include "supervisor/base/own_file.h"
#include "supervisor/resume/start_file.h"
#include "tap.h"

static char top[] = "/tmp/test_start_file.XXXXXX";
static int dirfd_;

static void __attribute__((noreturn))
setup_failed(void)
{
	perror(top);
	exit(1);
}

static void
do_it(int rv)
{
	if (rv == -1)
		setup_failed();
}

static void
put(const char *text, size_t len)
{
	int fd;

	(void)unlinkat(dirfd_, START_FILE, 0);
	fd = openat(dirfd_, START_FILE, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd == -1 || write(fd, text, len) != (ssize_t)len)
		setup_failed();
	close(fd);
}

static void
refused(const char *name, const char *why)
{
	struct start_file f;
	struct fault fault = {""};

	ok(start_file_read(&f, dirfd_, top, &fault) == -1, "refused: %s", name);
	ok(strstr(fault.text, why) != NULL, "it says why: %s", fault.text);
}

static void
test_kept(void)
{
	struct start_file f = {.detach = true}, g;
	struct fault fault = {""};
	struct stat st;
	char want[4200], here[4096];

	ok(start_file_add(&f, "--agent", "codex", &fault) == 0, "an agent");
	ok(start_file_add(&f, "--workspace", "sub/dir", &fault) == 0, "a path");
	ok(start_file_add(&f, "--policy", "coding", &fault) == 0, "a name");
	ok(start_file_add(&f, "--allow-unsandboxed", "x", &fault) == 0 &&
		start_file_add(&f, "--allow-sockets", NULL, &fault) == 0 &&
		start_file_add(&f, "--libexecdir", "/x", &fault) == 0 &&
		start_file_add(&f, "--task", "do it", &fault) == 0,
	    "others are not kept");
	ok(start_file_add(&f, "--agent", "a\nb", &fault) == -1,
	    "no control characters");
	is_int(f.n, 3, "three are kept");
	ok(start_file_write(&f, dirfd_, top, &fault) == 0, "written");
	ok(fstatat(dirfd_, START_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		(st.st_mode & 07777) == 0600 && st.st_nlink == 1,
	    "with mode 0600");
	ok(start_file_read(&g, dirfd_, top, &fault) == 0, "and read: %s",
	    fault.text);
	ok(g.detach && !g.command, "with its marks");
	is_str(start_file_get(&g, "agent"), "codex", "the agent");
	if (getcwd(here, sizeof(here)) == NULL)
		setup_failed();
	snprintf(want, sizeof(want), "%s/sub/dir", here);
	is_str(start_file_get(&g, "workspace"), want, "a path is whole");
	is_str(start_file_get(&g, "policy"), "coding", "a name is as it was");
	start_file_free(&f);
	start_file_free(&g);
}

static void
test_texts(void)
{
	static const struct {
		const char *name, *text, *why;
	} cases[] = {
	    {"no JSON", "{\"version\":1", "start.json"},
	    {"a member twice",
		"{\"version\":1,\"version\":1,\"options\":[]}", "start.json"},
	    {"another member", "{\"version\":1,\"options\":[],\"argv\":[]}",
		"argv"},
	    {"no version", "{\"options\":[]}", "version"},
	    {"another version", "{\"version\":2,\"options\":[]}", "version"},
	    {"no options", "{\"version\":1}", "options"},
	    {"a permission",
		"{\"version\":1,\"options\":[[\"allow-sockets\"]]}",
		"\"allow-sockets\" is no option"},
	    {"a program",
		"{\"version\":1,\"options\":[[\"libexecdir\",\"/tmp\"]]}",
		"\"libexecdir\" is no option"},
	    {"an internal option",
		"{\"version\":1,\"options\":[[\"after-crash\"]]}",
		"is no option"},
	    {"an option without its value",
		"{\"version\":1,\"options\":[[\"agent\"]]}", "is no option"},
	    {"a value of another type",
		"{\"version\":1,\"options\":[[\"agent\",1]]}",
		"must be arrays"},
	    {"a NUL", "{\"version\":1,\"options\":[[\"agent\",\"a\\u0000b\"]]}",
		"a control character"},
	    {"an empty value",
		"{\"version\":1,\"options\":[[\"agent\",\"\"]]}", "is empty"},
	};

	for (size_t i = 0; i < nitems(cases); i++) {
		put(cases[i].text, strlen(cases[i].text));
		refused(cases[i].name, cases[i].why);
	}
}

static void
test_files(void)
{
	static const char good[] = "{\"version\":1,\"options\":[]}";
	char big[OWN_FILE_MAX + 2], other[4200];
	struct start_file f;
	struct fault fault;

	put(good, sizeof(good) - 1);
	ok(start_file_read(&f, dirfd_, top, &fault) == 0, "a good one");
	do_it(fchmodat(dirfd_, START_FILE, 0644, 0));
	refused("others may read it", "the mode 0600");
	do_it(fchmodat(dirfd_, START_FILE, 0600, 0));
	do_it(linkat(dirfd_, START_FILE, dirfd_, "other", 0));
	refused("a second name", "more than one name");
	(void)unlinkat(dirfd_, START_FILE, 0);
	snprintf(other, sizeof(other), "%s/other", top);
	do_it(symlinkat(other, dirfd_, START_FILE));
	refused("a link", "is a symbolic link");
	(void)unlinkat(dirfd_, START_FILE, 0);
	(void)unlinkat(dirfd_, "other", 0);
	(void)mkfifoat(dirfd_, START_FILE, 0600);
	refused("a FIFO", "is not a plain file");
	(void)unlinkat(dirfd_, START_FILE, 0);
	(void)mkdirat(dirfd_, START_FILE, 0700);
	refused("a directory", "is not a plain file");
	(void)unlinkat(dirfd_, START_FILE, AT_REMOVEDIR);
	memset(big, ' ', sizeof(big));
	put(big, sizeof(big));
	refused("64 KiB and more", "more than 64 KiB");
	(void)unlinkat(dirfd_, START_FILE, 0);
	errno = 0;
	ok(start_file_read(&f, dirfd_, top, &fault) == -1 && errno == ENOENT,
	    "none is told apart");
}

int
main(void)
{
	if (mkdtemp(top) == NULL ||
	    (dirfd_ = open(top, O_RDONLY | O_DIRECTORY)) == -1)
		setup_failed();
	test_kept();
	test_texts();
	test_files();
	close(dirfd_);
	(void)rmdir(top);
	return tap_done();
}
