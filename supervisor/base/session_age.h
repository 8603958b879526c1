/* SPDX-License-Identifier: ISC */
/*
 * Orders sessions by their start. The name of a session begins with that time,
 * too, but a name may have been made in another time zone, or by a person.
 */
#ifndef SESSION_AGE_H
#define SESSION_AGE_H

#include <stdint.h>
#include <time.h>

struct session_age {
	int64_t started; /* the last run, in seconds since 1970; 0: unknown */
	/* the order within a second: when `icctl start` wrote start.json */
	struct timespec made;
};

/*
 * Read the age of the session in the directory `dir`. If its session.json does
 * not say when it was started, the name `id` is taken for a time in UTC.
 */
void session_age_read(
    struct session_age *, const char *dir, const char *id);

/*
 * Compare two sessions. Returns less than 0 if the first one is older. Names
 * decide only if nothing else does.
 */
int session_age_cmp(const struct session_age *a, const char *id_a,
    const struct session_age *b, const char *id_b);

#endif
