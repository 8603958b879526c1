/* SPDX-License-Identifier: ISC */
/*
 * The definition of each tool when it was first used, or when the user last
 * trusted it. A tool whose definition changed, that appeared later, or that
 * could be mistaken for another one is quarantined: the agent does not see it,
 * and calls of it are refused, until `icctl trust`.
 */
#ifndef PINS_H
#define PINS_H

#include "common/ipc/proto.h"

#define PINS_MAX	16384U
#define PINS_TOLD	4000U		/* TOOL_SEEN messages about one server
					   in a session ... */
#define PINS_TOLD_BYTES	(8U << 20)	/* ... and bytes of definitions in
					   them */
#define PIN_DIGEST	32U

struct policyd_env;
struct session;
struct session_tool;
struct session_tools;

struct pin {
	uint16_t server;
	char tool[PROTO_MAX_TOOL_NAME + 1];
	uint8_t digest[PIN_DIGEST];
	uint8_t defined[PIN_DIGEST];	/* digest of the definition alone ... */
	bool known;			/* ... if it is known */
};

struct pins {
	struct pin *list;
	size_t n, cap;
	bool known[PROTO_MAX_SERVERS];	/* was used in an earlier session */
	unsigned told[PROTO_MAX_SERVERS];
	size_t told_bytes[PROTO_MAX_SERVERS];
};

/*
 * Add a pin that icsupervisor sends before START. `definition` is the digest of
 * the definition alone, or empty. Returns 0, or -1 with errno EINVAL, EEXIST,
 * ENOBUFS or ENOMEM.
 */
int pins_add(struct pins *, uint16_t server, struct span tool,
    struct span digest, struct span definition);
void pins_free(struct pins *);
/* Returns the pin, or NULL. */
const struct pin *pins_of_tool(
    const struct pins *, uint16_t server, struct span tool);

/*
 * Judge all tools of a server that has listed them. `old` are the tools it
 * listed before, so that nothing is reported twice; NULL if the tools are the
 * same.
 */
void pins_judge(struct policyd_env *, struct session *,
    const struct session_tools *old);
/*
 * Trust the tool if its digest is the one given. Returns true if the agent's
 * tool list changed.
 */
bool pins_trust(struct policyd_env *, const struct msg_TRUST_GO *);
/* Returns true if the agent may see the tool and call it. */
bool pins_usable(const struct session_tool *);
/*
 * Returns the reason why not, for the agent, in the pool of the current call.
 */
struct span pins_reason(struct policyd_env *, const char *server,
    const struct session_tool *);

/*
 * Reduce a name to what remains after removing every difference that is easily
 * overlooked: case, separators, 0 and o, 1, i and l, and so on. `dst` is as
 * long as the name. Returns the length.
 */
size_t pins_skeleton(struct span name, char *dst);

#endif
