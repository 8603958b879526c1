/* SPDX-License-Identifier: ISC */
/*
 * Internals of the overview. rows.c: the list; text.c: the right side's text;
 * activity.c: what happens in the sessions; layout.c: the parts of the
 * screen; answer.c: answers; keys.c: keys; draw.c: the screen; away.c: leaving
 * it; overview.c: the loop. Only draw.c, away.c and keys.c know curses.
 */
#ifndef ICCTL_OVERVIEW_PRIV_H
#define ICCTL_OVERVIEW_PRIV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "icctl/icctl.h"
#include "icctl/live/live.h"

#define OVERVIEW_LOOK_MS 1000U /* a call must have been shown for so long */
#define OVERVIEW_TWICE_MS 150U /* between the two keys of an approval */
#define OVERVIEW_INPUT 500U    /* bytes of a filter or a reason */
#define OVERVIEW_SAY 400U
#define ACTIVITY_LINE (LIVE_TEXT + 64U)
#define ACTIVITY_ROWS 8U

enum overview_view {
	VIEW_CHOSEN,  /* the session or call that is chosen */
	VIEW_HISTORY, /* decisions and activity of its session */
	VIEW_GRANTS,  /* the grants of its session */
	VIEW_SERVERS, /* its MCP servers */
	VIEW_HELP,
};

/* A line that is being typed at the bottom. */
enum overview_input {
	INPUT_NONE,
	INPUT_FILTER,
	INPUT_SEARCH,
	INPUT_REASON,
	INPUT_ANSWER
};

struct overview_row {
	struct live_session *session;
	struct live_hold *hold; /* NULL: the session's own row */
};

/* One line of the right side, as many columns as fit. */
struct overview_line {
	const char *p;
	size_t len;
	unsigned indent; /* columns before it: it continues a long one */
};

struct overview {
	struct icctl *ctl;
	struct loop loop;
	struct live *live;
	bool quit;
	bool dirty; /* must be drawn again */
	bool stale; /* the rows must be made again before they are used */

	/* rows.c: valid until the live set changes. */
	struct overview_row *rows;
	unsigned nrows, caprows;
	unsigned waiting; /* calls in all sessions */
	unsigned at;      /* the chosen row */
	unsigned top;     /* the first row on the screen */
	bool moved;       /* the user chose the row */
	char session[LIVE_NAME], hold[LIVE_ID]; /* the chosen row, by names */
	char filter[OVERVIEW_INPUT + 1];
	char search[OVERVIEW_INPUT + 1]; /* looked for on the right */
	size_t found;                    /* the line where it was found last */

	/* text.c */
	enum overview_view view;
	bool full;  /* long texts are not cut */
	bool whole; /* everything that the call would do is in the text */
	char *text; /* lines that end with a newline */
	size_t len;
	struct overview_line *lines;
	size_t nlines, scroll;
	size_t seen;    /* so many lines of this text were on the screen */
	uint64_t shown; /* loop_now() since this text stands */
	/* The text is of this call, in this form. */
	char of[LIVE_ID], digest[65];
	uint64_t since;
	bool of_full;
	unsigned of_cols;
	unsigned grant; /* the chosen one of VIEW_GRANTS */

	/* overview.c: jobs that a person should look at, and when to look. */
	json_object *jobs;
	uint64_t jobs_at;

	/* answer.c */
	char armed; /* 'a', 's' or 'x' was pressed; '\0': nothing */
	uint64_t armed_at;
	enum overview_input input;
	char typed[OVERVIEW_INPUT + 1];
	bool pasting;           /* between the marks of a paste */
	char say[OVERVIEW_SAY]; /* the message line */

	/* layout.c: the size and the parts of the screen. */
	unsigned height, width;
	unsigned list_rows, list_cols;
	unsigned text_top, text_left, text_rows, text_cols;
	unsigned news_rows; /* latest activity; 0: there is no room for it */
};

/* rows.c */
/* Make the list again, and keep the choice if it is still there. */
void rows_make(struct overview *);
void rows_move(struct overview *, int by);
/* Choose the next call that waits. */
void rows_next(struct overview *);
/* Returns the chosen row; its session is NULL if there is none. */
struct overview_row rows_chosen(const struct overview *);
/* Write the text of a row in at most `cap` bytes. */
void rows_text(const struct overview *, const struct overview_row *, char *dst,
    size_t cap);
/*
 * Leave out the middle of a row that has one path and does not fit: paths often
 * begin alike.
 */
void rows_shorten(char *text, unsigned cols);
/* Returns the last part of a path. */
const char *rows_base(const char *path);

/* activity.c */
/* Print all that is known of a session, the newest first. */
void activity_put(FILE *, const struct live_session *);
/*
 * Write the latest items of all sessions, at most `max`, the newest last.
 * Returns how many there are.
 */
unsigned activity_latest(
    const struct overview *, char (*lines)[ACTIVITY_LINE], unsigned max);

/* text.c */
/* Make the text of the right side for `cols` columns. */
void text_make(struct overview *, unsigned cols);
void text_free(struct overview *);
/* Scroll by lines. */
void text_scroll(struct overview *, long by);
/* Returns true if what is looked for begins in this line. */
bool text_found(const struct overview *, const struct overview_line *);
/* Scroll to the next line that has it, from the top again after the last. */
void text_search(struct overview *);

/* say.c: Print to the message line. */
void overview_say(struct overview *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* answer.c */
/* Handle the first key of an answer: a, s or x; d begins a reason. */
void answer_arm(struct overview *, char how);
/* Handle the second key. */
void answer_second(struct overview *, int key);
/* The line that was typed is complete. */
void answer_typed(struct overview *);
/* Returns the call that may be signed now, or NULL after it said why not. */
json_object *answer_signable(struct overview *);
/* Approve the chosen call with the signature. */
void answer_signed(struct overview *, const char *entries);
void answer_replied(void *, struct live_session *, const struct live_reply *);

/* keys.c: Handle all keys that have arrived. */
void keys_read(struct overview *);

/* draw.c */
/* Returns 0, or -1 if the terminal cannot show it. */
int draw_begin(void);
void draw_end(void);
void draw(struct overview *);
/*
 * away.c: Leave the screen for `icctl always` about the chosen call, and come
 * back once the user has read what it said.
 */
void draw_away(struct overview *);
/* The same for `icctl sign` of the call, which the signature then approves. */
void draw_sign(struct overview *);
/*
 * The same for `icctl undo` of the chosen session's last turn, which shows what
 * it would do and asks.
 */
void draw_undo(struct overview *);
/* The same for `icctl start` in the current directory, after two questions. */
void draw_new(struct overview *);

/*
 * layout.c: Divide a screen of that size: the list, the text beside it or below
 * it, and the latest activity.
 */
void layout_make(struct overview *, unsigned height, unsigned width);

#endif
