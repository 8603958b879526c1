/* SPDX-License-Identifier: ISC */
/*
 * The measured set of the approver: with a model that says yes to everything,
 * no call is approved that the message does not ask for.
 */
#include "auto/mention.h"

#include "tap.h"

static const struct row {
	const char *message, *role, *value;
	bool approve;
} rows[] = {
#define ASKED(message, role, value, approve) {message, role, value, approve},
#include "asked_rows.h"
};

int
main(void)
{
	unsigned wrong = 0, missed = 0, wanted = 0;

	for (size_t i = 0; i < nitems(rows); i++) {
		const struct mention_thing t = {.role = span_str(rows[i].role),
		    .value = span_str(rows[i].value)};
		struct buf lines;
		bool approved;

		buf_init(&lines, 4096);
		approved = mention_check(span_str(rows[i].message),
			       SPAN("/home/me"), &t, 1, &lines) == NULL;
		buf_free(&lines);
		wanted += rows[i].approve;
		wrong += approved && !rows[i].approve;
		missed += !approved && rows[i].approve;
		ok(approved == rows[i].approve, "row %zu, a call that %s: %s",
		    i, rows[i].approve ? "is asked for" : "is the person's",
		    rows[i].role);
	}
	ok(nitems(rows) >= 200, "at least 200 messages");
	is_int(wrong, 0, "no call is approved wrongly");
	is_int(missed, 0, "all of those asked for are approved");
	ok(wanted >= 40, "some are asked for");
	return tap_done();
}
