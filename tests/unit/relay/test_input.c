/* SPDX-License-Identifier: ISC */
/*
 * Tests a person's input at a viewer as the agent receives it: keys, pastes,
 * mouse, focus and size, in the modes that the agent requested; and viewers
 * that take the keyboard, or are denied it. argv[1]: termd.
 */
#include <sys/socket.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "unit/relay/rig.h"

static const struct msg_TERM_MODE lines = {.rows = 24, .cols = 80};
static const struct msg_TERM_MODE screen = {.screen = 1, .rows = 5, .cols = 20};

static void
keys(struct rig_viewer *v, const char *text)
{
	struct msg_KEYS m = {.bytes = span_str(text)};

	(void)chan_send(v->chan, MSG_KEYS, &m, -1);
}

/* Expect one frame of DATA for the sandbox. */
static bool
reads_data(const char *text)
{
	uint8_t want[512];
	size_t n = strlen(text);

	box_header_put(want, BOX_DATA, (uint32_t)n);
	memcpy(want + BOX_HEADER, text, n);
	return rig_reads(want, BOX_HEADER + n);
}

static bool
gets_room(const struct rig_viewer *v, uint32_t n)
{
	for (unsigned i = 0; i < 500 && v->room < n; i++)
		rig_turns(1);
	return v->room == n;
}

static bool
is_closed(const struct rig_viewer *v)
{
	for (unsigned i = 0; i < 500 && !v->closed; i++)
		rig_turns(1);
	return v->closed;
}

static void
test_keys(const char *program)
{
	static const struct msg_INPUT_END end;
	static const uint8_t eof[] = "\022\0\0\0\0";
	struct msg_INPUT in = {.bytes = SPAN("from a file")};
	struct rig_viewer *v;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	keys(v, "early");
	rig_connect();
	ok(reads_data("early"), "keys wait for the sandbox");
	ok(gets_room(v, 5), "and make room when it has them");
	(void)chan_send(v->chan, MSG_INPUT, &in, -1);
	ok(reads_data("from a file"), "standard input");
	(void)chan_send(v->chan, MSG_INPUT_END, &end, -1);
	(void)chan_send(v->chan, MSG_INPUT_END, &end, -1);
	ok(rig_reads(eof, 5), "and its end");
	keys(v, "x");
	ok(reads_data("x"), "which is told once");
	rig_viewer_free(v);
	rig_stop();
}

/* The window: 64 KiB that the sandbox has not taken. */
static void
test_window(const char *program)
{
	static uint8_t bytes[PROTO_MAX_TYPED];
	struct msg_KEYS m = {.bytes = span_of(bytes, sizeof(bytes))};
	struct rig_viewer *v, *w;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	w = rig_viewer(false, false);
	for (unsigned i = 0; i < PROTO_TYPED_ROOM / PROTO_MAX_TYPED; i++)
		(void)chan_send(v->chan, MSG_KEYS, &m, -1);
	rig_turns(10);
	ok(!v->closed, "as much as there is room for");
	keys(v, "x");
	ok(is_closed(v), "one byte more closes that viewer");
	ok(!w->closed, "and no other");
	rig_connect();
	rig_print("lives\n");
	ok(rig_said(w, "LINE lives\n"), "nor termd");
	rig_viewer_free(w);
	rig_viewer_free(v);
	rig_stop();
}

static void
test_lost(const char *program)
{
	struct rig_viewer *v;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	keys(v, "abc");
	rig_connect();
	ok(reads_data("abc") && gets_room(v, 3), "a connection");
	close(rig.box);
	rig_turns(5);
	rig_connect();
	keys(v, "next");
	ok(reads_data("next"), "the next one begins with a frame");
	rig_viewer_free(v);
	rig_stop();
}

static void
test_paste(const char *program)
{
	struct msg_PASTE a = {.bytes = SPAN("one\033[201~rm -rf\033")};
	struct msg_PASTE b = {.last = 1, .bytes = SPAN("two")};
	struct msg_PASTE none = {.last = 0};
	struct msg_PASTE only = {.last = 1, .bytes = SPAN("\033")};
	struct rig_viewer *v, *w;

	rig_start(program, &screen);
	v = rig_viewer(true, true);
	w = rig_viewer(false, false);
	rig_connect();
	(void)rig_read((uint8_t[9]){0}, 9);
	(void)chan_send(v->chan, MSG_PASTE, &b, -1);
	ok(reads_data("two"), "a paste that the agent wants no brackets for");
	rig_print("\033[?2004h\033[2;1Hx");
	ok(rig_said(v, "ROW 1 x\n"), "it asks for them");
	(void)chan_send(v->chan, MSG_PASTE, &a, -1);
	ok(reads_data("\033[200~") && reads_data("one[201~rm -rf"),
	    "a paste begins with a bracket and cannot end it");
	(void)chan_send(v->chan, MSG_PASTE, &b, -1);
	ok(reads_data("two") && reads_data("\033[201~"), "its end does");
	(void)chan_send(v->chan, MSG_PASTE, &a, -1);
	ok(reads_data("\033[200~") && reads_data("one[201~rm -rf"), "another");
	chan_send(w->chan, MSG_TAKE, &(struct msg_TAKE){0}, -1);
	ok(reads_data("\033[201~"), "which ends when the keyboard is taken");
	(void)chan_send(w->chan, MSG_PASTE, &only, -1);
	ok(reads_data("\033[200~") && reads_data("\033[201~"),
	    "one that has nothing else than ESC");
	ok(gets_room(w, 1), "and its room comes back");
	(void)chan_send(w->chan, MSG_PASTE, &none, -1);
	ok(is_closed(w), "a piece of nothing closes a viewer");
	rig_viewer_free(w);
	rig_viewer_free(v);
	rig_stop();
}

/* Wait until everything that this viewer sent has reached termd. */
static void
settle(struct rig_viewer *v)
{
	keys(v, "~");
	ok(reads_data("~"), "and nothing before it");
}

static void
mouse(struct rig_viewer *v, uint8_t button, uint8_t what, uint16_t row,
    uint16_t col)
{
	struct msg_MOUSE m = {
	    .button = button, .what = what, .mods = 4, .row = row, .col = col};

	(void)chan_send(v->chan, MSG_MOUSE, &m, -1);
}

static void
test_mouse(const char *program)
{
	struct rig_viewer *v;

	rig_start(program, &screen);
	v = rig_viewer(true, true);
	rig_connect();
	(void)rig_read((uint8_t[9]){0}, 9);
	mouse(v, 0, PROTO_MOUSE_DOWN, 1, 2);
	settle(v);
	rig_print("\033[?1000h\033[2;1Hx");
	ok(rig_said(v, "ROW 1 x\n"), "it asks");
	mouse(v, 0, PROTO_MOUSE_DOWN, 1, 2);
	ok(reads_data("\033[M$#\""), "the old form");
	mouse(v, 0, PROTO_MOUSE_UP, 1, 2);
	ok(reads_data("\033[M'#\""), "a button that is let go");
	mouse(v, 0, PROTO_MOUSE_DOWN, 1, 223);
	settle(v);
	rig_print("\033[?1006h\033[2;2Hy");
	ok(rig_said(v, "ROW 1 xy\n"), "the new one");
	mouse(v, 0, PROTO_MOUSE_MOVE, 1, 2);
	mouse(v, 64, PROTO_MOUSE_DOWN, 4, 299);
	ok(reads_data("\033[<68;300;5M"), "no motion, and none beyond 223");
	mouse(v, 0, PROTO_MOUSE_UP, 4, 9);
	ok(reads_data("\033[<4;10;5m"), "let go");
	rig_print("\033[?1003h\033[2;3Hz");
	ok(rig_said(v, "ROW 1 xyz\n"), "all motion");
	mouse(v, 3, PROTO_MOUSE_MOVE, 0, 0);
	ok(reads_data("\033[<39;1;1M"), "is reported");
	rig_viewer_free(v);
	rig_stop();
}

static void
test_focus(const char *program)
{
	struct msg_FOCUS m = {.in = 0};
	struct rig_viewer *v;

	rig_start(program, &screen);
	v = rig_viewer(true, true);
	rig_connect();
	(void)rig_read((uint8_t[9]){0}, 9);
	(void)chan_send(v->chan, MSG_FOCUS, &m, -1);
	settle(v);
	rig_print("\033[?1004h\033[2;1Hx");
	ok(rig_said(v, "ROW 1 x\n"), "an agent that wants to know");
	m.in = 1;
	(void)chan_send(v->chan, MSG_FOCUS, &m, -1);
	ok(reads_data("\033[I"), "is told of the focus, and not before");
	rig_viewer_free(v);
	rig_stop();
}

static void
resize(struct rig_viewer *v, uint16_t rows, uint16_t cols)
{
	struct msg_SIZE m = {.rows = rows, .cols = cols};

	(void)chan_send(v->chan, MSG_SIZE, &m, -1);
}

static void
test_size(const char *program)
{
	static const uint8_t one[] = "\023\4\0\0\0\12\0\50\0";
	static const uint8_t two[] = "\023\4\0\0\0\2\0\24\0";
	static const uint8_t three[] = "\023\4\0\0\0\7\0\36\0";
	struct rig_viewer *v, *w;
	uint8_t frame[9 * 50];
	size_t n;

	rig_start(program, &screen);
	v = rig_viewer(true, true);
	w = rig_viewer(false, false);
	rig_connect();
	(void)rig_read(frame, 9);
	resize(w, 7, 30);
	resize(v, 10, 40);
	ok(rig_reads(one, 9), "the typist's size is the agent's");
	ok(rig_said(v, "SCREEN 10x40"), "and that of the screen");
	/* Many changes of size in a row. */
	for (unsigned i = 0; i < 200; i++)
		resize(v, (uint16_t)(3 + i % 50), 80);
	resize(v, 1, 1);
	ok(rig_said(v, "SCREEN 2x20"), "the last size counts, not too small");
	n = rig_read(frame, sizeof(frame));
	ok(n >= 9 && n < 9 * 10 && memcmp(frame + n - 9, two, 9) == 0,
	    "and a storm is few changes (%zu)", n / 9);
	chan_send(w->chan, MSG_TAKE, &(struct msg_TAKE){0}, -1);
	ok(rig_reads(three, 9), "who takes the keyboard brings a size");
	rig_viewer_free(w);
	rig_viewer_free(v);
	rig_stop();
}

static void
test_take(const char *program)
{
	struct rig_viewer *v, *w;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	w = rig_viewer(false, false);
	rig_connect();
	ok(rig_said(v, "TYPIST 1\n"), "one has the keyboard");
	keys(w, "not me");
	ok(gets_room(w, 6), "another one's keys are dropped");
	keys(v, "me");
	ok(reads_data("me"), "and never reach the agent");
	chan_send(w->chan, MSG_TAKE, &(struct msg_TAKE){0}, -1);
	ok(rig_said(w, "TYPIST 1\n") && rig_said(v, "TYPIST 0\n"),
	    "the keyboard is taken, and both are told");
	keys(w, "now me");
	ok(reads_data("now me"), "its keys are the agent's");
	rig_viewer_free(w);
	rig_viewer_free(v);
	rig_stop();
}

static const uint8_t go_on[] = "\025\0\0\0\0";

static void
go(struct rig_viewer *v)
{
	(void)chan_send(v->chan, MSG_CONTINUE, &(struct msg_CONTINUE){0}, -1);
}

static void
test_stopped(const char *program)
{
	struct rig_viewer *v, *w;

	rig_start(program, &screen);
	rig_connect();
	(void)rig_read((uint8_t[9]){0}, 9);
	rig_box(BOX_STOPPED, NULL, 0);
	ok(rig_reads(go_on, 5), "an agent that nobody watches is continued");
	v = rig_viewer(true, true);
	w = rig_viewer(false, false);
	rig_box(BOX_STOPPED, NULL, 0);
	rig_box(BOX_STOPPED, NULL, 0);
	ok(rig_said(v, "STOPPED\n"), "who types is told that it has stopped");
	go(w);
	keys(w, "~");
	ok(gets_room(w, 1), "another viewer's word is read");
	go(v);
	go(v);
	ok(rig_reads(go_on, 5), "and continues it");
	keys(v, "x");
	ok(reads_data("x"), "once, and the other one does not");
	ok(strstr(strstr(v->said, "STOPPED") + 1, "STOPPED") == NULL &&
		strstr(w->said, "STOPPED") == NULL,
	    "who types was asked once");
	rig_forget(v);
	rig_box(BOX_STOPPED, NULL, 0);
	ok(rig_said(v, "STOPPED\n"), "it stops again");
	chan_send(w->chan, MSG_TAKE, &(struct msg_TAKE){0}, -1);
	ok(rig_reads(go_on, 5), "whoever takes the keyboard continues it");
	rig_box(BOX_STOPPED, NULL, 0);
	ok(rig_said(w, "STOPPED\n"), "a third time");
	rig_viewer_free(w);
	ok(rig_reads(go_on, 5), "so does the end of the viewer that was asked");
	rig_viewer_free(v);
	rig_stop();
}

#define MANY_STOPS (16U << 20) /* bytes */

/* A sandbox may report a stop as often as it likes, and take nothing. */
static void
test_stopped_often(const char *program)
{
	static uint8_t many[BOX_HEADER * 4096];
	struct rig_viewer *v;
	ssize_t n;

	rig_start(program, &screen);
	rig_connect();
	for (unsigned i = 0; i < sizeof(many) / BOX_HEADER; i++)
		box_header_put(many + i * BOX_HEADER, BOX_STOPPED, 0);
	/* More than termd keeps for the sandbox. */
	for (size_t at = 0; at < MANY_STOPS;) {
		/* A frame that was sent in part goes on. */
		n = send(rig.box, many + at % BOX_HEADER,
		    sizeof(many) - BOX_HEADER, MSG_NOSIGNAL | MSG_DONTWAIT);
		at += n > 0 ? (size_t)n : 0;
		rig_turns(n > 0 ? 0 : 1);
	}
	v = rig_viewer(false, false);
	ok(rig_said(v, "FRAME\n") && !rig.worker.lost,
	    "a sandbox that stops without end ends nothing");
	rig_viewer_free(v);
	rig_stop();
}

static void
test_gone(const char *program)
{
	static const uint8_t shut[] = "\024\1\0\0\0\0";
	struct msg_OUT_GONE m = {.stream = 0};
	struct rig_viewer *v, *w;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	w = rig_viewer(false, false);
	rig_connect();
	(void)chan_send(v->chan, MSG_OUT_GONE, &m, -1);
	(void)chan_send(v->chan, MSG_OUT_GONE, &m, -1);
	ok(rig_reads(shut, 6), "the sandbox is told that nobody reads");
	rig_print("nobody\n");
	rig_box(BOX_ERR, "somebody\n", 9);
	ok(rig_said(v, "LINE err somebody\n") &&
		strstr(v->said, "nobody") == NULL,
	    "and what it still writes there goes nowhere");
	(void)chan_send(w->chan, MSG_OUT_GONE, &m, -1);
	ok(is_closed(w), "one that does not wait may not say so");
	rig_viewer_free(w);
	rig_viewer_free(v);
	rig_stop();
}

static void
test_limits(const char *program)
{
	struct rig_viewer *v[PROTO_MAX_VIEWERS + 1];
	struct msg_FRAME_ACK ack = {.seq = 77};
	struct msg_SIZE none = {.rows = 0, .cols = 1};

	rig_start(program, &screen);
	for (unsigned i = 0; i <= PROTO_MAX_VIEWERS; i++)
		v[i] = rig_viewer(false, false);
	ok(is_closed(v[PROTO_MAX_VIEWERS]), "a ninth viewer is refused");
	rig_viewer_free(v[0]);
	rig_turns(5);
	v[0] = rig_viewer(false, false);
	ok(rig_said(v[0], "FRAME\n"), "until another one has left");
	(void)chan_send(v[1]->chan, MSG_FRAME_ACK, &ack, -1);
	ok(is_closed(v[1]), "a frame that was not sent cannot be taken");
	(void)chan_send(v[2]->chan, MSG_SIZE, &none, -1);
	ok(is_closed(v[2]), "a size of nothing closes a viewer");
	keys(v[3], "");
	ok(is_closed(v[3]), "so does typing nothing");
	ok(!v[4]->closed && !rig.worker.lost, "and nothing else");
	for (unsigned i = 0; i <= PROTO_MAX_VIEWERS; i++)
		rig_viewer_free(v[i]);
	rig_stop();
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: test_termd_input TERMD");
	test_keys(argv[1]);
	test_window(argv[1]);
	test_lost(argv[1]);
	test_paste(argv[1]);
	test_mouse(argv[1]);
	test_focus(argv[1]);
	test_size(argv[1]);
	test_take(argv[1]);
	test_stopped(argv[1]);
	test_stopped_often(argv[1]);
	test_gone(argv[1]);
	test_limits(argv[1]);
	return tap_done();
}
