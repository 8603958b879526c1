/* SPDX-License-Identifier: ISC */
/*
 * Tests termd's tokenizer with a table of bytes and the functions they become,
 * in words. Each row is fed whole and byte by byte, with the same result.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "workers/termd/termd_token.h"

static char said[65536];
static size_t nsaid;

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(said + nsaid, sizeof(said) - nsaid, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(said) - nsaid)
		nsaid += (size_t)n;
}

static void
say_params(const struct token *t)
{
	for (unsigned i = 0; i < t->nparams; i++) {
		if (i != 0)
			say("%c", (t->sub >> i & 1) != 0 ? ':' : ';');
		if (t->params[i] != TOKEN_ABSENT)
			say("%u", t->params[i]);
	}
}

static void
on_token(void *arg, const struct token *t)
{
	switch (t->kind) {
	case TOKEN_PRINT:
		if (t->c > 0x20 && t->c < 0x7f)
			say("%c ", (int)t->c);
		else
			say("U+%04X ", t->c);
		break;
	case TOKEN_JOIN:
		say("+U+%04X ", t->c);
		break;
	case TOKEN_CONTROL:
		say("^%c ", (int)t->c + 0x40);
		break;
	case TOKEN_ESC:
		say("ESC(%s%c) ",
		    t->inter != 0 ? (char[]){(char)t->inter, '\0'} : "",
		    t->final);
		break;
	case TOKEN_CSI:
	case TOKEN_DCS:
		say("%s(", t->kind == TOKEN_CSI ? "CSI" : "DCS");
		if (t->lead != 0)
			say("%c", t->lead);
		say_params(t);
		if (t->inter != 0)
			say("%c", t->inter);
		say("%c) ", t->final);
		break;
	case TOKEN_OSC:
		say("OSC(%.*s) ", (int)t->text.len, (const char *)t->text.p);
		break;
	}
}

static const struct {
	const char *in, *out, *name;
} rows[] = {
    {"ab", "a b ", "letters"},
    {"a\r\n\t\b\a", "a ^M ^J ^I ^H ^G ", "controls"},
    {"\001\002\005\021\023\177", "", "controls without a function vanish"},
    {"\033[1;2H", "CSI(1;2H) ", "a sequence"},
    {"\033[;5H\033[H", "CSI(;5H) CSI(H) ", "absent parameters"},
    {"\033[38:2::1:2:3m", "CSI(38:2::1:2:3m) ", "colons"},
    {"\033[?25l", "CSI(?25l) ", "a private mode"},
    {"\033[?2026$p", "CSI(?2026$p) ", "an intermediate"},
    {"\033[ q", "CSI( q) ", "a blank as intermediate"},
    {"\033[99999999999m", "CSI(9999m) ", "a value has a limit"},
    {"\033[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18m",
	"CSI(1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16m) ",
	"so has the number of parameters"},
    {"\033[1\n2H", "^J CSI(12H) ", "a control within a sequence"},
    {"\033[1\033[2J", "CSI(2J) ", "a sequence within a sequence"},
    {"\033[1\030A\033[2\032B", "A B ", "CAN and SUB end a sequence"},
    {"\033[1?2lx", "x ", "a mark behind a number makes no sense"},
    {"\033[1$$px", "x ", "nor do two intermediates"},
    {"\033[1\342\202\254mx", "x ", "nor bytes above 0x7f"},
    {"\0337\033(0\033)B\033c", "ESC(7) ESC((0) ESC()B) ESC(c) ", "escapes"},
    {"\033((0x", "x ", "an escape with two intermediates"},
    {"\033]0;a title\007x", "OSC(0;a title) x ", "OSC ended by BEL"},
    {"\033]8;;http://x/\033\\x", "OSC(8;;http://x/) x ", "and by ST"},
    {"\033]0;a\033[2Jx", "CSI(2J) x ", "OSC cut by another function"},
    {"\033]0;a\030x", "x ", "OSC cut by CAN"},
    {"\033]0;a\nb\033\\", "OSC(0;ab) ", "controls in a string vanish"},
    {"\033P1$qm\033\\x", "DCS(1$q) x ", "DCS, without its text"},
    {"\033P$q\007\033]\033\\x", "DCS($q) OSC() x ", "BEL ends no DCS"},
    {"\033_Ga=T;AAAA\033\\x", "x ", "APC vanishes"},
    {"\033^secret\033\\\033Xmore\033\\x", "x ", "so do PM and SOS"},
    {"\033\033[A", "CSI(A) ", "ESC begins anew"},
    {"\033[", "", "half a sequence is nothing yet"},
    {"\303\251\344\270\200\360\237\230\200", "U+00E9 U+4E00 U+1F600 ", "UTF-8"},
    {"\302\233"
     "2J\302\235x",
	"2 J x ", "C1 in UTF-8 is no C1: it vanishes"},
    {"\2332J\220\235", "U+FFFD 2 J U+FFFD U+FFFD ", "nor are bare bytes of C1"},
    {"\300\200\355\240\200\364\220\200\200x", "U+FFFD U+FFFD U+FFFD U+FFFD x ",
	"no overlong form, no surrogate"},
    {"\342\202x\342\202\033[A", "U+FFFD x U+FFFD CSI(A) ",
	"a character that is cut short"},
    {"a\314\201\314\202\314\203\314\204\314\205b",
	"a U+0301 U+0302 U+0303 U+0304 b ", "at most four marks"},
    {"\314\201a\033[C\314\201", "a CSI(C) ",
	"marks without a character before them vanish"},
    {"a\342\200\256b\342\200\213c\357\273\277\363\240\201\201\302\255",
	"a b c ", "invisible and reordering characters vanish"},
    {"\356\200\200\363\260\200\200", "U+FFFD U+FFFD ",
	"private use cannot be drawn"},
    {"\0330123", "ESC(0) 1 2 3 ", "an escape we have no use for"},
};

static void
feed(const char *in, size_t len, size_t step)
{
	static struct tokenizer z;

	nsaid = 0;
	said[0] = '\0';
	token_init(&z);
	for (size_t i = 0; i < len; i += step)
		token_feed(
		    &z, span_of((const uint8_t *)in + i, step), on_token, NULL);
}

static void
test_rows(void)
{
	for (size_t i = 0; i < nitems(rows); i++) {
		feed(rows[i].in, strlen(rows[i].in), strlen(rows[i].in));
		is_str(said, rows[i].out, "%s", rows[i].name);
		feed(rows[i].in, strlen(rows[i].in), 1);
		is_str(said, rows[i].out, "%s, byte by byte", rows[i].name);
	}
}

/* A string may have any length: nothing is kept beyond a limit. */
static void
test_strings(void)
{
	static char in[TOKEN_MAX_STRING + 64];
	char want[64];
	size_t n;

	n = (size_t)snprintf(
	    in, sizeof(in), "\033]0;%0*d\007x", (int)TOKEN_MAX_STRING - 2, 7);
	feed(in, n, n);
	ok(nsaid > TOKEN_MAX_STRING && said[nsaid - 2] == 'x',
	    "a string of the longest length is told");
	n = (size_t)snprintf(
	    in, sizeof(in), "\033]0;%0*d\007x", (int)TOKEN_MAX_STRING - 1, 7);
	feed(in, n, n);
	snprintf(want, sizeof(want), "x ");
	is_str(said, want, "a longer one vanishes, and what follows does not");
}

int
main(void)
{
	test_rows();
	test_strings();
	return tap_done();
}
