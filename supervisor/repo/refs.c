/* SPDX-License-Identifier: ISC */
/* Reads lists of branches and of files that git prints. */
#include "repo/names.h"

#include <string.h>

static bool
is_twin(const struct repo_refs *r, struct span name)
{
	for (unsigned i = 0; i < r->n; i++)
		if (span_ieq(name, span_str(r->list[i].name)))
			return true;
	return false;
}

/* Take a word, and the space behind it. */
static bool
take_word(struct span *line, struct span *word)
{
	const uint8_t *space = memchr(line->p, ' ', line->len);

	if (space == NULL)
		return false;
	*word = span_of(line->p, (size_t)(space - line->p));
	*line = span_of(space + 1, line->len - word->len - 1);
	return true;
}

static void
tell(const struct repo_refs *r, struct span name, const char *why)
{
	if (r->refused != NULL)
		r->refused(r->arg, name, why);
}

static int
take_ref(struct repo_refs *r, struct span line)
{
	static const char prefix[] = "refs/heads/";
	struct span oid, type, name;
	const char *why;

	if (!take_word(&line, &oid) || !take_word(&line, &type) ||
	    !repo_oid_ok(oid) || !span_starts(line, SPAN(prefix)))
		return -1;
	name = span_of(
	    line.p + sizeof(prefix) - 1, line.len - (sizeof(prefix) - 1));
	if (!span_is(type, "commit")) {
		tell(r, name, "what it names is no commit");
	} else if ((why = repo_name_wrong(name)) != NULL) {
		tell(r, name, why);
	} else if (is_twin(r, name)) {
		tell(r, name, "another branch differs in case only");
	} else {
		if (r->n == REPO_MAX_REFS)
			return -1;
		(void)span_copy(oid, r->list[r->n].oid, REPO_OID);
		(void)span_copy(name, r->list[r->n].name, REPO_NAME);
		r->n++;
	}
	return 0;
}

int
repo_refs_parse(struct repo_refs *r, struct span text)
{
	const uint8_t *nl;
	size_t lines = 0;

	r->n = 0;
	while (text.len != 0) {
		/* The last line is whole, too, or git was cut short. */
		if ((nl = memchr(text.p, '\n', text.len)) == NULL ||
		    lines++ == REPO_MAX_REFS ||
		    take_ref(r, span_of(text.p, (size_t)(nl - text.p))) == -1)
			return -1;
		text = span_of(nl + 1, text.len - (size_t)(nl + 1 - text.p));
	}
	return 0;
}

bool
repo_path_ok(struct span path)
{
	const uint8_t *slash;
	struct span c;

	if (path.len == 0 || path.len > 4095 ||
	    memchr(path.p, '\0', path.len) != NULL)
		return false;
	for (;;) {
		slash = memchr(path.p, '/', path.len);
		c = span_of(path.p,
		    slash == NULL ? path.len : (size_t)(slash - path.p));
		if (c.len == 0 || c.len > 255 || span_is(c, ".") ||
		    span_is(c, "..") || span_ieq(c, SPAN(".git")))
			return false;
		if (slash == NULL)
			return true;
		path = span_of(slash + 1, path.len - c.len - 1);
	}
}

bool
repo_next(struct span *rest, struct span *item)
{
	const uint8_t *end;

	if (rest->len == 0 || (end = memchr(rest->p, '\0', rest->len)) == NULL)
		return false;
	*item = span_of(rest->p, (size_t)(end - rest->p));
	*rest = span_of(end + 1, rest->len - item->len - 1);
	return true;
}
