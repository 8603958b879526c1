/* SPDX-License-Identifier: ISC */
/*
 * Reads a foreign file: another program's, or a project's. The child that
 * parses it holds the open file and a pipe and may only read and write them, so
 * that a bug in a parser can at worst produce a wrong tree. The tree is shown
 * to the person before anything of it is used.
 */
#include "icctl/mcp/foreign.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/buf.h"
#include "common/confine/pledge.h"
#include "common/json/json.h"
#include "icctl/mcp/toml.h"
#include "icctl/mcp/yaml.h"

#define FOREIGN_POOL (32U << 20)
#define FOREIGN_OUT (2U << 20)

/*
 * Replace comments by blanks and drop commas before a closing bracket, outside
 * of strings. The length stays the same, so that offsets remain valid.
 */
static void
foreign_strip(char *s, size_t len)
{
	size_t comma = len;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"') {
			for (i++; i < len && s[i] != '"'; i++)
				i += s[i] == '\\';
			comma = len;
		} else if (s[i] == '/' && i + 1 < len && s[i + 1] == '/') {
			for (; i < len && s[i] != '\n'; i++)
				s[i] = ' ';
		} else if (s[i] == '/' && i + 1 < len && s[i + 1] == '*') {
			s[i] = s[i + 1] = ' ';
			for (i += 2;
			     i + 1 < len && (s[i] != '*' || s[i + 1] != '/');
			     i++)
				s[i] = s[i] == '\n' ? '\n' : ' ';
			if (i + 1 < len)
				s[i] = s[i + 1] = ' ';
		} else if (s[i] == ',') {
			comma = i;
		} else if (s[i] == '}' || s[i] == ']') {
			if (comma != len)
				s[comma] = ' ';
			comma = len;
		} else if (strchr(" \t\r\n", s[i]) == NULL || s[i] == '\0') {
			comma = len;
		}
	}
}

/*
 * Remove a byte order mark. Returns false for UTF-16, which a mark or a NUL in
 * the first two bytes gives away.
 */
static bool
foreign_mark(struct span *text)
{
	if (text->len >= 3 && memcmp(text->p, "\xef\xbb\xbf", 3) == 0)
		*text = span_of(text->p + 3, text->len - 3);
	return text->len < 2 || (memcmp(text->p, "\xff\xfe", 2) != 0 &&
				    memcmp(text->p, "\xfe\xff", 2) != 0 &&
				    text->p[0] != '\0' && text->p[1] != '\0');
}

static unsigned
foreign_line(struct span text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at && i < text.len; i++)
		line += text.p[i] == '\n';
	return line;
}

int
foreign_convert(
    struct span text, enum foreign_kind kind, struct buf *out, char *why,
    size_t cap)
{
	struct value_pool *pool = value_pool_new(FOREIGN_POOL);
	const struct value *root = NULL;
	struct toml_fail bad = {0, NULL};
	struct json_fail fail = {JSON_OK, 0};
	struct yaml_fail yaml = {0, NULL};
	char *copy = NULL;
	int rv = -1;

	snprintf(why, cap, "it is UTF-16: save it as UTF-8");
	if (!foreign_mark(&text))
		goto out;
	snprintf(why, cap, "out of memory");
	if (pool == NULL || (copy = malloc(text.len + 1)) == NULL)
		goto out;
	memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	if (kind == FOREIGN_YAML) {
		if ((root = yaml_read(pool, text, &yaml)) == NULL)
			snprintf(why, cap, "line %u: %s", yaml.line, yaml.what);
	} else if (kind == FOREIGN_TOML) {
		if ((root = toml_read(pool, text, &bad)) == NULL)
			snprintf(why, cap, "line %u: %s", bad.line, bad.what);
	} else if (strspn(copy, " \t\r\n") == text.len) {
		snprintf(why, cap, "it is empty");
	} else {
		foreign_strip(copy, text.len);
		root = json_read(pool, span_of(copy, text.len), &fail);
		if (root == NULL)
			snprintf(why, cap, "line %u: %s",
			    foreign_line(text, fail.at),
			    json_strerror(fail.error));
	}
	if (root == NULL)
		goto out;
	if (root->type != VALUE_OBJECT)
		snprintf(why, cap, "it must hold an object, not %s",
		    value_type_name(root->type));
	else if (json_write(out, root) == 0 && !out->failed)
		rv = 0;
	else
		snprintf(why, cap, "it is too large");
out:
	free(copy);
	value_pool_free(pool);
	return rv;
}

/*
 * Read to the end, but at most the buffer's maximum. Returns 0, or -1 with
 * errno set.
 */
static int
foreign_slurp(int fd, struct buf *b)
{
	uint8_t *room;
	ssize_t n;

	for (;;) {
		if ((room = buf_room(b, 65536)) == NULL) {
			errno = EFBIG;
			return -1;
		}
		if ((n = read(fd, room, 65536)) == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		buf_grow(b, (size_t)n);
	}
}

/* In the child: answer with a letter, then JSON or a message. */
static void
foreign_child(int fd, int out, enum foreign_kind kind)
{
	static const enum pledge_promise promises[] = {PLEDGE_STDIO};
	static const struct pledge rights = {
	    .promises = promises, .npromises = 1};
	struct buf in, json;
	char why[256];

	buf_init(&in, FOREIGN_MAX + 65536);
	buf_init(&json, FOREIGN_OUT);
	if (pledge_apply(&rights) == -1)
		_exit(1);
	if (foreign_slurp(fd, &in) == -1 || in.len > FOREIGN_MAX) {
		(void)span_write(out, SPAN("Eit is larger than 1 MiB"));
	} else if (foreign_convert(
		       buf_span(&in), kind, &json, why, sizeof(why)) == -1) {
		(void)span_write(out, SPAN("E"));
		(void)span_write(out, span_str(why));
	} else {
		(void)span_write(out, SPAN("J"));
		(void)span_write(out, buf_span(&json));
	}
	_exit(0);
}

static struct json_object *
foreign_answer(const char *path, struct buf *b, struct fault *fault)
{
	struct span s = buf_span(b);

	if (s.len == 0 || (s.p[0] != 'E' && s.p[0] != 'J')) {
		fault_set(fault, "%s: the process that read it died", path);
		return NULL;
	}
	if (s.p[0] == 'J')
		return jsonfile_parse(path, span_of(s.p + 1, s.len - 1), fault);
	fault_set(
	    fault, "%s: %.*s", path, (int)(s.len - 1), (const char *)s.p + 1);
	return NULL;
}

static int
foreign_open(const char *path, bool strict, struct fault *fault)
{
	struct stat st;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
			    (strict ? O_NOFOLLOW : 0));
	if (fd == -1 && errno == ELOOP && strict) {
		fault_set(fault, "%s: is a symbolic link; name the file itself",
		    path);
		return -1;
	}
	if (fd == -1 || fstat(fd, &st) == -1) {
		fault_errno(fault, "%s", path);
	} else if (!S_ISREG(st.st_mode)) {
		fault_set(fault, "%s: is not a regular file", path);
	} else {
		return fd;
	}
	if (fd != -1)
		close(fd);
	return -1;
}

struct json_object *
foreign_read_fd(int fd, const char *path, struct fault *fault)
{
	const char *dot = strrchr(path, '.');
	enum foreign_kind kind = FOREIGN_JSON;
	struct json_object *root = NULL;
	struct buf b;
	int ends[2];
	pid_t pid;

	if (dot != NULL && strcmp(dot, ".toml") == 0)
		kind = FOREIGN_TOML;
	else if (dot != NULL &&
		 (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
		kind = FOREIGN_YAML;
	if (pipe2(ends, O_CLOEXEC) == -1 || (pid = fork()) == -1) {
		fault_errno(fault, "%s", path);
		return NULL;
	}
	if (pid == 0) {
		close(ends[0]);
		foreign_child(fd, ends[1], kind);
	}
	close(ends[1]);
	buf_init(&b, FOREIGN_OUT + 65536 + 1);
	if (foreign_slurp(ends[0], &b) == -1)
		fault_errno(fault, "%s", path);
	else
		root = foreign_answer(path, &b, fault);
	close(ends[0]);
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		continue;
	buf_free(&b);
	return root;
}

struct json_object *
foreign_read(const char *path, bool strict, struct fault *fault)
{
	struct json_object *root;
	int fd;

	if ((fd = foreign_open(path, strict, fault)) == -1)
		return NULL;
	root = foreign_read_fd(fd, path, fault);
	close(fd);
	return root;
}
