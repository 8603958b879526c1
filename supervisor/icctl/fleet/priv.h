/* SPDX-License-Identifier: ISC */
/*
 * Internals of the fleet. file.c: the file; program.c: programs that it names;
 * discover.c: names of relays that a program prints; node.c: one relay;
 * frames.c: what ic-hear says of it; ask.c: requests to it; tree.c: values.
 */
#ifndef FLEET_PRIV_H
#define FLEET_PRIV_H

#include <sys/types.h>

#include "base/fault.h"
#include "base/hear.h"
#include "base/spawn.h"
#include "common/buf.h"
#include "common/json/value.h"
#include "icctl/fleet/fleet.h"

#define FLEET_NAME 64U    /* bytes of the name of a relay */
#define FLEET_WORDS 64U   /* words of a command */
#define FLEET_ENTRIES 256U
#define FLEET_ASKS 64U    /* requests to a relay that wait for a reply */
#define FLEET_SESSIONS 256U /* told by one relay */
#define FLEET_HELD (64U << 20) /* bytes of calls and states of one relay */
#define FLEET_VARIABLES 16U

/* A program as it was found and judged at the start. */
struct fleet_program {
	char path[4096];
	dev_t dev;
	ino_t ino;
	char **argv; /* ends with NULL; one word may be FLEET_PLACE */
};
/* Stands for the name of the relay; a word of its own. */
#define FLEET_PLACE "{name}"

struct fleet_entry {
	char name[FLEET_NAME]; /* or "" with `discover` */
	struct fleet_program command, discover;
	unsigned every; /* seconds between two runs of `discover` */
	/* discover.c */
	struct fleet *fleet;
	struct spawned sp;
	struct loop_io out;
	struct loop_timer again;
	struct buf in;
};

struct fleet_ask {
	uint64_t n, token;
	char session[LIVE_NAME];
	const char *op;
	char id[LIVE_ID];
};

struct fleet_node {
	struct fleet *fleet;
	const struct fleet_entry *entry;
	char name[FLEET_NAME];
	char host[65]; /* as it says */
	bool met;      /* it has said who it is */
	bool listed;   /* the latest run of `discover` named it */
	char said[200], why[420];
	struct spawned relay, hear;
	int to, from; /* the relay's input, and what ic-hear writes; or -1 */
	struct loop_io in, out;
	struct loop_timer retry, alive, pause;
	struct buf frames, requests;
	/* node.c: it is of no more use, and why; it has said who it is. */
	void (*lost)(struct fleet_node *, const char *why);
	void (*hello)(struct fleet_node *, const struct hear_hello *);
	bool asked_alive; /* and not heard since */
	unsigned tries;
	uint64_t second;  /* loop_now() / 1000 of `frames_now` */
	unsigned frames_now;
	size_t kept; /* at least the bytes of its calls and states */
	struct fleet_ask asks[FLEET_ASKS];
	unsigned nasks;
};

struct fleet {
	struct icctl *ctl;
	struct loop *loop;
	struct live *live;
	struct fleet_entry *entries;
	unsigned nentries;
	struct fleet_node *nodes[FLEET_NODES];
	unsigned nnodes;
	uint64_t n; /* the number of the latest request */
	struct value_pool *pool;
	char by[LIVE_BY + 1]; /* the name of the person, as relays are told */
	char hear[4096];      /* the path of ic-hear */
	char *const *envp;
};

/* file.c: Read the file. Returns 0, or -1 with the fault set. */
int fleet_file(struct fleet *, const char *path, struct fault *);
/* Returns true for the name of a relay. */
bool fleet_name_ok(const char *);

/* program.c */
/*
 * Find the program of a command, once and for all, and refuse one that an agent
 * can write. Takes `argv`. Returns 0, or -1 with the fault set.
 */
int fleet_program(const struct icctl *, struct fleet_program *, char **argv,
    struct fault *);
/*
 * Start it, if it is still the same file, with `name` in place of FLEET_PLACE.
 * Returns 0, or -1 with errno set.
 */
int fleet_run(const struct fleet *, const struct fleet_program *,
    const char *name, const int fds[3], struct spawned *);
/* End it at once, with what it has started in its session. */
void fleet_stop(struct spawned *);
/* Make the environment of programs. Returns NULL without memory. */
char *const *fleet_env(char *const *more);

/* discover.c: Begin to run the entry's program now and then. */
void discover_begin(struct fleet *, struct fleet_entry *);
void discover_end(struct fleet_entry *);

/* node.c */
struct fleet_node *node_add(struct fleet *, const struct fleet_entry *,
    const char *name);
/* The relay is not needed any more. */
void node_drop(struct fleet_node *);
void node_free(struct fleet_node *);

/* frames.c: Take some of what ic-hear has written. Says what to do next. */
enum frames_next {
	FRAMES_WAIT,  /* for more */
	FRAMES_MORE,  /* more is there: come again, once others had their turn */
	FRAMES_PAUSE, /* until the next second */
	FRAMES_OVER,  /* nothing: lost() was called */
};
enum frames_next frames_take(struct fleet_node *);

/* ask.c */
int fleet_ask_send(void *fleet, struct live_session *, json_object *, const char *op,
    const char *id, uint64_t token);
/* A reply has come. Returns false if nobody asked. */
bool ask_replied(struct fleet_node *, const struct hear_reply *);
/* No more replies come. */
void ask_lost(struct fleet_node *);
/* Ask whether it still reads. */
void ask_alive(struct fleet_node *);
/* Write what waits. Returns 0, or -1 if the relay reads no more. */
int ask_flush(struct fleet_node *);

/* tree.c: Returns the value, which the caller owns, or NULL without memory. */
json_object *tree_object(const struct value *);
/* Returns about as many bytes as that takes; an empty object takes 800. */
size_t tree_weight(const struct value *);

#endif
