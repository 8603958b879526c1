/* SPDX-License-Identifier: ISC */
/*
 * Text of models and tools is not trusted to hold no escape sequences: of its
 * control characters only the newline and the tab are written.  In lines of our
 * own everything else is escaped, too.
 */
#include "docker/agent/show.h"

#include <sys/ioctl.h>

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "common/json/json.h"
#include "common/visible.h"

#define SHOW_ARGS_MAX 72U
#define SHOW_REASON_MAX 160U

#define DIM "\033[2m"
#define BOLD "\033[1m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define OFF "\033[0m"
#define AGAIN "\r\033[K"
#define ABOVE "\033[A"
#define SHOW_OUTCOME 14U /* columns for "- ", ": allowed" and more */

static struct {
	enum show_kind kind;
	bool line;      /* a line of text is open */
	bool waits;     /* the line of a call says that it waits */
	char call[256]; /* the call under way */
} show_env;

void
show_setup(enum show_kind kind)
{
	show_env.kind = kind;
	setvbuf(stdout, NULL, _IOFBF, 65536);
}

static const char *
style(const char *s)
{
	return show_env.kind == SHOW_TERMINAL ? s : "";
}

/* Write a JSON line: a type, and members whose value is not NULL. */
static void
json_line(const char *type, const char *const (*members)[2], size_t n)
{
	struct buf b;

	buf_init(&b, 32U << 20);
	buf_printf(&b, "{\"type\":\"%s\"", type);
	for (size_t i = 0; i < n; i++) {
		if (members[i][1] == NULL)
			continue;
		buf_printf(&b, ",\"%s\":", members[i][0]);
		json_write_string(&b, utf8_valid(span_str(members[i][1]))
					  ? span_str(members[i][1])
					  : SPAN("?"));
	}
	buf_adds(&b, "}\n");
	fwrite(b.p + b.off, 1, b.len, stdout);
	fflush(stdout);
	buf_free(&b);
}

void
show_text(struct span text)
{
	struct buf b;

	if (text.len == 0)
		return;
	buf_init(&b, text.len * 6 + 64);
	if (show_env.kind == SHOW_JSON) {
		buf_adds(&b, "{\"type\":\"text\",\"text\":");
		json_write_string(&b, text);
		buf_adds(&b, "}\n");
	} else {
		for (size_t i = 0; i < text.len; i++) {
			if ((text.p[i] >= 0x20 && text.p[i] != 0x7f) ||
			    text.p[i] == '\n' || text.p[i] == '\t')
				buf_addc(&b, text.p[i]);
		}
		show_env.line = text.p[text.len - 1] != '\n';
	}
	fwrite(b.p + b.off, 1, b.len, stdout);
	fflush(stdout);
	buf_free(&b);
}

void
show_text_end(void)
{
	if (show_env.kind != SHOW_JSON && show_env.line) {
		putchar('\n');
		fflush(stdout);
	}
	show_env.line = false;
}

void
show_say(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	show_text_end();
	/* Lines that are no events go to the session's log. */
	if (show_env.kind == SHOW_JSON)
		fprintf(stderr, "ic-agent: %s\n", text);
	else
		printf("%s%s%s\n", style(DIM), text, style(OFF));
	fflush(stdout);
}

void
show_error(const char *kind, const char *text)
{
	const char *const members[][2] = {{"kind", kind}, {"text", text}};

	show_text_end();
	if (show_env.kind == SHOW_JSON) {
		json_line("error", members, 2);
		return;
	}
	printf("%s%s%s\n", style(RED), text, style(OFF));
	fflush(stdout);
}

void
show_own(const char *tool, const char *detail)
{
	const char *const members[][2] = {{"tool", tool}};

	show_text_end();
	if (show_env.kind == SHOW_JSON)
		json_line("own", members, 1);
	else
		printf("%s- %s%s\n", style(DIM), detail, style(OFF));
	fflush(stdout);
}

/* Returns how many bytes fit on the line that will be written again. */
static size_t
show_room(size_t max, size_t besides)
{
	struct winsize w;
	size_t columns = 80;

	if (show_env.kind != SHOW_TERMINAL)
		return max;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col != 0)
		columns = w.ws_col;
	columns = columns > besides + 16 ? columns - besides : 16;
	return columns < max ? columns : max;
}

void
show_call(const char *tool, const char *args)
{
	struct span s = span_str(args);
	const char *mark = strstr(tool, "__");
	struct buf b;
	bool cut;

	if (show_env.kind == SHOW_JSON) {
		/* icsupervisor tells of the call; this says who speaks. */
		show_own(tool, "");
		return;
	}
	show_text_end();
	s.len = visible_cut(s, SHOW_ARGS_MAX);
	cut = args[s.len] != '\0';
	buf_init(&b, 4096);
	/* A tool's name is SERVER__TOOL. */
	if (mark != NULL && mark != tool) {
		visible_add(
		    &b, span_of(tool, (size_t)(mark - tool)), VISIBLE_AGAIN);
		buf_addc(&b, '.');
		tool = mark + 2;
	}
	visible_add(&b, span_str(tool), VISIBLE_AGAIN);
	buf_addc(&b, ' ');
	visible_add(&b, s, VISIBLE_AGAIN);
	buf_adds(&b, cut ? "..." : "");
	s = buf_span(&b);
	s.len =
	    visible_cut(s, show_room(sizeof(show_env.call) - 1, SHOW_OUTCOME));
	snprintf(show_env.call, sizeof(show_env.call), "%.*s", (int)s.len,
	    (const char *)s.p);
	buf_free(&b);
	show_env.waits = false;
	if (show_env.kind == SHOW_TERMINAL)
		printf("- %s", show_env.call);
	fflush(stdout);
}

void
show_call_waits(struct span message)
{
	struct span s;
	struct buf b;

	if (show_env.kind == SHOW_JSON || message.len == 0)
		return;
	/* Lines cannot be changed: the first one is enough. */
	if (show_env.kind == SHOW_PLAIN && show_env.waits)
		return;
	buf_init(&b, 4096);
	message.len = visible_cut(message, SHOW_REASON_MAX);
	visible_add(&b, message, VISIBLE_AGAIN);
	s = buf_span(&b);
	s.len = visible_cut(s, show_room(b.len, 4));
	if (show_env.kind == SHOW_PLAIN)
		printf("- %s: %.*s\n", show_env.call, (int)s.len,
		    (const char *)s.p);
	else
		printf("%s  " YELLOW "%.*s" OFF,
		    show_env.waits ? AGAIN : "\r\n", (int)s.len,
		    (const char *)s.p);
	show_env.waits = true;
	fflush(stdout);
	buf_free(&b);
}

/* Returns true for the policy's own answers. */
static bool
denied(const char *result)
{
	return strncmp(result, "DENIED: ", 8) == 0 ||
	       strncmp(result, "ESCALATION ", 11) == 0 ||
	       strstr(result, "Do not retry") != NULL;
}

void
show_call_end(const char *result, bool is_error, bool interrupted)
{
	struct span line, rest = span_str(result);
	struct buf b;
	const char *word;

	if (show_env.kind == SHOW_JSON)
		return;
	buf_init(&b, 4096);
	if (strncmp(result, "DENIED: ", 8) == 0)
		rest = span_str(result + 8);
	if (is_error && span_line(&rest, &line)) {
		line.len = visible_cut(line, SHOW_REASON_MAX);
		visible_add(&b, line, VISIBLE_AGAIN);
	}
	word = interrupted      ? "interrupted"
	       : !is_error      ? "allowed"
	       : denied(result) ? "denied: "
				: "failed: ";
	printf("%s- %s: %s%s%.*s%s\n",
	    show_env.kind != SHOW_TERMINAL ? ""
	    : show_env.waits               ? AGAIN ABOVE AGAIN
					   : AGAIN,
	    show_env.call, style(is_error ? RED : BOLD), word,
	    interrupted ? 0 : (int)b.len, (const char *)buf_span(&b).p,
	    style(OFF));
	fflush(stdout);
	buf_free(&b);
	show_env.waits = false;
}
