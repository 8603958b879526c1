/* SPDX-License-Identifier: ISC */
#include "tap.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

static bool tap_line(bool, const char *, int, const char *, va_list)
    __attribute__((format(printf, 4, 0)));

static bool
tap_line(bool good, const char *file, int line, const char *fmt, va_list ap)
{
	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	vprintf(fmt, ap);
	putchar('\n');
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

bool
tap_ok(bool good, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_line(good, file, line, fmt, ap);
	va_end(ap);
	return good;
}

bool
tap_int(long long got, long long want, const char *file, int line,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!tap_line(got == want, file, line, fmt, ap))
		printf("# got %lld, want %lld\n", got, want);
	va_end(ap);
	return got == want;
}

static void
tap_dump(const char *what, const void *p, size_t len)
{
	const uint8_t *b = p;

	printf("# %s (%zu): ", what, len);
	for (size_t i = 0; i < len && i < 400; i++) {
		if (b[i] >= 0x20 && b[i] < 0x7f)
			putchar(b[i]);
		else
			printf("\\x%02x", b[i]);
	}
	putchar('\n');
}

bool
tap_mem(const void *got, size_t glen, const void *want, size_t wlen,
    const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	bool good = glen == wlen && (glen == 0 || memcmp(got, want, glen) == 0);

	va_start(ap, fmt);
	if (!tap_line(good, file, line, fmt, ap)) {
		tap_dump("got", got, glen);
		tap_dump("want", want, wlen);
	}
	va_end(ap);
	return good;
}

bool
tap_str(const char *got, const char *want, const char *file, int line,
    const char *fmt, ...)
{
	va_list ap;
	bool good = got != NULL && want != NULL && strcmp(got, want) == 0;

	va_start(ap, fmt);
	if (!tap_line(good, file, line, fmt, ap)) {
		tap_dump("got", got == NULL ? "(null)" : got,
		    got == NULL ? 6 : strlen(got));
		tap_dump("want", want == NULL ? "(null)" : want,
		    want == NULL ? 6 : strlen(want));
	}
	va_end(ap);
	return good;
}

int
tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}
