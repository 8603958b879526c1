/* SPDX-License-Identifier: ISC */
/*
 * Messages for people, on stderr, one line each: "role: text".  In a worker
 * stderr is a pipe that icsupervisor reads, cuts, vis-encodes and prefixes.
 * All keep errno.  Never a body, a header value or a secret; text from
 * outside goes through log_vis first.
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
/* Log and exit 1. Start-up, or a worker whose channel is gone. */
void fatal(const char *, ...) __attribute__((format(printf, 1, 2), noreturn));
void fatalx(const char *, ...) __attribute__((format(printf, 1, 2), noreturn));

/*
 * Outside text as printable ASCII in dst[cap] (NUL-terminated, cut with "..."):
 * 0x20-0x7e but backslash as they are, the rest as \xNN. Returns dst.
 */
const char *log_vis(struct span, char *dst, size_t cap);
/* The same for what may have been made printable before: \ stays itself. */
const char *log_vis_again(struct span, char *dst, size_t cap);

#endif
