/* SPDX-License-Identifier: ISC */
/*
 * Parses the command lists of pushes. The bytes come from the agent, or from a
 * mitmd that it has taken over; a list that git-receive-pack could read
 * differently is refused.
 */
#include "wire/git_push.h"

#include <stdio.h>

struct push {
	struct span rest;
	bool whole;
	struct git_push_list *list;
	const char *why;
	unsigned nrefs, nshallow;
	size_t width; /* digits in an object's name; 0: not known yet */
	bool pack;    /* a pack follows: not all commands are deletions */
	bool cut;     /* not all commands are kept */
};

static enum git_push
push_bad(struct push *p, const char *why)
{
	p->why = why;
	return GIT_PUSH_BAD;
}

static int
push_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Read the next pkt-line; a flush has p == NULL. */
static enum git_push
push_line(struct push *p, struct span *line)
{
	size_t n = 0;
	int d;

	if (p->rest.len < 4)
		return p->whole ? push_bad(p, "ends in the command list")
				: GIT_PUSH_MORE;
	for (unsigned i = 0; i < 4; i++) {
		if ((d = push_digit(p->rest.p[i])) == -1)
			return push_bad(p, "not a command list of pkt-lines");
		n = n << 4 | (size_t)d;
	}
	if (n == 0) {
		*line = span_of(NULL, 0);
		p->rest = span_of(p->rest.p + 4, p->rest.len - 4);
		return GIT_PUSH_OK;
	}
	if (n <= 4)
		return push_bad(p, "a pkt-line that has no place here");
	if (n > p->rest.len)
		return p->whole ? push_bad(p, "ends in the command list")
				: GIT_PUSH_MORE;
	*line = span_of(p->rest.p + 4, n - 4);
	p->rest = span_of(p->rest.p + n, p->rest.len - n);
	return GIT_PUSH_OK;
}

/* Take an object's name off the front. All names have the same length. */
static bool
push_object(struct push *p, struct span *line, struct span *object)
{
	size_t n = 0;

	while (n < line->len && push_digit(line->p[n]) != -1)
		n++;
	if ((n != 40 && n != 64) || (p->width != 0 && p->width != n))
		return false;
	p->width = n;
	*object = span_of(line->p, n);
	*line = span_of(line->p + n, line->len - n);
	return true;
}

static bool
push_space(struct span *line)
{
	if (line->len == 0 || line->p[0] != ' ')
		return false;
	*line = span_of(line->p + 1, line->len - 1);
	return true;
}

static bool
push_is_zero(struct span object)
{
	for (size_t i = 0; i < object.len; i++)
		if (object.p[i] != '0')
			return false;
	return true;
}

static bool
push_part_ok(struct span part)
{
	struct span lock = SPAN(".lock");

	return part.len != 0 && part.p[0] != '.' &&
	       part.p[part.len - 1] != '.' &&
	       (part.len < lock.len ||
		   !span_eq(
		       span_of(part.p + part.len - lock.len, lock.len), lock));
}

/* Check a name below refs/ as git check-ref-format does, in printable ASCII. */
static bool
push_name_ok(struct span name)
{
	struct span part = span_of(name.p, 0);

	if (!span_starts(name, SPAN("refs/")) || name.len > GIT_PUSH_MAX_NAME)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		if (name.p[i] <= 0x20 || name.p[i] >= 0x7f ||
		    strchr("~^:?*[\\", name.p[i]) != NULL)
			return false;
		if (i != 0 && ((name.p[i] == '.' && name.p[i - 1] == '.') ||
				  (name.p[i] == '{' && name.p[i - 1] == '@')))
			return false;
	}
	for (size_t i = 0; i <= name.len; i++) {
		if (i < name.len && name.p[i] != '/') {
			part.len++;
			continue;
		}
		if (!push_part_ok(part))
			return false;
		part = span_of(name.p + i + 1, 0);
	}
	return true;
}

/*
 * Check the client's capabilities: only those that change no more than the list
 * says.
 */
static bool
push_words_ok(struct push *p, struct span words)
{
	static const char *const known[] = {"atomic", "delete-refs",
	    "object-format=sha1", "object-format=sha256", "ofs-delta", "quiet",
	    "report-status", "report-status-v2", "side-band-64k"};
	static const char *const begun[] = {"agent=", "session-id="};
	struct span word;
	bool good;

	while (words.len != 0) {
		word = span_of(words.p, 0);
		while (word.len < words.len && word.p[word.len] != ' ')
			word.len++;
		words = span_of(words.p + word.len, words.len - word.len);
		(void)push_space(&words);
		good = word.len == 0;
		for (size_t i = 0; i < nitems(known); i++)
			good |= span_is(word, known[i]);
		for (size_t i = 0; i < nitems(begun); i++)
			good |= span_starts(word, span_str(begun[i]));
		p->list->report |= span_is(word, "report-status") ||
				   span_is(word, "report-status-v2");
		p->list->sideband |= span_is(word, "side-band-64k");
		if (!good || memchr(word.p, '\0', word.len) != NULL)
			return false;
	}
	return true;
}

/*
 * Read "OLD NEW NAME", followed in the first command by a NUL and the
 * capabilities.
 */
static enum git_push
push_command(struct push *p, struct span line)
{
	struct span old, new, words = span_of(line.p, 0);
	struct buf *refs = &p->list->refs;
	const uint8_t *nul;
	size_t n;

	if (line.len != 0 && line.p[line.len - 1] == '\n')
		line.len--;
	if ((nul = memchr(line.p, '\0', line.len)) != NULL) {
		if (p->nrefs != 0)
			return push_bad(p, "a NUL in a command");
		words = span_of(nul + 1, line.len - (size_t)(nul - line.p) - 1);
		line.len = (size_t)(nul - line.p);
	}
	if (!push_words_ok(p, words))
		return push_bad(p, "push options and other extensions are "
				   "not taken");
	if (span_starts(line, SPAN("push-cert")))
		return push_bad(p, "signed pushes are not taken");
	if (!push_object(p, &line, &old) || !push_space(&line) ||
	    !push_object(p, &line, &new) || !push_space(&line))
		return push_bad(p, "not a command");
	if (!push_name_ok(line))
		return push_bad(p, "names of refs are refs/... in printable "
				   "ASCII, as git check-ref-format wants them");
	if (push_is_zero(old) && push_is_zero(new))
		return push_bad(p, "a command that does nothing");
	p->nrefs++;
	p->pack |= !push_is_zero(new);
	n = old.len + new.len + line.len + 3;
	p->cut |= n > refs->max - refs->len;
	if (p->cut)
		return GIT_PUSH_OK;
	buf_addspan(refs, old);
	buf_addc(refs, ' ');
	buf_addspan(refs, new);
	buf_addc(refs, ' ');
	buf_addspan(refs, line);
	buf_addc(refs, '\n');
	if (refs->failed)
		return push_bad(p, "out of memory");
	return GIT_PUSH_OK;
}

/* Returns why the list, which was read to its end, is too much at once. */
static const char *
push_too_much(const struct push *p, size_t len)
{
	struct git_push_list *l = p->list;

	if (p->nrefs > GIT_PUSH_MAX_REFS) {
		snprintf(l->why, sizeof(l->why), "%u refs at once; at most %u",
		    p->nrefs, GIT_PUSH_MAX_REFS);
		return l->why;
	}
	if (p->cut || l->refs.len > GIT_PUSH_MAX_TEXT)
		return "names of refs are too long: push fewer";
	return len > GIT_PUSH_MAX_LIST
		   ? "the command list is too long: push fewer"
		   : NULL;
}

static enum git_push
push_shallow(struct push *p, struct span line)
{
	struct span object;

	line = span_of(line.p + 8, line.len - 8);
	if (line.len != 0 && line.p[line.len - 1] == '\n')
		line.len--;
	if (p->nrefs != 0 || !push_object(p, &line, &object) || line.len != 0)
		return push_bad(p, "not a command");
	return ++p->nshallow > GIT_PUSH_MAX_SHALLOW
		   ? push_bad(p, "the clone is too shallow in too many places")
		   : GIT_PUSH_OK;
}

/*
 * Check the bytes after the list: a pack if objects are needed, else nothing.
 */
static enum git_push
push_end(struct push *p)
{
	struct span pack = SPAN("PACK");

	if (p->nrefs == 0)
		return push_bad(p, "a push without a command");
	if (!p->pack && p->rest.len != 0)
		return push_bad(p, "bytes behind the command list");
	if (!p->pack)
		return p->whole ? GIT_PUSH_OK : GIT_PUSH_MORE;
	if (p->rest.len < pack.len && !p->whole)
		return GIT_PUSH_MORE;
	return span_starts(p->rest, pack)
		   ? GIT_PUSH_OK
		   : push_bad(p, "no pack behind the command list");
}

enum git_push
git_push_read(
    struct span body, bool whole, struct git_push_list *list, const char **why)
{
	struct push p = {.rest = body, .whole = whole, .list = list};
	struct span line = span_of("", 0);
	const char *much;
	enum git_push r;

	buf_reset(&list->refs, list->refs.max);
	list->report = list->sideband = false;
	while ((r = push_line(&p, &line)) == GIT_PUSH_OK && line.p != NULL) {
		if (span_starts(line, SPAN("shallow ")))
			r = push_shallow(&p, line);
		else
			r = push_command(&p, line);
		if (r != GIT_PUSH_OK)
			break;
	}
	if (r == GIT_PUSH_OK)
		r = push_end(&p);
	much = push_too_much(&p, body.len - p.rest.len);
	if (r != GIT_PUSH_BAD && much != NULL)
		r = push_bad(&p, much);
	if (r == GIT_PUSH_MORE && body.len > GIT_PUSH_MAX_LIST + 8)
		r = push_bad(&p, "the command list is too long: push fewer");
	if (r == GIT_PUSH_BAD)
		*why = p.why;
	return r;
}

/* Append one pkt-line. */
static void
push_put(struct buf *b, struct span text, int band)
{
	size_t n = text.len + 4 + (band != 0);

	buf_printf(b, "%04zx", n);
	if (band != 0)
		buf_addc(b, (uint8_t)band);
	buf_addspan(b, text);
}

int
git_push_report(struct buf *b, const struct git_push_list *list,
    const char *code, const char *text)
{
	struct span rest = buf_span(&list->refs), ref;
	char line[GIT_PUSH_MAX_NAME + 128];
	const uint8_t *end, *name;
	struct buf in;
	int ret;

	if (!list->report)
		return -1;
	buf_init(&in, 65000);
	/* Without a ref there is no other place for the reason. */
	snprintf(line, sizeof(line), "unpack %s%s\n",
	    rest.len != 0 ? "ok" : "IronCurtain: ", rest.len != 0 ? "" : code);
	push_put(&in, span_str(line), 0);
	while (span_line(&rest, &ref)) {
		/* The name is the last of three words. */
		end = ref.p + ref.len;
		for (name = end; name > ref.p && name[-1] != ' '; name--)
			;
		snprintf(line, sizeof(line), "ng %.*s IronCurtain: %s\n",
		    (int)(end - name), (const char *)name, code);
		push_put(&in, span_str(line), 0);
	}
	buf_adds(&in, "0000");
	if (list->sideband) {
		buf_printf(b, "%04zx%c%s\n", strlen(text) + 6, 2, text);
		push_put(b, buf_span(&in), 1);
		buf_adds(b, "0000");
	} else {
		buf_addspan(b, buf_span(&in));
	}
	ret = in.failed || b->failed ? -1 : 0;
	buf_free(&in);
	return ret;
}
