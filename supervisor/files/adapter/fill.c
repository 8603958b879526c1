/* SPDX-License-Identifier: ISC */
/* Fills a session's values into the texts of an adapter. */
#include "files/adapter/adapter.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/json/json.h"

/* Returns the value of {key:NAME} or {tail:NAME} at `p`, as below. */
static const char *
fill_key(const struct providers *ps, const char *p, size_t *len)
{
	const char *key;
	char word[96];
	size_t n;

	for (unsigned i = 0; i < ps->n; i++) {
		if ((key = ps->list[i].key) == NULL)
			continue;
		n = (size_t)snprintf(
		    word, sizeof(word), "{key:%s}", ps->list[i].name);
		*len = n;
		if (strncmp(p, word, n) == 0)
			return key;
		n = (size_t)snprintf(
		    word, sizeof(word), "{tail:%s}", ps->list[i].name);
		*len = n;
		if (strncmp(p, word, n) == 0)
			return strlen(key) > 20 ? key + strlen(key) - 20 : key;
	}
	return NULL;
}

/*
 * Returns the value of the "{...}" at `p`, and its length in `len`. NULL: it is
 * ordinary text.
 */
static const char *
fill_value(
    const struct providers *ps, const char *task, const char *p, size_t *len)
{
	const struct {
		const char *word, *value;
	} rows[] = {{"{task}", task}, {"{message}", task},
	    {"{model}", ps->model}, {"{orientation}", ps->orientation},
	    {"{tools}", ps->tools}, {"{hosts}", ps->hosts},
	    {"{workspace}", ps->workspace}};

	for (size_t i = 0; i < nitems(rows); i++) {
		*len = strlen(rows[i].word);
		if (rows[i].value != NULL &&
		    strncmp(p, rows[i].word, *len) == 0)
			return rows[i].value;
	}
	return fill_key(ps, p, len);
}

/* Append the text as it stands within a string of JSON. */
static void
fill_escaped(struct buf *b, const char *value)
{
	struct buf quoted;

	buf_init(&quoted, 1U << 20);
	if (json_write_string(&quoted, span_str(value)) == -1)
		b->failed = true;
	else
		buf_add(b, buf_span(&quoted).p + 1, quoted.len - 2);
	buf_free(&quoted);
}

static char *
fill(const struct providers *ps, const char *task, const char *p, bool json)
{
	const char *value;
	struct buf b;
	char *out;
	size_t n;

	buf_init(&b, 4U << 20);
	while (*p != '\0') {
		if (*p != '{' ||
		    (value = fill_value(ps, task, p, &n)) == NULL) {
			buf_addc(&b, (uint8_t)*p++);
			continue;
		}
		if (json)
			fill_escaped(&b, value);
		else
			buf_adds(&b, value);
		p += n;
	}
	out = b.failed ? NULL : span_dup(buf_span(&b));
	buf_free(&b);
	return out;
}

char *
adapter_fill(const struct providers *ps, const char *task, const char *p)
{
	return fill(ps, task, p, false);
}

char *
adapter_fill_json(const struct providers *ps, const char *p)
{
	return fill(ps, NULL, p, true);
}
