/* SPDX-License-Identifier: ISC */
/* Writes the files of an empty repository, as `git init` would. */
#include "repo/clone_priv.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "repo/user.h"

#define MAKE_TEXT 8192U
#define NONE span_of("", 0)

static int
make_file(int dir, const char *name, const struct buf *text)
{
	int fd, rv;

	if (buf_check(text) == -1)
		return -1;
	fd = openat(dir, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd == -1)
		return -1;
	rv = span_write(fd, buf_span(text));
	return close(fd) == -1 ? -1 : rv;
}

/* Write which branch is checked out. Its name passed repo_name_wrong(). */
static int
make_head(const struct cloning *c, int git)
{
	struct buf b;
	int rv;

	buf_init(&b, MAKE_TEXT);
	buf_printf(&b, "ref: refs/heads/%s\n", c->record.branch);
	rv = make_file(git, "HEAD", &b);
	buf_free(&b);
	return rv;
}

static int
make_config(const struct cloning *c, int git)
{
	const bool other = strcmp(c->record.format, "sha1") != 0;
	struct buf b;
	int rv;

	buf_init(&b, MAKE_TEXT);
	repo_section_put(&b, "core", NONE);
	buf_printf(&b,
	    "\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = "
	    "false\n"
	    "\tlogallrefupdates = true\n",
	    other);
	if (other) {
		repo_section_put(&b, "extensions", NONE);
		repo_value_put(&b, "objectformat", span_str(c->record.format));
	}
	if (c->origin_set) {
		repo_section_put(&b, "remote", SPAN("origin"));
		repo_value_put(&b, "url", span_str(c->origin));
		repo_value_put(
		    &b, "fetch", SPAN("+refs/heads/*:refs/remotes/origin/*"));
	}
	rv = make_file(git, "config", &b);
	buf_free(&b);
	return rv;
}

int
clone_empty(struct cloning *c, struct fault *fault)
{
	static const char *const dirs[] = {"objects", "objects/info",
	    "objects/pack", "refs", "refs/heads", "refs/tags"};
	int git = -1, rv = 0;

	if (mkdirat(c->new, ".git", 0755) == -1 ||
	    (git = openat(c->new, ".git",
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		rv = -1;
	for (size_t i = 0; rv == 0 && i < nitems(dirs); i++)
		rv = mkdirat(git, dirs[i], 0755);
	if (rv == -1 || make_config(c, git) == -1 || make_head(c, git) == -1)
		rv = fault_errno(fault, "the clone's .git");
	if (git != -1)
		close(git);
	return rv;
}
