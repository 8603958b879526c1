/* SPDX-License-Identifier: ISC */
/*
 * The viewer: it shows what termd sends and passes on what a person types.
 * It owns the person's terminal, one channel to termd, and where `icctl
 * start` made it, a link to icsupervisor.  Everything that reaches the
 * terminal is composed here from decoded cells; no byte of the agent is
 * written to it.  Output that is redirected to a file or pipe passes as it is.
 */
#ifndef VIEWER_H
#define VIEWER_H

#include <termios.h>

#include "common/buf.h"
#include "common/ipc/chan.h"
#include "common/loop.h"
#include "common/term/cells.h"
#include "relay/viewer_how.h"

/* Exit statuses of the viewer process, read by its parent. */
#define VIEWER_EXIT_OK 0
#define VIEWER_EXIT_LOST 1
#define VIEWER_EXIT_DETACHED 100

/* Descriptors of a viewer's program, besides 0, 1 and 2. */
#define VIEWER_FD_LINK                                                         \
	3                /* to icsupervisor; with `attached`: termd's channel  \
			  */
#define VIEWER_FD_SAYS 4 /* what icsupervisor writes to its standard error */

/* What one may do to the terminal that must be undone. Shared with parent. */
struct viewer_state {
	volatile bool raw;   /* termios was changed */
	volatile bool drawn; /* modes were set; the screen is ours */
	volatile bool alternate;
};

/*
 * parent.c: `icctl viewer PID MODE NAME`, of which the tiny parent remains.
 * Starts the viewer below it; waits for both, passes signals on to process
 * PID (0: none) and restores the terminal.  Returns the exit status.
 */
int viewer_main(int argc, char **argv);

/* tty.c */
int tty_save(void);
int tty_raw(void);
/* Safe at any time and in both processes. Keeps errno. */
void tty_restore(struct viewer_state *);
bool tty_size(unsigned *rows, unsigned *cols);
/* What undoes all but the alternate screen. */
extern const char tty_reset[];

/* The viewer's own state, of one process. */
struct viewer {
	struct loop loop;
	struct viewer_how how;
	struct viewer_state *state;
	const char *name; /* the session's */
	struct chan *chan;
	struct loop_io link_io, life_io, signal_io, says_io;
	int link, life, signals;
	bool ended;    /* BOX_END came */
	bool over;     /* the link is closed: there will be no other channel */
	bool told;     /* our parent tells us that icsupervisor has ended */
	uint32_t room; /* bytes that termd takes of us */
	/* Waits until fd takes bytes, and serves what cannot wait for that. */
	void (*wait)(int fd);
	/* The person's terminal is gone: leaves. */
	void (*lost)(void) __attribute__((noreturn));
};

extern struct viewer viewer;

/* viewer.c */
int viewer_run(const struct viewer_how *, struct viewer_state *,
    const char *name, int life, bool told);

/* out.c */
/* Sends to termd, if it is there. */
void viewer_send(enum msg_type, const void *msg);
/* Writes all of it; meanwhile signals and our messages are served. */
int viewer_write(int fd, const void *, size_t len);

/* says.c: messages of ours, which the agent must not imitate. */
/*
 * fd: from where icsupervisor's come; -1: there are none.  `news` is called
 * for each, before it is written as a line, or once it can stand in the bottom
 * line.
 */
void says_open(int fd, void (*news)(void));
/* Reads what has come without waiting. */
void says_read(void);
/* -1: no more will come. */
int says_fd(void);
/* A message of this viewer. */
void says(const char *, ...) __attribute__((format(printf, 1, 2)));
/* The latest one, or "". */
const char *says_latest(void);
/* Repeats them on standard error: the screen that hid them is gone. */
void says_repeat(void);
/* The mark before our lines, where agents' lines go to the same terminal. */
#define SAYS_MARK ">>> "
/* Characters that look like the mark's. */
bool says_looks(uint32_t c);

/* plain.c: lines and redirected output. -1: such a message may not be. */
int plain_line(const struct msg_LINE *);
int plain_raw(const struct msg_RAW *);
/* A line of ours comes: the agent's unfinished one is ended first. */
void plain_break(void);

/* paint.c: cells as bytes for the terminal. */
struct paint {
	struct buf out;
	uint32_t fg, bg;
	uint16_t attr;
	bool known; /* what the terminal has is what stands here */
};
void paint_init(struct paint *);
/* The terminal knows text and newlines, and nothing else. */
bool paint_is_dumb(void);
void paint_cell(struct paint *, const struct cell *);
/* Default colours, no attributes. */
void paint_plain(struct paint *);
void paint_text(struct paint *, const char *);
void paint_printf(struct paint *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes it out; paint_some only if there is much of it. */
#define PAINT_ENOUGH (64U << 10)
int paint_some(struct paint *, int fd);
int paint_flush(struct paint *, int fd);

/* draw.c: the full screen. */
int draw_screen(const struct msg_SCREEN *);
int draw_row(const struct msg_ROW *);
int draw_scrolled(const struct msg_LINE *);
void draw_frame(void);
void draw_title(struct span);
void draw_start(void);
/* A new channel: nothing of the old screen is known to be true. */
void draw_again(void);
void draw_resize(void);
/* The bottom line has another text. */
void draw_line(void);
/* Undoes all that was set on the terminal. */
void draw_stop(void);
/* The prefix was typed: the line says what may follow. */
void draw_prefix(bool on);
/* Of the grid, and PROTO_TERM_ bits of the agent's terminal. */
unsigned draw_rows(void);
unsigned draw_cols(void);
uint32_t draw_modes(void);

/* keys.c: from the terminal, by a closed grammar. */
enum keys_command {
	KEYS_DETACH,
	KEYS_SUSPEND,
	KEYS_TAKE
};
struct keys_ops {
	void (*keys)(struct span);
	void (*paste)(struct span, bool last);
	void (*mouse)(const struct msg_MOUSE *);
	void (*focus)(bool in);
	void (*command)(enum keys_command);
	/* The prefix was typed, or what followed it. */
	void (*prefix)(bool on);
};
void keys_feed(const struct keys_ops *, struct span);
/* Some time has passed: an escape by itself was the key. */
void keys_idle(const struct keys_ops *);
bool keys_waiting(void);

/* input.c: standard input, for both kinds of viewer. */
void input_start(void (*command)(enum keys_command));
/* termd has more room, or there is a new channel. */
void input_update(void);

#endif
