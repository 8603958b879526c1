/* SPDX-License-Identifier: ISC */
/* Decodes the escapes of JSON strings. Keeps no state. */
#include "body/json.h"

#include "common/json/text.h"

/* Returns the value of four hex digits at `p`, or -1. */
static int
json_hex4(const uint8_t *p, const uint8_t *end)
{
	unsigned v = 0;

	if (end - p < 4)
		return -1;
	for (unsigned i = 0; i < 4; i++) {
		uint8_t c = p[i];

		v <<= 4;
		if (text_is_digit(c))
			v |= (unsigned)c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v |= (unsigned)(c | 0x20) - 'a' + 10;
		else
			return -1;
	}
	return (int)v;
}

size_t
body_json_escape(const uint8_t *p, const uint8_t *end, uint32_t *cp)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *which;
	int hi, lo;

	if (end - p < 2)
		return 0;
	if (p[1] != 'u') {
		if (p[1] == '\0' || (which = strchr(from, p[1])) == NULL)
			return 0;
		*cp = (uint8_t)to[which - from];
		return 2;
	}
	if ((hi = json_hex4(p + 2, end)) == -1 || (hi & 0xfc00) == 0xdc00)
		return 0;
	*cp = (uint32_t)hi;
	if ((hi & 0xfc00) != 0xd800)
		return 6;
	if (end - p < 12 || p[6] != '\\' || p[7] != 'u' ||
	    (lo = json_hex4(p + 8, end)) == -1 || (lo & 0xfc00) != 0xdc00)
		return 0;
	*cp =
	    0x10000U + ((uint32_t)(hi & 0x3ff) << 10 | (uint32_t)(lo & 0x3ff));
	return 12;
}

int
body_json_unescape(struct span s, uint8_t *dst, size_t cap)
{
	const uint8_t *p = s.p, *end = s.p + s.len;
	uint8_t one[4];
	uint32_t cp;
	size_t n, len = 0;

	while (p < end) {
		if (*p != '\\') {
			one[0] = *p++;
			n = 1;
		} else {
			if ((n = body_json_escape(p, end, &cp)) == 0)
				return -1;
			p += n;
			n = text_utf8_put(one, cp);
		}
		if (n > cap - len)
			return -1;
		memcpy(dst + len, one, n);
		len += n;
	}
	return (int)len;
}
