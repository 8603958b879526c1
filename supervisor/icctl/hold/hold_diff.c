/* SPDX-License-Identifier: ISC */
/*
 * Compares by lines: what is equal at the beginning and at the end is left out,
 * and the longest common subsequence of the rest stays, if that is short enough
 * to be found at once.
 */
#include "icctl/hold/hold_diff.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/edit_text.h"
#include "common/json/json.h"
#include "common/plural.h"
#include "common/visible.h"

#define DIFF_FILE (256U << 10)
#define DIFF_EDITS 1000U    /* each copies the text */
#define DIFF_CELLS 1000000U /* in the table of common lengths */
#define DIFF_SHOWN 40U      /* lines, unless all is shown in full */
#define DIFF_LINE 200U      /* bytes of one, likewise */
#define DIFF_AROUND 2U      /* equal lines before and after a change */

struct diff {
	struct span *a, *b; /* the lines */
	size_t na, nb;
	struct hold_text *t;
	size_t shown, more;
};

/* Take the next line off the text, with its LF. */
static struct span
diff_line(struct span *text)
{
	const uint8_t *nl = memchr(text->p, '\n', text->len);
	struct span line = *text;

	if (nl != NULL)
		line.len = (size_t)(nl + 1 - text->p);
	*text = span_of(text->p + line.len, text->len - line.len);
	return line;
}

/* Divide a text into lines. Returns them, or NULL. */
static struct span *
diff_lines(struct span text, size_t *n)
{
	struct span *lines = NULL, *grown;
	size_t cap = 0;

	*n = 0;
	while (text.len != 0) {
		if (*n == cap) {
			cap = cap == 0 ? 64 : 2 * cap;
			grown = reallocarray(lines, cap, sizeof(*lines));
			if (grown == NULL) {
				free(lines);
				return NULL;
			}
			lines = grown;
		}
		lines[(*n)++] = diff_line(&text);
	}
	return lines == NULL ? calloc(1, sizeof(*lines)) : lines;
}

static void
diff_put(struct diff *d, const char *mark, struct span line)
{
	bool ends = line.len != 0 && line.p[line.len - 1] == '\n';
	size_t keep;

	if (!d->t->full && d->shown == DIFF_SHOWN) {
		d->more++;
		d->t->left_out = true;
		return;
	}
	d->shown++;
	line.len -= ends;
	keep = d->t->full ? line.len : visible_cut(line, DIFF_LINE);
	fprintf(d->t->out, "    %s ", mark);
	hold_text_plain(d->t, span_of(line.p, keep));
	fputs(keep < line.len ? " ...\n" : "\n", d->t->out);
	d->t->left_out = d->t->left_out || keep < line.len;
	if (!ends)
		fputs("    \\ no newline at the end of the file\n", d->t->out);
}

/*
 * Make the table of lengths: cell [i][j] is that of the longest subsequence
 * which the lines from i and from j on have in common.
 */
static uint16_t *
diff_table(const struct diff *d)
{
	size_t w = d->nb + 1;
	uint16_t *len;

	if (d->na + 1 > DIFF_CELLS / w ||
	    (len = calloc((d->na + 1) * w, sizeof(*len))) == NULL)
		return NULL;
	for (size_t i = d->na; i-- > 0;)
		for (size_t j = d->nb; j-- > 0;) {
			uint16_t down = len[(i + 1) * w + j],
				 right = len[i * w + j + 1];

			if (span_eq(d->a[i], d->b[j]))
				len[i * w + j] =
				    (uint16_t)(len[(i + 1) * w + j + 1] + 1);
			else
				len[i * w + j] = down >= right ? down : right;
		}
	return len;
}

/* Show what changes, in order; equal lines only beside a change. */
static void
diff_walk(struct diff *d, const uint16_t *len)
{
	size_t w = d->nb + 1, i = 0, j = 0, same = 0;

	while (i < d->na || j < d->nb) {
		if (i < d->na && j < d->nb && span_eq(d->a[i], d->b[j])) {
			if (same < DIFF_AROUND)
				diff_put(d, " ", d->a[i]);
			else if (same == DIFF_AROUND)
				diff_put(d, " ", SPAN("...\n"));
			same++;
			i++;
			j++;
			continue;
		}
		same = 0;
		if (j == d->nb ||
		    (i < d->na && len[(i + 1) * w + j] >= len[i * w + j + 1]))
			diff_put(d, "-", d->a[i++]);
		else
			diff_put(d, "+", d->b[j++]);
	}
}

/* Leave out what both have at the beginning and at the end. */
static size_t
diff_trim(struct diff *d)
{
	size_t n = 0, keep;

	while (n < d->na && n < d->nb && span_eq(d->a[n], d->b[n]))
		n++;
	keep = n > DIFF_AROUND ? n - DIFF_AROUND : 0;
	d->a += keep;
	d->b += keep;
	d->na -= keep;
	d->nb -= keep;
	n -= keep;
	while (d->na > n + DIFF_AROUND && d->nb > n + DIFF_AROUND &&
	       span_eq(d->a[d->na - 1], d->b[d->nb - 1]) &&
	       span_eq(d->a[d->na - 1 - DIFF_AROUND],
		   d->b[d->nb - 1 - DIFF_AROUND])) {
		d->na--;
		d->nb--;
	}
	return keep;
}

static void
diff_show(struct diff *d)
{
	size_t from = diff_trim(d), na = d->na, nb = d->nb;
	uint16_t *len;

	if ((len = diff_table(d)) == NULL) {
		fprintf(d->t->out,
		    "    %zu line%s from line %zu on become%s %zu other%s\n",
		    na, plural(na), from + 1, na == 1 ? "s" : "", nb,
		    plural(nb));
		return;
	}
	fprintf(d->t->out, "    line %zu:\n", from + 1);
	diff_walk(d, len);
	free(len);
	if (d->more != 0)
		fprintf(d->t->out, "    ... and %zu more lines\n", d->more);
}

/* Returns the file's text, or one with p == NULL; *large: it is too large. */
static struct span
diff_read(const char *path, bool *large)
{
	struct stat st;
	uint8_t *p = NULL;
	ssize_t n = -1;
	int fd;

	fd = open(
	    path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	*large = false;
	if (fd == -1)
		return span_of(NULL, 0);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		*large = st.st_size > (off_t)DIFF_FILE;
	else
		st.st_mode = 0;
	if (S_ISREG(st.st_mode) && !*large &&
	    (p = malloc(DIFF_FILE + 1)) != NULL)
		n = read(fd, p, DIFF_FILE + 1);
	close(fd);
	if (n < 0 || n > (ssize_t)DIFF_FILE) {
		free(p);
		return span_of(NULL, 0);
	}
	return span_of(p, (size_t)n);
}

/*
 * Returns the only path that the call would write, on this machine, or NULL.
 * "host" is there if it is another one than that in the call.
 */
static const char *
diff_path(json_object *resources)
{
	json_object *o, *role = NULL, *value = NULL;
	const char *path;

	if (resources == NULL || json_object_array_length(resources) != 1)
		return NULL;
	o = json_object_array_get_idx(resources, 0);
	if (!json_object_object_get_ex(o, "role", &role) ||
	    (!json_object_object_get_ex(o, "host", &value) &&
		!json_object_object_get_ex(o, "value", &value)) ||
	    !json_object_is_type(role, json_type_string) ||
	    !json_object_is_type(value, json_type_string) ||
	    strcmp(json_object_get_string(role), "write-path") != 0)
		return NULL;
	path = json_object_get_string(value);
	return path[0] == '/' ? path : NULL;
}

void
hold_diff_texts(struct hold_text *t, struct span was, struct span is)
{
	struct diff d = {.t = t};
	struct span *a = diff_lines(was, &d.na), *b = diff_lines(is, &d.nb);

	d.a = a;
	d.b = b;
	if (a != NULL && b != NULL)
		diff_show(&d);
	free(a);
	free(b);
}

/* Returns the edits of the call, or NULL if it has none that can be shown. */
static const struct value *
diff_edits(const struct value *arguments)
{
	const struct value *edits = value_get(arguments, "edits"), *e;

	if (edits == NULL || edits->type != VALUE_ARRAY || edits->count == 0)
		return NULL;
	for (e = edits->child; e != NULL; e = e->next)
		if (e->type != VALUE_OBJECT ||
		    value_str(e, "oldText").p == NULL ||
		    value_str(e, "newText").p == NULL)
			return NULL;
	return edits;
}

/*
 * Apply the edits to the text, one after the other, as icfs does. Returns 0,
 * the number of the first edit whose old text is not there, or -1 if the result
 * is too large.
 */
static int
diff_apply(const struct value *edits, struct span text, struct buf *to)
{
	enum edit_text how;
	struct buf next;
	int n = 0;

	buf_addspan(to, text);
	for (const struct value *e = edits->child; e != NULL; e = e->next) {
		n++;
		buf_init(&next, DIFF_FILE);
		how = edit_text_apply(buf_span(to), value_str(e, "oldText"),
		    value_str(e, "newText"), &next);
		if (how != EDIT_TEXT_DONE) {
			buf_free(&next);
			return how == EDIT_TEXT_ABSENT ? n : -1;
		}
		buf_free(to);
		*to = next;
	}
	return 0;
}

/* Show what the edits make of the text. */
static void
diff_edited(struct hold_text *t, const struct value *edits, struct span old)
{
	struct buf b;
	int n;

	buf_init(&b, DIFF_FILE);
	n = diff_apply(edits, old, &b);
	if (n > 0)
		fprintf(
		    t->out, "    the old text of edit %d is not there\n", n);
	else if (n == 0 && span_eq(old, buf_span(&b)))
		fputs("    it stays the same\n", t->out);
	else if (n == 0)
		hold_diff_texts(t, old, buf_span(&b));
	else
		fputs("    it becomes too large to be shown here\n", t->out);
	buf_free(&b);
}

void
hold_diff(
    struct hold_text *t, const struct value *arguments, json_object *resources)
{
	const char *path = diff_path(resources);
	struct span content = value_str(arguments, "content"), old;
	const struct value *edits = diff_edits(arguments);
	bool large;

	if (path == NULL || (content.p == NULL && edits == NULL))
		return;
	old = diff_read(path, &large);
	large = large || content.len > DIFF_FILE ||
		(content.p == NULL && edits->count > DIFF_EDITS);
	if (large)
		fprintf(t->out,
		    "  not compared with the file as it is now: more than %u "
		    "KiB, or than %u edits\n",
		    DIFF_FILE >> 10, DIFF_EDITS);
	if (old.p == NULL || large) {
		free((void *)(uintptr_t)old.p);
		return;
	}
	fputs("  compared with the file as it is now\n", t->out);
	if (content.p == NULL)
		diff_edited(t, edits, old);
	else if (span_eq(old, content))
		fputs("    it is the same\n", t->out);
	else
		hold_diff_texts(t, old, content);
	free((void *)(uintptr_t)old.p);
}
