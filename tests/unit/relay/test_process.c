/* SPDX-License-Identifier: ISC */
/*
 * Runs termd: the agent's output through the sandbox's connection to its
 * viewers, including slow ones, and the end. argv[1]: termd.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/pledge.h"
#include "tap.h"
#include "unit/relay/rig.h"

static const struct msg_TERM_MODE lines = {.rows = 24, .cols = 80};
static const struct msg_TERM_MODE screen = {.screen = 1, .rows = 5, .cols = 20};

static void
test_lines(const char *program)
{
	struct rig_viewer *v;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	rig_connect();
	rig_print("hello \033[31mworld\033[0m\033[2J\nsecond");
	rig_box(BOX_ERR, "trouble\n", 8);
	ok(rig_said(v, "LINE hello world\n"), "a line is sent");
	ok(rig_said(v, "LINE err trouble\n"), "so is one of standard error");
	ok(rig_said(v, "LINE more second\n"),
	    "a line without an end after a while");
	ok(rig_said(v, "FRAME\n"), "and the end of a batch");
	rig_box(BOX_OUT_END, NULL, 0);
	ok(rig_said(v, "LINE second\n"), "the end of the stream ends a line");
	rig_viewer_free(v);
	rig_stop();
}

/* Frames may arrive in pieces of any size. */
static void
test_pieces(const char *program)
{
	static const uint8_t bytes[] = "\1\3\0\0\0ab\n\2\2\0\0\0c\n\3\0\0\0\0";
	struct rig_viewer *v;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	rig_connect();
	for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
		if (send(rig.box, bytes + i, 1, MSG_NOSIGNAL) != 1)
			err(1, "send");
		rig_turns(1);
	}
	ok(rig_said(v, "LINE ab\n") && rig_said(v, "LINE err c\n"),
	    "frames that come byte by byte");
	rig_viewer_free(v);
	rig_stop();
}

static void
test_bad_frames(const char *program)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *name;
	} bad[] = {
	    {"\0\1\0\0\0x", 6, "of no kind"},
	    {"\5\1\0\0\0x", 6, "of an unknown kind"},
	    {"\1\0\0\0\0", 5, "without data"},
	    {"\1\1\0\1\0", 5, "over 64 KiB"},
	    {"\3\1\0\0\0x", 6, "of an end with data"},
	    {"\021\1\0\0\0x", 6, "of the other direction"},
	    {"\023\4\0\0\0\1\0\1\0", 9, "that sets the size"},
	    {"\1\xff\xff\xff\xff", 5, "of 4 GiB"},
	};
	struct rig_viewer *v;
	uint8_t byte;
	ssize_t n;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	for (size_t i = 0; i < nitems(bad); i++) {
		rig_connect();
		if (send(rig.box, bad[i].bytes, bad[i].len, MSG_NOSIGNAL) == -1)
			err(1, "send");
		is_int(rig_read(&byte, 1), 0, "a frame %s", bad[i].name);
		n = recv(rig.box, &byte, 1, MSG_DONTWAIT);
		ok(n == 0 || (n == -1 && errno == ECONNRESET),
		    "a frame %s closes the connection", bad[i].name);
		close(rig.box);
	}
	rig_connect();
	rig_print("again\n");
	ok(rig_said(v, "LINE again\n"), "and the next connection is taken");
	rig_viewer_free(v);
	rig_stop();
}

static void
test_second(const char *program)
{
	struct rig_viewer *v;
	uint8_t byte;
	int first;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	first = rig_connect();
	rig_print("first\n");
	ok(rig_said(v, "LINE first\n"), "the first connection is heard");
	rig_connect();
	is_int(rig_read(&byte, 1), 0, "a second one gets nothing");
	is_int(recv(rig.box, &byte, 1, MSG_DONTWAIT), 0, "it is closed");
	close(rig.box);
	rig.box = first;
	rig_print("still\n");
	ok(rig_said(v, "LINE still\n"), "and the first one stays");
	rig_viewer_free(v);
	rig_stop();
}

static void
test_wait(const char *program)
{
	struct msg_TERM_MODE mode = lines;
	struct rig_viewer *v;

	mode.wait = 1;
	rig_start(program, &mode);
	rig_connect();
	rig_print("early\n");
	rig_turns(20);
	v = rig_viewer(true, true);
	ok(rig_said(v, "LINE early\n"),
	    "nothing is read before there is a viewer to be shown it");
	rig_viewer_free(v);
	rig_stop();
}

static void
test_raw(const char *program)
{
	struct msg_TERM_MODE mode = lines;
	struct rig_viewer *v, *w;

	mode.raw_out = 1;
	rig_start(program, &mode);
	v = rig_viewer(true, true);
	w = rig_viewer(false, false);
	rig_connect();
	rig_print("\033[2J\001raw\n");
	rig_box(BOX_ERR, "seen\n", 5);
	ok(rig_said(v, "RAW \033[2J\001raw\n"),
	    "redirected output is as it was");
	ok(rig_said(v, "LINE err seen\n"), "the other stream is in lines");
	ok(rig_said(w, "LINE raw\n"), "another viewer gets lines of both");
	ok(strstr(v->said, "LINE raw") == NULL &&
		strstr(w->said, "RAW") == NULL,
	    "and each gets one form alone");
	rig_viewer_free(w);
	rig_viewer_free(v);
	rig_stop();
}

/*
 * Send OUT frames while nobody reads, until none was taken for `stuck_ms`.
 * Returns the bytes that could be sent.
 */
static size_t
flood(size_t most, const char *data, size_t len, unsigned stuck_ms)
{
	static uint8_t frame[BOX_HEADER + 65536];
	uint64_t since = clock_mono_us();
	size_t sent = 0, at = 0;
	ssize_t n;

	box_header_put(frame, BOX_OUT, 65536);
	for (size_t i = 0; i < 65536; i++)
		frame[BOX_HEADER + i] = (uint8_t)data[i % len];
	while (sent < most && clock_mono_us() - since < 1000ULL * stuck_ms) {
		n = send(rig.box, frame + at, sizeof(frame) - at,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1) {
			usleep(1000);
			continue;
		}
		since = clock_mono_us();
		sent += (size_t)n;
		at = (at + (size_t)n) % sizeof(frame);
	}
	return sent;
}

/* A viewer that waits is a pipe: the agent is held back and nothing is lost. */
static void
test_push_back(const char *program, const char *line, const char *name)
{
	struct msg_TERM_MODE mode = lines;
	struct rig_viewer *v;
	size_t sent, frames, len = strlen(line);

	mode.raw_out = line[0] == 'r';
	rig_start(program, &mode);
	v = rig_viewer(true, true);
	v->quiet = true;
	rig_connect();
	rig_turns(5);
	sent = flood(16U << 20, line, len, 500);
	ok(sent < 8U << 20, "%s: the sandbox is held back", name);
	frames = sent / (BOX_HEADER + 65536);
	if (mode.raw_out) {
		while (v->raw < frames * 65536 && !rig.worker.lost)
			rig_turns(1);
		ok(v->raw >= frames * 65536, "%s: and nothing is lost", name);
	} else {
		/* Each frame ends in a line that has no end. */
		while (v->lines < frames * (65536 / len) && !rig.worker.lost)
			rig_turns(1);
		ok(v->lines >= frames * (65536 / len), "%s: and nothing is lost",
		    name);
	}
	rig_viewer_free(v);
	rig_stop();
}

static long
rss_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return -1;
	while (fgets(line, sizeof(line), f) != NULL)
		(void)sscanf(line, "VmRSS: %ld", &kib);
	fclose(f);
	return kib;
}

/* Viewers of a screen, and attached viewers, hold nobody back. */
static void
test_slow(const char *program, const struct msg_TERM_MODE *mode)
{
	const char *name = mode->screen ? "screen" : "lines";
	struct rig_viewer *v;
	long kib;

	rig_start(program, mode);
	v = rig_viewer(false, mode->screen);
	v->quiet = true;
	rig_connect();
	rig_turns(20);
	is_int(flood(4 * (BOX_HEADER + 65536) * 4, "0123456789\n", 11, 30000),
	    4 * (BOX_HEADER + 65536) * 4,
	    "%s: the sandbox is not held back by a viewer that never reads",
	    name);
	kib = rss_kib(rig.worker.pid);
	/* A sanitizer's own memory would distort the measurement. */
	if (pledge_enforced())
		ok(kib > 0 && kib < 48 << 10,
		    "%s: memory is bounded (%ld KiB)", name, kib);
	while (v->lost == 0 && !rig.worker.lost)
		rig_turns(1);
	ok(v->lost != 0, "%s: it is told of %u lines that it missed", name,
	    v->lost);
	v->quiet = false;
	rig_print("\r\nlast\r\n");
	ok(rig_said(v, "last\n"), "%s: and shown the end", name);
	rig_viewer_free(v);
	rig_stop();
}

static void
test_screen(const char *program)
{
	struct rig_viewer *v, *w;
	uint8_t size[] = "\023\4\0\0\0\5\0\24\0";

	rig_start(program, &screen);
	v = rig_viewer(true, true);
	rig_connect();
	ok(rig_reads(size, sizeof(size) - 1), "the sandbox is told the size");
	rig_print("\033[2;3Hhi\033]2;a title\007\a");
	ok(rig_said(v, "ROW 1   hi\n"), "a row is sent");
	ok(rig_said(v, "SCREEN 5x20 1,4 0 3\n"), "with size and cursor");
	ok(rig_said(v, "TITLE a title\nBELL\nFRAME\n"), "title and bell");
	rig_turns(3);
	rig_forget(v);
	rig_print("x");
	ok(rig_said(v, "ROW 1   hix\nFRAME\n"), "then only what changed");
	ok(strstr(v->said, "ROW 0") == NULL && strstr(v->said, "BELL") == NULL,
	    "and nothing else");
	w = rig_viewer(false, false);
	ok(rig_said(w, "ROW 1   hix\n"), "a later viewer is sent all");
	rig_print("\r\n\n\n\nbottom\r\n");
	ok(rig_said(v, "LINE \n"), "rows that scroll away come as lines");
	rig_viewer_free(w);
	rig_viewer_free(v);
	rig_stop();
}

/* Inputs at which libvterm alone would hang or crash. */
static void
test_hangs(const char *program)
{
	struct rig_viewer *v;

	rig_start(program, &screen);
	v = rig_viewer(true, true);
	rig_connect();
	rig_print("\033[b");
	rig_print("\344\270\200\033[1;80H\033[b");
	rig_print("\033[3;1Hlives");
	ok(rig_said(v, "ROW 2 lives\n"), "both inputs are survived");
	rig_viewer_free(v);
	rig_stop();
}

static int
exit_status(void)
{
	uint64_t until = clock_mono_us() + 30000000;
	int status;

	while (clock_mono_us() < until) {
		rig_turns(1);
		if (waitpid(rig.worker.pid, &status, WNOHANG) ==
		    rig.worker.pid) {
			rig.worker.pid = fork();
			if (rig.worker.pid == 0)
				_exit(0); /* for rig_stop() */
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		}
	}
	return -2;
}

/* Everything that the sandbox sent before STOP is passed on. */
static void
test_stop(const char *program)
{
	static const struct msg_STOP stop;
	struct rig_viewer *v;

	rig_start(program, &lines);
	v = rig_viewer(true, true);
	rig_connect();
	rig_print("one\ntwo");
	close(rig.box);
	rig.box = -1;
	(void)chan_send(rig.worker.sup, MSG_STOP, &stop, -1);
	ok(rig_said(v, "LINE one\n") && rig_said(v, "LINE two\n"),
	    "what was sent before STOP comes through");
	while (!v->closed && !v->ended)
		rig_turns(1);
	ok(v->len > 4 && strcmp(v->said + v->len - 4, "END\n") == 0,
	    "the end is said last");
	is_int(exit_status(), 0, "then termd ends well");
	rig_viewer_free(v);
	rig_stop();
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: test_termd_process TERMD");
	test_lines(argv[1]);
	test_pieces(argv[1]);
	test_bad_frames(argv[1]);
	test_second(argv[1]);
	test_wait(argv[1]);
	test_raw(argv[1]);
	test_push_back(argv[1], "raw bytes", "raw");
	test_push_back(argv[1], "\n", "empty lines");
	test_push_back(argv[1], "a line of text\n", "lines");
	test_slow(argv[1], &lines);
	test_slow(argv[1], &screen);
	test_screen(argv[1]);
	test_hangs(argv[1]);
	test_stop(argv[1]);
	return tap_done();
}
