/* SPDX-License-Identifier: ISC */
/*
 * Texts for refusals. Holds nothing; trusts its format strings. Values in a
 * text come from files and command lines that may have been copied from
 * anywhere, so characters that move the cursor, hide or reorder text are
 * escaped.
 */
#include "base/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/hidden.h"
#include "common/json/text.h"
#include "common/json/value.h"

static void
fault_show(struct fault *f)
{
	bool utf8 = utf8_valid(span_str(f->text));
	const uint8_t *end = (const uint8_t *)f->text + strlen(f->text);
	char shown[sizeof(f->text)];
	size_t o = 0, n;
	uint32_t cp;

	for (const char *p = f->text; *p != '\0'; p += n) {
		n = 1;
		cp = (uint8_t)*p;
		if (utf8) {
			n = text_utf8_len((const uint8_t *)p, end);
			cp = text_utf8_code((const uint8_t *)p, n);
		}
		/* The longest escape, and "..." for a text that is cut. */
		if (o + 10 + 4 > sizeof(shown)) {
			memcpy(shown + o, "...", 3);
			o += 3;
			break;
		}
		if (cp > 0xff && hidden_alone(cp)) {
			o += (size_t)snprintf(shown + o, 11, "\\u{%x}", cp);
		} else if ((!utf8 && cp >= 0x80) || hidden_alone(cp)) {
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
