/* SPDX-License-Identifier: ISC */
/*
 * Messages for people, on standard error.  Each line is composed completely and
 * written with one call, so that the lines of two processes on one pipe do not
 * mix.
 */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
	const char *name;
	bool debug;
} log_env = {"ironcurtain", false};

void
log_init(const char *name, bool debug)
{
	log_env.name = name;
	log_env.debug = debug;
}

static void __attribute__((format(printf, 2, 0)))
log_line(int error, const char *fmt, va_list ap)
{
	char line[1024];
	int saved = errno, n;
	size_t len;

	n = snprintf(line, sizeof(line), "%s: ", log_env.name);
	len = n < 0 ? 0 : (size_t)n;
	n = vsnprintf(line + len, sizeof(line) - len, fmt, ap);
	if (n > 0)
		len += (size_t)n;
	if (error != 0 && len < sizeof(line)) {
		n = snprintf(
		    line + len, sizeof(line) - len, ": %s", strerror(error));
		if (n > 0)
			len += (size_t)n;
	}
	if (len > sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, len) == -1) {
		/* The error itself cannot be reported anywhere. */
	}
	errno = saved;
}

#define LOG_BODY(error)                                                        \
	do {                                                                   \
		va_list ap;                                                    \
		va_start(ap, fmt);                                             \
		log_line((error), fmt, ap);                                    \
		va_end(ap);                                                    \
	} while (0)

void
log_warn(const char *fmt, ...)
{
	LOG_BODY(errno);
}

void
log_warnx(const char *fmt, ...)
{
	LOG_BODY(0);
}

void
log_info(const char *fmt, ...)
{
	LOG_BODY(0);
}

void
log_debug(const char *fmt, ...)
{
	if (log_env.debug)
		LOG_BODY(0);
}

void
fatal(const char *fmt, ...)
{
	LOG_BODY(errno);
	exit(1);
}

void
fatalx(const char *fmt, ...)
{
	LOG_BODY(0);
	exit(1);
}

static const char *
vis(struct span in, char *dst, size_t cap, bool again)
{
	static const char hex[] = "0123456789abcdef";
	size_t o = 0;

	if (cap < 8) {
		if (cap != 0)
			dst[0] = '\0';
		return dst;
	}
	for (size_t i = 0; i < in.len; i++) {
		uint8_t c = in.p[i];
		bool plain = c >= 0x20 && c < 0x7f && (again || c != '\\');

		if (o + (plain ? 1 : 4) > cap - 4) {
			memcpy(dst + o, "...", 3);
			o += 3;
			break;
		}
		if (plain) {
			dst[o++] = (char)c;
			continue;
		}
		dst[o++] = '\\';
		dst[o++] = 'x';
		dst[o++] = hex[c >> 4];
		dst[o++] = hex[c & 15];
	}
	dst[o] = '\0';
	return dst;
}

const char *
log_vis(struct span in, char *dst, size_t cap)
{
	return vis(in, dst, cap, false);
}

const char *
log_vis_again(struct span in, char *dst, size_t cap)
{
	return vis(in, dst, cap, true);
}
