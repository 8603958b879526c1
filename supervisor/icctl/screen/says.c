/* SPDX-License-Identifier: ISC */
/*
 * IronCurtain's own messages: those of icsupervisor, which come through a pipe,
 * and this viewer's. As lines they are written to standard error at once, after
 * a mark that no line of the agent begins with. While the agent has the screen,
 * the latest is shown in the bottom line, and all are repeated at the end.
 */
#include "icctl/screen/viewer.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/visible.h"
#include "icctl/wrap.h"

#define SAYS_KEPT 200U
#define SAYS_LINE 1024U
#define SAYS_BRIEF_MS 5000U

static struct {
	int fd;
	void (*news)(void);
	bool wait;            /* lines are kept until later */
	bool reading;
	char line[SAYS_LINE]; /* an incomplete line */
	size_t len;
	char *kept[SAYS_KEPT];
	unsigned n, lost;
	unsigned seen; /* how many of them the person has seen whole */
	char brief[SAYS_LINE]; /* an answer to a key, or "" */
	struct loop_timer brief_timer;
} says_env = {.fd = -1};

static void
says_keep(const char *text)
{
	if (says_env.n == SAYS_KEPT) {
		free(says_env.kept[0]);
		memmove(says_env.kept, says_env.kept + 1,
		    (SAYS_KEPT - 1) * sizeof(says_env.kept[0]));
		says_env.n--;
		says_env.lost++;
		says_env.seen -= says_env.seen != 0;
	}
	if ((says_env.kept[says_env.n] = strdup(text)) != NULL)
		says_env.n++;
}

/* Write a line, divided between words on a terminal; each part has the mark. */
static void
says_write(const char *mark, const char *text)
{
	char *line = NULL, hang[16];
	size_t len = 0;
	FILE *f;

	if ((f = open_memstream(&line, &len)) == NULL)
		return;
	(void)fputs(mark, f);
	snprintf(hang, sizeof(hang), "%s  ", mark);
	wrap_hang(f, text, (unsigned)strlen(mark), hang,
	    wrap_columns(STDERR_FILENO));
	(void)fputc('\n', f);
	if (fclose(f) == 0)
		(void)viewer_write(STDERR_FILENO, line, len);
	free(line);
}

/*
 * For a person at a terminal, who never started icsupervisor, the product says
 * it. Programs read the name as it is.
 */
static void
says_name(char *text, size_t cap)
{
	static const char was[] = "icsupervisor: ";
	const size_t n = sizeof(was) - 1;
	char *rest;

	if (!isatty(STDERR_FILENO) || strncmp(text, was, n) != 0 ||
	    (rest = strdup(text + n)) == NULL)
		return;
	snprintf(text, cap, "ironcurtain: %s", rest);
	free(rest);
}

/* Show a line, without its newline, made printable. */
static void
says_line(struct span s)
{
	char text[SAYS_LINE * 4 + 8];
	bool tty = viewer.how.screen || !viewer.how.raw[1];
	struct buf b;

	/* An escape may be twice as long as one of log_vis(). */
	buf_init(&b, 2 * sizeof(text));
	(void)visible_add(&b, s, VISIBLE_AGAIN);
	s = buf_span(&b);
	snprintf(text, sizeof(text), "%.*s",
	    (int)visible_cut(s, sizeof(text) - 1), (const char *)s.p);
	buf_free(&b);
	says_name(text, sizeof(text));
	if (says_env.wait && !viewer.how.screen) {
		says_keep(text);
		return;
	}
	if (!viewer.how.screen || !isatty(STDERR_FILENO)) {
		if (!viewer.how.screen)
			says_env.news();
		says_write(tty && !viewer.how.screen ? SAYS_MARK : "", text);
	}
	if (!viewer.how.screen)
		return;
	says_keep(text);
	says_env.news();
}

void
says_open(int fd, void (*news)(void))
{
	struct stat st;

	says_env.news = news;
	/* Messages can only be read from a pipe. */
	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISFIFO(st.st_mode))
		return;
	says_env.fd = fd;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) == -1 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
		says_env.fd = -1;
}

int
says_fd(void)
{
	return says_env.fd;
}

/* Take the complete lines from the buffer. */
static void
says_lines(void)
{
	char *nl;
	size_t n;

	while ((nl = memchr(says_env.line, '\n', says_env.len)) != NULL) {
		n = (size_t)(nl - says_env.line);
		says_line(span_of(says_env.line, n));
		says_env.len -= n + 1;
		memmove(says_env.line, nl + 1, says_env.len);
	}
	if (says_env.len == sizeof(says_env.line)) {
		says_line(span_of(says_env.line, says_env.len));
		says_env.len = 0;
	}
}

static void
says_take(void)
{
	ssize_t n;

	while (says_env.fd != -1) {
		n = read(says_env.fd, says_env.line + says_env.len,
		    sizeof(says_env.line) - says_env.len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return;
		if (n <= 0) {
			if (says_env.len != 0)
				says_line(span_of(says_env.line, says_env.len));
			says_env.len = 0;
			says_env.fd = -1;
			return;
		}
		says_env.len += (size_t)n;
		says_lines();
	}
}

void
says_read(void)
{
	if (says_env.reading)
		return;
	says_env.reading = true;
	says_take();
	says_env.reading = false;
}

bool
says_reading(void)
{
	return says_env.reading;
}

void
says(const char *fmt, ...)
{
	char text[SAYS_LINE];
	va_list ap;
	int n;

	n = snprintf(text, sizeof(text), "icctl: ");
	va_start(ap, fmt);
	(void)vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	says_line(span_str(text));
}

void
says_brief_end(void)
{
	loop_timer_clear(&viewer.loop, &says_env.brief_timer);
	if (says_env.brief[0] == '\0')
		return;
	says_env.brief[0] = '\0';
	says_env.news();
}

static void
says_brief_due(struct loop_timer *t)
{
	says_brief_end();
}

void
says_brief(const char *text)
{
	if (!viewer.how.screen) {
		says("%s", text);
		return;
	}
	(void)strlcpy(says_env.brief, text, sizeof(says_env.brief));
	loop_timer_set(&viewer.loop, &says_env.brief_timer, SAYS_BRIEF_MS,
	    says_brief_due, NULL);
	says_env.news();
}

void
says_wait(bool on)
{
	unsigned n = says_env.n;

	says_env.wait = on;
	if (on || viewer.how.screen)
		return;
	says_env.n = 0;
	for (unsigned i = 0; i < n; i++) {
		says_line(span_str(says_env.kept[i]));
		free(says_env.kept[i]);
	}
}

const char *
says_kept(unsigned i)
{
	static const char *const ours[] = {"icsupervisor: ", "icctl: "};
	static char shown[SAYS_LINE * 4 + 8];
	const char *text;
	size_t n;

	if (i >= says_env.n)
		return NULL;
	text = says_env.kept[i];
	for (size_t k = 0; k < sizeof(ours) / sizeof(ours[0]); k++) {
		n = strlen(ours[k]);
		if (strncmp(text, ours[k], n) == 0)
			text += n;
	}
	/* The agent's screen has a cell for each byte of them. */
	return log_vis_again(span_str(text), shown, sizeof(shown));
}

const char *
says_latest(void)
{
	if (says_env.brief[0] != '\0')
		return says_env.brief;
	return says_env.n == says_env.seen ? "" : says_kept(says_env.n - 1);
}

void
says_seen(void)
{
	says_env.seen = says_env.n;
}

void
says_repeat(void)
{
	if (!viewer.how.screen || !isatty(STDERR_FILENO))
		return;
	if (says_env.lost != 0)
		dprintf(STDERR_FILENO,
		    "icctl: %u earlier messages are in session.log\n",
		    says_env.lost);
	for (unsigned i = 0; i < says_env.n; i++)
		says_write("", says_env.kept[i]);
}

bool
says_looks(uint32_t c)
{
	static const uint32_t like[] = {'>', 0xbb, 0x2c3, 0x1433, 0x1438,
	    0x16b2, 0x203a, 0x226b, 0x226f, 0x22d9, 0x232a, 0x2771, 0x276f,
	    0x27e9, 0x27eb, 0x29fd, 0x2a20, 0x2aa2, 0x3009, 0x300b, 0xfe65,
	    0xff1e, 0x16f3f, 0x1d236};

	for (size_t i = 0; i < nitems(like); i++)
		if (like[i] == c)
			return true;
	return false;
}
