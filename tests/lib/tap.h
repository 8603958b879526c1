/* SPDX-License-Identifier: ISC */
/*
 * TAP on stdout, for meson's "tap" protocol.  The name of a test says what it
 * shows; a failed one prints its place and the value found.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stddef.h>

#define ok(cond, ...) tap_ok((cond), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...)						\
	tap_int((long long)(got), (long long)(want), __FILE__, __LINE__,	\
	    __VA_ARGS__)
#define is_str(got, want, ...)						\
	tap_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_mem(got, glen, want, wlen, ...)				\
	tap_mem((got), (glen), (want), (wlen), __FILE__, __LINE__, __VA_ARGS__)

bool tap_ok(bool, const char *file, int line, const char *, ...)
    __attribute__((format(printf, 4, 5)));
bool tap_int(long long got, long long want, const char *file, int line,
    const char *, ...) __attribute__((format(printf, 5, 6)));
bool tap_str(const char *got, const char *want, const char *file, int line,
    const char *, ...) __attribute__((format(printf, 5, 6)));
bool tap_mem(const void *got, size_t glen, const void *want, size_t wlen,
    const char *file, int line, const char *, ...)
    __attribute__((format(printf, 7, 8)));
/* Print the plan.  Returns the exit status: 0 if nothing failed. */
int tap_done(void);

#endif
