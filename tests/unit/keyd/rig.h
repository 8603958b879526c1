/* SPDX-License-Identifier: ISC */
/*
 * The real keyd, started as icsupervisor starts it. The test holds the channel
 * ends of icsupervisor, mitmd, auditd and dialerd.
 */
#ifndef KEYD_RIG_H
#define KEYD_RIG_H

#include "common/ipc/stream.h"
#include "unit/ipc/worker_rig.h"
#include "unit/keyd/server.h"

#define RIG_KEY "sk-test-Xq7Lw2Zr9Tf4Kp1Mv8Bs3Nd6Gh5Jc0YaWe-ABCDEF"

struct rig_end {
	uint32_t stream, exchange;
	unsigned status;
	uint64_t sent, unsent, received;
	char error[257];
};

struct rig {
	struct worker_rig worker;
	struct chan *mitm, *audit, *dial;
	const char *provider; /* text of the provider file */
	uint8_t digest[32];
	uint16_t port;          /* port to which the played dialerd connects */
	const char *dial_error; /* or its error */
	uint16_t first_port;    /* port for the first address, if not 0 */
	char avoided[65];       /* address of the last DIAL that avoids one */
	/* for the following requests: host, digest, approval */
	unsigned host;
	struct span digest_of_body;
	bool asked;
	/* mitmd's description to the person who approved it */
	const char *shown_name, *shown_host, *shown_method;
	struct span refs; /* refs of a push */
	uint64_t most;	  /* tokens of an answer */
	const char *type; /* or "application/json; ..." */
	/* received messages */
	struct msg_SPENT spent;
	unsigned nstates;
	unsigned state;
	uint32_t length;
	char state_text[257];
	unsigned nalarms, ndials;
	unsigned dialed; /* DIAL.which of the last one */
	char alarm[33];
	unsigned ntroubles;
	char trouble[257]; /* text of the last TROUBLE */
	unsigned nends;
	struct rig_end end;
	int stream_fd; /* stream of the last STREAM, or -1 */
	/* named by an AT frame; rig_frame() returns it as BODY */
	struct arena_piece piece;
	uint32_t piece_done;
};

/*
 * With this in the environment, bodies travel in an arena as far as they can, in
 * both directions.
 */
#define RIG_ARENA "RIG_ARENA"

struct rig_upstream {
	const char *host, *prefix, *roots;
	uint16_t port;
	bool tls, reuse;
	unsigned more; /* number of further hosts, all the same */
};

/*
 * Start keyd, up to START. `key` is the content of the descriptor; NULL: no
 * credential.
 */
void rig_start(struct rig *, const char *program, const struct rig_upstream *,
    const char *key);
void rig_stop(struct rig *);
/* Like worker_rig_until() and its relatives, on this rig. */
bool rig_until(struct rig *, const unsigned *what, unsigned n);
bool rig_until_true(struct rig *, const bool *what);
void rig_turn(struct rig *);
/* Open a stream with this number. */
int rig_stream(struct rig *, uint32_t stream);
/* Send REQUEST_GO for a route of the test's provider file; see rig.c. */
void rig_request(struct rig *, uint32_t stream, uint32_t exchange,
    unsigned route, const char *path, const char *query, uint64_t length);
void rig_body(struct rig *, int fd, uint32_t exchange, const void *, size_t);
/*
 * Read the next frame, with its payload in out[65536]. An AT frame becomes BODY
 * frames. Returns 0, or -1 if the stream ended.
 */
int rig_frame(struct rig *, int fd, struct stream_frame *, uint8_t *out);

/* A complete answer. */
struct rig_answer {
	unsigned status;
	bool headed, ended, closed;
	char fail[257];
	bool fail_sent; /* the whole request was sent before */
	uint64_t len, sum;
	uint8_t head[65536];
	size_t head_len;
	uint8_t body[4096]; /* the beginning of the body */
};
void rig_answer(struct rig *, int fd, uint32_t exchange, struct rig_answer *);

#endif
