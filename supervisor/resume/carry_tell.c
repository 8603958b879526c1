/* SPDX-License-Identifier: ISC */
/* Writes the members. icsupervisor only reads them, and does not link this. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "resume/carry_members.h"

#define REPORT_TEXT 1100U

static void
member_tell(const struct carry *c, unsigned i,
    void (*emit)(int letter, const char *text))
{
	const struct carry_row *m = &carry_rows[i];
	const char *p = (const char *)c + m->at;
	char text[REPORT_TEXT];
	uint32_t small;
	uint64_t n;
	int64_t s;
	double d;

	switch (m->kind) {
	case KIND_BOOL:
		snprintf(text, sizeof(text), "%d", *(const bool *)p ? 1 : 0);
		break;
	case KIND_U32:
		memcpy(&small, p, sizeof(small));
		snprintf(text, sizeof(text), "%" PRIu32, small);
		break;
	case KIND_U64:
		memcpy(&n, p, sizeof(n));
		snprintf(text, sizeof(text), "%" PRIu64, n);
		break;
	case KIND_I64:
		memcpy(&s, p, sizeof(s));
		snprintf(text, sizeof(text), "%" PRId64, s);
		break;
	case KIND_DOUBLE:
		memcpy(&d, p, sizeof(d));
		snprintf(text, sizeof(text), "%a", d);
		break;
	case KIND_TEXT:
		snprintf(text, sizeof(text), "%s", p);
		break;
	}
	emit(CARRY_FIRST + (int)i, text);
}

static void
lists_tell(const struct carry *c, void (*emit)(int letter, const char *text))
{
	char text[REPORT_TEXT];

	for (unsigned k = 0; k < BUDGET_KEYS; k++) {
		if (!c->limited[k])
			continue;
		snprintf(text, sizeof(text), "%u %a", k, c->limits[k]);
		emit(LIST_LIMIT, text);
	}
	for (unsigned i = 0; i < c->nlocked; i++)
		emit(LIST_LOCKED, c->locked[i]);
	for (unsigned i = 0; i < c->nholds; i++) {
		snprintf(text, sizeof(text), "%" PRIu64, c->holds[i].id);
		emit(LIST_HOLD, text);
		emit(LIST_SERVER, c->holds[i].server);
		emit(LIST_TOOL, c->holds[i].tool);
	}
	for (unsigned i = 0; i < c->ngrants; i++) {
		snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRId64,
		    c->grants[i].key, c->grants[i].call, c->grants[i].made);
		emit(LIST_GRANT, text);
		emit(LIST_TEXT, carry_grant_json(c->grants[i].text));
		emit(LIST_BOUND, carry_grant_json(c->grants[i].bound));
	}
}

void
carry_tell(const struct carry *c, void (*emit)(int letter, const char *text))
{
	for (unsigned i = 0; i < carry_nrows; i++)
		member_tell(c, i, emit);
	lists_tell(c, emit);
}
