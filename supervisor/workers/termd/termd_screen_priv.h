/* SPDX-License-Identifier: ISC */
/* Internals of the screen: its state, and the functions that change it. */
#ifndef TERMD_SCREEN_PRIV_H
#define TERMD_SCREEN_PRIV_H

#include "common/ipc/proto.h"
#include "workers/termd/termd_screen.h"

#include <vterm.h>

#define SCREEN_BATCH 4096U /* bytes passed to libvterm at once */

#define SCREEN_EMOJIS 1024U
/*
 * From here on no characters are assigned, so that the agent cannot print one,
 * and libvterm takes them for ideographs.
 */
#define SCREEN_EMOJI 0x38000U

struct screen_emoji {
	uint32_t chars[CELL_MAX_CHARS];
	unsigned n;
};

/* The forms of keys that the agent wants: termd_keys.c. */
#define SCREEN_KEYS 16U
struct screen_keys {
	/* Stacks of the main and of the other screen; the last is on top. */
	bool kitty[2][SCREEN_KEYS];
	unsigned n[2];
	bool other;
};

struct screen {
	VTerm *vt;
	VTermScreen *screen;
	const struct screen_ops *ops;
	void *arg;
	struct tokenizer z;
	struct pen pen, saved;
	unsigned saved_row, saved_col;
	/*
	 * The character that was printed last, with what joined it; n is 0 if
	 * nothing joins it any more.
	 */
	struct screen_emoji now;
	uint32_t wait;  /* as in cluster_join() */
	unsigned width; /* its columns */
	unsigned col;   /* the cursor's before it, if it has two */
	/*
	 * Emoji of several characters that were printed, and newer ones of one.
	 * libvterm knows each as the character SCREEN_EMOJI + i, of two columns.
	 */
	struct screen_emoji emoji[SCREEN_EMOJIS];
	unsigned nemoji;
	uint32_t last; /* character that REP would repeat, or 0 */
	unsigned rows, cols;
	unsigned shape;
	uint32_t modes;
	bool mouse_sgr;
	struct screen_keys keys;
	struct buf offer; /* the text of an offer */
	uint64_t change, row_change[PROTO_MAX_ROWS];
	size_t n; /* bytes in `batch` */
	char batch[SCREEN_BATCH];
};

/* termd_modes.c */
void screen_defaults(struct screen *);
void screen_mode_set(struct screen *, uint32_t bit, bool on);
void screen_set_mode(struct screen *, unsigned number, bool on);
/* Answer DECRQM. */
void screen_ask_mode(struct screen *, unsigned number);
void screen_save(struct screen *);
void screen_restore(struct screen *);
void screen_soft_reset(struct screen *);
/* Reset the scrolling region and the origin mode; the cursor stays. */
void screen_unscroll(struct screen *);

uint32_t screen_colour(const VTermColor *);

/* termd_keys.c */
/* Carry out or answer a CSI about the form of keys, or return false. */
bool screen_keys(struct screen *, const struct token *);
/* Returns the bits of the forms that are on. */
uint32_t screen_keys_modes(const struct screen *);

/* termd_functions.c: carry out a token. A token_fn. */
void screen_token(void *arg, const struct token *);

/* termd_give.c */
void screen_flush(struct screen *);
/* Queue bytes for libvterm, all or none; they are constants or were checked. */
void screen_give(struct screen *, const void *, size_t);
void screen_givef(struct screen *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Send text to the agent: a constant, or numbers computed here. */
void screen_reply(struct screen *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Give libvterm the complete pen. */
void screen_pen(struct screen *);

#endif
