/* SPDX-License-Identifier: ISC */
/*
 * The forms in which the agent wants keys that have no form of their own in the
 * old one, such as Shift and Enter: that of Kitty (sw.kovidgoyal.net/kitty,
 * "Comprehensive keyboard handling"), of which the first step is offered, and
 * that of xterm (modifyOtherKeys). The viewer reads the person's keys and
 * composes them in this form; here the agent's wishes are kept and answered.
 */
#include "workers/termd/termd_screen_priv.h"

/* Kitty's other steps report more than keys that are pressed. */
#define KITTY_TELL_APART 1U
#define XTERM_OTHER_KEYS 4U

/* Returns the index of the stack of the screen that is shown. */
static unsigned
keys_which(const struct screen *s)
{
	return (s->modes & PROTO_TERM_ALTERNATE) != 0;
}

static bool
keys_kitty(const struct screen *s)
{
	const unsigned i = keys_which(s), n = s->keys.n[i];

	return n != 0 && s->keys.kitty[i][n - 1];
}

static void
keys_push(struct screen *s, bool on)
{
	const unsigned i = keys_which(s);
	struct screen_keys *k = &s->keys;

	/* As in Kitty, the oldest one is lost. */
	if (k->n[i] == SCREEN_KEYS) {
		for (unsigned at = 1; at < SCREEN_KEYS; at++)
			k->kitty[i][at - 1] = k->kitty[i][at];
		k->n[i]--;
	}
	k->kitty[i][k->n[i]++] = on;
}

static void
keys_pop(struct screen *s, unsigned n)
{
	unsigned *have = &s->keys.n[keys_which(s)];

	*have -= n < *have ? n : *have;
}

/* Change the flags on top: 1 sets them all, 2 adds, and 3 takes away. */
static void
keys_set(struct screen *s, unsigned flags, unsigned how)
{
	const unsigned i = keys_which(s);
	const bool named = (flags & KITTY_TELL_APART) != 0;
	bool *top;

	if (s->keys.n[i] == 0)
		keys_push(s, false);
	top = &s->keys.kitty[i][s->keys.n[i] - 1];
	if (how == 1)
		*top = named;
	else if (named && (how == 2 || how == 3))
		*top = how == 2;
}

/* Kitty's functions end in "u". */
static void
keys_take_kitty(struct screen *s, const struct token *t)
{
	const unsigned flags = token_param(t, 0, 0);

	/* A change of screens may wait before it. */
	screen_flush(s);
	switch (t->lead) {
	case '?':
		screen_reply(
		    s, "\033[?%uu", keys_kitty(s) ? KITTY_TELL_APART : 0);
		break;
	case '>':
		keys_push(s, (flags & KITTY_TELL_APART) != 0);
		break;
	case '<':
		keys_pop(s, token_param(t, 0, 1));
		break;
	case '=':
		keys_set(s, flags, token_param(t, 1, 1));
		break;
	default:
		break;
	}
}

/* Those of xterm end in "m", and in "n" if they turn a form off. */
static void
keys_take_xterm(struct screen *s, const struct token *t)
{
	const bool ours = token_param(t, 0, 0) == XTERM_OTHER_KEYS;

	if (t->lead == '?' && ours)
		screen_reply(s, "\033[>4;%um", s->keys.other ? 1U : 0U);
	else if (t->lead == '>' && ours)
		s->keys.other = t->final == 'm' && token_param(t, 1, 0) != 0;
	else if (t->lead == '>' && t->final == 'm' && t->nparams == 0)
		s->keys.other = false;
}

bool
screen_keys(struct screen *s, const struct token *t)
{
	if (t->inter != 0 || t->lead == 0)
		return false;
	if (t->final == 'u')
		keys_take_kitty(s, t);
	else if (t->final == 'm' || (t->final == 'n' && t->lead == '>'))
		keys_take_xterm(s, t);
	else
		return false;
	s->change++;
	return true;
}

uint32_t
screen_keys_modes(const struct screen *s)
{
	return (keys_kitty(s) ? PROTO_TERM_KITTY : 0U) |
	       (s->keys.other ? PROTO_TERM_OTHER_KEYS : 0U);
}
