/* SPDX-License-Identifier: ISC */
/* The tokenizer: converts bytes to complete functions of bounded size. */
#include "workers/termd/termd_token.h"

#include <string.h>

#include "common/hidden.h"
#include "common/term/cluster.h"
#include "common/term/width.h"

#define REPLACEMENT 0xfffdU

void
token_init(struct tokenizer *z)
{
	memset(z, 0, sizeof(*z));
}

unsigned
token_param(const struct token *t, unsigned i, unsigned otherwise)
{
	return i < t->nparams && t->params[i] != TOKEN_ABSENT ? t->params[i]
							      : otherwise;
}

static void
emit(struct tokenizer *z, enum token_kind kind, token_fn *fn, void *arg)
{
	z->t.kind = kind;
	if (kind != TOKEN_PRINT && kind != TOKEN_JOIN)
		z->base = false; /* marks do not combine across a function */
	fn(arg, &z->t);
}

/*
 * Returns true for characters without a glyph, which are dropped. The joiner
 * and selectors of emoji are none between letters.
 */
static bool
is_invisible(uint32_t c)
{
	return hidden_code(c) || c == CLUSTER_JOINER || c == 0xfe0eU ||
	       c == CLUSTER_EMOJI;
}

static void
print(struct tokenizer *z, uint32_t c, token_fn *fn, void *arg)
{
	int width = term_width(c);

	if ((c == CLUSTER_JOINER || c == CLUSTER_EMOJI) && z->base) {
		z->t.c = c;
		emit(z, TOKEN_JOIN, fn, arg);
		return;
	}
	if (width == -1 && is_invisible(c)) {
		z->dropped++;
		return;
	}
	if (width == -1) {
		c = REPLACEMENT;
		width = 1;
	}
	if (width == 0 && (!z->base || z->marks == TOKEN_MAX_MARKS)) {
		z->dropped++;
		return;
	}
	z->marks = width == 0 ? z->marks + 1 : 0;
	z->base = true;
	z->t.c = c;
	emit(z, TOKEN_PRINT, fn, arg);
}

/* Handle a byte above 0x7f, or one that cuts a character short. */
static void
utf8(struct tokenizer *z, uint8_t b, token_fn *fn, void *arg)
{
	if (z->more != 0 && (b & 0xc0) == 0x80) {
		z->c = z->c << 6 | (b & 0x3fU);
		if (--z->more != 0)
			return;
		if (z->c < z->least || z->c > 0x10ffff ||
		    (z->c >= 0xd800 && z->c <= 0xdfff))
			z->c = REPLACEMENT;
		print(z, z->c, fn, arg);
		return;
	}
	if (z->more != 0) {
		z->more = 0;
		print(z, REPLACEMENT, fn, arg);
	}
	if (b < 0x80)
		return;
	if (b >= 0xc2 && b <= 0xdf) {
		z->more = 1;
		z->c = b & 0x1fU;
		z->least = 0x80;
	} else if ((b & 0xf0) == 0xe0) {
		z->more = 2;
		z->c = b & 0x0fU;
		z->least = 0x800;
	} else if (b >= 0xf0 && b <= 0xf4) {
		z->more = 3;
		z->c = b & 0x07U;
		z->least = 0x10000;
	} else {
		print(z, REPLACEMENT, fn, arg);
	}
}

static void
control(struct tokenizer *z, uint8_t b, token_fn *fn, void *arg)
{
	if (b < 0x07 || b > 0x0f) {
		z->dropped++;
		return;
	}
	z->t.c = b;
	emit(z, TOKEN_CONTROL, fn, arg);
}

static void
begin(struct tokenizer *z, enum token_state state)
{
	z->state = state;
	z->t.lead = z->t.inter = z->t.final = 0;
	z->t.nparams = 0;
	z->t.sub = 0;
	z->t.text = span_of(NULL, 0);
	z->len = 0;
	z->over = false;
}

static void
escape(struct tokenizer *z, uint8_t b, token_fn *fn, void *arg)
{
	if (b >= 0x20 && b <= 0x2f) {
		/* No supported function has two intermediates. */
		if (z->t.inter != 0)
			z->dropped++;
		z->t.inter = z->t.inter != 0 ? 0xff : b;
		return;
	}
	z->state = TOKEN_GROUND;
	if (z->t.inter == 0 && (b == '[' || b == 'P')) {
		z->dcs = b == 'P';
		begin(z, TOKEN_SEQUENCE);
		return;
	}
	if (z->t.inter == 0 && (b == ']' || b == 'X' || b == '^' || b == '_')) {
		z->keep = b == ']';
		begin(z, TOKEN_STRING);
		return;
	}
	if (b < 0x30 || b > 0x7e || z->t.inter == 0xff) {
		z->dropped++;
		return;
	}
	z->t.final = b;
	emit(z, TOKEN_ESC, fn, arg);
}

/* Take a byte of the parameters: a digit or a separator. */
static void
parameter(struct tokenizer *z, uint8_t b)
{
	struct token *t = &z->t;
	unsigned i, v;

	if (t->nparams == 0) {
		t->params[0] = TOKEN_ABSENT;
		t->nparams = 1;
	}
	i = t->nparams - 1;
	if (b == ';' || b == ':') {
		/*
		 * Too many: further digits go to the last one, which is
		 * dropped.
		 */
		if (i + 1 < TOKEN_MAX_PARAMS) {
			t->params[i + 1] = TOKEN_ABSENT;
			if (b == ':')
				t->sub |= 1U << (i + 1);
			t->nparams++;
		} else {
			z->over = true;
		}
		return;
	}
	if (z->over)
		return;
	v = t->params[i] == TOKEN_ABSENT ? 0 : t->params[i];
	v = v * 10 + (b - '0');
	t->params[i] = (uint16_t)(v > TOKEN_MAX_VALUE ? TOKEN_MAX_VALUE : v);
}

static void
sequence(struct tokenizer *z, uint8_t b, token_fn *fn, void *arg)
{
	struct token *t = &z->t;
	bool bad = z->state == TOKEN_IGNORE;

	if (b >= 0x40 && b <= 0x7e) {
		t->final = b;
		z->keep = false;
		z->state = z->dcs ? TOKEN_STRING : TOKEN_GROUND;
		if (bad)
			z->dropped++;
		else
			emit(z, z->dcs ? TOKEN_DCS : TOKEN_CSI, fn, arg);
		return;
	}
	if (b >= 0x20 && b <= 0x2f) {
		bad = bad || t->inter != 0;
		t->inter = b;
	} else if (b >= 0x3c && b <= 0x3f) {
		bad = bad || t->lead != 0 || t->nparams != 0 || t->inter != 0;
		t->lead = b;
	} else if (b >= 0x30 && b <= 0x3b) {
		bad = bad || t->inter != 0;
		if (!bad)
			parameter(z, b);
	} else {
		bad = true; /* 0x7f and above */
	}
	z->state = bad ? TOKEN_IGNORE : TOKEN_SEQUENCE;
}

static void
string_end(struct tokenizer *z, token_fn *fn, void *arg)
{
	z->state = TOKEN_GROUND;
	if (!z->keep || z->over) {
		z->dropped++;
		return;
	}
	z->t.text = span_of(z->text, z->len);
	emit(z, TOKEN_OSC, fn, arg);
}

static void
string(struct tokenizer *z, uint8_t b, token_fn *fn, void *arg)
{
	if (b == 0x07 && z->keep) {
		string_end(z, fn, arg);
	} else if (!z->keep || b < 0x20) {
		return;
	} else if (z->len == sizeof(z->text) ||
		   (z->len == TOKEN_MAX_STRING &&
		       !offer_begins(span_of(z->text, z->len)))) {
		z->over = true;
	} else {
		z->text[z->len++] = b;
	}
}

static void
byte(struct tokenizer *z, uint8_t b, token_fn *fn, void *arg)
{
	if (z->more != 0 && (b & 0xc0) != 0x80)
		utf8(z, 0, fn, arg);
	if (b == 0x1b) {
		if (z->state == TOKEN_STRING) {
			z->state = TOKEN_STRING_ESCAPE;
			return;
		}
		begin(z, TOKEN_ESCAPE);
		return;
	}
	if (z->state == TOKEN_STRING_ESCAPE) {
		if (b == '\\') {
			string_end(z, fn, arg);
			return;
		}
		z->dropped++;
		begin(z, TOKEN_ESCAPE);
	}
	if (b == 0x18 || b == 0x1a) {
		if (z->state != TOKEN_GROUND)
			z->dropped++;
		z->state = TOKEN_GROUND;
		return;
	}
	if (z->state == TOKEN_STRING)
		string(z, b, fn, arg);
	else if (b < 0x20)
		control(z, b, fn, arg); /* within a sequence, too */
	else if (z->state == TOKEN_ESCAPE)
		escape(z, b, fn, arg);
	else if (z->state != TOKEN_GROUND)
		sequence(z, b, fn, arg);
	else if (b >= 0x80)
		utf8(z, b, fn, arg);
	else if (b != 0x7f)
		print(z, b, fn, arg);
}

void
token_feed(struct tokenizer *z, struct span s, token_fn *fn, void *arg)
{
	for (size_t i = 0; i < s.len; i++)
		byte(z, s.p[i], fn, arg);
}
