/* SPDX-License-Identifier: ISC */
/* The tools that change files. */
#include "icfs/icfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int
icfs_write(struct icfs *f, const struct value *args)
{
	struct span path, content;

	if (icfs_arg_string(f, args, "path", &path) == -1 ||
	    icfs_arg_string(f, args, "content", &content) == -1 ||
	    icfs_write_file(f, path, content) == -1)
		return -1;
	buf_adds(&f->text, "Successfully wrote to ");
	buf_addspan(&f->text, path);
	return buf_check(&f->text);
}

int
icfs_create_directory(struct icfs *f, const struct value *args)
{
	struct icfs_path p;
	struct span path;

	if (icfs_arg_string(f, args, "path", &path) == -1 ||
	    icfs_resolve(f, "mkdir", path, ICFS_MKDIRS, &p) == -1)
		return -1;
	if (!p.exists || !S_ISDIR(p.st.st_mode)) {
		errno = EEXIST;
		return icfs_fail(f, "mkdir", path);
	}
	buf_adds(&f->text, "Successfully created directory ");
	buf_addspan(&f->text, path);
	return buf_check(&f->text);
}

/* Rename, but never over something that exists. */
static int
rename_to(int from, const char *name, int to, const char *dest)
{
	struct stat st;

	if (renameat2(from, name, to, dest, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -1;
	/*
	 * The destination may exist, or the file system may not support flags.
	 */
	if (fstatat(to, dest, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(from, name, to, dest);
}

static void
move_failed(struct icfs *f, struct span source, struct span dest)
{
	if (errno == EEXIST)
		(void)icfs_why(f, "Destination already exists: %.*s",
		    (int)dest.len, (const char *)dest.p);
	else if (errno == EXDEV)
		(void)icfs_why(f,
		    "EXDEV: only a regular file can be moved to another mount, "
		    "rename '%.*s'",
		    (int)source.len, (const char *)source.p);
	else if (errno == ESTALE)
		(void)icfs_why(f,
		    "EBUSY: the file was changed while it was copied, and was "
		    "left where it is, rename '%.*s'",
		    (int)source.len, (const char *)source.p);
	else
		(void)icfs_fail(f, "rename", source);
}

/*
 * Move a file or directory; a link is moved, not its target. To another mount
 * only a regular file can be moved.
 */
int
icfs_move(struct icfs *f, const struct value *args)
{
	const char *from_name, *to_name;
	struct icfs_path from, to;
	struct span source, dest;
	int from_dir, to_dir, r = -1;

	if (icfs_arg_string(f, args, "source", &source) == -1 ||
	    icfs_arg_string(f, args, "destination", &dest) == -1 ||
	    icfs_resolve(f, "rename", source, ICFS_NOFOLLOW, &from) == -1 ||
	    icfs_resolve(f, "rename", dest, ICFS_NOFOLLOW, &to) == -1)
		return -1;
	if (!from.exists) {
		errno = ENOENT;
		return icfs_fail(f, "rename", source);
	}
	from_dir = icfs_open_parent(f, "rename", source, &from, &from_name);
	if (from_dir == -1)
		return -1;
	to_dir = icfs_open_parent(f, "rename", dest, &to, &to_name);
	if (to_dir == -1)
		goto out;
	r = rename_to(from_dir, from_name, to_dir, to_name);
	if (r == -1 && errno == EXDEV)
		r = icfs_move_file(from_dir, from_name, to_dir, to_name);
	if (r == -1)
		move_failed(f, source, dest);
	close(to_dir);
out:
	close(from_dir);
	if (r == -1)
		return -1;
	buf_adds(&f->text, "Successfully moved ");
	buf_addspan(&f->text, source);
	buf_adds(&f->text, " to ");
	buf_addspan(&f->text, dest);
	return buf_check(&f->text);
}

/* Append the diff, fenced with more backquotes in a row than it contains. */
static int
add_diff(struct icfs *f, struct span path, struct span a, struct span b)
{
	size_t ticks = 3, run = 0;
	struct buf diff;
	struct span text;
	int r;

	buf_init(&diff, ICFS_MAX_TEXT);
	r = icfs_diff(&diff, path, a, b);
	text = buf_span(&diff);
	for (size_t i = 0; i < text.len; i++) {
		run = text.p[i] == '`' ? run + 1 : 0;
		if (run >= ticks)
			ticks = run + 1;
	}
	for (size_t i = 0; i < ticks; i++)
		buf_addc(&f->text, '`');
	buf_adds(&f->text, "diff\n");
	icfs_add_text(&f->text, text);
	for (size_t i = 0; i < ticks; i++)
		buf_addc(&f->text, '`');
	buf_adds(&f->text, "\n\n");
	buf_free(&diff);
	return r == 0 ? 0 : icfs_why(f, "The diff is too large");
}

int
icfs_edit_file(struct icfs *f, const struct value *args)
{
	const struct value *edits = value_get(args, "edits");
	struct buf old, new;
	struct span path;
	bool dry = false;
	int r = -1;

	if (icfs_arg_string(f, args, "path", &path) == -1 ||
	    icfs_arg_bool(f, args, "dryRun", &dry) == -1)
		return -1;
	if (edits == NULL || edits->type != VALUE_ARRAY)
		return icfs_why(f, "Invalid arguments: edits must be an array");
	buf_init(&old, ICFS_MAX_FILE);
	buf_init(&new, ICFS_MAX_TEXT);
	if (icfs_read_file(f, path, ICFS_MAX_FILE, &old) == 0 &&
	    icfs_edit(f, buf_span(&old), edits, &new) == 0 &&
	    add_diff(f, path, buf_span(&old), buf_span(&new)) == 0)
		r = dry ? 0 : icfs_write_file(f, path, buf_span(&new));
	buf_free(&old);
	buf_free(&new);
	return r;
}
