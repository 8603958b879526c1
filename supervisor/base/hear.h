/* SPDX-License-Identifier: ISC */
/*
 * ic-hear: reads the lines of one `icctl relay` for `icctl hub`. The relay runs
 * on another machine, which may be in an attacker's hands, so this program has
 * the relay's two outputs, a pipe to icctl, and no right besides. It writes
 * frames: a head, a struct of fixed form, and for trees a value in its wire
 * form (common/json/value.h). icctl checks each frame and takes texts for what
 * they are, text from outside. The lines are described in ironcurtain-fleet(7).
 */
#ifndef BASE_HEAR_H
#define BASE_HEAR_H

#include <stdint.h>

#define HEAR_VERSION 1U
#define HEAR_LINE (8U << 20)  /* bytes of the longest line */
#define HEAR_FRAME (5U << 20) /* bytes of the longest frame */
#define HEAR_ID 161U          /* bytes of the name of a session */
#define HEAR_ERRORS 3         /* the descriptor of the relay's errors */

enum hear_kind {
	HEAR_HELLO = 1, /* struct hear_hello, the first frame of a relay */
	HEAR_ROW,       /* struct hear_row: a session */
	HEAR_GONE,      /* struct hear_name: a session is not there any more */
	HEAR_STATUS,    /* struct hear_name and a tree */
	HEAR_BUDGET,    /* struct hear_name and a tree */
	HEAR_HOLD,      /* struct hear_name and a tree: a pending call */
	HEAR_HOLD_END,  /* struct hear_name: a call no longer waits */
	HEAR_ITEM,      /* struct hear_item: activity */
	HEAR_REPLY,     /* struct hear_reply: to a request of the hub */
	HEAR_SAID,      /* struct hear_text: a line of the relay's errors */
	HEAR_BAD,       /* struct hear_text: why it is heard no longer */
	HEAR_ALIVE,     /* without content: the answer to a question */
};
#define HEAR_LAST HEAR_ALIVE

struct hear_head {
	uint32_t kind, len;
};

/* Texts end with a NUL, and are UTF-8 without one. */
struct hear_hello {
	char host[65], boot[37], user[33], version[33];
};

struct hear_row {
	char session[HEAR_ID];
	char is[9]; /* runs, silent, lost, over or starting */
	char agent[65], workspace[1024], policy[1024], state[24], until[32];
	char why[200];
};

struct hear_name {
	char session[HEAR_ID];
	char id[16];    /* the pending call, or "" */
	char state[16]; /* how the call ended, or "" */
};

struct hear_item {
	uint64_t us;   /* CLOCK_REALTIME */
	uint32_t kind; /* enum live_kind */
	char session[HEAR_ID];
	char id[16], state[16];
	char text[200];
};

struct hear_reply {
	uint64_t n; /* the request's number */
	uint32_t ok;
	char code[33], error[512];
};

struct hear_text {
	char text[200];
};

#endif
