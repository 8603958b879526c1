/* SPDX-License-Identifier: ISC */
/*
 * WebSocket frames and handshakes. The bytes come from the agent and from
 * providers; only the head of a frame is stored.
 */
#include "wire/ws.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

static const char ws_guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

void
ws_init(struct ws_parser *p, bool masked)
{
	memset(p, 0, sizeof(*p));
	p->masked = masked;
	p->need = 2;
}

static enum ws_event
ws_bad(struct ws_parser *p, const char *why)
{
	p->bad = why;
	p->code = WS_BROKEN;
	return WS_BAD;
}

static enum ws_event
ws_not_text(struct ws_parser *p)
{
	p->bad = "text that is not UTF-8";
	p->code = WS_NOT_TEXT;
	return WS_BAD;
}

/* Start a character with its first byte (RFC 3629, section 4). */
static bool
utf8_first(struct ws_utf8 *u, uint8_t c)
{
	*u = (struct ws_utf8){.low = 0x80, .high = 0xbf};
	if (c < 0x80)
		return true;
	if (c >= 0xc2 && c <= 0xdf)
		u->left = 1;
	else if (c >= 0xe0 && c <= 0xef)
		u->left = 2;
	else if (c >= 0xf0 && c <= 0xf4)
		u->left = 3;
	if (c == 0xe0)
		u->low = 0xa0;
	else if (c == 0xed)
		u->high = 0x9f;
	else if (c == 0xf0)
		u->low = 0x90;
	else if (c == 0xf4)
		u->high = 0x8f;
	return u->left != 0;
}

static bool
utf8_more(struct ws_utf8 *u, struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (u->left == 0) {
			if (s.p[i] >= 0x80 && !utf8_first(u, s.p[i]))
				return false;
			continue;
		}
		if (s.p[i] < u->low || s.p[i] > u->high)
			return false;
		u->low = 0x80;
		u->high = 0xbf;
		u->left--;
	}
	return true;
}

/* Codes that may be sent in a frame (RFC 6455 7.4 and its registry). */
static bool
code_sendable(unsigned code)
{
	return (code >= 1000 && code <= 1003) ||
	       (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

/* Check a piece of a frame's payload. */
static enum ws_event
ws_check(struct ws_parser *p, struct span data)
{
	if (!p->control)
		return p->message != WS_TEXT || utf8_more(&p->text, data)
			   ? WS_DATA
			   : ws_not_text(p);
	for (; p->op == WS_CLOSE && p->ncode < 2 && data.len != 0; data.len--) {
		p->closing = p->closing << 8 | *data.p++;
		p->ncode++;
	}
	return p->op != WS_CLOSE || utf8_more(&p->reason, data)
		   ? WS_DATA
		   : ws_not_text(p);
}

/* Check the end of a frame: a close code or a character may be incomplete. */
static enum ws_event
ws_check_end(struct ws_parser *p)
{
	if (!p->control)
		return p->fin && p->message == WS_TEXT && p->text.left != 0
			   ? ws_not_text(p)
			   : WS_END;
	if (p->op != WS_CLOSE)
		return WS_END;
	if (p->ncode == 1)
		return ws_bad(p, "a close frame with half a code");
	if (p->ncode == 2 && !code_sendable(p->closing))
		return ws_bad(p, "a close frame with a code that is none");
	return p->reason.left != 0 ? ws_not_text(p) : WS_END;
}

/* Read the first two bytes, which determine the length of the head. */
static const char *
ws_first(struct ws_parser *p)
{
	unsigned op = p->head[0] & 0x0fU, len = p->head[1] & 0x7fU;
	bool masked = (p->head[1] & 0x80) != 0;

	p->fin = (p->head[0] & 0x80) != 0;
	p->control = op >= WS_CLOSE;
	if ((p->head[0] & 0x70) != 0)
		return "a reserved bit is set";
	if (op > WS_PONG || (op > WS_BINARY && op < WS_CLOSE))
		return "unknown kind of frame";
	if (masked != p->masked)
		return masked ? "a masked frame" : "a frame without a mask";
	if (p->control && (!p->fin || len > WS_MAX_CONTROL))
		return "a control frame in pieces, or too large";
	if (!p->control && p->open != (op == WS_CONTINUED))
		return p->open ? "a message within another one"
			       : "a continuation of nothing";
	p->need = 2 +
		  (len == 126      ? 2U
		      : len == 127 ? 8U
				   : 0U) +
		  (masked ? 4U : 0U);
	p->op = (enum ws_op)op;
	return NULL;
}

static const char *
ws_rest(struct ws_parser *p)
{
	unsigned len = p->head[1] & 0x7fU, bytes = 0;

	p->left = len;
	if (len >= 126) {
		bytes = len == 126 ? 2 : 8;
		p->left = 0;
		for (unsigned i = 0; i < bytes; i++)
			p->left = p->left << 8 | p->head[2 + i];
		if (p->left > INT64_MAX ||
		    p->left < (len == 126 ? 126U : 65536U))
			return "a length that is not in its shortest form";
	}
	if (p->masked)
		memcpy(p->mask, p->head + 2 + bytes, sizeof(p->mask));
	p->at = 0;
	p->have = 0;
	p->need = 2;
	if (p->control)
		return NULL;
	if (p->op == WS_CONTINUED)
		p->op = p->message;
	p->message = p->op;
	p->open = true;
	return NULL;
}

/*
 * Add a byte to the head. Returns an error or NULL; the head is complete when
 * p->have is 0.
 */
static const char *
ws_byte(struct ws_parser *p, uint8_t c)
{
	const char *bad;

	p->head[p->have++] = c;
	if (p->have == 2 && (bad = ws_first(p)) != NULL)
		return bad;
	return p->have == p->need ? ws_rest(p) : NULL;
}

static enum ws_event
ws_finish(struct ws_parser *p)
{
	p->payload = false;
	if (p->control)
		p->closed |= p->op == WS_CLOSE;
	else
		p->open = !p->fin;
	return ws_check_end(p);
}

enum ws_event
ws_next(struct ws_parser *p, uint8_t **in, size_t *len, struct span *data)
{
	const char *bad;
	size_t n;

	if (p->bad != NULL)
		return WS_BAD;
	if (p->payload && p->left == 0)
		return ws_finish(p);
	if (*len == 0)
		return WS_MORE;
	if (p->payload) {
		n = p->left < *len ? (size_t)p->left : *len;
		if (p->masked) {
			ws_mask(*in, n, p->mask, p->at);
			p->at = (unsigned)((p->at + n) & 3);
		}
		*data = span_of(*in, n);
		*in += n;
		*len -= n;
		p->left -= n;
		return ws_check(p, *data);
	}
	if (p->closed)
		return ws_bad(p, "bytes after a close");
	do {
		bad = ws_byte(p, **in);
		++*in;
		--*len;
		if (bad != NULL)
			return ws_bad(p, bad);
	} while (p->have != 0 && *len != 0);
	if (p->have != 0)
		return WS_MORE;
	p->payload = true;
	return WS_HEAD;
}

bool
ws_partial(const struct ws_parser *p)
{
	return p->have != 0 || p->payload || p->open;
}

size_t
ws_head(uint8_t dst[WS_MAX_HEAD], enum ws_op op, bool fin, uint64_t len,
    const uint8_t mask[4])
{
	unsigned bytes = len < 126 ? 0 : len < 65536 ? 2 : 8;
	size_t n = 2;

	dst[0] = (uint8_t)((fin ? 0x80U : 0U) | (unsigned)op);
	dst[1] =
	    (uint8_t)((mask != NULL ? 0x80U : 0U) | (bytes == 0 ? (unsigned)len
							: bytes == 2 ? 126U
								     : 127U));
	for (unsigned i = bytes; i > 0; i--)
		dst[n++] = (uint8_t)(len >> (8 * (i - 1)));
	if (mask != NULL) {
		memcpy(dst + n, mask, 4);
		n += 4;
	}
	return n;
}

void
ws_mask(uint8_t *p, size_t len, const uint8_t mask[4], size_t at)
{
	uint8_t turned[8];
	uint64_t word, eight;
	size_t i = 0;

	for (unsigned k = 0; k < 8; k++)
		turned[k] = mask[(at + k) & 3];
	memcpy(&eight, turned, sizeof(eight));
	for (; len - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		word ^= eight;
		memcpy(p + i, &word, sizeof(word));
	}
	for (; i < len; i++)
		p[i] ^= turned[i & 7];
}

bool
ws_key_ok(struct span s)
{
	static const char last[] = "AQgw";

	if (s.len != WS_KEY || memcmp(s.p + 22, "==", 2) != 0)
		return false;
	for (size_t i = 0; i < 22; i++) {
		uint8_t c = s.p[i];

		if ((c < 'A' || c > 'Z') && (c < 'a' || c > 'z') &&
		    (c < '0' || c > '9') && c != '+' && c != '/')
			return false;
	}
	/* Sixteen bytes leave four bits of the last character unused. */
	return memchr(last, s.p[21], sizeof(last) - 1) != NULL;
}

void
ws_accept(struct span key, char dst[WS_ACCEPT + 1])
{
	uint8_t text[WS_KEY + sizeof(ws_guid)], sum[SHA_DIGEST_LENGTH];
	size_t n = key.len < WS_KEY ? key.len : WS_KEY;

	memcpy(text, key.p, n);
	memcpy(text + n, ws_guid, sizeof(ws_guid) - 1);
	(void)SHA1(text, n + sizeof(ws_guid) - 1, sum);
	(void)EVP_EncodeBlock((unsigned char *)dst, sum, sizeof(sum));
}

void
ws_key(const uint8_t random[16], char dst[WS_KEY + 1])
{
	(void)EVP_EncodeBlock((unsigned char *)dst, random, 16);
}
