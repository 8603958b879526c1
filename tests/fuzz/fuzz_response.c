/* SPDX-License-Identifier: ISC */
/*
 * A provider's answer through keyd's reader: byte 0 says whether it answers a
 * HEAD and whether the connection ends cleanly; then pieces, each a length byte
 * and its bytes, as from reads. The output must be frames in order, whatever
 * the input; the verdict and a complete body must not depend on how the input
 * was cut; the credential never appears; a 429 names no time beyond the limit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/ipc/stream.h"
#include "mitmd/keyd/answer.h"
#include "mitmd/keyd/retry.h"

static const char file[] =
    "{\"name\":\"t\",\"host\":\"t.example\",\"credential\":{\"env\":\"T_KEY\","
    "\"sentinel\":\"sk-t-ironcurtain-\",\"headers\":"
    "[{\"name\":\"x-api-key\"}]},"
    "\"requestHeaders\":[],\"responseHeaders\":[\"content-type\",\"x-a-*\"],"
    "\"routes\":[{\"method\":\"GET\",\"path\":\"/v1/x\"}]}";
static const char key[] = "sk-0123456789abcdef-KEY";

static struct provider *provider;
static struct scrub scrub;
static _Alignas(uint16_t) uint8_t mem[1 << 16];

struct outcome {
	enum reply_result result;
	enum keyd_fail fail;
	unsigned status;
	uint8_t body[1 << 17];
	size_t len;
};

static struct outcome cut, whole;

static void
setup(void)
{
	struct span k;
	char err[256];

	if (provider != NULL)
		return;
	if ((provider = provider_parse(span_str(file), err, sizeof(err))) ==
	    NULL) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
	k = span_str(key);
	if (scrub_build(&scrub, &k, 1, mem, sizeof(mem)) == -1)
		abort();
}

/* Parse the frames again. */
static void
check(struct span out, struct outcome *o)
{
	struct stream_frame f;
	enum stream_type last = 0;

	while (out.len != 0) {
		if (out.len < STREAM_HEADER || stream_unpack(out.p, &f) == -1 ||
		    f.len > out.len - STREAM_HEADER || f.exchange != 7)
			abort();
		if (last == STREAM_END ||
		    (f.type == STREAM_HEAD) != (last == 0))
			abort();
		if (f.type == STREAM_HEAD && f.len < 11)
			abort();
		if (f.type == STREAM_FAIL)
			abort();
		if (f.type == STREAM_BODY) {
			memcpy(o->body + o->len, out.p + STREAM_HEADER, f.len);
			o->len += f.len;
		}
		last = f.type;
		out = span_of(out.p + STREAM_HEADER + f.len,
		    out.len - STREAM_HEADER - f.len);
	}
	if ((o->result == REPLY_DONE) != (last == STREAM_END))
		abort();
	for (size_t i = 0; i < scrub.nforms; i++) {
		if (memmem(o->body, o->len, scrub.forms[i].p,
		    scrub.forms[i].len) != NULL)
			abort();
	}
}

static void
run(const uint8_t *p, size_t n, bool nobody, bool clean, bool pieces,
    struct outcome *o)
{
	static uint8_t joined[1 << 16];
	struct reply r;
	struct buf out;
	size_t len, njoined = 0;

	reply_init(&r, 7, nobody);
	buf_init(&out, 1 << 20);
	o->len = 0;
	o->result = REPLY_MORE;
	while (n > 1 && o->result == REPLY_MORE &&
	    njoined < sizeof(joined) - 256) {
		len = p[0] < n - 1 ? p[0] : n - 1;
		if (pieces)
			o->result = reply_feed(&r, provider, &scrub,
			    span_of(p + 1, len), &out);
		memcpy(joined + njoined, p + 1, len);
		njoined += len;
		p += 1 + len;
		n -= 1 + len;
	}
	if (!pieces)
		o->result = reply_feed(&r, provider, &scrub,
		    span_of(joined, njoined), &out);
	if (o->result == REPLY_MORE)
		o->result = reply_eof(&r, clean, &out);
	o->fail = o->result == REPLY_FAIL ? r.fail : KEYD_FAIL_NONE;
	o->status = r.status;
	if (o->result == REPLY_FAIL && keyd_fail_text(r.fail)[0] == '\0')
		abort();
	check(buf_span(&out), o);
	if (o->result == REPLY_DONE && o->len != r.received)
		abort();
	if (r.retry > (r.status == 429 ? RETRY_MAX : 0))
		abort();
	buf_free(&out);
	reply_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	setup();
	if (n < 1)
		return 0;
	run(p + 1, n - 1, (p[0] & 1) != 0, (p[0] & 2) != 0, true, &cut);
	run(p + 1, n - 1, (p[0] & 1) != 0, (p[0] & 2) != 0, false, &whole);
	/* An error in an unfinished line may or may not be reported. */
	if (cut.status == 0 && cut.fail == KEYD_FAIL_CUT)
		cut.fail = KEYD_FAIL_MALFORMED;
	if (whole.status == 0 && whole.fail == KEYD_FAIL_CUT)
		whole.fail = KEYD_FAIL_MALFORMED;
	if (cut.result != whole.result || cut.fail != whole.fail ||
	    (cut.result == REPLY_DONE && (cut.status != whole.status ||
	    cut.len != whole.len ||
	    memcmp(cut.body, whole.body, cut.len) != 0)))
		abort();
	return 0;
}
