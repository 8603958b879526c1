/* SPDX-License-Identifier: ISC */
/*
 * Internals of termd. The sandbox's connection (termd_box.c) brings the agent's
 * output (termd_output.c), which becomes lines (termd_lines.c) or a grid of
 * cells (termd_screen.c); both go to the viewers (termd_viewer.c) in frames
 * (termd_frame.c), messages of fixed form; in a conversation it becomes texts
 * for icsupervisor instead (termd_turns.c). Input from a viewer (termd_input.c)
 * takes the opposite way (termd_box_out.c).
 */
#ifndef TERMD_H
#define TERMD_H

#include <sys/queue.h>

#include "common/box_conn.h"
#include "common/buf.h"
#include "common/ipc/worker.h"
#include "workers/termd/termd_lines.h"
#include "workers/termd/termd_screen.h"
#include "workers/termd/termd_turns.h"

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
	uint32_t seen_title, seen_offer;
	bool bell;     /* rang since its last frame */
	uint32_t lost; /* lines dropped since the last frame */
	bool news;     /* something was sent since the last frame */
	bool stopped; /* was told that the agent has stopped, and has not answered */
	bool dead;
};
TAILQ_HEAD(viewers, viewer);

/* The connection of ic-bridge. */
struct termd_env {
	struct worker w;
	struct msg_TERM_MODE mode;
	bool has_mode;
	struct box_conn box;
	uint8_t turn[BOX_TURN_DATA]; /* that of BOX_TURN_END */
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
	struct msg_OFFER offer; /* its text is of `offered` */
	struct buf offered;
	uint32_t offers;
	struct loop_timer partial, frame, size;
	uint64_t sized; /* loop_now() of the last change of size */
	int transcript; /* its file, or -1 */
	uint64_t transcript_room; /* bytes that may still be written */
	unsigned transcript_of;	  /* the stream of its last line */
	bool transcript_open;	  /* the last line has no newline yet */
	bool transcript_over;
};

extern struct termd_env termd_env;

/* termd_serve.c */
void termd_serve(void) __attribute__((noreturn));

/* termd_box.c */
extern const struct box_conn_ops termd_box_ops;

/* termd_box_out.c */
/* Queue a frame for the sandbox, until it connects and takes it. */
void box_send(enum box_kind, struct span data);
/* The same for reports of a mouse and answers to queries, which may be lost. */
void box_report(struct span data);

/* termd_viewer.c */
/*
 * Make a viewer with a channel that is not yet open.  Takes over `fd`.  Returns
 * NULL if there is no place for it.
 */
struct viewer *viewer_new(const struct msg_VIEWER *, int fd,
    const struct chan_handler *, size_t);
/* Drops the message if the viewer is gone. */
void termd_viewer_send(struct viewer *, enum msg_type, const void *msg);
/* Open brackets around pasted text, or close those that are open. */
void viewer_paste(struct viewer *, bool open);
/* Returns true if the viewer is far behind in reading. */
bool viewer_behind(const struct viewer *);
/* Returns true if a viewer that the agent waits for is far behind. */
bool viewers_behind(void);
/* The sandbox has taken all that was typed. */
void viewers_taken(void);
/* Free the viewers that are gone. */
void viewers_reap(void);
/* The agent has stopped: tell whom types, or continue the agent. */
void viewers_stopped(void);
/* This viewer does not wait for the agent to be stopped, or no longer. */
void viewer_continue(struct viewer *);

/* termd_frame.c */
/* Send a stream's bytes, as they are, to the viewers that wait for them. */
void viewers_raw(unsigned stream, struct span);
void viewers_line(struct span cells, unsigned stream, bool more, bool joined);
/* The screen has changed, which is news to all viewers. */
void viewers_news(void);
/* Send a frame soon to the viewers that have news. */
void viewers_due(void);
/* After STOP, send the last frame; returns true when nothing is queued. */
bool viewers_finish(void);

/* termd_input.c: a person's input. */
/* Add a viewer and read what its person types.  Takes over `fd`. */
void viewer_add(const struct msg_VIEWER *, int fd);

/* termd_transcript.c */
/* Add a line, unless there is no transcript. */
void transcript_line(struct span cells, unsigned stream, bool joined);
/* The agent's output is over: add what stands on the screen. */
void transcript_end(void);

/* termd_output.c: the agent's output, according to the mode. */
void output_start(void);
void output_bytes(unsigned stream, struct span);
void output_end(unsigned stream);
/* All output of this turn has come. */
void output_turn(uint32_t turn);

#endif
