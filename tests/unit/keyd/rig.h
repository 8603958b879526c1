/* SPDX-License-Identifier: ISC */
/*
 * The real keyd, started as icsupervisor starts it, between played peers:
 * icsupervisor, mitmd, auditd and dialerd are channel ends of the test.
 */
#ifndef KEYD_RIG_H
#define KEYD_RIG_H

#include "mitmd/wire/stream.h"
#include "unit/ipc/worker_rig.h"
#include "unit/keyd/server.h"

#define RIG_KEY "sk-test-Xq7Lw2Zr9Tf4Kp1Mv8Bs3Nd6Gh5Jc0YaWe-ABCDEF"

struct rig_end {
	uint32_t stream, exchange;
	unsigned status;
	uint64_t sent, received;
	char error[257];
};

struct rig {
	struct worker_rig worker;
	struct chan *mitm, *audit, *dial;
	const char *provider;	/* text of the provider file */
	uint8_t digest[32];
	uint16_t port;		/* where the played dialerd connects */
	const char *dial_error;	/* or what it says instead */
	uint16_t first_port;	/* where the first address leads, if not 0 */
	char avoided[65];	/* of the latest DIAL that avoids any */
	/* of the requests to come: their host, digest, approval */
	unsigned host;
	struct span digest_of_body;
	bool asked;
	/* what mitmd said of it to the person who approved it */
	const char *shown_name, *shown_host, *shown_method;
	struct span refs;	/* of a push */
	const char *type;	/* or "application/json; ..." */
	/* what came */
	struct msg_SPENT spent;
	unsigned nstates;
	unsigned state;
	uint32_t length;
	char state_text[257];
	unsigned nalarms, ndials;
	unsigned dialed;	/* DIAL.which of the latest */
	char alarm[33];
	unsigned ntroubles;
	char trouble[257];	/* the latest TROUBLE's text */
	unsigned nends;
	struct rig_end end;
	int stream_fd;		/* of the latest STREAM, or -1 */
};

struct rig_upstream {
	const char *host, *prefix, *roots;
	uint16_t port;
	bool tls, reuse;
	unsigned more;		/* further hosts, all the same */
};

/* Starts it up to START. key: what the descriptor holds, or NULL: none. */
void rig_start(struct rig *, const char *program, const struct rig_upstream *,
    const char *key);
void rig_stop(struct rig *);
/* As worker_rig_until and its like, and this rig's from then on. */
bool rig_until(struct rig *, const unsigned *what, unsigned n);
bool rig_until_true(struct rig *, const bool *what);
void rig_turn(struct rig *);
/* A stream of that number. */
int rig_stream(struct rig *, uint32_t stream);
/* REQUEST_GO of a route of the test's provider file; see unit/keyd/rig.c. */
void rig_request(struct rig *, uint32_t stream, uint32_t exchange,
    unsigned route, const char *path, const char *query, uint64_t length);
void rig_body(struct rig *, int fd, uint32_t exchange, const void *, size_t);
/* The next frame; payload in out[65536]. 0, or -1: the stream ended. */
int rig_frame(struct rig *, int fd, struct stream_frame *, uint8_t *out);

/* A whole answer. */
struct rig_answer {
	unsigned status;
	bool headed, ended, closed;
	char fail[257];
	uint64_t len, sum;
	uint8_t head[65536];
	size_t head_len;
	uint8_t body[4096];	/* its beginning */
};
void rig_answer(struct rig *, int fd, uint32_t exchange, struct rig_answer *);

#endif
