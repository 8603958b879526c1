/* SPDX-License-Identifier: ISC */
/*
 * The ways in which a request fails: codes for programs, and statuses; and what
 * all files of the driver ask.
 */
#include "icctl/driver/priv.h"

#include "common/loop.h"

/* clang-format off */
static const struct {
	const char *code;
	int status;
} fails[] = {
	[FAIL_NONE] = {"", ICCTL_OK},
	[FAIL_EMPTY_PROMPT] = {"EMPTY_PROMPT", ICCTL_USAGE},
	[FAIL_MALFORMED] = {"MALFORMED", 65},
	[FAIL_BAD_REQUEST] = {"BAD_REQUEST", ICCTL_USAGE},
	[FAIL_TOO_LONG] = {"TOO_LONG", 65},
	[FAIL_BUSY] = {"BUSY", ICCTL_BUSY},
	[FAIL_INIT] = {"SESSION_INIT_FAILED", 71},
	[FAIL_SCHEMA] = {"SCHEMA_MISMATCH", 76},
	[FAIL_AGENT_EXIT] = {"AGENT_EXIT", 70},
	[FAIL_GONE] = {"SESSION_CLOSED", 71},
	[FAIL_PROVIDER] = {"PROVIDER_UNREACHABLE", 69},
	[FAIL_AUTHENTICATION] = {"AUTHENTICATION", 77},
	[FAIL_BUDGET] = {"BUDGET_EXHAUSTED", 124},
	[FAIL_QUOTA] = {"QUOTA", ICCTL_BUSY},
	[FAIL_CANCELLED] = {"CANCELLED", 130},
	[FAIL_NO_RESULT] = {"NO_RESULT", 70},
	[FAIL_BAD_OUTPUT] = {"BAD_OUTPUT", 76},
};
/* clang-format on */

const char *
fail_code(enum fail f)
{
	return fails[f].code;
}

int
fail_status(enum fail f)
{
	return fails[f].status;
}

uint64_t
driver_now(void)
{
	return clock_mono_us() / 1000;
}

const char *
driver_option(const struct driver *d, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i + 1 < d->noptions; i++)
		if (strcmp(d->options[i], name) == 0)
			value = d->options[i + 1];
	return value;
}
