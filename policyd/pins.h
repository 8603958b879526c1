/* SPDX-License-Identifier: ISC */
/*
 * What each tool was when it was first used, or when the user looked at it
 * last (security.md 2.4).  A tool that is another one now, that came later, or
 * that could be mistaken for another is in quarantine: the agent does not see
 * it, and a call of it is refused, until `icctl trust`.
 */
#ifndef PINS_H
#define PINS_H

#include "common/ipc/proto.h"

#define PINS_MAX	16384U
#define PINS_TOLD	8000U		/* TOOL_SEEN of one session ... */
#define PINS_TOLD_BYTES	(16U << 20)	/* ... and of definitions in them */
#define PIN_DIGEST	32U

struct policyd_env;
struct session;
struct session_tool;
struct session_tools;

struct pin {
	uint16_t server;
	char tool[65];
	uint8_t digest[PIN_DIGEST];
};

struct pins {
	struct pin *list;
	size_t n, cap;
	bool known[PROTO_MAX_SERVERS];	/* was used before */
	unsigned told;
	size_t told_bytes;
};

/* From icsupervisor, before START. -1 with errno: EEXIST, ENOBUFS, ENOMEM. */
int pins_add(struct pins *, uint16_t server, struct span tool,
    struct span digest);
void pins_free(struct pins *);

/*
 * Judges all tools of a server that has listed them. `old`: what it listed
 * before, so that nothing is told twice; NULL: the very same tools.
 */
void pins_judge(struct policyd_env *, struct session *,
    const struct session_tools *old);
/*
 * The user trusts the tool, if it is what the digest says.  Returns true if
 * the agent may see other tools now.
 */
bool pins_trust(struct policyd_env *, const struct msg_TRUST_GO *);
/* May the agent see it and call it? */
bool pins_usable(const struct session_tool *);
/* Why not, for the agent: in the pool of the call at hand. */
struct span pins_reason(struct policyd_env *, const char *server,
    const struct session_tool *);

/*
 * What is left of a name when all that eyes mistake is gone: case, separators,
 * 0 and o, 1, i and l, and so on. dst: as long as the name. Its length.
 */
size_t pins_skeleton(struct span name, char *dst);

#endif
