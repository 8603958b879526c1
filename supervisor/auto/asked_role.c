/* SPDX-License-Identifier: ISC */
#include "auto/asked.h"

enum asked
asked_of_role(struct span role)
{
	static const struct {
		const char *role;
		enum asked what;
	} rows[] = {
#define ROLE(id, name, category, effect, thing) {name, ASKED_##effect},
#include "policyd/engine/role_rows.h"
	};

	for (size_t i = 0; i < nitems(rows); i++)
		if (span_is(role, rows[i].role))
			return rows[i].what;
	return ASKED_WRITE;
}
