/* SPDX-License-Identifier: ISC */
/*
 * Decodes gzip with zlib and zstd with libzstd, one whole body at a time. Both
 * libraries parse bytes of the agent; this module holds no secret and keeps no
 * decoder state between bodies.
 */
#include "body/decode.h"

#include <stdlib.h>

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define DECODE_PIECE (64U << 10)

struct decode {
	struct span in;
	uint64_t left; /* output bytes still allowed */
	int (*put)(void *, struct span);
	void *arg;
};

static uint8_t decode_out[DECODE_PIECE];

int
decode_find(struct span s)
{
	if (s.len == 0 || span_ieq(s, SPAN("identity")))
		return DECODE_IDENTITY;
	if (span_ieq(s, SPAN("gzip")))
		return DECODE_GZIP;
	if (span_ieq(s, SPAN("zstd")))
		return DECODE_ZSTD;
	return -1;
}

static enum decode_result
decode_put(struct decode *d, size_t n)
{
	if (n == 0)
		return DECODE_OK;
	if (n > d->left)
		return DECODE_LARGE;
	d->left -= n;
	return d->put(d->arg, span_of(decode_out, n)) == -1 ? DECODE_FULL
							    : DECODE_OK;
}

static enum decode_result
decode_gzip(struct decode *d)
{
	enum decode_result r = DECODE_OK;
	z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)d->in.p,
	    .avail_in = (uInt)d->in.len};
	int e;

	/* 16 selects gzip only, without the zlib header. */
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return DECODE_NOMEM;
	do {
		z.next_out = decode_out;
		z.avail_out = sizeof(decode_out);
		e = inflate(&z, Z_NO_FLUSH);
		if (e != Z_OK && e != Z_STREAM_END) {
			r = e == Z_MEM_ERROR ? DECODE_NOMEM : DECODE_BAD;
			break;
		}
		r = decode_put(d, sizeof(decode_out) - z.avail_out);
	} while (r == DECODE_OK && e != Z_STREAM_END);
	if (r == DECODE_OK && z.avail_in != 0)
		r = DECODE_BAD;
	(void)inflateEnd(&z);
	return r;
}

static enum decode_result
decode_zstd_error(size_t e)
{
	ZSTD_ErrorCode code = ZSTD_getErrorCode(e);

	if (code == ZSTD_error_memory_allocation)
		return DECODE_NOMEM;
	if (code == ZSTD_error_frameParameter_windowTooLarge)
		return DECODE_LARGE;
	return DECODE_BAD;
}

static enum decode_result
decode_zstd(struct decode *d)
{
	enum decode_result r = DECODE_OK;
	ZSTD_inBuffer in = {d->in.p, d->in.len, 0};
	ZSTD_outBuffer out;
	ZSTD_DStream *z;
	size_t e;

	/*
	 * Refuse a skippable frame at the start: some readers skip it and find
	 * another body behind it.
	 */
	if (d->in.len < 4 || memcmp(d->in.p, "\x28\xb5\x2f\xfd", 4) != 0)
		return DECODE_BAD;
	if ((z = ZSTD_createDStream()) == NULL)
		return DECODE_NOMEM;
	e = ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, DECODE_WINDOW);
	do {
		out = (ZSTD_outBuffer){decode_out, sizeof(decode_out), 0};
		if (!ZSTD_isError(e))
			e = ZSTD_decompressStream(z, &out, &in);
		if (ZSTD_isError(e)) {
			r = decode_zstd_error(e);
			break;
		}
		r = decode_put(d, out.pos);
		/* The input has ended inside the frame. */
		if (r == DECODE_OK && e != 0 && in.pos == in.size &&
		    out.pos < out.size)
			r = DECODE_BAD;
	} while (r == DECODE_OK && e != 0);
	if (r == DECODE_OK && in.pos != in.size)
		r = DECODE_BAD;
	(void)ZSTD_freeDStream(z);
	return r;
}

enum decode_result
decode_body(enum decode_coding coding, struct span in, uint64_t max,
    int (*put)(void *, struct span), void *arg)
{
	uint64_t most = (uint64_t)in.len * DECODE_RATIO + DECODE_FREE;
	struct decode d = {
	    .in = in, .left = most < max ? most : max, .put = put, .arg = arg};

	if (in.len > UINT32_MAX)
		return DECODE_LARGE;
	switch (coding) {
	case DECODE_IDENTITY:
		if (in.len > max)
			return DECODE_LARGE;
		return put(arg, in) == -1 ? DECODE_FULL : DECODE_OK;
	case DECODE_GZIP:
		return decode_gzip(&d);
	case DECODE_ZSTD:
		return decode_zstd(&d);
	}
	return DECODE_BAD;
}
