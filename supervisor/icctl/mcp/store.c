/* SPDX-License-Identifier: ISC */
/*
 * Replaces files that may contain secrets: a new file is never readable by
 * others, and no copy of an old one remains.
 */
#include "icctl/mcp/store.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/jsonfile.h"

struct json_object *
store_read(const char *dir, const char *name, struct fault *fault)
{
	struct json_object *root = NULL;
	char path[4400], *text;
	struct stat st;
	size_t len;

	snprintf(path, sizeof(path), "%.4000s/%.300s", dir, name);
	if ((text = jsonfile_text(path, &len, &st, fault)) == NULL)
		return errno == ENOENT ? json_object_new_object() : NULL;
	root = jsonfile_parse(path, span_of(text, len), fault);
	freezero(text, len);
	return root;
}

static int
store_bytes(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len != 0) {
		if ((n = write(fd, text, len)) == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int
store_write(const char *dir, const char *name, struct json_object *root,
    struct fault *fault)
{
	char path[4400], tmp[4416];
	const char *text;
	size_t len;
	int fd;

	snprintf(path, sizeof(path), "%.4000s/%.300s", dir, name);
	snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path);
	text = json_object_to_json_string_length(root,
	    JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
		JSON_C_TO_STRING_NOSLASHESCAPE,
	    &len);
	if ((fd = mkostemp(tmp, O_CLOEXEC)) == -1)
		return fault_errno(fault, "%s", path);
	if (store_bytes(fd, text, len) == -1 ||
	    store_bytes(fd, "\n", 1) == -1 || fsync(fd) == -1 ||
	    rename(tmp, path) == -1) {
		fault_errno(fault, "%s", path);
		(void)unlink(tmp);
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}
