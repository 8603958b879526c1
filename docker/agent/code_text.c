/* SPDX-License-Identifier: ISC */
/*
 * The result for the model: logs, then the value.  Both come from the program
 * and may be of any length and contain anything; only their beginnings and ends
 * are ever in memory.
 */
#include "docker/agent/code_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/text.h"

#define KEEP_HEAD (CODE_RESULT_MAX / 5 * 4)
#define KEEP_TAIL (CODE_RESULT_MAX - KEEP_HEAD)

int
code_keep_init(struct code_keep *k)
{
	*k = (struct code_keep){.head = malloc(KEEP_HEAD + KEEP_TAIL)};
	if (k->head == NULL)
		return -1;
	k->tail = k->head + KEEP_HEAD;
	return 0;
}

void
code_keep_free(struct code_keep *k)
{
	free(k->head);
	*k = (struct code_keep){0};
}

void
code_keep_add(struct code_keep *k, struct span text)
{
	size_t n = KEEP_HEAD - k->nhead, at;

	if (n > text.len)
		n = text.len;
	if (n > 0)
		memcpy(k->head + k->nhead, text.p, n);
	k->nhead += n;
	k->total += n;
	text.p += n;
	text.len -= n;
	if (text.len > KEEP_TAIL) {
		k->total += text.len - KEEP_TAIL;
		text.p += text.len - KEEP_TAIL;
		text.len = KEEP_TAIL;
	}
	while (text.len > 0) {
		at = (k->total - KEEP_HEAD) % KEEP_TAIL;
		n = KEEP_TAIL - at < text.len ? KEEP_TAIL - at : text.len;
		memcpy(k->tail + at, text.p, n);
		k->total += n;
		text.p += n;
		text.len -= n;
	}
}

/* Returns the byte at an offset that is still kept. */
static uint8_t
keep_byte(const struct code_keep *k, size_t at)
{
	return (uint8_t)(at < KEEP_HEAD
			     ? k->head[at]
			     : k->tail[(at - KEEP_HEAD) % KEEP_TAIL]);
}

static bool
keep_within(const struct code_keep *k, size_t at)
{
	return (keep_byte(k, at) & 0xc0) == 0x80;
}

void
code_keep_put(const struct code_keep *k, struct buf *b, size_t max)
{
	size_t head = k->total, tail = k->total;

	if (k->total > max) {
		head = max / 5 * 4;
		tail = k->total - max / 5;
		/* Neither part may begin or end within a character. */
		while (head > 0 && keep_within(k, head))
			head--;
		while (tail < k->total && keep_within(k, tail))
			tail++;
	}
	for (size_t i = 0; i < head; i++)
		buf_addc(b, keep_byte(k, i));
	if (tail > head)
		buf_printf(b, "\n[... truncated %zu bytes ...]\n", tail - head);
	for (size_t i = tail; i < k->total; i++)
		buf_addc(b, keep_byte(k, i));
}

/*
 * Replace what is not UTF-8, and controls but tab and newline, by U+FFFD: a
 * terminal or a JSON writer comes next.
 */
static void
result_clean(struct buf *to, struct span from)
{
	const uint8_t *end = from.p + from.len;
	size_t n;

	for (const uint8_t *p = from.p; p < end; p += n) {
		if ((n = text_utf8_len(p, end)) == 0 ||
		    (*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f) {
			buf_adds(to, "\xef\xbf\xbd");
			n = 1;
		} else {
			buf_add(to, p, n);
		}
	}
}

int
code_result_make(const struct code_keep *logs, const struct code_keep *value,
    bool is_error, struct code_result *out)
{
	const size_t half = CODE_RESULT_MAX / 2;
	size_t nvalue = value->total < half ? value->total : half;
	size_t nlogs = logs->total < half ? logs->total : half;
	struct buf raw, clean;
	int r = -1;

	buf_init(&raw, 4 * CODE_RESULT_MAX);
	buf_init(&clean, 12 * CODE_RESULT_MAX);
	if (logs->total > 0) {
		buf_adds(&raw, "[logs]\n");
		code_keep_put(logs, &raw, CODE_RESULT_MAX - nvalue);
		buf_adds(&raw, "\n");
	}
	if (is_error)
		buf_adds(&raw, "Execution error: ");
	if (value->total > 0)
		code_keep_put(value, &raw, CODE_RESULT_MAX - nlogs);
	else if (!is_error)
		buf_adds(&raw, "(no return value)");
	result_clean(&clean, buf_span(&raw));
	out->len = clean.len;
	buf_addc(&clean, '\0');
	if (buf_check(&raw) == -1 || buf_check(&clean) == -1)
		goto out;
	out->text = strdup((const char *)(clean.p + clean.off));
	if (out->text == NULL)
		goto out;
	out->is_error = is_error;
	r = 0;
out:
	buf_free(&raw);
	buf_free(&clean);
	return r;
}
