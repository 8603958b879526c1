/* SPDX-License-Identifier: ISC */
/*
 * Texts for refusals. Holds nothing; trusts its format strings. Values in a
 * text come from files and command lines that may have been copied from
 * anywhere, so characters that move the cursor, hide or reorder text are
 * escaped.
 */
#include "config/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/json/value.h"

/* Returns true for control characters and characters that are invisible. */
static bool
fault_hides(uint32_t cp)
{
	static const uint32_t ranges[][2] = {{0x00, 0x1f}, {0x7f, 0x9f},
	    {0xad, 0xad}, {0x61c, 0x61c}, {0x200b, 0x200f}, {0x2028, 0x202e},
	    {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe0fff}};

	for (size_t i = 0; i < nitems(ranges); i++)
		if (cp >= ranges[i][0] && cp <= ranges[i][1])
			return true;
	return false;
}

/* Decode the code point at `p`, in valid UTF-8. Returns its length. */
static size_t
fault_code_point(const char *p, uint32_t *cp)
{
	uint8_t c = (uint8_t)*p;
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	*cp = n == 1 ? c : c & (0x7fU >> n);
	for (size_t i = 1; i < n; i++)
		*cp = *cp << 6 | ((uint8_t)p[i] & 0x3fU);
	return n;
}

static void
fault_show(struct fault *f)
{
	bool utf8 = utf8_valid(span_str(f->text));
	char shown[sizeof(f->text)];
	size_t o = 0, n;
	uint32_t cp;

	for (const char *p = f->text; *p != '\0'; p += n) {
		n = 1;
		cp = (uint8_t)*p;
		if (utf8)
			n = fault_code_point(p, &cp);
		/* The longest escape, and "..." for a text that is cut. */
		if (o + 10 + 4 > sizeof(shown)) {
			memcpy(shown + o, "...", 3);
			o += 3;
			break;
		}
		if (cp > 0xff && fault_hides(cp)) {
			o += (size_t)snprintf(shown + o, 11, "\\u{%x}", cp);
		} else if ((!utf8 && cp >= 0x80) || fault_hides(cp)) {
			o += (size_t)snprintf(shown + o, 5, "\\x%02x", cp);
		} else {
			memcpy(shown + o, p, n);
			o += n;
		}
	}
	shown[o] = '\0';
	memcpy(f->text, shown, o + 1);
}

static void
fault_cut(struct fault *f, int n)
{
	if (n < 0)
		f->text[0] = '\0';
	else if ((size_t)n >= sizeof(f->text))
		memcpy(f->text + sizeof(f->text) - 4, "...", 4);
}

static bool
fault_scarce(int error)
{
	static const int scarce[] = {
	    ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, ENOMEM, EAGAIN, EIO,
	    ETOOMANYREFS};

	for (size_t i = 0; i < nitems(scarce); i++)
		if (error == scarce[i])
			return true;
	return false;
}

const char *
fault_remedy(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return ". Make room there, and run this again";
	case ETOOMANYREFS: /* sent, and not received yet */
		return ". Programs of this user hold more descriptors in "
		       "flight than ulimit -Hn; `icctl doctor` names them";
	case EMFILE:
		return ". Raise the limit on open files (ulimit -Hn) to 1024 "
		       "or more";
	default:
		return "";
	}
}

int
fault_set(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fault_cut(f, vsnprintf(f->text, sizeof(f->text), fmt, ap));
	va_end(ap);
	fault_show(f);
	f->kind = FAULT_OTHER;
	return -1;
}

int
fault_set_kind(struct fault *f, enum fault_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fault_cut(f, vsnprintf(f->text, sizeof(f->text), fmt, ap));
	va_end(ap);
	fault_show(f);
	f->kind = kind;
	return -1;
}

int
fault_errno(struct fault *f, const char *fmt, ...)
{
	int error = errno;
	const char *why = strerror(error);
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	fault_cut(f, vsnprintf(f->text, sizeof(f->text), fmt, ap));
	va_end(ap);
	len = strlen(f->text);
	fault_cut(f, (int)len + snprintf(f->text + len, sizeof(f->text) - len,
				    ": %s%s", why, fault_remedy(error)));
	fault_show(f);
	f->kind = fault_scarce(error) ? FAULT_SCARCE : FAULT_OTHER;
	return -1;
}
