/* SPDX-License-Identifier: ISC */
/* Dates of HTTP and of JSON texts, strictly. */
#ifndef HTTP_DATE_H
#define HTTP_DATE_H

#include "common/span.h"

/*
 * Parse 2026-01-31T12:34:56[.789](Z|+hh:mm), RFC 3339, into seconds since 1970;
 * a fraction is dropped. Returns 0, or -1 also for years before 1970.
 */
int date_rfc3339(struct span, int64_t *out);
/*
 * Parse an HTTP date in the form that RFC 9110 section 5.6.7 requires, Sun, 06
 * Nov 1994 08:49:37 GMT; the obsolete forms are errors. Returns 0, or -1 also
 * for dates before 2015, which servers use as placeholders.
 */
int date_http(struct span, int64_t *out);

#endif
