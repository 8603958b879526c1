/* SPDX-License-Identifier: ISC */
#include "auto/asked.h"

enum asked
asked_of_role(struct span role)
{
	static const struct {
		const char *role;
		enum asked what;
	} rows[] = {{"read-path", ASKED_READ}, {"fetch-url", ASKED_READ},
	    {"git-remote-url", ASKED_READ}, {"branch-name", ASKED_READ},
	    {"github-owner", ASKED_READ}, {"github-repo", ASKED_READ},
	    {"delete-path", ASKED_DELETE}, {"delete-history", ASKED_DELETE},
	    {"write-history", ASKED_COMMIT}, {"email-address", ASKED_SEND}};

	for (size_t i = 0; i < nitems(rows); i++)
		if (span_is(role, rows[i].role))
			return rows[i].what;
	return ASKED_WRITE;
}
