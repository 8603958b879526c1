/* SPDX-License-Identifier: ISC */
/* Reads and writes records of checkpoints: lines of a key and a value. */
#include "undo/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"
#include "undo/snap.h"

#define RECORD_BYTES 2048U

enum record_type {
	RECORD_TEXT,
	RECORD_U32,
	RECORD_U64
};

/* clang-format off */
#define FIELD(kind, name)						\
	{#name, kind, offsetof(struct undo_record, name),		\
	    sizeof(((struct undo_record *)0)->name)}

static const struct {
	const char *key;
	enum record_type type;
	size_t at, size;
} fields[] = {
	FIELD(RECORD_TEXT, session),
	FIELD(RECORD_TEXT, kind),
	FIELD(RECORD_TEXT, name),
	FIELD(RECORD_U32, turn),
	FIELD(RECORD_U32, to),
	FIELD(RECORD_U64, time),
	FIELD(RECORD_U64, dev),
	FIELD(RECORD_U64, ino),
	FIELD(RECORD_U32, files),
	FIELD(RECORD_U32, left),
	FIELD(RECORD_U32, loose),
	FIELD(RECORD_U32, late),
	FIELD(RECORD_U64, added),
	FIELD(RECORD_TEXT, sum),
	FIELD(RECORD_TEXT, why),
};
/* clang-format on */

static void
record_name(uint32_t number, char name[16])
{
	snprintf(name, 16, "%010u", number);
}

static size_t
record_compose(const struct undo_record *r, char *text, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < nitems(fields) && n < cap; i++) {
		const uint8_t *at = (const uint8_t *)r + fields[i].at;
		unsigned long long v = 0;
		uint32_t u32;
		uint64_t u64;

		if (fields[i].type == RECORD_U32) {
			memcpy(&u32, at, sizeof(u32));
			v = u32;
		} else if (fields[i].type == RECORD_U64) {
			memcpy(&u64, at, sizeof(u64));
			v = u64;
		}
		if (fields[i].type == RECORD_TEXT)
			n += (size_t)snprintf(text + n, cap - n, "%s %s\n",
			    fields[i].key, (const char *)at);
		else
			n += (size_t)snprintf(
			    text + n, cap - n, "%s %llu\n", fields[i].key, v);
	}
	return n;
}

int
undo_record_sync(int fd, bool quick)
{
	return quick ? sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE)
		     : fsync(fd);
}

int
undo_record_write(int turns, const struct undo_record *r, bool quick)
{
	char text[RECORD_BYTES], name[16];
	int fd, rv = -1, save;
	size_t n;

	n = record_compose(r, text, sizeof(text));
	if (n >= sizeof(text)) {
		errno = EOVERFLOW;
		return -1;
	}
	record_name(r->number, name);
	(void)unlinkat(turns, SNAP_MAKING, 0);
	fd = openat(turns, SNAP_MAKING,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	if (span_write(fd, span_of(text, n)) == 0 &&
	    undo_record_sync(fd, quick) == 0 &&
	    renameat(turns, SNAP_MAKING, turns, name) == 0)
		rv = 0;
	save = errno;
	close(fd);
	errno = save;
	return rv;
}

static int
record_take(struct undo_record *r, size_t i, struct span value)
{
	uint8_t *at = (uint8_t *)r + fields[i].at;
	uint32_t u32;
	uint64_t v;

	if (fields[i].type == RECORD_TEXT)
		return span_copy(value, (char *)at, fields[i].size);
	if (span_u64(value,
		fields[i].type == RECORD_U32 ? UINT32_MAX : UINT64_MAX,
		&v) == -1)
		return -1;
	u32 = (uint32_t)v;
	if (fields[i].type == RECORD_U32)
		memcpy(at, &u32, sizeof(u32));
	else
		memcpy(at, &v, sizeof(v));
	return 0;
}

int
undo_record_read(int turns, uint32_t number, struct undo_record *r)
{
	char text[RECORD_BYTES], name[16];
	struct span rest, line;
	ssize_t n;
	int fd;

	record_name(number, name);
	fd =
	    openat(turns, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return -1;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n <= 0 || (size_t)n == sizeof(text))
		goto bad;
	memset(r, 0, sizeof(*r));
	r->number = number;
	rest = span_of(text, (size_t)n);
	/* Every field is there, in this order. */
	for (size_t i = 0; i < nitems(fields); i++) {
		size_t key = strlen(fields[i].key);

		if (!span_line(&rest, &line) || line.len <= key ||
		    memcmp(line.p, fields[i].key, key) != 0 ||
		    line.p[key] != ' ' ||
		    record_take(r, i,
			span_of(line.p + key + 1, line.len - key - 1)) == -1)
			goto bad;
	}
	return 0;
bad:
	errno = EBADMSG;
	return -1;
}

static int
record_order(const void *a, const void *b)
{
	uint32_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

int
undo_record_list(int turns, uint32_t **list, size_t *n)
{
	uint32_t *all = calloc(UNDO_MAX_RECORDS, sizeof(*all));
	int fd = openat(turns, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd == -1 ? NULL : fdopendir(fd);
	struct dirent *e;
	const char *name;
	uint64_t v;

	if (all == NULL || dir == NULL) {
		free(all);
		if (dir != NULL)
			closedir(dir);
		else if (fd != -1)
			close(fd);
		return -1;
	}
	for (*n = 0; *n < UNDO_MAX_RECORDS && (e = readdir(dir)) != NULL;) {
		if (strlen(e->d_name) != 10)
			continue;
		name = e->d_name + strspn(e->d_name, "0");
		if (span_u64(span_str(name), UINT32_MAX, &v) == 0 && v != 0)
			all[(*n)++] = (uint32_t)v;
	}
	closedir(dir);
	if (*n != 0)
		qsort(all, *n, sizeof(*all), record_order);
	*list = all;
	return 0;
}
