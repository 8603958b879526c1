/* SPDX-License-Identifier: ISC */
/* Writes times as text. */
#ifndef TIME_TEXT_H
#define TIME_TEXT_H

#include <stdint.h>

#define TIME_TEXT 32U /* bytes, with the NUL */

/*
 * Write `when`, in seconds since the epoch, as in RFC 3339 and UTC:
 * "2026-11-27T14:05:00Z". Returns `dst`, which is "" for 0, a time that is not
 * known, and for one that cannot be written so.
 */
const char *time_text(int64_t when, char dst[TIME_TEXT]);
/*
 * Write the same with a fraction of a second, as ".250", of at most six digits;
 * 0 is a time like others here.
 */
const char *time_text_fine(
    int64_t when, const char *fraction, char dst[TIME_TEXT]);
/*
 * Write `when` in local time, for a person: "2026-11-27 15:05". Returns `dst`,
 * which is "" if that is not possible.
 */
const char *time_text_local(int64_t when, char dst[TIME_TEXT]);

#endif
