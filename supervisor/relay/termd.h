/* SPDX-License-Identifier: ISC */
/*
 * Internals of termd. The sandbox's connection (termd_box.c) brings the agent's
 * output, which becomes lines (termd_lines.c) or a grid of cells
 * (termd_screen.c); both go to the viewers (termd_viewer.c) in messages of
 * fixed form. Input from a viewer takes the opposite way.
 */
#ifndef TERMD_H
#define TERMD_H

#include <sys/queue.h>

#include "common/box_stream.h"
#include "common/buf.h"
#include "common/ipc/worker.h"
#include "relay/termd_lines.h"
#include "relay/termd_screen.h"

#define TERMD_READ 65536U        /* bytes read from the sandbox per turn */
#define TERMD_AHEAD (256U << 10) /* bytes that a viewer may lag behind */
/* Each typed byte may need a frame of its own. */
#define TERMD_BOX_OUT                                                          \
	(2 * PROTO_MAX_VIEWERS * PROTO_TYPED_ROOM * (BOX_HEADER + 1))
#define TERMD_BOX_FULL (64U << 10) /* beyond this, reports are dropped */
/* Times in ms. */
#define TERMD_PARTIAL_MS 100U /* an unfinished line is shown after this */
#define TERMD_FRAME_MS 15U    /* minimum time between frames */
#define TERMD_SIZE_MS 100U    /* minimum time between changes of size */
#define TERMD_TIMERS 8U

struct viewer {
	TAILQ_ENTRY(viewer) entry;
	struct chan *chan;
	uint32_t id;
	bool types, waits;
	bool pasting;
	uint16_t rows, cols;  /* 0: unknown */
	uint32_t owed;        /* typed bytes not yet sent to the sandbox */
	uint32_t sent, acked; /* numbers of frames */
	uint64_t seen;        /* last change of the screen that it was sent */
	uint32_t seen_title;
	bool bell;     /* rang since its last frame */
	uint32_t lost; /* lines dropped since the last frame */
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
	uint32_t left;  /* data of this frame still to come */
	struct buf out; /* frames to be sent */
};

struct termd_env {
	struct worker w;
	struct msg_TERM_MODE mode;
	bool has_mode;
	struct box box;
	struct viewers viewers, dead;
	unsigned nviewers;
	bool watched;  /* had a viewer at some time */
	bool stopping; /* ending: only pending data is passed on */
	struct lines lines[2];
	bool gone[2];          /* nobody reads that stream any more */
	bool input_over;       /* nobody types any more; tell the sandbox
				  once */
	struct screen *screen; /* NULL: line mode */
	char title[4 * SCREEN_MAX_TITLE];
	size_t title_len;
	uint32_t titles; /* number of titles so far */
	struct loop_timer partial, frame, size;
	uint64_t sized; /* loop_now() of the last change of size */
};

extern struct termd_env termd_env;

/* termd_serve.c */
void termd_serve(void) __attribute__((noreturn));

/* termd_box.c */
void box_start(void);
/* Send a frame to the sandbox; it is kept until the sandbox connects. */
void box_send(enum box_kind, struct span data);
/* Send data that may be dropped: mouse reports, answers to queries. */
void box_report(struct span data);
/* STOP arrived: accept a connection that is already waiting. */
void box_stop(void);
/* Read from the sandbox or pause, as the viewers allow. */
void box_update(void);
/* Returns true when everything that the sandbox sent has been read. */
bool box_drained(void);

/* termd_viewer.c */
/* Add a viewer. Takes ownership of `fd`. */
void viewer_add(const struct msg_VIEWER *, int fd);
/* Pass a stream's bytes unchanged to the viewers that wait for each byte. */
void viewers_raw(unsigned stream, struct span);
void viewers_line(struct span cells, unsigned stream, bool more, bool joined);
/* The screen changed: all viewers need a frame. */
void viewers_news(void);
/* Send frames to viewers that need one. */
void viewers_due(void);
/* Give this viewer the keyboard. */
void viewer_take(struct viewer *);
/* Send a message, or drop it if the viewer is gone. */
void viewer_send(struct viewer *, enum msg_type, const void *msg);
/* Everything that was typed has been sent to the sandbox. */
void viewers_taken(void);
/* Returns true if a viewer that waits for every byte lags too far behind. */
bool viewers_behind(void);
/* After STOP: tell all viewers. Returns true once nothing is queued. */
bool viewers_finish(void);
/* Free the viewers that are gone. */
void viewers_reap(void);

/*
 * termd_frame.c: send the changes if the viewer has acknowledged its last
 * frame.
 */
void frame_send(struct viewer *);

/* termd_input.c: a person's input. */
extern const struct chan_handler input_handlers[];
extern const size_t input_nhandlers;
/* The viewer lost the keyboard, or is gone. */
void input_over(struct viewer *);
/* Adopt the size of the typist's terminal. */
void input_size(void);

/* termd_output.c: the agent's output, according to the mode. */
void output_start(void);
void output_bytes(unsigned stream, struct span);
void output_end(unsigned stream);

#endif
