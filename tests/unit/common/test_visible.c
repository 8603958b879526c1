/* SPDX-License-Identifier: ISC */
/*
 * Text from outside as people see it: letters of any language stay, and
 * characters that move, hide, reorder or imitate are escaped, in one notation.
 */
#include "common/visible.h"
#include "tap.h"

static const struct {
	const char *in, *out;
	unsigned flags;
	const char *name;
} cases[] = {
    {"/home/me/a b.txt", "/home/me/a b.txt", 0, "plain ASCII"},
    {"a\\b\"c", "a\\\\b\"c", 0, "a backslash"},
    {"a\\b\"c", "a\\\\b\\\"c", VISIBLE_QUOTED, "in quotes"},
    {"a\\x1b", "a\\x1b", VISIBLE_AGAIN, "escaped before"},
    {"a\n\t\r\x1b[2J\x7f", "a\\n\\t\\x0d\\x1b[2J\\x7f", 0, "controls"},
    {"\xc2\x9b\x33m", "\\u{9b}3m", 0, "an 8-bit control"},
    {"\xff\xc3(", "\\xff\\xc3(", 0, "no UTF-8"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", 0, "a surrogate"},
    {"a\xe2\x80\xae"
     "b",
	"a\\u{202e}b", 0, "bidi override"},
    {"a\xe2\x81\xa6"
     "b",
	"a\\u{2066}b", 0, "bidi isolate"},
    {"a\xd8\x9c"
     "b",
	"a\\u{61c}b", 0, "Arabic letter mark"},
    {"a\xe2\x80\x8b"
     "b",
	"a\\u{200b}b", 0, "zero width space"},
    {"a\xef\xbb\xbf"
     "b",
	"a\\u{feff}b", 0, "byte order mark"},
    {"a\xc2\xad"
     "b",
	"a\\u{ad}b", 0, "soft hyphen"},
    {"a\xf3\xa0\x81\x81", "a\\u{e0041}", 0, "a tag character"},
    {"a\xef\xb8\x8f", "a\\u{fe0f}", 0, "a variation selector"},
    {"a\xc2\xa0"
     "b",
	"a\\u{a0}b", 0, "no-break space"},
    {"a\xe3\x80\x80"
     "b",
	"a\\u{3000}b", 0, "ideographic space"},
    {"\xe3\x85\xa4", "\\u{3164}", 0, "Hangul filler"},
    {"\xe2\xa0\x80", "\\u{2800}", 0, "blank Braille pattern"},
    {"a\xe2\x88\x95"
     "b",
	"a\\u{2215}b", 0, "division slash"},
    {"a\xe2\x81\x84"
     "b",
	"a\\u{2044}b", 0, "fraction slash"},
    {"a\xef\xbc\x8f"
     "b",
	"a\\u{ff0f}b", 0, "fullwidth slash"},
    {"a\xe2\x80\xa4"
     "b",
	"a\\u{2024}b", 0, "one dot leader"},
    {"a\xe2\x80\xa8"
     "b",
	"a\\u{2028}b", 0, "line separator"},
    {"\xe2\x94\x80", "\\u{2500}", 0, "box drawing"},
    {"\xee\x80\x80", "\\u{e000}", 0, "private use"},
    {"\xcd\xb8", "\\u{378}", 0, "unassigned"},
    {"M\xc3\xbcller \xe2\x80\x94 na\xc3\xafve",
	"M\xc3\xbcller \xe2\x80\x94 na\xc3\xafve", 0, "Latin"},
    {"M\xc3\xbcller", "M\\u{fc}ller", VISIBLE_ASCII, "for an ASCII terminal"},
    {"\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82.txt",
	"\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82.txt", 0,
	"Cyrillic with a Latin ending"},
    {"\xce\xb1\xce\xb2\xce\xb3", "\xce\xb1\xce\xb2\xce\xb3", 0, "Greek"},
    {"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", 0,
	"Hebrew"},
    {"\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7 \xd9\xa3",
	"\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7 \xd9\xa3", 0, "Arabic"},
    {"\xe0\xa4\xb9\xe0\xa4\xbf\xe0\xa4\xa8\xe0\xa5\x8d\xe0\xa4\xa6\xe0\xa5\x80",
	"\xe0\xa4\xb9\xe0\xa4\xbf\xe0\xa4\xa8\xe0\xa5\x8d\xe0\xa4\xa6\xe0\xa5"
	"\x80",
	0, "Devanagari"},
    {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae"
     "\xe3\x83\x87\xe3\x83\xbc\xe3\x82\xbf"
     "A",
	"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae"
	"\xe3\x83\x87\xe3\x83\xbc\xe3\x82\xbf"
	"A",
	0, "Japanese: four scripts in one word"},
    {"\xed\x95\x9c\xea\xb5\xad", "\xed\x95\x9c\xea\xb5\xad", 0, "Korean"},
    {"\xf0\xa0\x80\x80", "\xf0\xa0\x80\x80", 0, "beyond the first plane"},
    {"p\xd0\xb0ypal", "p\\u{430}ypal", 0, "Latin with a Cyrillic letter"},
    {"/home/m\xd0\xb5/.bashrc", "/home/m\\u{435}/.bashrc", 0, "in a path"},
    {"\xd0\xb0"
     "1b",
	"\\u{430}1b", 0, "a digit does not part a word"},
    {"\xce\xbf"
     "k",
	"\\u{3bf}k", 0, "a Greek o"},
    {"\xce\xb1\xd0\xb1", "\\u{3b1}\\u{431}", 0, "Greek and Cyrillic"},
    {"e\xcc\x81", "e\xcc\x81", 0, "a combining mark"},
    {"\xcc\x81"
     "e",
	"\\u{301}e", 0, "a mark without a letter"},
    {"/\xcc\xb8", "/\\u{338}", 0, "a mark over punctuation"},
    {"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
	"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\\u{301}", 0, "a heap of marks"},
    {"it\xe2\x80\x99s \xc2\xb7 \xe2\x86\x92 \xe2\x9c\x93\t\"\\n\"",
	"it\xe2\x80\x99s \xc2\xb7 \xe2\x86\x92 \xe2\x9c\x93\t\"\\n\"",
	VISIBLE_PROSE, "prose"},
    {"p\xd0\xb0ypal", "p\xd0\xb0ypal", VISIBLE_PROSE, "prose of two scripts"},
    {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80",
	"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80", VISIBLE_PROSE,
	"prose with an emoji"},
    {"a\x1b[2J\r\x7f\xc2\x9b\xe2\x80\xae\xff",
	"a\\x1b[2J\\x0d\\x7f\\u{9b}\\u{202e}\\xff", VISIBLE_PROSE,
	"prose that acts on a terminal"},
    {"\xe2\x80\x8b\xef\xbb\xbf\xf0\x9b\xb2\xa0\xf0\x9d\x85\xb3\xf3\xa0\x81\x81",
	"\\u{200b}\\u{feff}\\u{1bca0}\\u{1d173}\\u{e0041}", VISIBLE_PROSE,
	"prose with what has no glyph"},
    {"\xc2\xb7\t", "\\u{b7}\t", VISIBLE_PROSE | VISIBLE_ASCII,
	"prose for an ASCII terminal"},
};

int
main(void)
{
	struct buf b;
	struct span long_text = SPAN("aaaa\xc3\xa9");

	for (size_t i = 0; i < nitems(cases); i++) {
		buf_init(&b, 4096);
		(void)visible_add(&b, span_str(cases[i].in), cases[i].flags);
		is_mem(buf_span(&b).p, buf_span(&b).len, cases[i].out,
		    strlen(cases[i].out), "%s", cases[i].name);
		buf_free(&b);
	}
	buf_init(&b, 64);
	(void)visible_add(&b, span_of("a\0b", 3), 0);
	is_mem(buf_span(&b).p, buf_span(&b).len, "a\\x00b", 6,
	    "a NUL does not end it");
	buf_free(&b);
	buf_init(&b, 4);
	is_int(visible_add(&b, SPAN("aaaaa"), 0), -1, "no room");
	buf_free(&b);
	is_int((long long)visible_cut(long_text, 5), 4,
	    "a cut is not within a character");
	is_int((long long)visible_cut(long_text, 6), 6, "nothing to cut");
	return tap_done();
}
