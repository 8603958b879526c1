/* SPDX-License-Identifier: ISC */
/*
 * Decodes input of the person's terminal by a closed grammar: characters, keys
 * as xterm sends them, pastes, mouse and focus reports, and our prefix key.
 * Other reports (answers to queries, strings) are dropped. Nothing in a paste
 * is a command.
 */
#include "icctl/screen/viewer.h"

#include <stdlib.h>
#include <string.h>

#define ESC 0x1b
#define SEQ_MAX 64U
#define STRING_MAX 4096U
#define PASTE_MAX (4U << 20)

enum keys_state {
	GROUND,
	AFTER_PREFIX,
	AFTER_ESC,
	AFTER_SS3,
	IN_CSI,
	IN_STRING,
	IN_STRING_ESC,
	IN_PASTE,
};

static struct {
	enum keys_state state;
	uint8_t seq[SEQ_MAX]; /* from its ESC on */
	size_t nseq;
	bool long_seq; /* longer than allowed */
	bool prefixed; /* the sequence follows the prefix key */
	size_t string;
	uint8_t out[PROTO_MAX_TYPED];
	size_t nout;
	uint8_t paste[PROTO_MAX_TYPED];
	size_t npaste, pasted;
	unsigned end; /* number of bytes matched of the bracket that ends a
			 paste */
} keys_env;

static const uint8_t paste_end[] = "\033[201~";
#define PASTE_END (sizeof(paste_end) - 1)

static void
out_flush(const struct keys_ops *ops)
{
	if (keys_env.nout != 0)
		ops->keys(span_of(keys_env.out, keys_env.nout));
	keys_env.nout = 0;
}

static void
out_bytes(const struct keys_ops *ops, const uint8_t *p, size_t n)
{
	if (n > sizeof(keys_env.out) - keys_env.nout)
		out_flush(ops);
	memcpy(keys_env.out + keys_env.nout, p, n);
	keys_env.nout += n;
}

static void
out_byte(const struct keys_ops *ops, uint8_t c)
{
	out_bytes(ops, &c, 1);
}

static void
out_seq(const struct keys_ops *ops)
{
	out_bytes(ops, keys_env.seq, keys_env.nseq);
}

/* Parse exactly three numbers after "<". Returns false for anything else. */
static bool
three_numbers(unsigned v[3])
{
	const uint8_t *p = keys_env.seq + 3,
		      *end = keys_env.seq + keys_env.nseq - 1;

	for (unsigned i = 0; i < 3; i++) {
		if (p == end || *p < '0' || *p > '9')
			return false;
		for (v[i] = 0; p < end && *p >= '0' && *p <= '9'; p++)
			if ((v[i] = v[i] * 10 + (unsigned)(*p - '0')) > 9999)
				return false;
		if (i < 2 && (p == end || *p++ != ';'))
			return false;
	}
	return p == end;
}

static void
take_mouse(const struct keys_ops *ops, bool up)
{
	struct msg_MOUSE m = {0};
	unsigned v[3];

	if (!three_numbers(v) || v[0] > 255 || v[1] == 0 || v[2] == 0)
		return;
	/* The bottom line does not belong to the agent. */
	if (v[2] > draw_rows() || v[1] > draw_cols())
		return;
	m.button = (uint8_t)(v[0] & 0x43U);
	m.mods = (uint8_t)(v[0] & 28U);
	m.what = up                  ? PROTO_MOUSE_UP
		 : (v[0] & 32U) != 0 ? PROTO_MOUSE_MOVE
				     : PROTO_MOUSE_DOWN;
	m.row = (uint16_t)(v[2] - 1);
	m.col = (uint16_t)(v[1] - 1);
	ops->mouse(&m);
}

static void after_prefix(const struct keys_ops *, uint8_t);

/*
 * Handle a key in an extended form: the session's own keys keep their meaning,
 * and every other one goes on in the form that its reader wants.
 */
static void
take_extended(const struct keys_ops *ops, uint32_t code, unsigned mods)
{
	const bool prefixed = keys_env.prefixed;
	uint8_t key[KEYS_FORM];
	size_t n;

	/* Caps Lock and Num Lock are no modifiers of a key. */
	mods &= 63U;
	n = keys_old(code, mods, key);
	if (prefixed) {
		if (n == 1)
			after_prefix(ops, key[0]);
		return;
	}
	if (n == 1 && key[0] == viewer.how.key && (mods & KEYS_CTRL) != 0) {
		out_flush(ops);
		keys_env.state = AFTER_PREFIX;
		ops->prefix(true);
		return;
	}
	if (!ops->own())
		n = keys_form(code, mods, draw_modes(), key);
	/* The person has set the terminal up to send this form to anybody. */
	if (n == 0 && !ops->own())
		out_seq(ops);
	else
		out_bytes(ops, key, n);
}

/*
 * Read CSI code ; mods u, or CSI 27 ; mods ; code ~. Returns false for other
 * keys.
 */
static bool
is_extended(uint32_t *code, unsigned *mods)
{
	const uint8_t *p = keys_env.seq + 2,
		      *end = keys_env.seq + keys_env.nseq - 1;
	uint32_t v[3] = {0, 0, 0};
	unsigned n = 0;

	for (; p < end; p++) {
		if (*p == ';' && ++n == nitems(v))
			return false;
		if (*p != ';' && (v[n] = v[n] * 10 + (*p - '0')) > 0x10ffff)
			return false;
	}
	if (*end == 'u' && n <= 1) {
		*code = v[0];
		*mods = v[1];
	} else if (*end == '~' && n == 2 && v[0] == 27) {
		*code = v[2];
		*mods = v[1];
	} else {
		return false;
	}
	if (*mods > 256 || *code == 0)
		return false;
	*mods -= *mods != 0;
	return true;
}

/*
 * Returns true if there are only digits and semicolons, as in keys with
 * modifiers.
 */
static bool
plain_params(void)
{
	for (size_t i = 2; i + 1 < keys_env.nseq; i++)
		if ((keys_env.seq[i] < '0' || keys_env.seq[i] > '9') &&
		    keys_env.seq[i] != ';')
			return false;
	return true;
}

static bool
is_seq(const char *s)
{
	return keys_env.nseq == strlen(s) &&
	       memcmp(keys_env.seq, s, keys_env.nseq) == 0;
}

/* Handle a complete CSI sequence. */
static void
take_csi(const struct keys_ops *ops)
{
	uint8_t final = keys_env.seq[keys_env.nseq - 1];
	uint32_t code;
	unsigned mods;

	keys_env.state = GROUND;
	if (keys_env.long_seq)
		return;
	if (keys_env.seq[2] == '<' && (final == 'M' || final == 'm')) {
		out_flush(ops);
		take_mouse(ops, final == 'm');
		return;
	}
	if (is_seq("\033[I") || is_seq("\033[O")) {
		out_flush(ops);
		ops->focus(final == 'I');
		return;
	}
	if (is_seq("\033[200~")) {
		out_flush(ops);
		keys_env.state = IN_PASTE;
		keys_env.npaste = keys_env.pasted = keys_env.end = 0;
		return;
	}
	if (is_seq("\033[201~") || !plain_params())
		return;
	if (is_extended(&code, &mods)) {
		take_extended(ops, code, mods);
		return;
	}
	/* Arrows, Home, End, F1 to F4, Shift-Tab, and keys with numbers. */
	if (keys_env.prefixed || final == 'u')
		return;
	if (strchr("ABCDEFHPQSZ~", final) != NULL)
		out_seq(ops);
}

static void
paste_flush(const struct keys_ops *ops, bool last)
{
	ops->paste(span_of(keys_env.paste, keys_env.npaste), last);
	keys_env.npaste = 0;
}

static void
paste_byte(const struct keys_ops *ops, uint8_t c)
{
	if (keys_env.pasted >= PASTE_MAX)
		return;
	keys_env.pasted++;
	keys_env.paste[keys_env.npaste++] = c;
	if (keys_env.npaste == sizeof(keys_env.paste))
		paste_flush(ops, false);
}

static void
in_paste(const struct keys_ops *ops, uint8_t c)
{
	if (c == paste_end[keys_env.end]) {
		if (++keys_env.end < PASTE_END)
			return;
		keys_env.end = 0;
		keys_env.state = GROUND;
		paste_flush(ops, true);
		return;
	}
	/* This was not the end: the bytes are data. */
	for (unsigned i = 0; i < keys_env.end; i++)
		paste_byte(ops, paste_end[i]);
	keys_env.end = c == ESC;
	if (keys_env.end == 0)
		paste_byte(ops, c);
}

static void
after_prefix(const struct keys_ops *ops, uint8_t c)
{
	keys_env.state = GROUND;
	ops->prefix(false);
	if (c == viewer.how.key) {
		out_byte(ops, c);
		return;
	}
	switch (c) {
	case 'd':
	case 'd' & 0x1f:
		ops->command(KEYS_DETACH);
		break;
	case 'z':
	case 'z' & 0x1f:
		ops->command(KEYS_SUSPEND);
		break;
	case 't':
		ops->command(KEYS_TAKE);
		break;
	case 'a':
		ops->command(KEYS_ANSWER);
		break;
	case 's':
		ops->command(KEYS_SAY);
		break;
	case 'm':
		ops->command(KEYS_MESSAGES);
		break;
	case 'k':
		ops->command(KEYS_CHECKPOINT);
		break;
	case 'c':
	case 'o':
		ops->command(KEYS_OFFER);
		break;
	case 'v':
		ops->command(KEYS_IMAGE);
		break;
	case 'u':
		ops->command(KEYS_UNDO);
		break;
	default:
		break;
	}
}

static void
after_esc(const struct keys_ops *ops, uint8_t c)
{
	keys_env.seq[keys_env.nseq++] = c;
	switch (c) {
	case '[':
		keys_env.state = IN_CSI;
		break;
	case 'O':
		keys_env.state = AFTER_SS3;
		break;
	case 'P':
	case ']':
	case '^':
	case '_':
	case 'X':
		keys_env.state = IN_STRING;
		keys_env.string = 0;
		break;
	case ESC:
		/* A lone escape, and the start of another. */
		out_byte(ops, ESC);
		keys_env.nseq = 1;
		break;
	default:
		/* Alt and a key; the prefix keeps its meaning. */
		keys_env.state = GROUND;
		if (c == viewer.how.key) {
			out_byte(ops, ESC);
			keys_env.state = AFTER_PREFIX;
			ops->prefix(true);
		} else {
			out_seq(ops);
		}
		break;
	}
}

static void
in_csi(const struct keys_ops *ops, uint8_t c)
{
	if (c == ESC || c == 0x18 || c == 0x1a) {
		keys_env.state = c == ESC ? AFTER_ESC : GROUND;
		keys_env.nseq = 1;
		return;
	}
	if (keys_env.nseq == SEQ_MAX - 1)
		keys_env.long_seq = true;
	else
		keys_env.seq[keys_env.nseq++] = c;
	if (c >= 0x40 && c <= 0x7e)
		take_csi(ops);
	else if (c < 0x20 || c > 0x7e)
		keys_env.state = GROUND;
}

/* Skip a terminal's answer in a string; limited, in case its end is lost. */
static void
in_string(uint8_t c)
{
	if (keys_env.state == IN_STRING_ESC || c == 0x07 ||
	    ++keys_env.string > STRING_MAX)
		keys_env.state = GROUND;
	else if (c == ESC)
		keys_env.state = IN_STRING_ESC;
}

static void
ground(const struct keys_ops *ops, uint8_t c)
{
	if (c == ESC) {
		keys_env.state = AFTER_ESC;
		keys_env.seq[0] = c;
		keys_env.nseq = 1;
		keys_env.long_seq = keys_env.prefixed = false;
	} else if (c == viewer.how.key) {
		out_flush(ops);
		keys_env.state = AFTER_PREFIX;
		ops->prefix(true);
	} else {
		out_byte(ops, c);
	}
}

static void
keys_byte(const struct keys_ops *ops, uint8_t c)
{
	switch (keys_env.state) {
	case GROUND:
		ground(ops, c);
		break;
	case AFTER_PREFIX:
		/* A key in an extended form, or one without a meaning here. */
		if (c == ESC) {
			ops->prefix(false);
			ground(ops, c);
			keys_env.prefixed = true;
		} else {
			after_prefix(ops, c);
		}
		break;
	case AFTER_ESC:
		after_esc(ops, c);
		break;
	case AFTER_SS3:
		keys_env.state = GROUND;
		keys_env.seq[keys_env.nseq++] = c;
		if (c >= 0x20 && c < 0x7f)
			out_seq(ops);
		break;
	case IN_CSI:
		in_csi(ops, c);
		break;
	case IN_STRING:
	case IN_STRING_ESC:
		in_string(c);
		break;
	case IN_PASTE:
		in_paste(ops, c);
		break;
	}
}

void
keys_feed(const struct keys_ops *ops, struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		keys_byte(ops, s.p[i]);
	out_flush(ops);
}

bool
keys_waiting(void)
{
	return keys_env.state == AFTER_ESC || keys_env.state == AFTER_SS3 ||
	       (keys_env.state == IN_CSI && keys_env.nseq == 2) ||
	       (keys_env.state == IN_STRING && keys_env.string == 0);
}

void
keys_idle(const struct keys_ops *ops)
{
	if (!keys_waiting())
		return;
	keys_env.state = GROUND;
	if (!keys_env.prefixed)
		out_seq(ops);
	out_flush(ops);
}
