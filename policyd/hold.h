/* SPDX-License-Identifier: ISC */
/*
 * Calls that wait for a person.  One is pending until the first event that
 * concerns it: a verdict, its expiry, a cancellation; then it is gone from
 * here, and whatever comes later is too late.  Nothing is released from here:
 * the call is made again from what the agent sent (call.c).
 */
#ifndef HOLD_H
#define HOLD_H

#include "common/ipc/proto.h"
#include "common/json/value.h"

#define HOLD_DIGEST 32U

/* An object outside of the view, as it was when the call was shown. */
struct hold_object {
	enum proto_object kind;
	bool writable;
	uint64_t dev, ino;
	uint64_t own_dev, own_ino;	/* of a name: what it names, or 0 */
	uint64_t nlink;			/* of what will be written, or 0 */
};

struct hold {
	uint64_t id;
	uint16_t server;
	bool used, progress;
	uint64_t expires;		/* loop ms */
	uint32_t ms;			/* that it was given */
	uint8_t digest[HOLD_DIGEST];	/* of server, tool and arguments */
	char tool[257];
	char reason[2049], rule[257];
	struct hold_object objects[PROTO_MAX_OBJECTS];
	unsigned nobjects;		/* 0: it stays in the view */
	bool led, asking;		/* remotes led to ...; it is looked again */
	uint8_t urls[HOLD_DIGEST];	/* ... these */
	char session[2049];		/* what may be granted; or empty */
	uint8_t told[HOLD_DIGEST];	/* of all that was told about it */
	uint8_t shown[HOLD_DIGEST];	/* of it, by who approved; or zeros */
	bool for_session;
	unsigned times;			/* so many calls of the tool; or 0 */
	/* Looked at again for other rules, not for an approval: ends so. */
	enum proto_hold again;
	uint8_t *args;			/* as the agent sent them, encoded */
	size_t args_len;
};

struct holds {
	struct hold list[PROTO_MAX_HOLDS];
	unsigned n;
};

/* NULL with ENOBUFS (all taken), ENOMEM. Copies the arguments. */
struct hold *hold_new(struct holds *, uint64_t id, struct span args);
/* The same for a place of the caller's own. -1: ENOMEM. */
int hold_init(struct hold *, uint64_t id, struct span args);
void hold_clear(struct hold *);
/* Moves it out of the table, unchanged. */
void hold_take(struct holds *, struct hold *, struct hold *to);
/* NULL: nothing with that id waits. */
struct hold *hold_find(struct holds *, uint64_t id);
void hold_free(struct holds *, struct hold *);
void hold_free_all(struct holds *);
/* When the next one expires; 0: none waits. */
uint64_t hold_next(const struct holds *);
/* One that has expired, or NULL. */
struct hold *hold_expired(struct holds *, uint64_t now);
/* One of that server, or NULL. */
struct hold *hold_of_server(struct holds *, uint16_t server);

/*
 * SHA-256 of the canonical JSON array [server, tool, arguments]; args is the
 * canonical JSON of the arguments. -1 with errno.
 */
int hold_digest(struct span server, struct span tool, struct span args,
    uint8_t digest[HOLD_DIGEST]);

/* SHA-256 of everything in the message that a person reads. */
void hold_told(const struct msg_HOLD *, uint8_t digest[HOLD_DIGEST]);

#endif
