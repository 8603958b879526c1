/* SPDX-License-Identifier: ISC */
/*
 * The tools that read files.  Their results are text for a model, or base64;
 * bytes that are not valid UTF-8 become U+FFFD and affect nothing else.
 */
#include "icfs/icfs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/edit_text.h"

#define PIECE ((size_t)64 << 10)
/* As base64 the data appears twice in a result, which is one line. */
#define MAX_MEDIA ((size_t)1500 << 10)

static int
too_long(struct icfs *f, const char *which)
{
	return icfs_why(f,
	    "File too large: its %s lines have more than %zu bytes", which,
	    ICFS_MAX_FILE);
}

/* Read one piece at an offset.  Returns the number of bytes, or -1. */
static ssize_t
piece_at(int fd, uint8_t *dst, off_t at, size_t n)
{
	ssize_t got;

	do {
		got = pread(fd, dst, n, at);
	} while (got == -1 && errno == EINTR);
	return got;
}

/* Read the first `n` lines, without the newline of the last. */
static int
read_head(struct icfs *f, struct span path, int fd, double n, struct buf *b)
{
	const uint8_t *p, *nl;
	uint8_t *room;
	ssize_t got;
	off_t at = 0;

	while (n > 0) {
		if ((room = buf_room(b, PIECE)) == NULL ||
		    (got = piece_at(fd, room, at, PIECE)) == -1)
			return icfs_fail(f, "read", path);
		if (got == 0)
			break;
		for (p = room; n > 0; p = nl + 1) {
			nl = memchr(p, '\n', (size_t)(room + got - p));
			if (nl == NULL)
				break;
			n--;
			if (n <= 0)
				got = nl - room;
		}
		buf_grow(b, (size_t)got);
		at += got;
		if (b->len > ICFS_MAX_FILE)
			return too_long(f, "first");
	}
	/* The end of the file was reached. */
	if (n > 0 && b->len != 0 && buf_span(b).p[b->len - 1] == '\n')
		b->len--;
	return 0;
}

/*
 * Returns the offset of the last `n` lines; text after the last newline counts
 * as one of them.
 */
static off_t
tail_start(int fd, off_t size, double n, uint8_t *piece)
{
	off_t at = size, from;
	ssize_t got;

	while (at > 0 && size - at <= (off_t)ICFS_MAX_FILE) {
		from = at > (off_t)PIECE ? at - (off_t)PIECE : 0;
		if ((got = piece_at(fd, piece, from, (size_t)(at - from))) <= 0)
			return -1;
		while (got-- > 0) {
			if (piece[got] == '\n' && --n <= 0)
				return from + got + 1;
		}
		at = from;
	}
	return at;
}

static int
read_tail(struct icfs *f, struct span path, int fd, double n, struct buf *b)
{
	static uint8_t piece[PIECE];
	struct stat st;
	struct buf raw;
	ssize_t got;
	uint8_t *room;
	off_t at;
	int r = -1;

	if (n < 1)
		return 0;
	buf_init(&raw, ICFS_MAX_FILE);
	if (fstat(fd, &st) == -1 ||
	    (at = tail_start(fd, st.st_size, n, piece)) == -1) {
		(void)icfs_fail(f, "read", path);
	} else if (st.st_size - at > (off_t)ICFS_MAX_FILE) {
		(void)too_long(f, "last");
	} else if ((room = buf_room(&raw, (size_t)(st.st_size - at))) == NULL ||
		   (got = piece_at(fd, room, at, (size_t)(st.st_size - at))) ==
		       -1) {
		(void)icfs_fail(f, "read", path);
	} else {
		edit_text_lf(b, span_of(room, (size_t)got));
		r = 0;
	}
	buf_free(&raw);
	return r;
}

int
icfs_read_text(struct icfs *f, const struct value *args)
{
	double head = 0, tail = 0;
	struct span path;
	struct stat st;
	struct buf b;
	int fd, r;

	if (icfs_arg_string(f, args, "path", &path) == -1 ||
	    icfs_arg_number(f, args, "head", &head) == -1 ||
	    icfs_arg_number(f, args, "tail", &tail) == -1)
		return -1;
	if (head != 0 && tail != 0)
		return icfs_why(f,
		    "Cannot specify both head and tail parameters "
		    "simultaneously");
	buf_init(&b, ICFS_MAX_FILE + 2 * PIECE);
	if (head == 0 && tail == 0) {
		r = icfs_read_file(f, path, ICFS_MAX_FILE, &b);
	} else if ((r = fd = icfs_open_file(f, path, &st)) != -1) {
		if (head != 0)
			r = read_head(f, path, fd, head, &b);
		else
			r = read_tail(f, path, fd, (double)(int64_t)tail, &b);
		close(fd);
	}
	if (r == 0)
		icfs_add_text(&f->text, buf_span(&b));
	buf_free(&b);
	return r;
}

static void
add_base64(struct buf *b, struct span s)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t v;

	for (size_t i = 0; i < s.len; i += 3) {
		v = (uint32_t)s.p[i] << 16;
		if (i + 1 < s.len)
			v |= (uint32_t)s.p[i + 1] << 8;
		if (i + 2 < s.len)
			v |= s.p[i + 2];
		buf_addc(b, (uint8_t)digits[v >> 18]);
		buf_addc(b, (uint8_t)digits[v >> 12 & 63]);
		buf_addc(b, i + 1 < s.len ? (uint8_t)digits[v >> 6 & 63] : '=');
		buf_addc(b, i + 2 < s.len ? (uint8_t)digits[v & 63] : '=');
	}
}

static const char *
media_type(struct span path)
{
	static const struct {
		const char *end, *type;
	} types[] = {
	    {".png", "image/png"},
	    {".jpg", "image/jpeg"},
	    {".jpeg", "image/jpeg"},
	    {".gif", "image/gif"},
	    {".webp", "image/webp"},
	    {".bmp", "image/bmp"},
	    {".svg", "image/svg+xml"},
	    {".mp3", "audio/mpeg"},
	    {".wav", "audio/wav"},
	    {".ogg", "audio/ogg"},
	    {".flac", "audio/flac"},
	};
	size_t n;

	for (size_t i = 0; i < nitems(types); i++) {
		n = strlen(types[i].end);
		if (path.len > n && span_ieq(span_of(path.p + path.len - n, n),
					span_str(types[i].end)))
			return types[i].type;
	}
	return "application/octet-stream";
}

/* Append a path as a file: URI, in quotes. */
static void
add_uri(struct buf *b, struct span path)
{
	static const char plain[] = "-._~/!$&'()*+,;=:@";
	uint8_t c;

	buf_adds(b, "\"file://");
	for (size_t i = 0; i < path.len; i++) {
		c = path.p[i];
		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') ||
		    memchr(plain, c, sizeof(plain) - 1) != NULL)
			buf_addc(b, c);
		else
			buf_printf(b, "%%%02X", c);
	}
	buf_addc(b, '"');
}

/* Append the one item of content, as JSON. */
static void
add_media(struct buf *b, struct span path, struct span bytes)
{
	const char *type = media_type(path);
	bool image = strncmp(type, "image/", 6) == 0;

	if (image || strncmp(type, "audio/", 6) == 0) {
		buf_adds(b, "[{\"data\":\"");
		add_base64(b, bytes);
		buf_printf(b, "\",\"mimeType\":\"%s\",\"type\":\"%s\"}]", type,
		    image ? "image" : "audio");
		return;
	}
	buf_adds(b, "[{\"resource\":{\"blob\":\"");
	add_base64(b, bytes);
	buf_printf(b, "\",\"mimeType\":\"%s\",\"uri\":", type);
	add_uri(b, path);
	buf_adds(b, "},\"type\":\"resource\"}]");
}

int
icfs_read_media(struct icfs *f, const struct value *args)
{
	struct span path;
	struct buf b;
	int r;

	if (icfs_arg_string(f, args, "path", &path) == -1)
		return -1;
	buf_init(&b, MAX_MEDIA + 2 * PIECE);
	if ((r = icfs_read_file(f, path, MAX_MEDIA, &b)) == 0)
		add_media(&f->text, path, buf_span(&b));
	buf_free(&b);
	return r;
}

int
icfs_read_multiple(struct icfs *f, const struct value *args)
{
	const struct value *paths, *v;
	struct buf b;

	if (icfs_arg_strings(f, args, "paths", &paths) == -1)
		return -1;
	if (paths == NULL || paths->child == NULL)
		return icfs_why(f, "Invalid arguments: paths must hold at "
				   "least one path");
	buf_init(&b, ICFS_MAX_FILE + 2 * PIECE);
	for (v = paths->child; v != NULL; v = v->next) {
		if (f->text.len > ICFS_MAX_LINE)
			break;
		buf_reset(&b, ICFS_MAX_FILE);
		if (v != paths->child)
			buf_adds(&f->text, "\n---\n");
		buf_addspan(&f->text, v->text);
		if (icfs_read_file(f, v->text, ICFS_MAX_FILE, &b) == 0) {
			buf_adds(&f->text, ":\n");
			icfs_add_text(&f->text, buf_span(&b));
			buf_addc(&f->text, '\n');
		} else {
			buf_adds(&f->text, ": Error - ");
			icfs_add_text(&f->text, span_str(f->why));
		}
	}
	buf_free(&b);
	return 0;
}
