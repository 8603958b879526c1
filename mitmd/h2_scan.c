/* SPDX-License-Identifier: ISC */
/*
 * Counts HTTP/2 frames. Reads the agent's bytes and keeps only a few numbers.
 */
#include "h2_scan.h"

#define SCAN_PREFACE 24U

enum scan_type {
	SCAN_DATA = 0,
	SCAN_HEADERS = 1,
	SCAN_PRIORITY = 2,
	SCAN_RST_STREAM = 3,
	SCAN_SETTINGS = 4,
	SCAN_WINDOW_UPDATE = 8,
	SCAN_CONTINUATION = 9,
};

#define SCAN_END_STREAM 0x1U
#define SCAN_END_HEADERS 0x4U

static void
scan_time(struct h2_scan *c, uint64_t now)
{
	uint64_t off = (now - c->at) * H2_RATE / 1000;

	if (off == 0)
		return;
	c->at = now;
	c->cost -= off < c->cost ? (unsigned)off : c->cost;
}

static const char *
scan_block(struct h2_scan *c, unsigned type, unsigned flags, uint32_t len)
{
	if (type == SCAN_HEADERS)
		c->bytes = c->continued = 0;
	else if (++c->continued > H2_MAX_CONTINUED)
		return "a header block in too many CONTINUATION frames";
	if (len > H2_MAX_BLOCK - c->bytes)
		return "a header block that is too large";
	c->bytes += len;
	c->block = (flags & SCAN_END_HEADERS) == 0;
	return NULL;
}

static const char *
scan_head(struct h2_scan *c)
{
	const uint8_t *h = c->head;
	unsigned type = h[3], flags = h[4], cost = 1;

	c->left = (uint32_t)h[0] << 16 | (uint32_t)h[1] << 8 | h[2];
	switch (type) {
	case SCAN_DATA:
		cost = c->left == 0 && (flags & SCAN_END_STREAM) == 0;
		break;
	case SCAN_HEADERS:
	case SCAN_CONTINUATION:
		return scan_block(c, type, flags, c->left);
	case SCAN_WINDOW_UPDATE:
		if (++c->windows > H2_WINDOWS)
			return "too many WINDOW_UPDATE frames";
		return NULL;
	case SCAN_PRIORITY:
		/*
		 * The library ignores these, since it has no use for
		 * priorities.
		 */
		if (((h[5] & 0x7fU) | h[6] | h[7] | h[8]) == 0) {
			c->illegal = true;
			return "a PRIORITY frame on stream 0";
		}
		break;
	case SCAN_RST_STREAM:
		cost = H2_RESET;
		break;
	case SCAN_SETTINGS:
		cost = (flags & 1U) != 0 ? 1 : H2_SETTINGS;
		break;
	default:
		break;
	}
	c->cost += cost;
	if (c->cost > H2_BURST)
		return "too many frames that carry nothing";
	return NULL;
}

const char *
h2_scan(struct h2_scan *c, struct span s, uint64_t now)
{
	const char *bad;
	size_t n;

	scan_time(c, now);
	n = SCAN_PREFACE - c->preface;
	n = n < s.len ? n : s.len;
	c->preface += n;
	s = span_of(s.p + n, s.len - n);
	while (s.len != 0) {
		if (c->left != 0) {
			n = c->left < s.len ? c->left : s.len;
			c->left -= (uint32_t)n;
		} else {
			n = H2_HEADER - c->have;
			n = n < s.len ? n : s.len;
			memcpy(c->head + c->have, s.p, n);
			c->have += n;
			if (c->have == H2_HEADER) {
				c->have = 0;
				if ((bad = scan_head(c)) != NULL)
					return bad;
			}
		}
		s = span_of(s.p + n, s.len - n);
	}
	return NULL;
}

void
h2_scan_sent(struct h2_scan *c, size_t bytes)
{
	/*
	 * Two for each frame, for the stream and the connection, and more for
	 * a large one, whose bytes the peer may take little by little.
	 */
	size_t n = 2 + bytes / H2_WINDOW_BYTES;

	c->windows -= n < c->windows ? (unsigned)n : c->windows;
}

bool
h2_scan_partial(const struct h2_scan *c)
{
	return c->preface < SCAN_PREFACE || c->have != 0 || c->left != 0 ||
	       c->block;
}
