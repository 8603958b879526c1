/* SPDX-License-Identifier: ISC */
/*
 * The meter: every transcript has its expected sums, whole, byte by byte, and
 * split in two at every place; compressed ones through the decoder, piece by
 * piece. Answers that end before their counts, or have none, are estimated. The
 * decoder: what it accepts, what it refuses, and where it stops.
 */
#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>
#include <zstd.h>

#include "common/buf.h"
#include "mitmd/body/decode.h"
#include "tap.h"
#include "unit/body/meter_rows.h"

static bool
same(const struct meter_usage *a, const struct meter_usage *b)
{
	return a->in == b->in && a->out == b->out &&
	       a->cache_read == b->cache_read &&
	       a->cache_write == b->cache_write &&
	       a->reasoning == b->reasoning && a->seen == b->seen &&
	       strcmp(a->model, b->model) == 0;
}

static void
show(const struct meter_usage *u)
{
	printf("# in %llu out %llu read %llu write %llu reasoning %llu "
	       "seen %d model %s\n",
	    (unsigned long long)u->in, (unsigned long long)u->out,
	    (unsigned long long)u->cache_read,
	    (unsigned long long)u->cache_write,
	    (unsigned long long)u->reasoning, u->seen, u->model);
}

static bool
split(const struct meter_row *row, size_t at, size_t step)
{
	struct span s = span_str(row->text);
	struct meter_usage u;
	struct meter m;
	size_t n;

	meter_begin(&m, row->format);
	for (size_t i = 0; i < s.len; i += n) {
		n = step;
		if (i < at && at - i < n)
			n = at - i;
		if (n > s.len - i)
			n = s.len - i;
		meter_feed(&m, span_of(s.p + i, n));
	}
	meter_read(&m, &u);
	return same(&u, &row->want);
}

/* Compress `s` into `b` with gzip or zstd. */
static void
pack(struct buf *b, enum decode_coding coding, struct span s)
{
	size_t cap = s.len + s.len / 8 + 512;
	z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)s.p,
	    .avail_in = (uInt)s.len};
	uint8_t *p;

	buf_reset(b, 0);
	if ((p = buf_room(b, cap)) == NULL)
		abort();
	if (coding == DECODE_ZSTD) {
		buf_grow(b, ZSTD_compress(p, cap, s.p, s.len, 3));
		return;
	}
	z.next_out = p;
	z.avail_out = (uInt)cap;
	if (deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) !=
		Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	buf_grow(b, cap - z.avail_out);
	deflateEnd(&z);
}

static int
put_meter(void *arg, struct span s)
{
	meter_feed(arg, s);
	return 0;
}

static int
put_buf(void *arg, struct span s)
{
	buf_addspan(arg, s);
	return buf_check(arg);
}

static void
test_rows(struct buf *b)
{
	struct meter_usage u;
	struct meter m;
	bool good;

	for (size_t i = 0; i < nitems(meter_rows); i++) {
		const struct meter_row *row = &meter_rows[i];
		struct span s = span_str(row->text);

		meter_begin(&m, row->format);
		if (row->coded) {
			pack(b, DECODE_GZIP, s);
			is_int(decode_body(DECODE_GZIP, buf_span(b), 1U << 20,
				   put_meter, &m),
			    DECODE_OK, "%s: decoded", row->name);
		} else {
			meter_feed(&m, s);
		}
		meter_read(&m, &u);
		if (!ok(same(&u, &row->want), "%s", row->name))
			show(&u);
		good = split(row, 0, 1);
		for (size_t at = 0; at <= s.len; at++)
			good = good && split(row, at, s.len);
		ok(good, "... over any split");
	}
}

/* Amazon's counts may be in the answer's head alone. */
static void
test_header(void)
{
	struct meter_usage u;
	struct meter m;

	meter_begin(&m, METER_JSON);
	meter_header(&m, SPAN("X-Amzn-Bedrock-Input-Token-Count"), SPAN("70"));
	meter_header(&m, SPAN("x-amzn-bedrock-output-token-count"), SPAN("9"));
	meter_header(&m, SPAN("x-amzn-bedrock-cache-read-input-token-count"),
	    SPAN("30"));
	meter_header(&m, SPAN("x-amzn-bedrock-service-tier"), SPAN("flex"));
	meter_header(&m, SPAN("x-amzn-bedrock-model"), SPAN("other"));
	meter_header(&m, SPAN("x-other-output-token-count"), SPAN("900"));
	meter_header(&m, SPAN("x-amzn-bedrock-output-token-count"), SPAN("-1"));
	meter_feed(&m, SPAN("{\"model\":\"m\",\"outputs\":[{\"text\":"
			    "\"a long text, which is not estimated\"}]}"));
	meter_end(&m, 1000, true, &u);
	is_int(u.in, 40, "input");
	is_int(u.out, 9, "output");
	is_int(u.cache_read, 30, "from the cache");
	is_int(u.tier, METER_FLEX, "tier");
	is_int(u.said, METER_MEASURED, "nothing is estimated");
	is_str(u.model, "m", "the model is the body's");
}

static void
test_deep(struct buf *b)
{
	struct meter_usage u;
	struct meter m;

	buf_reset(b, 0);
	buf_adds(b, "data: {\"a\":");
	for (int i = 0; i < 63; i++)
		buf_addc(b, '[');
	for (int i = 0; i < 63; i++)
		buf_addc(b, ']');
	buf_adds(b, ",\"usage\":{\"input_tokens\":1}}\n\ndata: {\"a\":");
	for (int i = 0; i < 64; i++)
		buf_addc(b, '[');
	for (int i = 0; i < 64; i++)
		buf_addc(b, ']');
	buf_adds(b, ",\"usage\":{\"input_tokens\":2}}\n\n"
		    "data: {\"usage\":{\"output_tokens\":3}}\n\n");
	meter_begin(&m, METER_SSE);
	meter_feed(&m, buf_span(b));
	meter_read(&m, &u);
	is_int(u.in, 2, "what is too deep is passed over, and no more");
	is_int(u.out, 3, "... and the next event read again");
	is_int(meter_format_of(SPAN("text/event-stream; charset=utf-8")),
	    METER_SSE, "content type of events");
	is_int(meter_format_of(SPAN("Application/JSON")), METER_JSON,
	    "content type of JSON");
	is_int(meter_format_of(SPAN("")), METER_SSE, "none: the bytes decide");
}

#define CHUNK(text)                                                            \
	"data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"" text  \
	"\"},\"finish_reason\":null}]}\n\n"
#define WORDS "123456789012345678901234567890"
#define STARTED(usage)                                                         \
	"data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\","      \
	"\"usage\":{" usage "}}}\n\n"
#define DELTA(text)                                                            \
	"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":"         \
	"\"text_delta\",\"text\":\"" text "\"}}\n\n"

/* clang-format off */
static const struct {
	const char *name, *text;
	bool complete;
	uint64_t in, out;
	enum meter_said said;
} end_rows[] = {
	{"no answer", "", false, 116, 0, METER_ENDED},
	{"chat: left early", CHUNK(WORDS) CHUNK(WORDS), false,
	    116, 20, METER_ENDED},
	{"chat: complete, without usage", CHUNK(WORDS), true,
	    116, 10, METER_SILENT},
	{"chat: zeros are no usage", CHUNK(WORDS) "data: {\"usage\":{"
	    "\"prompt_tokens\":0,\"completion_tokens\":0}}\n\n", true,
	    116, 10, METER_SILENT},
	{"chat: left after its usage", CHUNK(WORDS) "data: {\"choices\":[{"
	    "\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"usage\":{"
	    "\"prompt_tokens\":5,\"completion_tokens\":6}}\n\n", false,
	    5, 6, METER_MEASURED},
	{"chat: counts as it goes, left early", CHUNK(WORDS)
	    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,"
	    "\"completion_tokens\":6}}\n\n" CHUNK(WORDS), false,
	    5, 16, METER_ENDED},
	{"messages: left early",
	    STARTED("\"input_tokens\":70,\"output_tokens\":1")
	    DELTA(WORDS) DELTA(WORDS), false, 70, 21, METER_ENDED},
	{"messages: the provider ends it early",
	    STARTED("\"input_tokens\":70,\"output_tokens\":1")
	    DELTA(WORDS) "data: {\"type\":\"error\"}\n\n", true,
	    70, 11, METER_ENDED},
	{"messages: left after its last counts",
	    STARTED("\"input_tokens\":70,\"output_tokens\":1")
	    DELTA(WORDS) "data: {\"type\":\"message_delta\",\"delta\":{"
	    "\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":"
	    "9}}\n\n", false, 70, 9, METER_MEASURED},
	{"messages: a tool's arguments", STARTED("\"input_tokens\":70,"
	    "\"output_tokens\":1") "data: {\"type\":\"content_block_delta\","
	    "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\""
	    WORDS "\"}}\n\n", false, 70, 11, METER_ENDED},
	{"responses: pieces, and the same again as a whole",
	    "data: {\"type\":\"response.output_text.delta\",\"delta\":\""
	    WORDS "\"}\n\ndata: {\"type\":\"response.output_text.done\","
	    "\"text\":\"" WORDS "\"}\n\ndata: {\"item\":{\"content\":[{"
	    "\"text\":\"" WORDS "\"}]}}\n\n", false, 116, 10, METER_ENDED},
	{"responses: left before completed", "data: {\"type\":"
	    "\"response.created\",\"response\":{\"status\":\"in_progress\","
	    "\"usage\":null}}\n\ndata: {\"delta\":\"" WORDS "\"}\n\n", false,
	    116, 10, METER_ENDED},
	{"gemini: left early", "data: {\"candidates\":[{\"content\":{"
	    "\"parts\":[{\"text\":\"" WORDS "\"}]}}],\"usageMetadata\":{"
	    "\"promptTokenCount\":8,\"candidatesTokenCount\":7}}\n\n"
	    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\""
	    WORDS "\"}]}}]}\n\n", false, 8, 17, METER_ENDED},
	{"gemini: arguments of a function", "data: {\"candidates\":[{"
	    "\"content\":{\"parts\":[{\"functionCall\":{\"args\":{\"ab\":"
	    "\"" WORDS "\",\"c\":123}}}]}}]}\n\n", false,
	    116, 12, METER_ENDED},
	{"converse: cut before its metadata", "{\"contentBlockIndex\":0,"
	    "\"delta\":{\"text\":\"" WORDS "\"}}", false,
	    116, 10, METER_ENDED},
	{"JSON: cut", "{\"model\":\"m\",\"choices\":[{\"message\":{"
	    "\"content\":\"" WORDS "\"}}],\"usa", false, 116, 10, METER_ENDED},
	{"JSON: whole, without usage", "{\"choices\":[{\"message\":{"
	    "\"content\":\"" WORDS "\"}}]}", true, 116, 10, METER_SILENT},
	{"a form that nobody knows", "<answer>" WORDS WORDS WORDS "</answer>",
	    true, 116, 5, METER_SILENT},
};
/* clang-format on */

/* The request has 300 bytes. */
static void
test_end(void)
{
	struct meter_usage u;
	struct meter m;

	for (size_t i = 0; i < nitems(end_rows); i++) {
		meter_begin(&m, METER_SSE);
		meter_feed(&m, span_str(end_rows[i].text));
		meter_end(&m, 300, end_rows[i].complete, &u);
		if (!ok(u.in == end_rows[i].in && u.out == end_rows[i].out &&
			    u.said == end_rows[i].said,
			"%s", end_rows[i].name))
			show(&u);
	}
}

static enum decode_result
decode(
    enum decode_coding c, const struct buf *in, uint64_t max, struct buf *out)
{
	buf_reset(out, 0);
	return decode_body(c, buf_span(in), max, put_buf, out);
}

static void
test_coding(enum decode_coding c, struct buf *in, struct buf *out)
{
	const char *name = c == DECODE_GZIP ? "gzip" : "zstd";
	static uint8_t text[400000];
	size_t len, bad = 0;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * i >> 7);
	pack(in, c, span_of(text, sizeof(text)));
	is_int(decode(c, in, sizeof(text), out), DECODE_OK, "%s", name);
	is_mem(out->p, out->len, text, sizeof(text), "... the text");
	is_int(decode(c, in, sizeof(text) - 1, out), DECODE_LARGE,
	    "... one byte more than the maximum");
	len = in->len;
	for (in->len = 0; in->len < len; in->len += 97)
		bad += decode(c, in, sizeof(text), out) != DECODE_BAD;
	is_int(bad, 0, "... cut short anywhere");
	in->len = len;
	buf_addc(in, 0);
	is_int(decode(c, in, sizeof(text), out), DECODE_BAD,
	    "... with a byte behind it");
	in->len = len;
	buf_add(in, in->p, len);
	is_int(decode(c, in, 2 * sizeof(text), out), DECODE_BAD,
	    "... twice in a row");
	in->len = len;
	in->p[len - 5] ^= 1;
	ok(c == DECODE_ZSTD || decode(c, in, sizeof(text), out) == DECODE_BAD,
	    "... with a wrong checksum");
	is_int(decode(c == DECODE_GZIP ? DECODE_ZSTD : DECODE_GZIP, in,
		   sizeof(text), out),
	    DECODE_BAD, "... is not the other one");
	pack(in, c, SPAN(""));
	is_int(decode(c, in, 1, out), DECODE_OK, "... of nothing");
	is_int(out->len, 0, "... is nothing");
}

static void
test_bomb(struct buf *in, struct buf *out)
{
	static uint8_t zero[16U << 20];

	pack(in, DECODE_GZIP, span_of(zero, sizeof(zero)));
	is_int(decode(DECODE_GZIP, in, 1U << 30, out), DECODE_LARGE,
	    "gzip of 1:1000 is stopped");
	ok(out->len <= in->len * DECODE_RATIO + DECODE_FREE,
	    "... where the ratio says");
	pack(in, DECODE_ZSTD, span_of(zero, sizeof(zero)));
	is_int(decode(DECODE_ZSTD, in, 1U << 30, out), DECODE_LARGE,
	    "zstd of 1:10000 is stopped");
	ok(out->len <= in->len * DECODE_RATIO + DECODE_FREE,
	    "... where the ratio says");
	/* A window of 128 MiB, and nothing more. */
	buf_reset(in, 0);
	buf_add(in, "\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00", 9);
	is_int(decode(DECODE_ZSTD, in, 1U << 20, out), DECODE_LARGE,
	    "zstd with a large window");
	buf_reset(in, 0);
	buf_add(in, "\x50\x2a\x4d\x18\x00\x00\x00\x00", 8);
	is_int(decode(DECODE_ZSTD, in, 1U << 20, out), DECODE_BAD,
	    "zstd, a skippable frame");
	is_int(decode_find(SPAN("GZip")), DECODE_GZIP, "gzip by name");
	is_int(decode_find(SPAN("zstd")), DECODE_ZSTD, "zstd by name");
	is_int(decode_find(SPAN("gzip, zstd")), -1, "no list of codings");
	is_int(decode_find(SPAN("br")), -1, "no other coding");
	is_int(decode_find(SPAN("")), DECODE_IDENTITY, "none");
}

int
main(void)
{
	struct buf in, out;

	buf_init(&in, 64U << 20);
	buf_init(&out, 64U << 20);
	test_rows(&in);
	test_deep(&in);
	test_header();
	test_end();
	test_coding(DECODE_GZIP, &in, &out);
	test_coding(DECODE_ZSTD, &in, &out);
	test_bomb(&in, &out);
	buf_free(&in);
	buf_free(&out);
	return tap_done();
}
