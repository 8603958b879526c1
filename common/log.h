/* SPDX-License-Identifier: ISC */
/*
 * Messages for people, on standard error, one line each: "role: text".  In a
 * worker standard error is a pipe that icsupervisor reads; it limits, escapes
 * and prefixes the lines.  Every function keeps errno.  Never log a body, a
 * header value or a secret; pass text from outside through log_vis() first.
 */
#ifndef LOG_H
#define LOG_H

#include "common/span.h"

void log_init(const char *name, bool debug);
void log_warn(const char *, ...)	/* adds ": strerror(errno)" */
    __attribute__((format(printf, 1, 2)));
void log_warnx(const char *, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *, ...) __attribute__((format(printf, 1, 2)));
/*
 * Log and exit with status 1: at start-up, or in a worker whose channel is
 * gone.
 */
void fatal(const char *, ...) __attribute__((format(printf, 1, 2), noreturn));
void fatalx(const char *, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * Write outside text into dst[cap] as printable ASCII, NUL-terminated, cut
 * short with "..." if it does not fit.  0x20 to 0x7e stay as they are except
 * the backslash; every other byte, the backslash included, becomes \xNN.
 * Returns dst.
 */
const char *log_vis(struct span, char *dst, size_t cap);
/* Like log_vis(), for text that may be escaped already: \ stays as it is. */
const char *log_vis_again(struct span, char *dst, size_t cap);

#endif
