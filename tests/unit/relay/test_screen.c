/* SPDX-License-Identifier: ISC */
/*
 * Tests termd's screen: drawing, answers to queries, and the inputs at which
 * libvterm by itself hangs or writes outside its memory.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/ipc/proto.h"
#include "workers/termd/termd_screen.h"
#include "tap.h"
#include "common/json/text.h"
#include "common/term/width.h"

static struct {
	char reply[4096], title[512], scrolled[8192];
	unsigned bells;
	char offer[256];
	unsigned offers;
} seen;

/* Convert cells to text, with attributes in brackets where they change. */
static const char *
text_of(struct span cells)
{
	static char out[65536];
	struct cell c, last = {.attr = 0};
	struct cells_in in;
	size_t n = 0;
	int r;

	cells_open(&in, cells);
	while ((r = cells_next(&in, &c)) == 1 && n < sizeof(out) - 64) {
		if (c.attr != last.attr || c.fg != last.fg || c.bg != last.bg)
			n += (size_t)snprintf(out + n, sizeof(out) - n,
			    "<%x,%x,%x>", c.attr, c.fg, c.bg);
		last = c;
		for (unsigned i = 0; i < c.nchars; i++)
			n += text_utf8_put((uint8_t *)out + n, c.chars[i]);
	}
	out[n] = '\0';
	return r == 0 ? out : "malformed";
}

static void
on_reply(void *arg, struct span s)
{
	strncat(seen.reply, (const char *)s.p, s.len);
}

static void
on_line(void *arg, struct span cells)
{
	if (strlen(seen.scrolled) < sizeof(seen.scrolled) - 1024) {
		strcat(seen.scrolled, text_of(cells));
		strcat(seen.scrolled, "|");
	}
}

static void
on_bell(void *arg)
{
	seen.bells++;
}

static void
on_title(void *arg, struct span s)
{
	snprintf(seen.title, sizeof(seen.title), "%.*s", (int)s.len,
	    (const char *)s.p);
}

static void
on_offer(void *arg, enum proto_offer kind, struct span s)
{
	snprintf(seen.offer, sizeof(seen.offer), "%s %.*s",
	    kind == PROTO_OFFER_COPY ? "copy" : "link", (int)s.len,
	    (const char *)s.p);
	seen.offers++;
}

static const struct screen_ops ops = {
    on_reply, on_line, on_bell, on_title, on_offer};

static const char *
row(const struct screen *s, unsigned r)
{
	static uint8_t cells[PROTO_MAX_CELLS];

	return text_of(span_of(cells, screen_row(s, r, cells, sizeof(cells))));
}

static struct screen *
fed(unsigned rows, unsigned cols, const char *in)
{
	struct screen *s = screen_new(rows, cols, &ops, NULL);

	memset(&seen, 0, sizeof(seen));
	screen_feed(s, span_str(in));
	return s;
}

static const struct {
	const char *in, *first, *name;
} rows[] = {
    {"abc", "abc", "text"},
    {"abc\033[2D\033[Kx", "ax", "the cursor moves, and a line is erased"},
    {"ab\033[5bc", "abbbbbbc", "REP repeats"},
    {"\033[9b\033[b", "", "REP of nothing: libvterm would never return"},
    {"\344\270\200\033[1;40H\033[b", "\344\270\200",
	"REP of a wide character in the last column: libvterm would crash"},
    {"x\033[9999b", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	"REP has a limit"},
    {"\344\270\200x", "\344\270\200x", "a wide character"},
    {"\344\270\200\033[1Dx", " x", "half of one is no character"},
    {"a\314\201b", "a\314\201b", "a mark combines"},
    {"\360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221\247x"
     "\033[3GX",
	"\360\237\221\251\342\200\215\360\237\221\251\342\200\215\360\237\221"
	"\247X",
	"joined emoji are one of two columns"},
    {"\342\235\244\357\270\217x\033[3GX", "\342\235\244\357\270\217X",
	"so is a symbol that is a picture"},
    {"1\357\270\217\342\203\243x\033[3GX", "1\357\270\217\342\203\243X",
	"and a keycap"},
    {"\360\237\221\215\360\237\217\275x\033[3GX",
	"\360\237\221\215\360\237\217\275X", "and a skin tone"},
    {"a \360\237\247\221\342\200\215\360\237\244\235\342\200\215\360\237\247"
     "\221x\033[5GX",
	"a \360\237\247\221\342\200\215\360\237\244\235\342\200\215\360\237\247"
	"\221X",
	"and joined ones that libvterm takes for one column"},
    {"a\342\200\215b\357\270\217", "ab", "letters are not joined"},
    {"\360\237\221\251\342\200\215x1\357\270\217y", "\360\237\221\251x1y",
	"nor what does not follow"},
    {"\360\237\221\251\342\200\215\033[m\360\237\221\251",
	"\360\237\221\251\360\237\221\251", "nor across a function"},
    {"\033(0lqk\033(Bx", "\342\224\214\342\224\200\342\224\220x",
	"line drawing"},
    {"\033[1;2;4;9mx\033[22my\033[0mz", "<20b,0,0>x<208,0,0>y<0,0,0>z",
	"attributes, dim among them"},
    {"\033[8mx\033[28my", "<100,0,0>x<0,0,0>y", "hidden text"},
    {"\033[4:3mx\033[21my\033[4:0mz", "<20,0,0>x<10,0,0>y<0,0,0>z",
	"underlines"},
    {"\033[31;104mx\033[39;49my", "<0,1000001,100000c>x<0,0,0>y",
	"the 16 colours"},
    {"\033[38;5;200mx\033[48:5:7my", "<0,10000c8,0>x<0,10000c8,1000007>y",
	"the 256 colours"},
    {"\033[38;2;1;2;3mx\033[48:2::4:5:6my",
	"<0,2010203,0>x<0,2010203,2040506>y", "colours of 24 bits"},
    {"\033[38;5mx\033[38;2;1;2;300my\033[38;7mz", "xyz",
	"colours that make no sense"},
    {"\033[1;3;4:3;5;7;8;9;2m\033[38;2;1;2;3;48;2;4;5;6mx",
	"<3e7,2010203,2040506>x", "all at once: libvterm has room for 16"},
    {"\033[1;38;2;9;9;9m\0337\033[0m\0338x", "<1,2090909,0>x",
	"the pen is saved with the cursor"},
    {"main\033[?1049halt\033[?1049l", "main", "the alternate screen"},
    {"one\r\n\033M\033Mx", "x", "RI scrolls back"},
    {"abc\033[1G\033[2@\033[4GX", "  aXc", "insert"},
    {"abc\033[1G\033[P", "bc", "delete"},
    {"abc\033[1G\033[2X", "  c", "erase"},
    {"\033[3;1Hx\033[H\033[2M", "x", "lines are deleted"},
    {"\033#8x\033#6y", "xy", "DECALN and double width do not exist"},
    {"\033[?69h\033[5;10s\033[4hx", "x", "nor do margins left and right"},
    {"\033]8;;http://evil/\033\\link\033]8;;\033\\", "link",
	"the text of a link stays"},
    {"\033]52;c;ZXZpbA==\007\033]1337;File=:AA==\007\033Ptmux;\033\033]52;c;AA"
     "==\007\033\\x",
	"x", "clipboard, files and pass-through vanish"},
};

static void
test_rows(void)
{
	struct screen *s;

	for (size_t i = 0; i < nitems(rows); i++) {
		s = fed(5, 40, rows[i].in);
		is_str(row(s, 0), rows[i].first, "%s", rows[i].name);
		is_str(seen.reply, "", "%s: nothing is answered", rows[i].name);
		screen_free(s);
	}
}

/* The offer that a string becomes, or "" if it is none. */
static const struct {
	const char *in, *offer, *name;
} offers[] = {
    {"\033]52;c;b25lCnR3bwo=\007", "copy one\ntwo\n", "lines"},
    {"\033]52;c;b25lCnR3bwo\033\\", "copy one\ntwo\n", "no padding"},
    {"\033]52;;aGk=\007", "copy hi", "no selection"},
    {"\033]52;cp;aGk=\007", "copy hi", "two selections"},
    {"\033]52;c;G1sybWEHYg==\007", "copy [2mab", "controls go"},
    {"\033]52;c;YeKArmI=\007", "copy ab", "so do characters that reorder"},
    {"\033]52;c;YX9i\007", "copy ab", "so does DEL"},
    {"\033]52;c;YeKAjWLvuI8=\007", "copy ab", "and joiners of nothing"},
    {"\033]52;c;4p2k77iP\007", "copy \u2764\ufe0f", "an emoji stays"},
    {"\033]52;c;Gwc=\007", "", "nothing but controls"},
    {"\033]52;c;?\007", "", "a query"},
    {"\033]52;c;!\007", "", "clearing it"},
    {"\033]52;c;\007", "", "nothing"},
    {"\033]52;c\007", "", "no text"},
    {"\033]52;c;gICA\007", "", "bytes that are no text"},
    {"\033]52;c;aG=k\007", "", "padding within"},
    {"\033]52;c;aGkaG\007", "", "a length that is none"},
    {"\033]52;c;aG k=\007", "", "a blank within"},
    {"\033]7770;https://a.example/x?y=1#z\033\\",
	"link https://a.example/x?y=1#z", "an address"},
    {"\033]7770;http://localhost:3000/\007", "link http://localhost:3000/",
	"one of the loopback"},
    {"\033]7770;http://a.example/\007", "", "http to elsewhere"},
    {"\033]7770;http://localhost.evil.example/\007", "",
	"a name that begins like the loopback"},
    {"\033]7770;https://u:p@a.example/\007", "", "a user"},
    {"\033]7770;https://a.example\\@b.example/\007", "", "a backslash"},
    {"\033]7770;https:///x\007", "", "no host"},
    {"\033]7770;javascript:alert(1)\007", "", "a script"},
    {"\033]7770;file:///etc/passwd\007", "", "a file"},
    {"\033]7770;HTTPS://a.example/\007", "", "another spelling"},
    {"\033]7770;https://\xd0\xb0.example/\007", "", "letters beyond ASCII"},
    /* Terminals pass over these two, and so does what is shown. */
    {"\033]7770;https://a.example/\001x\007", "link https://a.example/x",
	"a control character"},
    {"\033]7770;https://a.example/\nx\007", "link https://a.example/x",
	"a second line"},
    {"\033]7770;https://a.example/\177x\007", "", "DEL"},
    {"\033]7770;https://a.example/ x\007", "", "a blank"},
    {"\033]7770;https://a.example/\xe2\x80\xae" "x\007", "",
	"a character that reorders"},
};

static void
test_offers(void)
{
	static char big[2 * PROTO_MAX_OFFER];
	struct screen *s;

	for (size_t i = 0; i < nitems(offers); i++) {
		seen.offer[0] = '\0';
		s = fed(5, 40, offers[i].in);
		is_str(seen.offer, offers[i].offer, "an offer: %s",
		    offers[i].name);
		is_str(row(s, 0), "", "%s: nothing is drawn", offers[i].name);
		screen_free(s);
	}
	/* The longest one, and one that is longer. */
	for (size_t more = 0; more < 2; more++) {
		seen.offers = 0;
		memset(big, 'Q', sizeof(big));
		memcpy(big, "\033]52;c;", 7);
		memcpy(big + 7 + (PROTO_MAX_OFFER / 3 + more) * 4, "\007", 2);
		s = fed(5, 40, big);
		is_int(seen.offers, 1 - (int)more, "%s",
		    more ? "one that is too long" : "the longest one");
		screen_free(s);
	}
	memset(big, 'Q', sizeof(big));
	memcpy(big, "\033]2;", 4);
	memcpy(big + 8192, "\007x", 3);
	seen.title[0] = '\0';
	s = fed(5, 40, big);
	is_str(seen.title, "", "no other string may be so long");
	screen_free(s);
}

/* Only these queries are answered, with constants and computed numbers. */
static const struct {
	const char *in, *reply, *name;
} queries[] = {
    {"\033[5n", "\033[0n", "DSR"},
    {"ab\033[6n", "\033[1;3R", "CPR"},
    {"\033[c\033[0c", "\033[?62;22c\033[?62;22c", "DA1"},
    {"\033[>c", "\033[>0;100;0c", "DA2"},
    {"\033[=c\033[1c", "", "DA3"},
    {"\033[?25$p", "\033[?25;1$y", "DECRQM of a mode that is set"},
    {"\033[?1000$p", "\033[?1000;2$y", "DECRQM of one that is not"},
    {"\033[?1000;1006h\033[?1000$p\033[?1006$p", "\033[?1000;1$y\033[?1006;1$y",
	"DECRQM of the mouse"},
    {"\033[?2026$p", "\033[?2026;0$y", "synchronized output: unknown"},
    {"\033P$qm\033\\", "\033P0$r\033\\", "DECRQSS: refused"},
    {"\033P+q544e\033\\", "\033P0+r\033\\", "XTGETTCAP: refused"},
    {"\033]10;?\007", "\033]10;rgb:ffff/ffff/ffff\033\\",
	"the colour of text is a constant"},
    {"\033]11;?\033\\", "\033]11;rgb:0000/0000/0000\033\\",
	"so is that of the background"},
    {"\033]4;1;?\007\033]12;?\007\033]52;c;?\007\033]50;?\007", "",
	"palette, cursor colour, clipboard, font: no answer"},
    {"\033]2;evil\007\033[21t\033[20t\033[18t\033[14t\033[8;1;1t", "",
	"title, icon name and sizes of windows: no answer"},
    {"\033[>q\033[?6n\033[?996n\033[x\033[1*y\033Z\005", "",
	"version, DECXCPR, DECREQTPARM, checksums, ENQ: no answer"},
    {"\033[?u\033[>1u\033[?u\033[>0u\033[?u\033[<u\033[?u\033[<9u\033[?u",
	"\033[?0u\033[?1u\033[?0u\033[?1u\033[?0u",
	"Kitty's keys: a stack of flags"},
    {"\033[>31u\033[?u\033[=0u\033[?u\033[=5;2u\033[?u\033[=1;3u\033[?u",
	"\033[?1u\033[?0u\033[?1u\033[?0u",
	"only its first flag is offered; it is set, added and taken away"},
    {"\033[>1u\033[?1049h\033[?u\033[>1u\033[?1049l\033[<u\033[?u"
     "\033[?1049h\033[?u",
	"\033[?0u\033[?0u\033[?1u", "the other screen has its own"},
    {"\033[?4m\033[>4;2m\033[?4m\033[>4m\033[?4m\033[>4;1m\033[>4n\033[?4m"
     "\033[>2;1m\033[?2m\033[>4;1m\033[>m\033[?4m",
	"\033[>4;0m\033[>4;1m\033[>4;0m\033[>4;0m\033[>4;0m",
	"xterm's other keys"},
};

static void
test_queries(void)
{
	struct screen *s;

	for (size_t i = 0; i < nitems(queries); i++) {
		s = fed(5, 40, queries[i].in);
		is_str(seen.reply, queries[i].reply, "%s", queries[i].name);
		screen_free(s);
	}
	/* An answer repeats a parsed number, never text of the agent. */
	s = fed(
	    5, 40, "\033[?99999999$p\033P1;2+qAAAA\033\\\033[999;999H\033[6n");
	is_str(seen.reply, "\033[?9999;0$y\033P0+r\033\\\033[5;40R",
	    "answers hold nothing that was sent but a bounded number");
	screen_free(s);
}

static void
test_title(void)
{
	char in[512] = "\033]0;", want[512];
	struct screen *s;

	s = fed(5, 40, "\033]2;tea \342\230\225\302\233\342\200\256x\007");
	is_str(seen.title, "tea \342\230\225??x",
	    "a title has no control and no reordering character");
	screen_free(s);
	memset(in + 4, 'x', 300);
	strcat(in, "\007\a");
	s = fed(5, 40, in);
	memset(want, 'x', 80);
	want[80] = '\0';
	is_str(seen.title, want, "a title has 80 characters at most");
	is_int(seen.bells, 1, "and a bell is told");
	screen_free(s);
}

static void
test_modes(void)
{
	struct screen *s = fed(5, 40,
	    "\033[?1;1003;1006;1004;2004h\033[?25l"
	    "\033=\033[?1049h\033[5 q");

	is_int(screen_modes(s),
	    PROTO_TERM_CURSOR_KEYS | PROTO_TERM_CLICKS | PROTO_TERM_DRAGS |
		PROTO_TERM_MOVES | PROTO_TERM_FOCUS | PROTO_TERM_PASTE |
		PROTO_TERM_KEYPAD | PROTO_TERM_ALTERNATE | PROTO_TERM_BLINK,
	    "modes that concern the viewer");
	ok(screen_mouse_sgr(s), "and the form of mouse reports");
	is_int(screen_shape(s), PROTO_CURSOR_BAR, "and the cursor's shape");
	screen_feed(s, span_str("\033c"));
	is_int(screen_modes(s), PROTO_TERM_CURSOR | PROTO_TERM_BLINK,
	    "RIS resets them");
	screen_free(s);
}

static void
test_keys(void)
{
	struct screen *s = fed(5, 40, "\033[>1u\033[>4;1m");

	is_int(screen_modes(s) & (PROTO_TERM_KITTY | PROTO_TERM_OTHER_KEYS),
	    PROTO_TERM_KITTY | PROTO_TERM_OTHER_KEYS, "forms of keys");
	for (unsigned i = 0; i < 100; i++)
		screen_feed(s, span_str("\033[>1u"));
	screen_feed(s, span_str("\033[<15u"));
	ok((screen_modes(s) & PROTO_TERM_KITTY) != 0,
	    "the stack has 16 places");
	screen_feed(s, span_str("\033[<u"));
	ok((screen_modes(s) & PROTO_TERM_KITTY) == 0, "and no more");
	screen_feed(s, span_str("\033[>1u\033c"));
	is_int(screen_modes(s), PROTO_TERM_CURSOR | PROTO_TERM_BLINK,
	    "RIS resets them, too");
	screen_free(s);
}

static void
test_scrolled(void)
{
	struct screen *s = fed(3, 20, "a\r\nb\r\nc\r\nd\r\n");

	is_str(seen.scrolled, "a|b|", "rows that left at the top are told");
	screen_feed(s, span_str("\033[?1049h1\r\n2\r\n3\r\n4\r\n5"));
	is_str(seen.scrolled, "a|b|", "not those of the alternate screen");
	screen_free(s);
}

/* Each of these crashed libvterm, or left its cursor outside the grid. */
static void
test_resize(void)
{
	struct screen *s = fed(27, 40, "\033[20;27r\033[27;1Hx\0337");

	screen_resize(s, 3, 20);
	screen_feed(s, span_str("\0338\033[5L\033[3M\r\n\r\n\033M\033[9@y"));
	screen_resize(s, 300, 500);
	screen_feed(s, span_str("\033[300;500Hz\0337"));
	screen_resize(s, 2, 20);
	screen_feed(s, span_str("\0338\033[5L\344\270\200\033[Jq"));
	is_int(screen_rows(s), 2, "the screen has its last size");
	screen_resize(s, 1, 1);
	is_int(screen_cols(s), SCREEN_MIN_COLS, "which has a least one");
	screen_resize(s, 9999, 9999);
	is_int(screen_rows(s), PROTO_MAX_ROWS, "and a greatest one");
	screen_free(s);
	/* The cursor was in lines at the top that went away. */
	s = fed(27, 40, "");
	for (unsigned i = 0; i < 27; i++)
		screen_feed(s, span_str("line\r\n"));
	screen_feed(s, span_str("\033[1;1H"));
	screen_resize(s, 5, 40);
	screen_feed(s, span_str("\033[5Lx"));
	is_str(row(s, 0), "x", "a cursor above the grid is put back");
	screen_free(s);
}

/* Only changes since the last frame are sent again. */
static void
test_changes(void)
{
	struct screen *s = fed(5, 40, "one\r\ntwo\r\nthree");
	uint64_t then = screen_change(s);

	screen_feed(s, span_str("\033[2;1HTWO"));
	ok(screen_row_change(s, 1) > then, "a row that changed is known");
	ok(screen_row_change(s, 0) <= then && screen_row_change(s, 2) <= then,
	    "so are those that did not");
	screen_free(s);
}

/*
 * 500 columns of combining marks, each cell in another colour, fit a message.
 */
static void
test_worst_row(void)
{
	static uint8_t cells[PROTO_MAX_CELLS];
	struct screen *s = screen_new(2, 500, &ops, NULL);
	struct cells_in in;
	struct cell c;
	char text[128];
	unsigned n = 0;
	int r;

	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text),
		    "\033[38;2;%d;%d;"
		    "1mx\314\201\314\202\314\203\314\204\314\205",
		    i & 255, i >> 8);
		screen_feed(s, span_str(text));
	}
	cells_open(&in, span_of(cells, screen_row(s, 0, cells, sizeof(cells))));
	while ((r = cells_next(&in, &c)) == 1)
		n += c.nchars == CELL_MARKED;
	is_int(r, 0, "the worst row can be read");
	is_int(n, 500, "and is whole");
	screen_free(s);
}

/*
 * No character of two columns is lost or moves what follows, however old
 * libvterm's table is. Blocks of ideographs are tried at their first ones.
 */
static void
test_wide(void)
{
	static const char erase[] = "\r\033[K";
	struct screen *s = fed(2, 40, "");
	unsigned bad = 0, wide = 0;
	char text[8];
	size_t n;

	for (uint32_t c = 0x1100; c < 0x20000; c++) {
		if (term_width(c) != 2 || (c > 0x3500 && c < 0x9f00) ||
		    (c > 0xac10 && c < 0xd700))
			continue;
		/* It remembers only so many of those that it gives to libvterm
		 * as others. */
		if (++wide % 500 == 0) {
			screen_free(s);
			s = fed(2, 40, "");
		}
		n = text_utf8_put((uint8_t *)text, c);
		memcpy(text + n, "x", 2);
		screen_feed(s, span_str(erase));
		screen_feed(s, span_str(text));
		if (strcmp(row(s, 0), text) != 0 && bad++ < 3)
			printf("# %x is %s\n", c, row(s, 0));
	}
	ok(bad == 0 && wide > 1000, "%u characters of two columns: %u lost",
	    wide, bad);
	screen_free(s);
}

/* The parts of an emoji may come in several reads. */
static void
test_emoji_parts(void)
{
	static const char woman[] = "\360\237\221\251",
			  joiner[] = "\342\200\215";
	struct screen *s = fed(2, 40, woman);

	screen_feed(s, span_str(joiner));
	screen_feed(s, span_str(woman));
	screen_feed(s, span_str("x\033[3GX"));
	is_str(row(s, 0), "\360\237\221\251\342\200\215\360\237\221\251X",
	    "an emoji in parts is one of two columns");
	screen_free(s);
	s = fed(2, 40, "\033[1;39H");
	screen_feed(s, span_str(woman));
	screen_feed(s, span_str(joiner));
	screen_feed(s, span_str(woman));
	screen_feed(s, span_str("x\033[1;1H\033[38P"));
	is_str(row(s, 0), "\360\237\221\251\342\200\215\360\237\221\251",
	    "also in the last two columns");
	is_str(row(s, 1), "x", "what follows is in the next row");
	screen_free(s);
	s = fed(2, 40, "\033[1;40H\342\235\244");
	screen_feed(s, span_str("\357\270\217x\033[1;1H\033[39P"));
	is_str(row(s, 0), "\342\235\244", "not where there is one column");
	is_str(row(s, 1), "x", "and what follows is where it was");
	screen_free(s);
	s = fed(2, 40, "");
	for (unsigned i = 0; i < 3000; i++) {
		char text[32];
		size_t n = text_utf8_put((uint8_t *)text, 0x1f600 + i % 50);

		memcpy(text + n, joiner, 3);
		n += 3;
		n += text_utf8_put((uint8_t *)text + n, 0x1f600 + i / 50);
		screen_feed(s, span_of(text, n));
		screen_feed(s, span_str("\r"));
	}
	is_int(strcmp(row(s, 0), "malformed") != 0, 1,
	    "more emoji than are remembered are drawn apart");
	screen_free(s);
}

int
main(void)
{
	test_wide();
	test_emoji_parts();
	test_rows();
	test_offers();
	test_queries();
	test_title();
	test_modes();
	test_keys();
	test_scrolled();
	test_resize();
	test_changes();
	test_worst_row();
	return tap_done();
}
