/* SPDX-License-Identifier: ISC */
/*
 * The viewer shows what termd sends and passes on what a person types. It owns
 * the person's terminal, a channel to termd, and, if `icctl start` made it, a
 * link to icsupervisor. Everything written to the terminal is composed here
 * from decoded cells; no byte of the agent reaches it. Output that is
 * redirected to a file or pipe is passed on unchanged.
 */
#ifndef VIEWER_H
#define VIEWER_H

#include <termios.h>

#include "common/buf.h"
#include "common/ipc/chan.h"
#include "common/loop.h"
#include "common/term/cells.h"
#include "files/answer_key.h"
#include "relay/viewer_how.h"

/* Exit statuses of the viewer process, read by its parent. */
#define VIEWER_EXIT_OK 0
#define VIEWER_EXIT_LOST 1
#define VIEWER_EXIT_DETACHED 100

/* Descriptors of a viewer's program, in addition to 0, 1 and 2. */
#define VIEWER_FD_LINK                                                         \
	3                /* to icsupervisor; with `attached`: termd's channel  \
			  */
#define VIEWER_FD_SAYS 4 /* icsupervisor's standard error */

/*
 * Changes to the terminal that must be undone. Shared with the parent process.
 */
struct viewer_state {
	volatile bool raw;   /* the terminal is in raw mode */
	volatile bool drawn; /* modes were set; the viewer owns the screen */
	volatile bool alternate;
	volatile bool keys; /* keys have the extended forms */
};

/*
 * parent.c: `icctl viewer PID MODE NAME [DIR]`, which stays as a tiny parent
 * process. Starts the viewer as its child, waits for both, passes signals on to
 * process PID (0: none) and restores the terminal. Returns the exit status.
 */
int viewer_main(int argc, char **argv);
/*
 * Block the signals that it passes on until it takes them: none kills a process
 * that becomes a viewer, and that has said how to leave the viewer.
 */
void parent_hold_signals(void);

/* tty.c */
int tty_save(void);
int tty_raw(void);
/* Set the terminal as it was saved. */
int tty_cooked(void);
/* Restore the terminal. Safe at any time, in both processes. Keeps errno. */
void tty_restore(struct viewer_state *);
bool tty_size(unsigned *rows, unsigned *cols);
/* Undoes everything except the alternate screen. */
extern const char tty_reset[];
/*
 * Have the terminal send keys in the extended forms, in both ways; a terminal
 * ignores the way that it does not know. Kitty keeps a stack for each screen.
 */
#define TTY_KEYS_ON "\033[>1u\033[>4;1m"
#define TTY_KEYS_OFF "\033[>4m\033[<u"

enum viewer_later {
	VIEWER_LATER_DRAW = 1,
	VIEWER_LATER_RESIZE = 2,
	VIEWER_LATER_SUSPEND = 4,
	VIEWER_LATER_CONTINUE = 8,
};

/* The state of the viewer process. */
struct viewer {
	struct loop loop;
	struct viewer_how how;
	struct viewer_state *state;
	const char *name;          /* the session's */
	char key[ANSWER_KEY_NAME]; /* the name of how.key */
	const char *dir; /* its directory, or NULL: pending calls are unknown */
	bool may;        /* answer them: icsupervisor did not start us */
	struct chan *chan;
	struct loop_io link_io, life_io, signal_io, says_io;
	int link, life, signals;
	bool watches;  /* another viewer has the keyboard */
	bool ended;    /* BOX_END was received */
	bool over;     /* the link is closed: there will be no other channel */
	bool told;     /* the parent reports when icsupervisor has ended */
	uint32_t room; /* bytes that termd accepts from this viewer */
	/*
	 * Calls of viewer_write() that are under way. Meanwhile nothing may be
	 * drawn, because its output would end up within theirs.
	 */
	unsigned writing;
	unsigned later;   /* enum viewer_later: put off until then */
	bool agent_waits; /* stopped until we are back */
	/*
	 * Wait until `fd` has one of the events of poll(2), and meanwhile serve
	 * signals and messages.
	 */
	void (*wait)(int fd, short events);
	/* The agent has stopped itself: do the same if the person typed ^Z. */
	void (*agent_stopped)(void);
	/* The person's terminal is gone: leave. */
	void (*lost)(void) __attribute__((noreturn));
};

extern struct viewer viewer;

/* viewer.c */
struct viewer_session {
	const char *name, *dir;
	bool may, told; /* as in struct viewer */
};
int viewer_run(const struct viewer_how *, struct viewer_state *,
    const struct viewer_session *, int life);

/* out.c */
/* Send to termd, if there is a channel. */
void viewer_send(enum msg_type, const void *msg);
/*
 * Returns true if a write is under way; `what` is then done once it is over.
 */
bool viewer_put_off(enum viewer_later what);
/*
 * Write everything; meanwhile signals and our messages are read. Returns 0, or
 * -1.
 */
int viewer_write(int fd, const void *, size_t len);

/* says.c: IronCurtain's own messages, which the agent must not imitate. */
/*
 * Start to read icsupervisor's messages from `fd`, or none if it is -1. `news`
 * is called before a message is written as a line, or once it can be shown in
 * the bottom line.
 */
void says_open(int fd, void (*news)(void));
/* Read pending messages without blocking; does nothing within itself. */
void says_read(void);
/* Returns true while says_read() runs. */
bool says_reading(void);
/* Returns the descriptor to read from, or -1 if no more messages will come. */
int says_fd(void);
/* Show a message of this viewer. */
void says(const char *, ...) __attribute__((format(printf, 1, 2)));
/*
 * Answer a key that has no effect now. In the bottom line the answer goes after
 * some seconds, and as soon as a call waits; it is not kept.
 */
void says_brief(const char *text);
void says_brief_end(void);
/*
 * Returns the latest message, without the name of the program, or "" once the
 * person has seen it whole.
 */
const char *says_latest(void);
/* Returns message `i`, in the order that they came, or NULL after the last. */
const char *says_kept(unsigned i);
/* The person has seen all messages. */
void says_seen(void);
/* Keep lines back while a question is on the terminal. */
void says_wait(bool);
/* Repeat the messages on standard error, once the full screen is gone. */
void says_repeat(void);
/* The mark before our lines if the agent's lines go to the same terminal. */
#define SAYS_MARK ">>> "
/* Returns true for characters that look like the mark's. */
bool says_looks(uint32_t c);

/*
 * plain.c: lines and redirected output. Returns -1 if the message is malformed.
 */
int plain_line(const struct msg_LINE *);
int plain_raw(const struct msg_RAW *);
/* Write to standard output (0) or error; tell the worker if nobody reads it. */
void plain_write(unsigned stream, struct span);
/*
 * Write what the agent says in a conversation, after a mark: newlines stay, all
 * else that would act on a terminal is escaped, and no line begins like ours.
 */
void plain_text(const char *mark, struct span);
/* A line of ours comes next: end an unfinished line of the agent. */
void plain_break(void);

/* editor.c: an editor reads standard output, and writes standard input. */
/*
 * Compose the line for the editor and write it. Returns -1 if the message is
 * malformed, or contains what no relay may send.
 */
int editor_line(const struct msg_ACP_OUT *);
/*
 * editor_image.c: Show the sandbox an image of the prompt, and tell acpd its
 * name. Returns -1 if another one is under way.
 */
int editor_image(struct span image);
/* Write lines of the agent and of the relay to standard error. */
int editor_said(struct span);

/* paint.c: cells as bytes for the terminal. */
struct paint {
	struct buf out;
	uint32_t fg, bg;
	uint16_t attr;
	bool known; /* the colours and attributes here are the terminal's */
};
void paint_init(struct paint *);
/* Returns true if the terminal only supports text and newlines. */
bool paint_is_dumb(void);
void paint_cell(struct paint *, const struct cell *);
/* Do the same at its place; everything to its left is already correct. */
void paint_cell_at(
    struct paint *, unsigned row, unsigned col, const struct cell *);
/* Set default colours and no attributes. */
void paint_plain(struct paint *);
void paint_text(struct paint *, const char *);
void paint_printf(struct paint *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Write the output; paint_some() does so only if there is much of it. */
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
/* There is a new channel: the old contents are no longer valid. */
void draw_again(void);
void draw_resize(void);
/* The text of the bottom line has changed. */
void draw_line(void);
/* The same, once nothing else is being drawn. */
void draw_line_later(void);
/* Undo everything that was set on the terminal. */
void draw_stop(void);
/* Leave an empty screen to the panel, and take the screen back. */
void draw_pause(void);
void draw_resume(void);
/*
 * Show `what` in the bottom line: `n` calls are pending. If `ring`, tell the
 * person by the bell and the terminal's notifications.
 */
void draw_pending(unsigned n, const char *what, bool ring);
/* The same for the budget. */
void draw_meter(const char *);
/*
 * Show the person's input line in the bottom line, with a hint at its right
 * end, or no longer if it is NULL.
 */
struct edit;
void draw_input(const struct edit *, const char *hint);
/* Show all messages in the agent's place, until draw_messages_end(). */
void draw_messages(void);
/* Returns false if they were not shown. */
bool draw_messages_end(void);
/*
 * The prefix key was typed, or is done: show the commands in the bottom line.
 */
void draw_prefix(bool on);
/* Return the grid's size, and PROTO_TERM_ bits of the agent's terminal. */
unsigned draw_rows(void);
unsigned draw_cols(void);
uint32_t draw_modes(void);

/* keys.c: decodes input of the terminal, by a closed grammar. */
enum keys_command {
	KEYS_DETACH,
	KEYS_SUSPEND,
	KEYS_TAKE,
	KEYS_ANSWER,
	KEYS_SAY,
	KEYS_MESSAGES,
	KEYS_CHECKPOINT,
	KEYS_UNDO,
	KEYS_IMAGE,
	KEYS_OFFER
};
struct keys_ops {
	void (*keys)(struct span);
	/* Returns true if the keys are for an input line of the viewer's own.
	 */
	bool (*own)(void);
	void (*paste)(struct span, bool last);
	void (*mouse)(const struct msg_MOUSE *);
	void (*focus)(bool in);
	void (*command)(enum keys_command);
	/* The prefix key was typed, or the key after it. */
	void (*prefix)(bool on);
};
void keys_feed(const struct keys_ops *, struct span);
/* keys_form.c: a key with its modifiers, as the extended forms report it. */
#define KEYS_SHIFT 1U
#define KEYS_ALT 2U
#define KEYS_CTRL 4U
#define KEYS_FORM 32U /* bytes */
/*
 * Write a key in the old form. Returns the number of bytes, or 0 if it has
 * none.
 */
size_t keys_old(uint32_t code, unsigned mods, uint8_t dst[KEYS_FORM]);
/*
 * Write it in the form of these modes of the agent's terminal. Returns 0 if the
 * agent has asked for no form that can tell this key from the one alone.
 */
size_t keys_form(
    uint32_t code, unsigned mods, uint32_t modes, uint8_t dst[KEYS_FORM]);
/* Some time has passed: a lone escape was the Escape key. */
void keys_idle(const struct keys_ops *);
bool keys_waiting(void);

/* input.c: standard input, for both kinds of viewer. */
void input_start(void (*command)(enum keys_command));
/* Nothing is read while the keys are another program's. */
void input_pause(bool);
/*
 * Returns true if ^Z was the last key that went to the agent, some seconds ago
 * at most: what is typed next is meant for the shell.
 */
bool input_stops(void);
/*
 * The person has pasted an image under this name: put its path where the person
 * types, if that is here.
 */
void input_image(const char *name);
/* termd has more room, or there is a new channel. */
void input_update(void);

#endif
