/* SPDX-License-Identifier: ISC */
/*
 * Reads .ironcurtain.json once, without following a link. A confined child
 * parses it. The digest is of the meaning: members in the order of their names,
 * without comments and spaces.
 */
#include "icctl/project/project.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "icctl/mcp/foreign.h"

#define PROJECT_MAX_BYTES (256 << 10)
#define PROJECT_MAX_DEPTH 8U
#define PROJECT_MAX_MEMBERS 256U

static int
by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* Append a value with sorted members. Returns 0, or -1 if it is too deep. */
static int
meaning_add(struct buf *b, json_object *v, unsigned depth)
{
	const char *names[PROJECT_MAX_MEMBERS];
	size_t n = 0;

	if (depth == PROJECT_MAX_DEPTH)
		return -1;
	if (json_object_is_type(v, json_type_array)) {
		buf_adds(b, "[");
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			buf_adds(b, i == 0 ? "" : ",");
			if (meaning_add(b, json_object_array_get_idx(v, i),
				depth + 1) == -1)
				return -1;
		}
		buf_adds(b, "]");
		return 0;
	}
	if (!json_object_is_type(v, json_type_object)) {
		buf_adds(b, json_object_to_json_string_ext(v, ICCTL_JSON));
		return 0;
	}
	json_object_object_foreach(v, name, val)
	{
		(void)val;
		if (n == PROJECT_MAX_MEMBERS)
			return -1;
		names[n++] = name;
	}
	qsort(names, n, sizeof(*names), by_name);
	buf_adds(b, "{");
	for (size_t i = 0; i < n; i++) {
		json_object *key = json_object_new_string(names[i]);

		buf_adds(b, i == 0 ? "" : ",");
		buf_adds(b, json_object_to_json_string_ext(key, ICCTL_JSON));
		buf_adds(b, ":");
		json_object_put(key);
		if (meaning_add(b, json_object_object_get(v, names[i]),
			depth + 1) == -1)
			return -1;
	}
	buf_adds(b, "}");
	return 0;
}

static int
meaning(struct project *p, struct fault *fault)
{
	uint8_t sum[SHA256_SIZE];
	struct buf b;
	int rv = -1;

	buf_init(&b, 4U << 20);
	if (meaning_add(&b, p->root, 0) == 0 && !b.failed) {
		sha256_span(buf_span(&b), sum);
		sha256_hex(sum, p->digest);
		rv = 0;
	} else {
		fault_set(fault, "%s: has too many members, or too deep ones",
		    p->path);
	}
	buf_free(&b);
	return rv;
}

/* Open the file, if there is one. Returns -1 with `*none`, or with the fault.
 */
static int
project_open(struct project *p, bool *none, struct fault *fault)
{
	const int flags =
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct stat st;
	int dir, fd;

	*none = false;
	if ((dir = open(p->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
	    -1)
		return fault_errno(fault, "%s", p->workspace);
	fd = openat(dir, PROJECT_FILE, flags);
	*none = fd == -1 && errno == ENOENT;
	if (fd == -1 && errno == ELOOP)
		fault_set(fault,
		    "%s: is a symbolic link; a project's file must be a file "
		    "of the project",
		    p->path);
	else if (fd == -1 && errno == ENXIO)
		fault_set(fault, "%s: is no regular file", p->path);
	else if (fd == -1)
		fault_errno(fault, "%s", p->path);
	close(dir);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		fault_set(fault, "%s: is no regular file", p->path);
	else if (st.st_size > PROJECT_MAX_BYTES)
		fault_set(fault, "%s: is larger than 256 KiB", p->path);
	else
		return fd;
	close(fd);
	return -1;
}

int
project_read(struct project *p, const char *dir, struct fault *fault)
{
	char resolved[PATH_MAX];
	bool none;
	int fd;

	*p = (struct project){.root = NULL};
	if (realpath(dir, resolved) == NULL)
		return strcmp(dir, ".") == 0 && errno == ENOENT
			   ? fault_set(fault,
				 "the current directory is gone: it was "
				 "removed. Go to another one")
			   : fault_errno(fault, "%s", dir);
	snprintf(p->workspace, sizeof(p->workspace), "%s", resolved);
	snprintf(p->path, sizeof(p->path), "%s/%s",
	    strcmp(resolved, "/") == 0 ? "" : resolved, PROJECT_FILE);
	if ((fd = project_open(p, &none, fault)) == -1)
		return none ? 0 : -1;
	p->root = foreign_read_fd(fd, p->path, fault);
	close(fd);
	if (p->root == NULL || meaning(p, fault) == -1)
		return -1;
	return project_check(p, fault);
}
