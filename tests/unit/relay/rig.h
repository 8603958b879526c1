/* SPDX-License-Identifier: ISC */
/*
 * Runs the real termd between a simulated icsupervisor, a simulated ic-bridge
 * and viewers. The messages to a viewer are recorded as words, one message per
 * line.
 */
#ifndef TERMD_RIG_H
#define TERMD_RIG_H

#include "common/box_stream.h"
#include "unit/ipc/worker_rig.h"

struct rig_viewer {
	struct chan *chan;
	char *said; /* allocated; never longer than RIG_SAID */
	size_t len;
	size_t raw; /* bytes received in RAW */
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

/* Start termd in this mode, up to START. */
void rig_start(const char *program, const struct msg_TERM_MODE *);
void rig_stop(void);
/* Connect as ic-bridge does; the latest connection is rig.box. */
int rig_connect(void);
/* Send a frame as ic-bridge; waits until the socket has taken it. */
void rig_box(enum box_kind, const char *, size_t);
void rig_print(const char *);
/*
 * Read from termd as the sandbox until `want` bytes have arrived, or for 5 s.
 */
size_t rig_read(uint8_t *dst, size_t want);
/* Expect these bytes after the first frame, if that is the size. */
bool rig_reads(const void *want, size_t len);

struct rig_viewer *rig_viewer(bool types, bool waits);
void rig_viewer_free(struct rig_viewer *);
/* Wait until the viewer was sent this text, or for 30 s. */
bool rig_said(struct rig_viewer *, const char *);
/* Forget the recorded messages. */
void rig_forget(struct rig_viewer *);
/* Run the loop for some turns in which nothing else is expected. */
void rig_turns(unsigned);

#endif
