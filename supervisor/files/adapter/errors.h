/* SPDX-License-Identifier: ISC */
/*
 * The part of an adapter that is about troubles: which of an agent's error
 * messages mean that a quota is used up (and until when), that trying again may
 * help, that the credential was refused, or that the agent cannot continue.
 * The messages are the agent's words: they choose a status and advice, and
 * nothing is permitted because of them.
 */
#ifndef ADAPTER_ERRORS_H
#define ADAPTER_ERRORS_H

#include <stdint.h>

#include "base/jsonfile.h"
#include "common/span.h"

#define ADAPTER_MAX_ERRORS 16U

enum adapter_trouble {
	TROUBLE_NONE,           /* no rule applies */
	TROUBLE_QUOTA,          /* used up; another try is futile until then */
	TROUBLE_TRANSIENT,      /* overload and the like: try again */
	TROUBLE_AUTHENTICATION, /* the credential was refused */
	TROUBLE_HARD            /* the agent cannot continue its conversation */
};

struct adapter_error {
	enum adapter_trouble kind;
	char **contains; /* one of these is in the text, in any case */
	char **reset;    /* texts after which a time stands; NULL: none */
};

struct adapter_errors {
	struct adapter_error list[ADAPTER_MAX_ERRORS];
	unsigned n;
};

/*
 * errors_read.c: Read the member "errors" of an adapter. Returns 0, or -1 with
 * the fault set; adapter_errors_free() frees the rules in either case.
 */
int adapter_errors_read(
    struct adapter_errors *, const struct jsonfile *, struct json_object *root);
void adapter_errors_free(struct adapter_errors *);
/*
 * Classify the text of an error: the first rule that applies decides. Sets
 * `*reset` to the time at which a quota returns, in seconds since the epoch as
 * `now` is, or to 0 if the text has none within a year of `now`.
 */
enum adapter_trouble adapter_errors_find(const struct adapter_errors *,
    struct span text, int64_t now, int64_t *reset);
/* Returns the name of a trouble: "quota", "transient", ...; "" for none. */
const char *adapter_trouble_name(enum adapter_trouble);

/*
 * reset_time.c: Read the time at the beginning of `text`: seconds since the
 * epoch, a date as in RFC 3339 (UTC), a time of day ("3pm", "Oct 9, 3:05 PM
 * (UTC)", "22:57 GMT-3"; without a zone it is UTC, which sandboxes have), or a
 * duration ("2 days 17 hours", "21h38m16s"). Returns 0, or -1 if there is none
 * or it is not within a year after `now`.
 */
int reset_time(struct span text, int64_t now, int64_t *when);

#endif
