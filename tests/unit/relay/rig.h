/* SPDX-License-Identifier: ISC */
/*
 * The real termd between a played icsupervisor, a played ic-bridge and
 * viewers.  What a viewer was sent is kept in words, one message a line.
 */
#ifndef TERMD_RIG_H
#define TERMD_RIG_H

#include "common/box_stream.h"
#include "unit/ipc/worker_rig.h"

struct rig_viewer {
	struct chan *chan;
	char *said; /* grows; never longer than RIG_SAID */
	size_t len;
	size_t raw; /* bytes of RAW */
	unsigned lines, frames, lost;
	uint32_t seq, room;
	bool closed, ended, quiet;
};

#define RIG_SAID (1U << 20)

struct termd_rig {
	struct worker_rig worker;
	int listener, box;
	struct msg_TERM_MODE mode;
};

extern struct termd_rig rig;

/* termd up to START, in this mode. */
void rig_start(const char *program, const struct msg_TERM_MODE *);
void rig_stop(void);
/* Connects as ic-bridge does; the last one is rig.box. */
int rig_connect(void);
/* A frame of ic-bridge's; waits until the socket has taken it. */
void rig_box(enum box_kind, const char *, size_t);
void rig_print(const char *);
/* Reads what termd sends to the sandbox until that many bytes came, or 5 s. */
size_t rig_read(uint8_t *dst, size_t want);
/* The same without the first frame, if it is the size. */
bool rig_reads(const void *want, size_t len);

struct rig_viewer *rig_viewer(bool types, bool waits);
void rig_viewer_free(struct rig_viewer *);
/* Until it was sent this text, or 30 s. */
bool rig_said(struct rig_viewer *, const char *);
/* Forgets what it was sent. */
void rig_forget(struct rig_viewer *);
/* Some turns of the loop, in which nothing else is expected. */
void rig_turns(unsigned);

#endif
