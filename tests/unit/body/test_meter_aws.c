/* SPDX-License-Identifier: ISC */
/*
 * The meter on Amazon's event streams: five transcripts as Bedrock sends them,
 * whole, byte by byte, and split in two at every place. Of a broken stream,
 * only the usage before the bad frame counts.
 */
#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

#include "common/buf.h"
#include "mitmd/body/meter.h"
#include "tap.h"

static void
put_u32(struct buf *b, uint32_t n)
{
	uint8_t p[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16),
	    (uint8_t)(n >> 8), (uint8_t)n};

	buf_add(b, p, 4);
}

static void
put_header(struct buf *b, const char *name, const char *value)
{
	buf_addc(b, (uint8_t)strlen(name));
	buf_adds(b, name);
	buf_addc(b, 7);
	buf_addc(b, (uint8_t)(strlen(value) >> 8));
	buf_addc(b, (uint8_t)strlen(value));
	buf_adds(b, value);
}

/* Append a frame with this event; a `type` of NULL means no headers. */
static void
frame(struct buf *b, const char *type, const char *payload)
{
	struct buf h;
	size_t at = b->len;

	buf_init(&h, 4096);
	if (type != NULL) {
		put_header(&h, ":event-type", type);
		put_header(&h, ":content-type", "application/json");
		put_header(&h, ":message-type", "event");
	}
	put_u32(b, (uint32_t)(16 + h.len + strlen(payload)));
	put_u32(b, (uint32_t)h.len);
	put_u32(b, (uint32_t)crc32(0, b->p + b->off + at, 8));
	buf_add(b, h.p + h.off, h.len);
	buf_adds(b, payload);
	put_u32(b, (uint32_t)crc32(
		       0, b->p + b->off + at, (uInt)(b->len - at)));
	buf_free(&h);
}

/*
 * Append an event in base64, in the form of "chunk"; if `padded`, "p" comes
 * first.
 */
static void
chunk(struct buf *b, const char *json, bool padded)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char payload[8192];
	size_t len = strlen(json), at = 0;

	at += (size_t)snprintf(payload, sizeof(payload), "{%s\"bytes\":\"",
	    padded ? "\"p\":\"abcdefghijklmnopqrstuvwxyzABCDEF\"," : "");
	for (size_t i = 0; i < len; i += 3) {
		uint32_t w = (uint32_t)(uint8_t)json[i] << 16;

		if (i + 1 < len)
			w |= (uint32_t)(uint8_t)json[i + 1] << 8;
		if (i + 2 < len)
			w |= (uint8_t)json[i + 2];
		payload[at++] = digits[w >> 18];
		payload[at++] = digits[w >> 12 & 63];
		payload[at++] = i + 1 < len ? digits[w >> 6 & 63] : '=';
		payload[at++] = i + 2 < len ? digits[w & 63] : '=';
	}
	snprintf(payload + at, sizeof(payload) - at, "\"%s}",
	    padded ? "" : ",\"p\":\"abcd\"");
	frame(b, "chunk", payload);
}

static struct meter_usage
read_cut(struct span s, size_t cut, size_t step)
{
	struct meter_usage u;
	struct meter m;
	size_t n;

	meter_begin(&m, METER_AWS);
	for (size_t i = 0; i < s.len; i += n) {
		n = step;
		if (i < cut && cut - i < n)
			n = cut - i;
		if (n > s.len - i)
			n = s.len - i;
		meter_feed(&m, span_of(s.p + i, n));
	}
	meter_read(&m, &u);
	return u;
}

static bool
same(struct meter_usage u, const struct meter_usage *want)
{
	if (u.in == want->in && u.out == want->out &&
	    u.cache_read == want->cache_read &&
	    u.cache_write == want->cache_write && u.seen == want->seen &&
	    strcmp(u.model, want->model) == 0)
		return true;
	printf("# in %llu out %llu read %llu write %llu model %s\n",
	    (unsigned long long)u.in, (unsigned long long)u.out,
	    (unsigned long long)u.cache_read,
	    (unsigned long long)u.cache_write, u.model);
	return false;
}

static void
transcript(const char *name, struct buf *b, struct meter_usage want)
{
	struct span s = buf_span(b);
	size_t bad = 0;

	ok(same(read_cut(s, 0, s.len), &want), "%s: whole", name);
	ok(same(read_cut(s, 0, 1), &want), "%s: byte by byte", name);
	for (size_t cut = 1; cut < s.len; cut++)
		bad += !same(read_cut(s, cut, s.len), &want);
	is_int(bad, 0, "%s: cut in two at each of %zu places", name, s.len);
	buf_reset(b, 1U << 20);
}

static void
test_transcripts(struct buf *b)
{
	chunk(b, "{\"type\":\"message_start\",\"message\":{\"model\":"
		 "\"claude-sonnet-4-5-20250929\",\"usage\":{\"input_tokens\":"
		 "25,\"cache_creation_input_tokens\":7,"
		 "\"cache_read_input_tokens\":900,\"output_tokens\":1}}}",
	    false);
	chunk(b, "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"
		 "\"type\":\"text_delta\",\"text\":\"{\\\"usage\\\":{"
		 "\\\"input_tokens\\\":9999}}\"}}",
	    true);
	chunk(b, "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
		 "\"end_turn\"},\"usage\":{\"output_tokens\":311}}",
	    false);
	chunk(b, "{\"type\":\"message_stop\",\"amazon-bedrock-"
		 "invocationMetrics\":{\"inputTokenCount\":932,"
		 "\"outputTokenCount\":311,\"invocationLatency\":2000,"
		 "\"firstByteLatency\":900}}",
	    true);
	transcript("claude", b,
	    (struct meter_usage){25, 311, 900, 7, 0, true,
		"claude-sonnet-4-5-20250929"});
	chunk(b, "{\"generation\":\"Hi\",\"prompt_token_count\":25,"
		 "\"stop_reason\":null}",
	    false);
	chunk(b, "{\"generation\":\"\",\"stop_reason\":\"stop\","
		 "\"amazon-bedrock-invocationMetrics\":{\"inputTokenCount\":"
		 "25,\"outputTokenCount\":13}}",
	    false);
	transcript("another maker's", b,
	    (struct meter_usage){25, 13, 0, 0, 0, true, ""});
	frame(b, "messageStart", "{\"p\":\"abc\",\"role\":\"assistant\"}");
	frame(b, "contentBlockDelta",
	    "{\"contentBlockIndex\":0,\"delta\":{\"text\":\"usage\"}}");
	frame(b, "metadata",
	    "{\"metrics\":{\"latencyMs\":772},\"p\":\"abcd\",\"usage\":{"
	    "\"inputTokens\":12,\"outputTokens\":34,\"totalTokens\":46,"
	    "\"cacheReadInputTokens\":5,\"cacheWriteInputTokens\":6}}");
	transcript("converse", b,
	    (struct meter_usage){12, 34, 5, 6, 0, true, ""});
	chunk(b, "{\"type\":\"message_start\",\"message\":{\"model\":\"m\","
		 "\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}",
	    false);
	buf_add(b, "\0\0\1", 3);
	transcript("cut off in a prelude", b,
	    (struct meter_usage){3, 1, 0, 0, 0, true, "m"});
	frame(b, NULL, "");
	frame(b, NULL, "{\"usage\":{\"inputTokens\":1,\"outputTokens\":2}}");
	transcript("without headers, without a payload", b,
	    (struct meter_usage){1, 2, 0, 0, 0, true, ""});
}

/*
 * meter_aws_part() knows the beginning of a frame, wherever the stream is
 * split.
 */
static void
test_part(struct buf *b)
{
	struct span s;
	struct meter m;
	size_t first, bad = 0;

	buf_reset(b, 1U << 20);
	frame(b, NULL, "");
	frame(b, "messageStart", "{\"role\":\"assistant\"}");
	first = 16;
	s = buf_span(b);
	for (size_t cut = 0; cut <= s.len; cut++) {
		meter_begin(&m, METER_AWS);
		meter_feed(&m, span_of(s.p, cut));
		if (meter_aws_part(&m) != (cut < first     ? cut
					      : cut < s.len ? cut - first
							    : 0))
			bad++;
	}
	is_int(bad, 0, "how much of a frame there is, at each place");
	b->p[b->off + first + 3] ^= 1;
	meter_begin(&m, METER_AWS);
	meter_feed(&m, span_of(s.p, first + 11));
	is_int(meter_aws_part(&m), 11, "not yet known to be none");
	meter_feed(&m, span_of(s.p + first + 11, 1));
	ok(meter_aws_part(&m) == SIZE_MAX, "lost");
	meter_feed(&m, span_of(s.p + first + 12, s.len - first - 12));
	ok(meter_aws_part(&m) == SIZE_MAX, "for good");
}

/* One byte of the second frame is changed. */
static void
test_broken(struct buf *b)
{
	static const struct meter_usage before = {
	    1, 2, 0, 0, 0, true, ""};
	size_t at, bad = 0;
	uint8_t *p;

	frame(b, "metadata",
	    "{\"usage\":{\"inputTokens\":1,\"outputTokens\":2}}");
	at = b->len;
	frame(b, "metadata",
	    "{\"usage\":{\"inputTokens\":77,\"outputTokens\":88}}");
	frame(b, "metadata",
	    "{\"usage\":{\"inputTokens\":777,\"outputTokens\":888}}");
	p = b->p + b->off;
	for (size_t i = at; i < at + (b->len - at) / 2 - 4; i++) {
		p[i] ^= 0x20;
		if (!same(read_cut(buf_span(b), 0, 7), &before))
			bad++;
		p[i] ^= 0x20;
	}
	is_int(bad, 0, "a byte that is another, at each place");
	buf_reset(b, 1U << 20);
	put_u32(b, 0xffffffffU);
	put_u32(b, 0);
	put_u32(b, (uint32_t)crc32(0, b->p + b->off, 8));
	frame(b, "metadata", "{\"usage\":{\"inputTokens\":77}}");
	ok(!read_cut(buf_span(b), 0, 5).seen, "a frame of 4 GiB is none");
	buf_reset(b, 1U << 20);
	put_u32(b, 40);
	put_u32(b, 25);
	put_u32(b, (uint32_t)crc32(0, b->p + b->off, 8));
	frame(b, "metadata", "{\"usage\":{\"inputTokens\":77}}");
	ok(!read_cut(buf_span(b), 0, 5).seen,
	    "nor is one whose headers do not fit in");
	ok(meter_format_of(SPAN("application/vnd.amazon.eventstream")) ==
		METER_AWS,
	    "known by its type");
}

int
main(void)
{
	struct buf b;

	buf_init(&b, 1U << 20);
	test_transcripts(&b);
	test_part(&b);
	buf_reset(&b, 1U << 20);
	test_broken(&b);
	buf_free(&b);
	return tap_done();
}
