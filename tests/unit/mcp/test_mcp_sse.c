/* SPDX-License-Identifier: ISC */
/*
 * Event streams, whole and byte by byte: the events are the same however the
 * stream is cut, and what is too long costs its own event alone.
 */
#include "mcp-proxyd/mcp/mcp_sse.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 32U

static const struct {
	const char *in, *want, *name;
} rows[] = {
    {"data: a\n\n", "[|a]", "one event"},
    {"data:a\n\ndata:  b\n\n", "[|a][| b]", "one space is not data"},
    {"data: a\r\n\r\ndata: b\r\rdata: c\n\n", "[|a][|b][|c]", "line ends"},
    {"data: a\ndata: b\n\n", "[|a\nb]", "two lines of data"},
    {"event: message\ndata: a\n\ndata: b\n\n", "[message|a][|b]",
	"a name is that of one event"},
    {": hi\n\n: hello\ndata: a\n\n", "[|a]", "comments"},
    {"\xef\xbb\xbf" "data: a\n\n", "[|a]", "a mark at the beginning"},
    {"data: a\n\n\xef\xbb\xbf" "data: b\n\n", "[|a]", "and only there"},
    {"id: 1\nretry: 3\ndata: a\n\n", "[|a]", "ids and times are no data"},
    {"data\n\ndata:\n\n", "", "events with empty data are none"},
    {"data: a", "", "an event without an end is none"},
    {"data: a\n", "", "nor is one without an empty line"},
    {"event: x\n\ndata: a\n\n", "[|a]", "an event without data is none"},
    {"datum: a\n\n data: b\n\n", "", "other fields"},
    {"event: 012345678901234567890123456789012\ndata: a\n\n", "[?|a]",
	"a name that is too long is no message's"},
    {"data: 01234567890123456789012345678901\n\n",
	"[|01234567890123456789012345678901]", "as long as it may be"},
    {"data: 012345678901234567890123456789012\n\ndata: a\n\n", "LONG[|a]",
	"a byte more"},
    {"data: 01234567890123456789\ndata: 01234567890123456789\n\ndata: a\n\n",
	"LONG[|a]", "two lines that are too long together"},
    {": 0123456789012345678901234567890123456789012345\ndata: b\n\ndata: a\n\n",
	"LONG[|a]", "a comment that is too long"},
};

/* Returns the events of the text, which is fed in pieces of `step` bytes. */
static const char *
events(const char *text, size_t step)
{
	static char out[512];
	size_t len = strlen(text), n, at = 0;
	struct mcp_event ev;
	enum mcp_sse_got got;
	struct span in;
	struct mcp_sse s;

	out[0] = '\0';
	mcp_sse_init(&s, MAX);
	for (size_t i = 0; i < len; i += n) {
		n = len - i < step ? len - i : step;
		in = span_of(text + i, n);
		while ((got = mcp_sse_next(&s, &in, &ev)) != SSE_MORE) {
			if (got == SSE_LONG)
				at += (size_t)snprintf(
				    out + at, sizeof(out) - at, "LONG");
			else
				at += (size_t)snprintf(out + at,
				    sizeof(out) - at, "[%.*s|%.*s]",
				    (int)ev.name.len, (const char *)ev.name.p,
				    (int)ev.data.len, (const char *)ev.data.p);
		}
		if (mcp_sse_held(&s) > 2 * MAX + 8)
			return "too much is held";
	}
	mcp_sse_free(&s);
	return out;
}

/* The event after which a stream is asked for again, and the time until then.
 */
static const struct {
	const char *in, *id;
	unsigned retry;
} lasts[] = {
    {"data: a\n\n", "", 0},
    {"id: 7\nretry: 500\ndata: \n\n", "7", 500},
    {"id: 7\ndata: a\n\ndata: b\n\n", "7", 0},
    {"id: 7\ndata: a\n\nid: 8\ndata: cut", "7", 0},
    {"id: 7\n\nid\n\n", "", 0},
    {"id: 7\n\nid: a b\n\n", "", 0},
    {"id: 7\n\nid: \xc3\xa4\n\n", "", 0},
    {"retry: x\nretry: -1\nretry: 99999999999\n\n", "", SSE_RETRY_MAX},
    {"retry: 10\nretry: 1e3\n\n", "", 10},
};

static void
test_last(void)
{
	struct mcp_event ev;
	struct mcp_sse s;
	struct span in;

	for (size_t i = 0; i < nitems(lasts); i++) {
		mcp_sse_init(&s, MAX);
		in = span_str(lasts[i].in);
		while (mcp_sse_next(&s, &in, &ev) != SSE_MORE)
			;
		is_str(s.id, lasts[i].id, "the last id of %s", lasts[i].in);
		is_int(s.retry, lasts[i].retry, "and its time");
		mcp_sse_free(&s);
	}
}

int
main(void)
{
	test_last();
	for (size_t i = 0; i < nitems(rows); i++)
		for (size_t step = 1; step < 70; step += step < 4 ? 1 : 13)
			is_str(events(rows[i].in, step), rows[i].want,
			    "%s, in pieces of %zu", rows[i].name, step);
	return tap_done();
}
