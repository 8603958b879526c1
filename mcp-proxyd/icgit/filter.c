/* SPDX-License-Identifier: ISC */
/*
 * Filters turn the text of a file into the text that is committed. None runs
 * here, and git would commit a file as it is instead: a large file in place of
 * git-lfs's pointer, or a line with a secret that the filter removes. So
 * commands that take files into the repository are given filters that fail, for
 * each name that the configuration or an attribute has. IronCurtain's own gits,
 * which keep files as they are, say so (ICGIT_AS_IS).
 */
#include "icgit/icgit.h"

#include <sys/stat.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILTER_MAX 256U
#define FILTER_ATTRIBUTES ((size_t)1 << 20)

static const char filter_word[] = "filter=";

static struct {
	struct filter {
		struct span name;
		bool process; /* configured: git prefers it, even if empty */
	} list[FILTER_MAX];
	size_t n;
	bool full;
} filters;

bool
icgit_takes(char **args)
{
	static const char *const all[] = {
	    "add", "commit", "hash-object", "stage", "update-index"};
	static const char *const stashes[] = {"create", "push", "save"};
	const char *word;

	if (args[0] == NULL || getenv(ICGIT_AS_IS) != NULL)
		return false;
	for (size_t i = 0; i < nitems(all); i++)
		if (strcmp(args[0], all[i]) == 0)
			return true;
	if (strcmp(args[0], "stash") != 0)
		return false;
	if ((word = args[1]) == NULL || word[0] == '-')
		return true;
	for (size_t i = 0; i < nitems(stashes); i++)
		if (strcmp(word, stashes[i]) == 0)
			return true;
	return false;
}

static void
filter_note(struct span name, bool process)
{
	size_t i = 0;

	while (i < filters.n && !span_eq(filters.list[i].name, name))
		i++;
	if (i == FILTER_MAX) {
		filters.full = true;
		return;
	}
	if (i == filters.n)
		filters.list[filters.n++] = (struct filter){.name = name};
	filters.list[i].process |= process;
}

/* Note the filters of the configuration: "filter.NAME.clean", each with NUL. */
static void
filter_configured(struct span names)
{
	static const char section[] = "filter.";
	const uint8_t *end, *last;
	struct span name, key;

	while (names.len != 0 &&
	       (end = memchr(names.p, '\0', names.len)) != NULL) {
		name = span_of(names.p, (size_t)(end - names.p));
		names = span_of(end + 1, names.len - name.len - 1);
		if (name.len < sizeof(section) ||
		    !span_ieq(span_of(name.p, sizeof(section) - 1),
			span_str(section)))
			continue;
		name = span_of(name.p + sizeof(section) - 1,
		    name.len - (sizeof(section) - 1));
		if ((last = memrchr(name.p, '.', name.len)) == NULL)
			continue;
		key = span_of(last, name.len - (size_t)(last - name.p));
		filter_note(span_of(name.p, (size_t)(last - name.p)),
		    span_ieq(key, SPAN(".process")));
	}
}

/* Note the filters that a text of attributes names. */
static void
filter_named(struct span text)
{
	const size_t n = sizeof(filter_word) - 1;
	const uint8_t *p;
	struct span name;

	while (text.len != 0 &&
	       (p = memmem(text.p, text.len, filter_word, n)) != NULL) {
		text = span_of(p + n, text.len - (size_t)(p + n - text.p));
		name = span_of(text.p, 0);
		while (name.len < text.len && !isspace(name.p[name.len]))
			name.len++;
		if (name.len != 0)
			filter_note(name, false);
	}
}

/* Run git with these words. Returns its status, or -1 with errno set. */
static int
filter_ask(const struct icgit_args *first, const char *const *words,
    size_t nwords, struct buf *out)
{
	static struct icgit_args ask;

	ask = *first;
	icgit_fixed(&ask);
	for (size_t i = 0; i < nwords; i++)
		icgit_add(&ask, words[i]);
	buf_init(out, FILTER_ATTRIBUTES);
	return icgit_run(&ask, out, ICGIT_LIST_MS);
}

/* Read a file of attributes. One that is not there has none. */
static int
filter_read(const char *path, struct buf *out)
{
	struct stat st;
	uint8_t *room;
	ssize_t n;
	int fd, rv = -1;

	buf_init(out, FILTER_ATTRIBUTES);
	if ((fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) == -1)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	errno = EINVAL;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		goto out;
	do {
		if ((room = buf_room(out, 4096)) == NULL) {
			errno = EFBIG;
			goto out;
		}
		if ((n = read(fd, room, 4096)) == -1)
			goto out;
		buf_grow(out, (size_t)n);
	} while (n != 0);
	rv = 0;
out:
	close(fd);
	return rv;
}

/*
 * Note the filters of the file whose path git prints. Without such a file, or a
 * repository, git prints none. Returns 0, or -1 with errno set.
 */
static int
filter_file(const struct icgit_args *first, const char *const *words,
    size_t nwords, struct buf *text)
{
	struct buf path;
	struct span line;
	const uint8_t *end;
	char file[8192];
	int rv = filter_ask(first, words, nwords, &path);

	line = buf_span(&path);
	end = line.len != 0 ? memchr(line.p, '\n', line.len) : NULL;
	if (rv == -1 || end == NULL)
		goto out;
	rv = span_copy(
	    span_of(line.p, (size_t)(end - line.p)), file, sizeof(file));
	/* Only git knows where a relative path leads. */
	errno = ENAMETOOLONG;
	if (rv == 0 && file[0] != '/') {
		errno = EINVAL;
		rv = -1;
	}
	if (rv == 0)
		rv = filter_read(file, text);
	if (rv == 0)
		filter_named(buf_span(text));
out:
	buf_free(&path);
	return rv == -1 ? -1 : 0;
}

/*
 * Note the filters that files of attributes name: those of the working files,
 * ignored ones as well, those in the index, which count where the working file
 * is missing, the repository's own, and the user's. Returns 0, or -1 with errno
 * set.
 */
static int
filter_attributes(const struct icgit_args *first)
{
	static const char *const grep[] = {"grep", "-h", "-I", "-o", "-E",
	    "--no-line-number", "--no-column", "--no-color", "-e",
	    "filter=[^[:space:]]+", "--untracked", "--no-exclude-standard",
	    "--", ":(top,glob)**/.gitattributes"};
	static const char *const cached[] = {"grep", "-h", "-I", "-o", "-E",
	    "--no-line-number", "--no-column", "--no-color", "-e",
	    "filter=[^[:space:]]+", "--cached", "--",
	    ":(top,glob)**/.gitattributes"};
	static const char *const own[] = {"rev-parse", "--path-format=absolute",
	    "--git-path", "info/attributes"};
	static const char *const user[] = {
	    "config", "--type=path", "--get", "core.attributesFile"};
	/* Never freed: the names point into them until exec. */
	static struct buf found, indexed, texts[2];

	/* Without working files, or a repository, git says so itself. */
	if (filter_ask(first, grep, nitems(grep), &found) == -1 ||
	    filter_ask(first, cached, nitems(cached), &indexed) == -1 ||
	    filter_file(first, own, nitems(own), &texts[0]) == -1 ||
	    filter_file(first, user, nitems(user), &texts[1]) == -1)
		return -1;
	filter_named(buf_span(&found));
	filter_named(buf_span(&indexed));
	return 0;
}

/* Set a variable of the filter. Returns 0, or -1. */
static int
filter_set(struct icgit_args *a, const struct filter *f, const char *variable,
    const char *value)
{
	struct buf b;
	int rv;

	buf_init(&b, ICGIT_MAX_NAMES);
	buf_adds(&b, "filter.");
	buf_addspan(&b, f->name);
	buf_adds(&b, variable);
	rv = b.failed ? -1 : icgit_override(a, buf_span(&b), value);
	buf_free(&b);
	return rv;
}

int
icgit_filters(struct icgit_args *a, const struct icgit_args *first,
    struct span configured)
{
	const struct filter *f;

	filter_configured(configured);
	if (filter_attributes(first) == -1)
		return -1;
	for (f = filters.list; f < filters.list + filters.n; f++)
		if (filter_set(a, f, ".clean", ICGIT_REFUSES) == -1 ||
		    filter_set(a, f, ".smudge", "") == -1 ||
		    filter_set(a, f, ".required", "true") == -1 ||
		    (f->process &&
			filter_set(a, f, ".process", ICGIT_REFUSES) == -1))
			return -1;
	if (filters.full)
		errno = E2BIG;
	return filters.full || a->full ? -1 : 0;
}
