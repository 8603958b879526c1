/* SPDX-License-Identifier: ISC */
/*
 * The message table as data: descriptions of every message and its fields,
 * lookup by number, and the hash that two binaries compare in HELLO.
 */
#include "common/ipc/proto.h"

#define FIELD_ROW(m, kind, name, max)                                          \
	{#name, PROTO_##kind, offsetof(struct msg_##m, name), (max)},
#define FIELD_TABLE(name, number, from, to, phase, fds)                        \
	static const struct proto_field fields_##name[] = {                    \
	    F_##name(FIELD_ROW, name){NULL, PROTO_u8, 0, 0}};
PROTO_MSGS(FIELD_TABLE)

#define MSG_ROW(name, number, from, to, phase, fds)                            \
	{#name, number, from, to, PHASE_##phase, fds, fields_##name,           \
	    sizeof(fields_##name) / sizeof(fields_##name[0]) - 1,              \
	    sizeof(struct msg_##name)},
const struct proto_msg proto_msgs[] = {PROTO_MSGS(MSG_ROW)};
const size_t proto_nmsgs = nitems(proto_msgs);

/*
 * The index of a message by number (0xGGRR: group and row), plus 1; 0 if there
 * is none.
 */
static uint16_t proto_place[PROTO_GROUPS][PROTO_ROWS];
_Static_assert(PROTO_NMSGS < UINT16_MAX, "places are two bytes each");

static void
proto_index(void)
{
	for (size_t i = 0; i < proto_nmsgs; i++) {
		uint16_t t = proto_msgs[i].type;

		proto_place[t >> 8][t & 0xff] = (uint16_t)(i + 1);
	}
}

const struct proto_msg *
proto_find(uint16_t type)
{
	uint16_t at;

	if (proto_place[1][1] == 0)
		proto_index();
	if (type >> 8 >= PROTO_GROUPS || (type & 0xff) >= PROTO_ROWS ||
	    (at = proto_place[type >> 8][type & 0xff]) == 0)
		return NULL;
	return &proto_msgs[at - 1];
}

static const char *const proto_levels[PROTO_LEVEL_LAST + 1] = {"debug", "info",
    "notice", "warning", "error", "critical", "alert", "emergency"};

const char *
proto_level_name(unsigned level)
{
	return proto_levels[level];
}

int
proto_level_find(struct span name)
{
	for (unsigned i = 0; i <= PROTO_LEVEL_LAST; i++)
		if (span_is(name, proto_levels[i]))
			return (int)i;
	return -1;
}

/* FNV-1a: it tells builds apart and is no protection. */
static uint64_t
proto_mix(uint64_t h, const void *p, size_t len)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		h = (h ^ b[i]) * 0x100000001b3U;
	return h;
}

uint64_t
proto_id(void)
{
	static uint64_t id;
	uint64_t h = 0xcbf29ce484222325U;

	if (id != 0)
		return id;
	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];
		const uint32_t row[] = {m->type, m->from, m->to, m->phase,
		    (uint32_t)m->nfds, (uint32_t)m->nfields};

		h = proto_mix(h, m->name, strlen(m->name) + 1);
		h = proto_mix(h, row, sizeof(row));
		for (size_t f = 0; f < m->nfields; f++) {
			const struct proto_field *pf = &m->fields[f];
			const uint64_t kind = (uint64_t)pf->kind;

			h = proto_mix(h, pf->name, strlen(pf->name) + 1);
			h = proto_mix(h, &kind, sizeof(kind));
			h = proto_mix(h, &pf->max, sizeof(pf->max));
		}
	}
	id = h;
	return h;
}

const char *
role_name(enum role r)
{
	static const char *const names[ROLE_COUNT] = {"icsupervisor",
	    "mcp-proxyd", "policyd", "auditd", "mcp-backd", "mitmd", "keyd",
	    "dialerd", "egressd", "tunneld", "termd", "portd", "acpd", "gated",
	    "approver", "followd", "viewer", "icwebd", "mcp-logind",
	    "mcp-grantd", "mcp-callbackd"};

	return r < ROLE_COUNT ? names[r] : "nobody";
}

/* auditd passes the struct of a first half on as that of the second. */
#undef VIA_AUDIT /* to the end of this file */
#define VIA_AUDIT(M, name, number, from, to, fds, as)                          \
	_Static_assert(sizeof(struct msg_##name) == sizeof(struct msg_##as) && \
			   sizeof(fields_##name) == sizeof(fields_##as),       \
	    #name " and " #as);
#define NO_ROW(...)
PROTO_MSGS(NO_ROW)
