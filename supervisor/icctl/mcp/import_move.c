/* SPDX-License-Identifier: ISC */
#include "icctl/mcp/import_move.h"

#include <sys/sendfile.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

#define MOVE_BYTES ((off_t)1 << 30)

int
import_directory(const char *path, struct fault *fault)
{
	char part[PATH_MAX];

	for (const char *s = strchr(path + 1, '/');; s = strchr(s + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s",
		    s != NULL ? (int)(s - path) : (int)strlen(path), path);
		if (mkdir(part, 0700) == -1 && errno != EEXIST)
			return fault_errno(fault, "%s", part);
		if (s == NULL)
			return 0;
	}
}

static int
move_contents(int in, int out, const char *from, struct fault *fault)
{
	struct stat st;
	off_t total = 0;
	ssize_t n;

	if (fstat(in, &st) == -1)
		return fault_errno(fault, "%s", from);
	if (!S_ISREG(st.st_mode) || st.st_size > MOVE_BYTES)
		return fault_set(fault, "%s: is %s", from,
		    S_ISREG(st.st_mode) ? "larger than 1 GiB"
					: "no plain file");
	while (total <= MOVE_BYTES &&
	       ((n = sendfile(out, in, NULL, 1U << 20)) > 0 ||
		   (n == -1 && errno == EINTR)))
		total += n > 0 ? n : 0;
	return n == 0 ? 0 : fault_errno(fault, "copy of %s", from);
}

/* Copy one file, unless there is none. A file that is there stays. */
static int
move_file(const char *from, const char *to, struct fault *fault)
{
	int in, out, rv;

	in = open(from, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (in == -1)
		return errno == ENOENT ? 0 : fault_errno(fault, "%s", from);
	out = open(
	    to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out == -1) {
		rv = fault_errno(fault, "%s", to);
	} else {
		rv = move_contents(in, out, from, fault);
		if (close(out) == -1 && rv == 0)
			rv = fault_errno(fault, "%s", to);
		if (rv == -1)
			(void)unlink(to);
	}
	close(in);
	return rv;
}

int
import_make(const struct mcp_entry *e, struct fault *fault)
{
	static const char *const more[] = {"", "-wal", "-shm", "-journal"};
	char from[PATH_MAX], to[PATH_MAX];

	for (size_t i = 0; i < json_object_array_length(e->make); i++)
		if (import_directory(json_object_get_string(
					 json_object_array_get_idx(e->make, i)),
			fault) == -1)
			return -1;
	json_object_object_foreach(e->move, path, val)
	{
		for (size_t i = 0; i < nitems(more); i++) {
			snprintf(
			    from, sizeof(from), "%.4000s%s", path, more[i]);
			snprintf(to, sizeof(to), "%.4000s%s",
			    json_object_get_string(val), more[i]);
			if (move_file(from, to, fault) == -1)
				return -1;
		}
	}
	return 0;
}
