/* SPDX-License-Identifier: ISC */
/*
 * termd's inside.  The sandbox's connection (termd_box.c) brings the agent's
 * output, which becomes lines (termd_lines.c) or a grid of cells
 * (termd_screen.c); both go to the viewers (termd_viewer.c) in fixed messages.
 * What a viewer's person types goes the other way.
 */
#ifndef TERMD_H
#define TERMD_H

#include <sys/queue.h>

#include "common/box_stream.h"
#include "common/buf.h"
#include "common/ipc/worker.h"
#include "relay/termd_lines.h"
#include "relay/termd_screen.h"

#define TERMD_READ 65536U        /* bytes of the sandbox, a turn */
#define TERMD_AHEAD (256U << 10) /* that a viewer may be behind */
/* Each typed byte may be a frame of its own. */
#define TERMD_BOX_OUT                                                          \
	(2 * PROTO_MAX_VIEWERS * PROTO_TYPED_ROOM * (BOX_HEADER + 1))
#define TERMD_BOX_FULL (64U << 10) /* what nobody counts is dropped */
/* ms */
#define TERMD_PARTIAL_MS 100U /* a line without an end is shown after this */
#define TERMD_FRAME_MS 15U    /* between two frames */
#define TERMD_SIZE_MS 100U    /* between two changes of size */
#define TERMD_TIMERS 8U

struct viewer {
	TAILQ_ENTRY(viewer) entry;
	struct chan *chan;
	uint32_t id;
	bool types, waits;
	bool pasting;
	uint16_t rows, cols;  /* 0: not told */
	uint32_t owed;        /* typed bytes that the sandbox has not taken */
	uint32_t sent, acked; /* frames */
	uint64_t seen;        /* change of the screen that it has */
	uint32_t seen_title;
	bool bell;     /* since its last frame */
	uint32_t lost; /* lines, since the last frame */
	bool news;     /* something was sent since the last frame */
	bool dead;
};
TAILQ_HEAD(viewers, viewer);

/* The connection of ic-bridge. */
struct box {
	int listener, fd;
	struct loop_io accept_io, io;
	uint8_t head[BOX_HEADER];
	size_t nhead;
	enum box_kind kind;
	uint32_t left;  /* data of this frame that is to come */
	struct buf out; /* frames for it */
};

struct termd_env {
	struct worker w;
	struct msg_TERM_MODE mode;
	bool has_mode;
	struct box box;
	struct viewers viewers, dead;
	unsigned nviewers;
	bool watched;  /* there was a viewer */
	bool stopping; /* only what is under way is passed on */
	struct lines lines[2];
	bool gone[2];          /* nobody takes that stream any more */
	bool input_over;       /* so is the sandbox told once */
	struct screen *screen; /* NULL: there are lines only */
	char title[4 * SCREEN_MAX_TITLE];
	size_t title_len;
	uint32_t titles; /* so many there were */
	struct loop_timer partial, frame, size;
	uint64_t sized; /* loop_now() of the last change of size */
};

extern struct termd_env termd_env;

/* termd_serve.c */
void termd_serve(void) __attribute__((noreturn));

/* termd_box.c */
void box_start(void);
/* A frame for the sandbox; kept until it connects. */
void box_send(enum box_kind, struct span data);
/* The same of what may be lost: reports of a mouse, answers to queries. */
void box_report(struct span data);
/* STOP came: takes what has connected already. */
void box_stop(void);
/* Reads or not, as the viewers allow it. */
void box_update(void);
/* True when all that the sandbox sent has been read. */
bool box_drained(void);

/* termd_viewer.c */
/* Takes fd. */
void viewer_add(const struct msg_VIEWER *, int fd);
/* A stream's bytes, as they are, to those that wait. */
void viewers_raw(unsigned stream, struct span);
void viewers_line(struct span cells, unsigned stream, bool more, bool joined);
/* The screen changed: it is news to all. */
void viewers_news(void);
/* Frames are due for those that have news. */
void viewers_due(void);
/* Gives the keyboard to this one. */
void viewer_take(struct viewer *);
/* Drops the message if the viewer is gone. */
void viewer_send(struct viewer *, enum msg_type, const void *msg);
/* The sandbox has taken all that was typed. */
void viewers_taken(void);
/* One that waits is too far behind. */
bool viewers_behind(void);
/* After STOP: says so to all; true when nothing is queued any more. */
bool viewers_finish(void);
/* Frees those that are gone. */
void viewers_reap(void);

/* termd_frame.c: what is new, if the viewer has taken its last frame. */
void frame_send(struct viewer *);

/* termd_input.c: what a person does. */
extern const struct chan_handler input_handlers[];
extern const size_t input_nhandlers;
/* The viewer loses the keyboard, or is gone. */
void input_over(struct viewer *);
/* The typist's terminal may have another size. */
void input_size(void);

/* termd_output.c: what the agent wrote, by the mode. */
void output_start(void);
void output_bytes(unsigned stream, struct span);
void output_end(unsigned stream);

#endif
