/* SPDX-License-Identifier: ISC */
/*
 * Calls that wait for a person. A call is pending until the first event that
 * ends it (a verdict, its expiry, a cancellation) and leaves the table then;
 * any later event is too late. Nothing is released from here: an approved call
 * is rebuilt from what the agent sent (work_again.c).
 */
#ifndef HOLD_H
#define HOLD_H

#include "common/ipc/proto.h"
#include "common/json/value.h"

#define HOLD_DIGEST 32U

/* An object outside the view, as it was when the call was shown. */
struct hold_object {
	enum proto_object kind;
	bool writable;
	uint64_t dev, ino;
	uint64_t own_dev, own_ino;	/* PROTO_OBJECT_NAME: the object by
					   that name, or 0 */
	uint64_t nlink;			/* link count of an object to be
					   written, or 0 */
};

struct hold {
	uint64_t id;
	uint16_t server;
	bool used, progress;
	uint64_t expires;		/* ms of the loop's clock */
	uint32_t ms;			/* time that it was given */
	uint8_t digest[HOLD_DIGEST];	/* digest of server, tool and
					   arguments */
	char tool[257];
	char reason[2049], rule[257];
	struct hold_object objects[PROTO_MAX_OBJECTS];
	unsigned nobjects;		/* 0: the call stays in the view */
	bool led, asking;		/* remotes were resolved to `urls`; a
					   new answer is pending */
	uint8_t urls[HOLD_DIGEST];	/* digest of the remotes' URLs */
	char session[2049];		/* the grant that was offered, or
					   empty */
	uint8_t told[HOLD_DIGEST];	/* digest of the message that shows
					   it */
	uint8_t shown[HOLD_DIGEST];	/* the same digest from the approval,
					   or zeros */
	bool automatic;			/* the approver may answer it */
	bool for_session;
	unsigned times;			/* number of calls approved for the
					   tool, or 0 */
	/*
	 * The end to record if it is judged again because of other rules, not
	 * because of an approval.
	 */
	enum proto_hold again;
	uint8_t *args;			/* as the agent sent them, in wire
					   encoding */
	size_t args_len;
};

struct holds {
	struct hold list[PROTO_MAX_HOLDS];
	unsigned n;
};

/*
 * Returns NULL with errno ENOBUFS (table full) or ENOMEM. Copies the arguments.
 */
struct hold *hold_new(struct holds *, uint64_t id, struct span args);
/* Initialise a hold outside the table. Returns 0, or -1 with errno ENOMEM. */
int hold_init(struct hold *, uint64_t id, struct span args);
void hold_clear(struct hold *);
/* Move a hold out of the table, unchanged. */
void hold_take(struct holds *, struct hold *, struct hold *to);
/* Returns NULL if no call with that id waits. */
struct hold *hold_find(struct holds *, uint64_t id);
void hold_free(struct holds *, struct hold *);
void hold_free_all(struct holds *);
/* Returns the time of the next expiry, or 0 if no call waits. */
uint64_t hold_next(const struct holds *);
/* Returns an expired hold, or NULL. */
struct hold *hold_expired(struct holds *, uint64_t now);
/* Returns a hold of that server, or NULL. */
struct hold *hold_of_server(struct holds *, uint16_t server);

/*
 * SHA-256 of the canonical JSON array [server, tool, arguments], and of the names
 * of paths as a fourth element if there are any (named.c); `args` and `named`
 * are canonical JSON. Returns 0, or -1 with errno.
 */
int hold_digest(struct span server, struct span tool, struct span args,
    struct span named, uint8_t digest[HOLD_DIGEST]);

/* SHA-256 of everything in the message that a person reads. */
void hold_told(const struct msg_HOLD *, uint8_t digest[HOLD_DIGEST]);

#endif
