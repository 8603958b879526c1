/* SPDX-License-Identifier: ISC */
/*
 * Parts of the built-in agent: the line editor, the detection of circles, the
 * conversation's file, and how a conversation is shortened.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "docker/agent/agent.h"
#include "docker/agent/edit.h"
#include "tap.h"

#define ESCAPE "\033"

static const struct {
	const char *name, *keys, *want;
	enum edit_got got;
} edit_rows[] = {
    {"letters", "hello", "hello", EDIT_MORE},
    {"enter", "hello\r", "hello", EDIT_DONE},
    {"backspace", "helo\x7flo\r", "hello", EDIT_DONE},
    {"backspace takes whole characters",
	"a\xc3\xa4\xe6\xbc\xa2\x7f\x7f"
	"b\r",
	"ab", EDIT_DONE},
    {"left and right", "ac" ESCAPE "[Db" ESCAPE "[Cd\r", "abcd", EDIT_DONE},
    {"home and end", "b" ESCAPE "[Ha" ESCAPE "OFc\r", "abc", EDIT_DONE},
    {"Ctrl-A and Ctrl-E",
	"b\x01"
	"a\x05"
	"c\r",
	"abc", EDIT_DONE},
    {"delete", "abc" ESCAPE "[1~" ESCAPE "[3~\r", "bc", EDIT_DONE},
    {"Ctrl-W",
	"one two \x17"
	"three\r",
	"one three", EDIT_DONE},
    {"Ctrl-U", "one\x15two\r", "two", EDIT_DONE},
    {"Ctrl-K", "onetwo" ESCAPE "b\x0b!\r", "!", EDIT_DONE},
    {"the word before", "one two" ESCAPE "[1;5Dx\r", "one xtwo", EDIT_DONE},
    {"a paste with newlines", ESCAPE "[200~a\rb\x03" ESCAPE "[201~c\r", "a\nbc",
	EDIT_DONE},
    {"Alt-Enter", "a" ESCAPE "\rb\r", "a\nb", EDIT_DONE},
    {"Ctrl-C", "abc\x03", "abc", EDIT_CANCEL},
    {"Ctrl-D deletes", "ab" ESCAPE "[D\x04\r", "a", EDIT_DONE},
    {"Ctrl-D ends", "\x04", "", EDIT_END},
    {"unknown sequences do nothing",
	"a" ESCAPE "[?25;1;2;3;4;5;6;7;8;9;10h"
	"b" ESCAPE "Oz" ESCAPE "xc\r",
	"abc", EDIT_DONE},
    {"an escape begins again", "a" ESCAPE "[" ESCAPE "[Db\r", "ba", EDIT_DONE},
    {"earlier messages", ESCAPE "[A\r", "second", EDIT_DONE},
    {"and later ones", ESCAPE "[A" ESCAPE "[A" ESCAPE "[Bx\r", "secondx",
	EDIT_DONE},
    {"beyond the first and the last",
	ESCAPE "[A" ESCAPE "[A" ESCAPE "[A" ESCAPE "[B" ESCAPE "[B" ESCAPE
	       "[Bnew\r",
	"new", EDIT_DONE},
    {"tabs stay", "a\tb\r", "a\tb", EDIT_DONE},
};

static void
test_edit(void)
{
	struct edit e = {0};
	enum edit_got got;
	const char *k;

	edit_remember(&e, "first");
	edit_remember(&e, "second");
	for (size_t i = 0; i < nitems(edit_rows); i++) {
		edit_begin(&e);
		got = EDIT_MORE;
		for (k = edit_rows[i].keys; *k != '\0' && got == EDIT_MORE; k++)
			got = edit_take(&e, (uint8_t)*k, false);
		if (strcmp(edit_rows[i].name, "Ctrl-D ends") == 0)
			is_int(got, EDIT_END, "%s", edit_rows[i].name);
		else
			ok(got == edit_rows[i].got && e.len != 0 &&
				strcmp(e.text, edit_rows[i].want) == 0 &&
				*k == '\0',
			    "%s", edit_rows[i].name);
	}
	edit_begin(&e);
	edit_take(&e, 'a', true);
	is_int(edit_take(&e, '\r', true), EDIT_MORE,
	    "a newline with bytes behind it belongs to a paste");
	is_int(edit_take(&e, '\r', false), EDIT_DONE, "the last one ends it");
	edit_free(&e);
}

/* Text of any kind is drawn without anything that moves the cursor elsewhere.
 */
static void
test_draw(void)
{
	struct edit e = {0};
	struct buf out;
	struct span s;

	buf_init(&out, 65536);
	edit_begin(&e);
	for (const char *p = "0123456789\xe2\x80\xae\xff\xe6\xbc\xa2";
	     *p != '\0'; p++)
		edit_take(&e, (uint8_t)*p, false);
	edit_draw(&e, 10, &out);
	s = buf_span(&out);
	ok(memmem(s.p, s.len, "\xe2\x80\xae", 3) == NULL &&
		memchr(s.p, 0xff, s.len) == NULL,
	    "what reorders text, or is none, is not drawn");
	is_int(e.row, 1, "the cursor is on the second row");
	edit_leave(&e, 10, &out);
	is_int(e.row, 0, "and then below");
	buf_free(&out);
	edit_free(&e);
}

static enum repeat_verdict
call(struct repeat *r, const char *args, const char *result, bool is_error)
{
	const char *why;

	if (repeat_before(r, SPAN("t"), span_str(args), &why) == REPEAT_BLOCK)
		return REPEAT_BLOCK;
	return repeat_after(
	    r, SPAN("t"), span_str(args), span_str(result), is_error, &why);
}

static void
test_repeat(void)
{
	static const enum repeat_verdict same[] = {REPEAT_FINE, REPEAT_FINE,
	    REPEAT_WARN, REPEAT_WARN, REPEAT_WARN, REPEAT_BLOCK, REPEAT_BLOCK};
	struct repeat r = {0};
	char text[16];
	unsigned i;

	for (i = 0; i < nitems(same); i++)
		is_int(call(&r, "a", "x", false), same[i],
		    "the same call and result, time %u", i + 1);
	ok(!repeat_hopeless(&r), "there is hope after two blocked calls");
	is_int(call(&r, "b", "x", false), REPEAT_FINE, "another call is fine");
	call(&r, "a", "x", false);
	ok(repeat_hopeless(&r), "and none after three");
	repeat_reset(&r);
	is_int(call(&r, "a", "x", false), REPEAT_FINE, "a new turn is new");

	repeat_reset(&r);
	for (i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "%u", i);
		if (call(&r, "poll", text, false) != REPEAT_FINE)
			break;
	}
	is_int(i, 20, "a call whose result changes is fine");

	repeat_reset(&r);
	for (i = 0;
	     call(&r, i % 2 == 0 ? "a" : "b", "x", false) != REPEAT_BLOCK;)
		i++;
	is_int(i, 10, "two calls that alternate are noticed");

	repeat_reset(&r);
	for (i = 0; i < 30; i++) {
		snprintf(text, sizeof(text), "%u", i);
		if (call(&r, text, text, true) == REPEAT_BLOCK)
			break;
		if (i == 3 || i == 4)
			is_int(repeat_hopeless(&r), 0, "failures are counted");
	}
	is_int(i, 8, "after eight failures in a row the next call is blocked");
	is_int(call(&r, "ok", "fine", false), REPEAT_FINE, "one may follow");
	is_int(call(&r, "new", "no", true), REPEAT_FINE, "a success counts");
}

static char *
temp_dir(void)
{
	static char dir[64];

	snprintf(dir, sizeof(dir), "/tmp/ic-agent-test-XXXXXX");
	return mkdtemp(dir);
}

static void
add_call(struct history *h, const char *id)
{
	struct model_message m = {.role = MODEL_ASSISTANT,
	    .text = strdup("I call."),
	    .calls = calloc(1, sizeof(struct model_call)),
	    .ncalls = 1,
	    .dialect = MODEL_GEMINI,
	    .native = strdup("[{\"text\":\"n\"}]")};

	m.calls[0] = (struct model_call){
	    strdup(id), strdup("f"), strdup("{\"a\":\"\\u00e4\"}")};
	history_add(h, &m);
}

static void
test_history(const char *home)
{
	char path[256], latest[HISTORY_NAME_MAX + 1];
	struct history h;
	struct stat st;
	int fd;

	is_int(history_open(&h, home, "talk-1"), 0, "a new conversation");
	history_add_text(&h, MODEL_USER, "hello \"you\"\n");
	h.tokens = 1234;
	add_call(&h, "c1");
	history_close(&h);
	is_int(history_open(&h, home, "talk-1"), 2, "is read again");
	is_str(h.messages[0].text, "hello \"you\"\n", "with its texts");
	is_str(h.messages[1].calls[0].args, "{\"a\":\"\\u00e4\"}", "its calls");
	is_str(h.messages[1].native, "[{\"text\":\"n\"}]", "its own form");
	is_int(h.messages[1].dialect, MODEL_GEMINI, "of that dialect");
	is_int(h.tokens, 1234, "and its size");
	is_int(history_mend(&h, "interrupted"), 1, "a lost result is added");
	is_int(history_mend(&h, "interrupted"), 0, "once");
	is_str(h.messages[2].call_id, "c1", "for its call");
	history_close(&h);

	snprintf(path, sizeof(path), "%s/.ic-agent/talk-1.jsonl", home);
	fd = open(path, O_WRONLY | O_APPEND);
	ok(write(fd, "{\"role\":\"user\",\"te", 18) == 18,
	    "a line that is cut");
	close(fd);
	is_int(history_open(&h, home, "talk-1"), 3, "is dropped");
	history_add_text(&h, MODEL_USER, "more");
	history_close(&h);
	is_int(history_open(&h, home, "talk-1"), 4, "and the next one counts");
	history_replace(&h, 3, "in short");
	history_close(&h);
	is_int(
	    history_open(&h, home, "talk-1"), 2, "a shorter one stays short");
	is_str(h.messages[0].text, "in short", "with its summary");
	is_str(h.messages[1].text, "more", "and the latest message");
	history_close(&h);
	ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600,
	    "for its owner only");
	is_int(history_open(&h, home, "../x"), -1, "a name that is a path");
	history_close(&h);
	ok(history_latest(home, latest) && strcmp(latest, "talk-1") == 0,
	    "the latest one is found: %s", latest);
	/* Nobody else's file is followed. */
	snprintf(path, sizeof(path), "%s/.ic-agent/link.jsonl", home);
	ok(symlink("/etc/passwd", path) == 0 &&
		history_open(&h, home, "link") == -1,
	    "a link is not opened");
	history_close(&h);
}

/* Without a model the person's words are kept, and results with their calls. */
static void
test_compact(const char *home)
{
	struct agent_options o = {.compact_at = 100};
	struct model_options mo = {.dialect = MODEL_CHAT,
	    .base = "http://127.0.0.1:1",
	    .key = "k",
	    .name = "m",
	    .attempts = 1};
	struct agent a = {.options = &o, .code = false};
	char why[MODEL_WHY_MAX], text[32];

	a.provider = model_new(&mo, why);
	history_open(&a.history, home, "long");
	for (unsigned i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "message %u", i);
		history_add_text(&a.history, MODEL_USER, text);
		add_call(&a.history, text);
		history_mend(&a.history, "result");
	}
	is_int(a.history.n, 24, "a conversation");
	a.history.tokens = 99;
	compact_run(&a, false);
	is_int(a.history.n, 24, "is left alone below the limit");
	a.history.tokens = 100;
	compact_run(&a, false);
	is_int(a.history.n, 12, "is shortened at the limit");
	ok(strstr(a.history.messages[0].text, "message 0") != NULL &&
		strstr(a.history.messages[0].text, "message 4") != NULL &&
		strstr(a.history.messages[0].text, "message 5") == NULL,
	    "keeps the person's words");
	is_int(a.history.messages[1].role, MODEL_ASSISTANT,
	    "and no result without its call");
	history_close(&a.history);
	model_free(a.provider);
}

int
main(void)
{
	char *home = temp_dir(), command[128];

	if (home == NULL || signals_setup() == -1)
		return 1;
	show_setup(SHOW_JSON);
	test_edit();
	test_draw();
	test_repeat();
	test_history(home);
	test_compact(home);
	snprintf(command, sizeof(command), "%s/.ic-agent", home);
	for (unsigned i = 0; i < 4; i++) {
		static const char *const names[] = {
		    "talk-1.jsonl", "link.jsonl", "long.jsonl", ""};

		snprintf(command, sizeof(command), "%s/.ic-agent/%s", home,
		    names[i]);
		if (names[i][0] != '\0')
			unlink(command);
		else
			rmdir(command);
	}
	rmdir(home);
	return tap_done();
}
